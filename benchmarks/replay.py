"""Claim: a stored prefix of 10 steps, replayed from a reset, reaches the state that it reached before.

A run is explored, or a stored one is taken. Its prefixes are picked by rule, not by hand: the first
episodes, in the order in which they began, whose first so many steps all ended `ok`. Each is replayed so
many times: reset with the episode's own seed, then step after step the candidate with the stored
signature is looked up on the observation of that moment and performed. The screen at the end is
identified by the run's own rule among the run's own states. A replay counts when that is the state that
the log names. Where one fails, the first step that went elsewhere is named.

    python benchmarks/replay.py --app mousepad [--times 20] [--steps 10] [--prefixes 1] [--json] [--out FILE]
"""

from __future__ import annotations

import argparse
import asyncio
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import screensearch as ss
from explorations import finish, start_explore
from machine import describe_machine
from outcome import parser_of_a_run, tell
from screensearch.act.candidates import candidates
from screensearch.encode.encoder import Encoder
from screensearch.encode.masks import Masks
from screensearch.environments.specification import open_environment
from screensearch.explore.store import make_resolver
from screensearch.explore.worker import means_of
from screensearch.identify.resolve import Resolver

LEAST_SHARE = 19 / 20


@dataclass(frozen=True, slots=True)
class Prefix:
    """The first steps of a stored episode: what was done, and the states it went through."""

    episode: ss.EpisodeId
    start: int
    signatures: tuple[str, ...]
    states: tuple[int, ...]  # after each step

    @property
    def end(self) -> int:
        return self.states[-1]


@dataclass(frozen=True, slots=True)
class Replay:
    """How one replay went; `strayed` is the first step that ended in another state, 0 the first screen."""

    state: int | None
    strayed: int | None
    problem: str


def pick_prefixes(run: ss.Run, steps: int, count: int) -> list[Prefix]:
    """The first `count` episodes, as they began, whose first `steps` steps are all `ok`."""
    arrivals = list(run.arrivals())
    taken: dict[ss.EpisodeId, list[ss.Transition]] = {each.episode: [] for each in arrivals}
    for transition in run.transitions():
        taken[transition.episode].append(transition)
    found: list[Prefix] = []
    for arrival in arrivals:
        first = taken[arrival.episode][:steps]
        if len(first) == steps and all(each.outcome == ss.Outcome.OK for each in first):
            found.append(
                Prefix(
                    arrival.episode,
                    arrival.decision.state,
                    tuple(each.signature or "" for each in first),
                    tuple(-1 if each.target is None else each.target for each in first),
                )
            )
    return found[:count]


def world_seed(run: ss.Run, episode: ss.EpisodeId) -> int:
    """The seed that a worker resets an episode with (see ``explore.worker``)."""
    world, _ = np.random.SeedSequence(run.seed, spawn_key=(episode.worker, episode.number)).spawn(2)
    return int(world.generate_state(1, np.uint64)[0])


def restored_resolver(run: ss.Run) -> Resolver:
    """The states of a run, to identify further screens with."""
    resolver = make_resolver(run.settings)
    for (_, state, founder), screen in run.log.known_screens():
        resolver.restore(screen, state, founder=founder)
    return resolver


class Replayer:
    """Replays prefixes of one run in one environment."""

    def __init__(self, run: ss.Run) -> None:
        self._run = run
        self._settings = run.settings
        self._encoder = Encoder(run.settings.encode)
        self._masks = Masks(run.settings.encode.masks)
        self._world = open_environment(run.environment, means_of(run.settings))

    async def replay(self, prefix: Prefix) -> Replay:
        resolver = restored_resolver(self._run)  # afresh: a screen of one replay must not sway the next
        known = resolver.states
        observation = (await self._world.reset(world_seed(self._run, prefix.episode))).observation

        def identify() -> int | None:
            state = resolver.resolve(self._encoder.encode(observation)).state
            return state if state < known else None

        strayed = None if identify() == prefix.start else 0
        state: int | None = None
        for step, (signature, expected) in enumerate(
            zip(prefix.signatures, prefix.states, strict=True), start=1
        ):
            listed = candidates(observation, self._world.application, self._settings.candidates, self._masks)
            chosen = next((each for each in listed if each.signature == signature), None)
            if chosen is None:
                return Replay(None, step if strayed is None else strayed, f"step {step}: no {signature}")
            result = await self._world.perform(chosen.action)
            if result.outcome != ss.Outcome.OK or result.observation is None:
                said = f"step {step}: {signature} ended {result.outcome} ({result.note})"
                return Replay(None, step if strayed is None else strayed, said)
            observation = result.observation
            state = identify()
            if strayed is None and state != expected:
                strayed = step
        problem = "" if state == prefix.end else f"ended in state {state}, not in {prefix.end}"
        return Replay(state, strayed, problem)

    async def close(self) -> None:
        await self._world.close()


