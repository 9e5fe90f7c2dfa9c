"""Build a replay suite: explore a corpus, choose its starts, and walk each prefix to see that it leads back.

Interrupted, it goes on: a corpus that is there is explored to its end and not anew, and prefixes are walked
again. The corpus is explored without screenshots; a suite is for studies, not for looking at.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from importlib.metadata import version
from pathlib import Path

from screensearch.config import Settings, settings_document, settings_from_document
from screensearch.domain.screen import StateId
from screensearch.environments.protocol import Environment
from screensearch.environments.specification import open_environment
from screensearch.errors import EnvironmentFailed, ScreenSearchError, SettingsError
from screensearch.explore.beginning import check_no_loop_runs, check_seed
from screensearch.explore.budget import StopRule
from screensearch.explore.exploration import resume_exploration, start_exploration
from screensearch.explore.remerge import remerge
from screensearch.explore.replay.judge import Judge
from screensearch.explore.replay.plan import judge_of
from screensearch.explore.replay.result import Verdict
from screensearch.explore.replay.walk import Walker
from screensearch.explore.run import Run, open_run
from screensearch.explore.under_way import OnProgress
from screensearch.explore.worker import means_of, world_seed
from screensearch.record.run import RunExists, read_manifest
from screensearch.record.sharded_log import ShardedLog
from screensearch.study.starts import (
    Cuts,
    Eligibility,
    Eligible,
    Prefix,
    Stratum,
    cut_in_thirds,
    find_eligible,
    in_order,
    shares,
)
from screensearch.study.suite import (
    CORPUS,
    SUITE,
    Suite,
    SuiteStart,
    check_walls,
    mark_of,
    open_suite,
    route_of,
    sealed,
    write_suite,
)

BROKEN_TRIES = 3
"""So often a walk is tried again that the machinery, not the application, broke off."""

OnStart = Callable[[SuiteStart | None, int, int], None]
"""Called with each start that was accepted, or None for a refused prefix; and how many of how many."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CorpusPlan:
    """How the corpus of a suite comes about: by an exploration of so much, or from a run that is there."""

    stop: StopRule | None = None
    workers: int = 1
    run: Path | None = None


def build_suite(
    name: str,
    environment: str,
    settings: Settings,
    folder: str | Path,
    corpus: CorpusPlan,
    *,
    starts: int = 50,
    seed: int = 0,
    rules: Eligibility | None = None,
    on_progress: OnProgress | None = None,
    on_start: OnStart = lambda start, found, wanted: None,
) -> Suite:
    """Build a suite at a folder. With one worker on a synthetic world, equal arguments give equal suites.

    A stratum that has too few states which can be returned to is left short: `Suite.missing` says so.
    """
    folder, rules = Path(folder), rules or Eligibility()
    check_seed(seed)
    check_walls(settings)
    check_no_loop_runs("a suite's replays")
    wanted = shares(starts)
    if (folder / SUITE).exists():
        raise RunExists(
            f"there is a suite at {folder} already: choose another folder, or use the one there is"
        )
    _make_corpus(environment, _without_pictures(settings), folder / CORPUS, corpus, seed, on_progress)
    with open_run(folder / CORPUS) as run:
        if isinstance(run.log, ShardedLog):
            raise SettingsError(f"{folder / CORPUS} has several shards: explore a corpus without --cluster")
        eligible = find_eligible(run, rules)
        cuts = cut_in_thirds([each.ambiguity for each in eligible])
        strata = _strata(eligible, cuts)
        found, refused = asyncio.run(
            _verified(
                run, environment, _without_pictures(run.settings), strata, wanted, rules, seed, on_start
            )
        )
        suite = Suite(
            name=name,
            environment=environment,
            settings=settings_document(_without_pictures(run.settings)),
            seed=seed,
            rules=rules,
            cuts=cuts,
            corpus=mark_of(run),
            asked=wanted,
            eligible={stratum: len(each) for stratum, each in strata.items()},
            refused=dict(sorted(refused.items())),
            starts=found,
            version=version("screensearch"),
        )
    suite = sealed(suite)
    write_suite(folder, suite)
    return suite


def verify_suite(
    folder: str | Path,
    *,
    replay: bool = False,
    on_start: OnStart = lambda start, found, wanted: None,
) -> list[tuple[SuiteStart, str]]:
    """Check a suite as a whole: its digest, its corpus, and everything that the corpus says of itself.

    With `replay`, walk every prefix again. Returns the starts that did not come out, each with why.
    """
    check_no_loop_runs("a suite's replays")
    with open_suite(folder) as suite:
        verification = suite.run.verify()
        if verification.problems:
            raise ScreenSearchError(
                f"the corpus of {folder} does not hold: {verification.problems[0]}; restore it from a copy"
            )
        if not replay:
            return []
        return asyncio.run(_walk_all(suite.run, suite.suite, suite.settings, on_start))


def _without_pictures(settings: Settings) -> Settings:
    return replace(settings, explore=replace(settings.explore, screenshots="none"))


