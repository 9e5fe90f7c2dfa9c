"""One matched episode: a graph as the suite has it, the prefix walked, then a condition spends the budget.

The step is `explore_step`, the same as in every exploration, on a store of its own that begins with a copy of
the initial log, or with nothing. The prefix is walked, not recorded: it changes no statistics. Seeds come
from the study, the start and the replicate, never from the condition, so that conditions meet the same
chances.
"""

from __future__ import annotations

import contextlib
import shutil
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from screensearch.config import Settings
from screensearch.domain.screen import Observation
from screensearch.domain.transition import EpisodeId, Evidence, Outcome
from screensearch.environments.protocol import Environment, TruthTeller
from screensearch.environments.specification import open_environment
from screensearch.errors import EnvironmentFailed
from screensearch.explore.messages import Begin
from screensearch.explore.mind import Mind
from screensearch.explore.replay.judge import Judge
from screensearch.explore.replay.walk import Walker
from screensearch.explore.serving import LocalStore
from screensearch.explore.step import Moment, explore_step
from screensearch.explore.store import ShardStore
from screensearch.explore.worker import means_of
from screensearch.record.sqlite_log import SqliteLog
from screensearch.select.choose import Chooser
from screensearch.select.policy import OF_THE_ENDPOINT, unanswered_of
from screensearch.study.frontier import Frontier
from screensearch.study.suite import OpenSuite, SuiteStart
from screensearch.study.trace import NOTHING, START, Failure, Place, Trace

PREFIX_TRIES = 6
"""So often a prefix is walked before its start counts as out of reach; each time by another seed."""

LOG = "log.sqlite"

_WORKER = 0


class OutOfReach(EnvironmentFailed):
    """The prefix of a start did not lead to it."""


@dataclass(frozen=True, slots=True)
class Chances:
    """What an episode draws from: the world's seed, and that of the choices."""

    world: int
    choices: np.random.SeedSequence

    @classmethod
    def of(cls, seed: int, start: int, replicate: int) -> Chances:
        world, choices = np.random.SeedSequence(seed, spawn_key=(start, replicate)).spawn(2)
        return cls(int(world.generate_state(1, np.uint32)[0]), choices)


async def run_episode(
    suite: OpenSuite,
    judge: Judge,
    settings: Settings,
    initial: Path | None,
    place: Place,
    *,
    steps: int,
    seed: int,
    working: Path,
    policy: str = "",
) -> Trace:
    """Run one episode of so many steps, start included, and tell how it went.

    `judge` knows the states of the suite, `initial` is the folder of the run that the condition's graph
    begins with (None: an empty one), `working` a folder for its copy. `policy`, if given, chooses instead of
    the selector. What fails around the application makes the trace a failed one.
    """
    trace = Trace(place)
    try:
        with _store(initial, settings, working) as store:
            world = open_environment(suite.suite.environment, means_of(settings))
            try:
                await _Episode(suite, judge, settings, store, world, trace, seed, policy, steps).run()
            finally:
                await world.close()
    except OutOfReach as problem:
        trace.failure, trace.note = Failure.PREFIX, str(problem)
    except EnvironmentFailed as problem:
        trace.failure, trace.note = Failure.ENVIRONMENT, str(problem)
    if trace.complete and _never_answered(trace):
        trace.failure, trace.note = Failure.ENDPOINT, trace.undecided[-1]
    return trace


def _never_answered(trace: Trace) -> bool:
    """Whether a model was asked, and its endpoint failed every time: that says nothing about the model."""
    if trace.asked is None or not trace.asked.questions:
        return False
    failed = sum(unanswered_of(note) in OF_THE_ENDPOINT for note in trace.undecided)
    return failed == trace.asked.questions