async def replay_all(run: ss.Run, prefixes: list[Prefix], times: int, *, show: bool) -> list[dict[str, Any]]:
    replayer = Replayer(run)
    results = []
    try:
        for prefix in prefixes:
            replays = []
            for number in range(1, times + 1):
                replays.append(await replayer.replay(prefix))
                if show:
                    said = replays[-1].problem or "same state"
                    print(f"{prefix.episode} replay {number:>3}: {said}", file=sys.stderr)
            results.append(report(prefix, replays))
    finally:
        await replayer.close()
    return results


def report(prefix: Prefix, replays: list[Replay]) -> dict[str, Any]:
    return {
        "episode": str(prefix.episode),
        "signatures": list(prefix.signatures),
        "states": [prefix.start, *prefix.states],
        "replays": len(replays),
        "same_state": sum(each.state == prefix.end for each in replays),
        "same_state_at_every_step": sum(each.strayed is None for each in replays),
        "strayed_first_at_step": dict(
            sorted(Counter(each.strayed for each in replays if each.strayed is not None).items())
        ),
        "problems": dict(Counter(each.problem for each in replays if each.problem).most_common()),
    }


@contextmanager
def stored_run(app: str, folder: Path | None, steps: int, workers: int, seed: int) -> Iterator[ss.Run]:
    """The run to replay from: a stored one, or one explored now."""
    with tempfile.TemporaryDirectory(prefix="screensearch-replay-") as name:
        if folder is None:
            folder = Path(name, "run")
            options = ("--steps", str(steps), "--workers", str(workers), "--seed", str(seed))
            finish(start_explore([app], *options, "--out", str(folder)))
        with ss.open_run(folder) as run:
            yield run


def measure(options: argparse.Namespace) -> dict[str, Any]:
    with stored_run(options.app, options.run, options.explore_steps, options.workers, options.seed) as run:
        prefixes = pick_prefixes(run, options.steps, options.prefixes)
        if not prefixes:
            raise SystemExit(f"no episode of {run.path} begins with {options.steps} steps that are all ok")
        results = asyncio.run(replay_all(run, prefixes, options.times, show=not options.json))
        environment = run.environment
    same, replays = (sum(each[name] for each in results) for name in ("same_state", "replays"))
    return {
        "environment": environment,
        "rule": f"the first {len(prefixes)} episodes whose first {options.steps} steps are all ok",
        "replays": replays,
        "same_state": same,
        "prefixes": results,
        "targets": {
            f"same state in {LEAST_SHARE:.0%} of the replays of each prefix": all(
                each["same_state"] >= LEAST_SHARE * each["replays"] for each in results
            )
        },
        "machine": describe_machine(),
    }


def print_result(result: dict[str, Any]) -> None:
    for each in result["prefixes"]:
        print(f"{each['episode']:8} {each['same_state']} of {each['replays']} reach the same state")
        for problem, count in each["problems"].items():
            print(f"         {count} × {problem}")


def main() -> None:
    parser = parser_of_a_run(__doc__)
    parser.add_argument("--times", type=int, default=20, help="replays of each prefix")
    parser.add_argument("--steps", type=int, default=10, help="length of a prefix")
    parser.add_argument("--prefixes", type=int, default=1, help="how many prefixes")
    parser.add_argument("--workers", type=int, default=2, help="of the run explored for this")
    options = parser.parse_args()
    tell(measure(options), options, print_result)


if __name__ == "__main__":
    main()