def _make_corpus(
    environment: str,
    settings: Settings,
    folder: Path,
    plan: CorpusPlan,
    seed: int,
    on_progress: OnProgress | None,
) -> None:
    """See that the corpus is there: made from a run, explored now, or explored to its end."""
    if (folder / "run.json").exists():
        manifest = read_manifest(folder)
        theirs = (manifest.environment, manifest.seed, settings_from_document(manifest.settings))
        if plan.run is None and theirs != (environment, seed, settings):
            raise RunExists(
                f"{folder} holds a corpus of {manifest.environment} with seed {manifest.seed} that other "
                "settings made: choose another folder, or give the same target, --seed and --set again"
            )
        if plan.run is None and plan.stop is not None:
            summary = resume_exploration(
                folder, stop=plan.stop, workers=plan.workers, on_progress=on_progress
            )
            if summary.ended == "interrupted":
                raise KeyboardInterrupt
        return
    if plan.run is not None:
        with open_run(plan.run) as run:
            if run.environment != environment:
                raise SettingsError(
                    f"{plan.run} is a run of {run.environment}, not of {environment}: name that instead"
                )
            remerge(run, run.settings, folder)
        return
    summary = start_exploration(
        environment,
        folder,
        stop=plan.stop,
        settings=settings,
        workers=plan.workers,
        seed=seed,
        on_progress=on_progress,
    )
    if summary.ended == "interrupted":
        raise KeyboardInterrupt


def _strata(eligible: list[Eligible], cuts: Cuts) -> dict[Stratum, list[Eligible]]:
    strata: dict[Stratum, list[Eligible]] = {stratum: [] for stratum in Stratum}
    for each in eligible:
        strata[cuts.stratum(each.ambiguity)].append(each)
    return strata


async def _verified(
    run: Run,
    environment: str,
    settings: Settings,
    strata: Mapping[Stratum, list[Eligible]],
    wanted: Mapping[Stratum, int],
    rules: Eligibility,
    seed: int,
    on_start: OnStart,
) -> tuple[list[SuiteStart], Counter[str]]:
    """The starts of every stratum whose prefix leads back; and how the prefixes ended that do not."""
    found: list[SuiteStart] = []
    refused: Counter[str] = Counter()
    judge = judge_of(run)
    keys = {state: run.founding_screen(state).key for state in _states(strata)}
    world = open_environment(environment, means_of(settings))
    try:
        for stratum, eligible in strata.items():
            left = wanted[stratum]
            for each in in_order(eligible, keys, seed):
                if not left:
                    break
                for prefix in each.prefixes:
                    start = _start(run, len(found), each, stratum, prefix)
                    verdict = await _leads_back(
                        run, environment, settings, start, judge, world, rules.replays, seed
                    )
                    if verdict is Verdict.REACHED:
                        found.append(start)
                        left -= 1
                        on_start(start, len(found), sum(wanted.values()))
                        break
                    refused[verdict.value] += 1
                    on_start(None, len(found), sum(wanted.values()))
    finally:
        await world.close()
    return found, refused


async def _walk_all(
    run: Run, suite: Suite, settings: Settings, on_start: OnStart
) -> list[tuple[SuiteStart, str]]:
    """The starts of a suite that are not reached any more."""
    judge = judge_of(run)
    world = open_environment(suite.environment, means_of(settings))
    strayed: list[tuple[SuiteStart, str]] = []
    try:
        for number, start in enumerate(suite.starts, start=1):
            verdict = await _leads_back(
                run, suite.environment, settings, start, judge, world, suite.rules.replays, suite.seed
            )
            if verdict is not Verdict.REACHED:
                strayed.append((start, verdict.value))
            on_start(start if verdict is Verdict.REACHED else None, number, len(suite.starts))
    finally:
        await world.close()
    return strayed


async def _leads_back(
    run: Run,
    environment: str,
    settings: Settings,
    start: SuiteStart,
    judge: Judge,
    world: Environment,
    replays: int,
    seed: int,
) -> Verdict:
    """How the walks of a prefix ended: reached if all of them were, else as the first that was not."""
    walker = Walker(route_of(run, environment, settings, start), judge, world, lenient=True)
    number = broken = 0
    while number < replays + broken:
        number += 1
        walk = await walker.walk(number, seed)
        if walk.verdict is Verdict.BROKEN:
            broken += 1
            if broken >= BROKEN_TRIES:
                raise EnvironmentFailed(f"{environment} broke off {broken} walks of one prefix: {walk.note}")
        elif walk.verdict is not Verdict.REACHED:
            return walk.verdict
    return Verdict.REACHED


def _start(run: Run, number: int, eligible: Eligible, stratum: Stratum, prefix: Prefix) -> SuiteStart:
    return SuiteStart(
        number=number,
        state=eligible.state,
        stratum=stratum,
        ambiguity=eligible.ambiguity,
        occurrences=eligible.occurrences,
        episode=str(prefix.episode),
        configuration=dict(prefix.configuration),
        seeds=[world_seed(run.seed, prefix.episode)],
        origin=prefix.origin,
        steps=list(prefix.steps),
    )


def _states(strata: Mapping[Stratum, list[Eligible]]) -> list[StateId]:
    return [each.state for eligible in strata.values() for each in eligible]
