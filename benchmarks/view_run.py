"""Make a run as large as the paper's corpus, for measuring what reads runs: 30,000 states, 100,000 edges.

The application does not exist (`view_screens.py`); all the rest is as in any run. Every screen goes through
the encoder, the identifier and the writer of a run, so `screensearch verify` holds of it, its screens can be
decided anew under another rule, and one seed gives one graph. Times are drawn, not measured.

    python benchmarks/view_run.py OUT [--states 30000] [--edges 100000] [--seed 7] [--json]
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import time
import zlib
from pathlib import Path
from typing import NamedTuple

from screensearch.config import Settings
from screensearch.domain.document import encode_observation
from screensearch.domain.screen import Observation, StateId
from screensearch.domain.transition import Choice, Entry, EpisodeId, Evidence, Outcome
from screensearch.encode.encoder import Encoder
from screensearch.errors import FormatError
from screensearch.explore.beginning import new_manifest
from screensearch.explore.messages import Begin, BeginFailed, Message, Report, Sighting
from screensearch.explore.run import open_run
from screensearch.explore.store import ShardStore, Submission
from screensearch.record.artifacts import Artifacts
from screensearch.record.run import create_run, own
from view_screens import (
    APPLICATION,
    Face,
    Setting,
    Sheet,
    capture_screen,
    draw_face,
    draw_picture,
    first_face,
    observe,
    settings,
    signatures_at,
    slots_of,
)

STATES, EDGES = 30_000, 100_000
WORKERS = 8
EPISODE_STEPS = 40
BATCH = 4_000  # messages between two commits
NEW_ACTION = 0.65  # how often something untried is tried, where there is something
ALIASED = 0.08  # actions with a hidden cause: several successors
NOISY = 0.15  # landings on a screen that is not quite the founding one
FAILING = {Outcome.CRASH: 0.0008, Outcome.HANG: 0.0004, Outcome.EXIT: 0.0012, Outcome.CAPTURE: 0.004}
NOTES = {
    Outcome.CRASH: "ledger was ended by signal 11 (SIGSEGV); its last words: assertion 'row != NULL' failed",
    Outcome.HANG: "ledger answered nothing for 10 s",
    Outcome.EXIT: "ledger ended with status 0",
    Outcome.CAPTURE: "the window 'Help - Browser' of browser took the input",
}


class Seen(NamedTuple):
    """A face as it was seen: with so much noise in its words."""

    face: Face
    noise: int


class Place:
    """A state as the generator knows it: its face, what can be done there, and where that leads."""

    __slots__ = ("actions", "face", "leads_to", "parent")

    def __init__(self, face: Face, actions: tuple[str, ...], parent: Face | None) -> None:
        self.face = face
        self.actions = actions
        self.parent = parent
        self.leads_to: dict[int, list[Face]] = {}


class Walker:
    """One worker: where it stands in its episode."""

    def __init__(self, worker: int) -> None:
        self.worker = worker
        self.episode = -1
        self.step = 0
        self.state: StateId | None = None


class Generator:
    """Explores the application that does not exist until there are so many states and edges."""

    def __init__(self, store: ShardStore, artifacts: Artifacts, states: int, edges: int, seed: int) -> None:
        self._store = store
        self._artifacts = artifacts
        self._states, self._edges = states, edges
        self._draw = random.Random(seed)
        self._encoder = Encoder(store.settings.encode)
        self._places: dict[StateId, Place] = {}
        self._faces: dict[Setting, list[Face]] = {each: [] for each in settings()}
        self._rows: dict[tuple[Face, int], int] = {}
        self._pictures: dict[Sheet, str] = {}
        self._next_face = len(self._faces)  # the first ones are those that episodes begin with
        self._capture = self._sight(capture_screen())

    def run(self) -> None:
        """Take steps until both numbers are reached."""
        graph = self._store.graph
        walkers = [Walker(worker) for worker in range(WORKERS)]
        taken = 0
        while graph.edges < self._edges or graph.states < self._states:
            for walker in walkers:
                self._advance(walker)
                taken += 1
                if taken % BATCH == 0:
                    self._store.commit()
                if graph.edges >= self._edges and graph.states >= self._states:
                    break
        self._store.commit()

    # -- steps --------------------------------------------------------------------------------

    def _advance(self, walker: Walker) -> None:
        if walker.state is None or walker.step >= EPISODE_STEPS:
            self._begin(walker)
            return
        place = self._places[walker.state]
        action = self._choose(place)
        outcome = self._outcome()
        signature = place.actions[action]
        tried = self._store.graph.tried(walker.state).get(signature)
        walker.step += 1
        prior = 1 / (2 + len(place.actions))
        seen: Seen | None = None
        if outcome is Outcome.OK:
            noise = self._draw.randrange(1, 4) if self._draw.random() < NOISY else 0
            seen = Seen(self._target(place, action), noise)
        report = Report(
            EpisodeId(walker.worker, walker.episode),
            walker.step,
            walker.state,
            Choice(
                signature,
                self._store.graph.sequence,
                candidates=len(place.actions),
                prior=prior,
                value=0.0 if tried is None else tried.value,
                visits=0 if tried is None else tried.visits,
                score=prior * 1.25,
            ),
            outcome,
            self._capture if outcome is Outcome.CAPTURE else self._sighting(seen),
            self._evidence(seen),
            NOTES.get(outcome, ""),
        )
        walker.state = self._land(report, seen, place.face)

    def _begin(self, walker: Walker) -> None:
        walker.episode += 1
        walker.step = 0
        episode = EpisodeId(walker.worker, walker.episode)
        setting = self._draw.choice([*self._faces])
        varied = (("display_mode", setting.mode), ("text_scale", f"{setting.scale:g}"))
        if self._draw.random() < 0.002:
            self._take(
                BeginFailed(episode, Outcome.CRASH, self._evidence(None), varied, NOTES[Outcome.CRASH])
            )
            walker.state = None
            return
        seen = Seen(first_face(setting), 0)
        sighting = self._sighting(seen)
        assert sighting is not None  # something was seen
        walker.state = self._land(Begin(episode, sighting, self._evidence(seen), varied), seen, None)

    def _choose(self, place: Place) -> int:
        tried = len(place.leads_to)
        if tried < len(place.actions) and (not tried or self._draw.random() < NEW_ACTION):
            return tried
        return self._draw.choice([*place.leads_to])

    def _outcome(self) -> Outcome:
        point = self._draw.random()
        for outcome, share in FAILING.items():
            if point < share:
                return outcome
            point -= share
        return Outcome.OK

    def _target(self, place: Place, action: int) -> Face:
        """Where an action leads: to what it led to before, or somewhere that keeps both numbers in reach."""
        known = place.leads_to.get(action)
        if known and (len(known) > 3 or not self._aliased(place, action) or self._draw.random() < 0.6):
            return self._draw.choice(known)
        graph = self._store.graph
        states_left, edges_left = self._states - graph.states, max(1, self._edges - graph.edges)
        setting = place.face.sheet.setting
        faces = self._faces[setting]
        if states_left > 0 and self._draw.random() < states_left / edges_left:
            self._next_face += 1
            target = draw_face(self._draw, setting, self._next_face)
        elif place.parent is not None and self._draw.random() < 0.35:
            target = place.parent
        elif self._draw.random() < 0.5:
            target = faces[-1 - int(min(len(faces), 400) * self._draw.random())]
        else:
            target = faces[int(len(faces) * self._draw.random() ** 3)]
        place.leads_to.setdefault(action, []).append(target)
        return target

    def _aliased(self, place: Place, action: int) -> bool:
        return random.Random(place.face.number * 64 + action).random() < ALIASED

    # -- what the store is told ---------------------------------------------------------------

    def _land(self, message: Message, seen: Seen | None, parent: Face | None) -> StateId | None:
        """Record a message; returns the state that the episode goes on from, if it does."""
        entry = self._take(message)
        if entry.decision is None or entry.screen is None or seen is None:
            return None
        self._rows[seen] = entry.screen
        state = entry.decision.state
        if state not in self._places:
            self._places[state] = Place(seen.face, signatures_at(observe(seen.face)), parent)
            self._faces[seen.face.sheet.setting].append(seen.face)
        return state

    def _take(self, message: Message) -> Entry:
        (entry,) = self._store.take([Submission(message)]).taken
        if isinstance(entry, FormatError):
            raise entry
        return entry

    def _sighting(self, seen: Seen | None) -> Sighting | None:
        if seen is None:
            return None
        row = self._rows.get(seen)
        return self._sight(observe(seen.face, seen.noise)) if row is None else Sighting(row=row)

    def _sight(self, observation: Observation) -> Sighting:
        elements = zlib.compress(encode_observation(observation), 1)
        return Sighting(screen=self._encoder.encode(observation), elements=elements)

    def _evidence(self, seen: Seen | None) -> Evidence:
        act, decide = self._draw.lognormvariate(-2.3, 0.5), self._draw.lognormvariate(-5.0, 0.7)
        if seen is None:
            return Evidence(None, act, decide)
        sheet = seen.face.sheet
        name = self._pictures.get(sheet)
        if name is None:
            name = self._pictures[sheet] = self._artifacts.put_image(draw_picture(sheet))
        return Evidence(name, act, decide, slots_of(sheet.window, sheet.variant)[0].box)


def make_run(out: Path, states: int = STATES, edges: int = EDGES, seed: int = 7, *, store: str = "") -> None:
    """Make the run at a place where there is nothing yet, its log in a `store` or beside it."""
    manifest = new_manifest(f"generated:{APPLICATION}", Settings(), seed=seed, store=store, artifacts="")
    create_run(out, manifest)
    with own(out) as folder:
        log = folder.write_log()
        try:
            shard = ShardStore(log, Settings())
            Generator(shard, folder.artifacts, states, edges, seed).run()
            shard.checkpoint()
        finally:
            log.close()


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("out", type=Path)
    parser.add_argument("--states", type=int, default=STATES)
    parser.add_argument("--edges", type=int, default=EDGES)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--json", action="store_true", help="print one JSON object and nothing else")
    options = parser.parse_args()
    began = time.perf_counter()
    make_run(options.out, options.states, options.edges, options.seed)
    with open_run(options.out) as run:
        made = {**run.describe(), "seconds": round(time.perf_counter() - began, 1)}
    if options.json:
        print(json.dumps(made))
    else:
        print(
            f"{made['states']:,} states, {made['edges']:,} edges, {made['entries']:,} entries in "
            f"{made['seconds']:.0f} s\nCheck it: screensearch verify {options.out}"
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