class _Episode:
    """An episode under way."""

    def __init__(
        self,
        suite: OpenSuite,
        judge: Judge,
        settings: Settings,
        store: ShardStore,
        world: Environment,
        trace: Trace,
        seed: int,
        policy: str,
        steps: int,
    ) -> None:
        self._steps = steps
        self._start: SuiteStart = suite.suite.starts[trace.place.start]
        self._chances = Chances.of(seed, trace.place.start, trace.place.replicate)
        self._walker = Walker(suite.route(self._start), judge, world, lenient=True)
        self._walks = 0
        self._store = store
        self._local = LocalStore(store)
        self._initial = store.graph.sequence
        self._world = world
        self._trace = trace
        self._frontier = Frontier(policy, settings.select, store.graph) if policy else None
        self._chooser = self._frontier or Chooser(settings.select)
        # A policy is told how many steps are left: those of the budget.
        told = replace(settings, explore=replace(settings.explore, episode_steps=steps - 1))
        self._mind = Mind(told, world.application, chooser=self._chooser)
        self._mind.start_episode(self._chances.choices)
        self._number = store.next_episode(_WORKER)

    async def run(self) -> None:
        moment = await self._begin()
        self._note(moment, None, START, known_edge=True)
        for _ in range(self._steps - 1):
            moment = await self._step(moment)
        if self._chooser.policy is not None:
            self._trace.asked = self._chooser.policy.asked

    async def _step(self, moment: Moment) -> Moment:
        """One action, or a return to the start where none is possible; noted either way."""
        assert moment.receipt.here is not None  # what has no state was returned from
        if self._frontier is not None:
            self._frontier.here = moment.receipt.here.state
        after = await explore_step(self._world, self._local, self._mind, moment)
        if after is None:
            again = await self._return()
            self._note(again, None, NOTHING, known_edge=True)
            return again
        found = self._store.log.find(after.episode, after.step)
        assert found is not None  # it was acknowledged
        entry = found[1]
        signature, outcome = getattr(entry, "signature", None), str(getattr(entry, "outcome", ""))
        if outcome == Outcome.UNDECIDED:
            self._trace.undecided.append(str(getattr(entry, "note", "")))
        if after.receipt.here is None:
            again = await self._return()
            self._note(again, signature, outcome, known_edge=True)
            return again
        known = outcome != "ok" or self._store.graph.edge_known(
            moment.receipt.here.state, signature or "", after.receipt.here.state, at=self._initial
        )
        self._note(after, signature, outcome, known_edge=known)
        return after

    async def _return(self) -> Moment:
        self._trace.returns += 1
        self._number += 1
        return await self._begin()

    async def _begin(self) -> Moment:
        """Walk the prefix, and let the store say which state its end is."""
        observation = await self._walk()
        sighting, _ = await self._mind.see(observation)
        episode = EpisodeId(_WORKER, self._number)
        configuration = tuple(sorted(self._start.configuration.items()))
        receipt = await self._local.begin(Begin(episode, sighting, Evidence(), configuration))
        self._mind.learn_row(sighting, receipt)
        return Moment(episode, 0, observation, receipt, time.perf_counter())

    async def _walk(self) -> Observation:
        notes = []
        for _ in range(PREFIX_TRIES):
            self._walks += 1
            walk = await self._walker.walk(self._walks, self._chances.world)
            if walk.reached and self._walker.observation is not None:
                return self._walker.observation
            notes.append(walk.note)
        raise OutOfReach(
            f"state {self._start.state} was not reached in {PREFIX_TRIES} walks of its prefix; the last: "
            f"{notes[-1]}"
        )

    def _note(self, moment: Moment, signature: str | None, outcome: str, *, known_edge: bool) -> None:
        here, trace = moment.receipt.here, self._trace
        assert here is not None  # what has no state was returned from
        trace.states.append(here.state)
        trace.ambiguity.append(here.ambiguity)
        trace.known_states.append(self._store.graph.state_known(here.state, at=self._initial))
        trace.signatures.append(signature)
        trace.outcomes.append(outcome)
        trace.known_edges.append(known_edge)
        truth = self._world.truth() if isinstance(self._world, TruthTeller) else {}
        trace.true_states.append(truth.get("state"))


@contextlib.contextmanager
def _store(initial: Path | None, settings: Settings, working: Path) -> Iterator[ShardStore]:
    """A store that begins with a copy of the initial log, or without one, and is gone afterwards."""
    working.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="episode-", dir=working) as folder:
        path = Path(folder) / LOG
        if initial is None:
            log = SqliteLog.create(path)
        else:
            shutil.copyfile(initial / LOG, path)
            log = SqliteLog.open_to_write(path)
        try:
            yield ShardStore(log, settings)
        finally:
            log.close()
