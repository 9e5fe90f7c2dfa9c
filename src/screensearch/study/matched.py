"""Run a study: every episode of its plan that is not finished yet, in this process or in several.

Each episode is a world of its own, so neither their order nor who runs them changes a bit of the results.
What is interrupted, in any way, costs the episodes under way and nothing else.
"""

from __future__ import annotations

import asyncio
import multiprocessing
import multiprocessing.connection
import os
import shutil
import signal
import threading
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, replace
from pathlib import Path

from screensearch.config import Settings
from screensearch.explore.beginning import check_no_loop_runs, try_out
from screensearch.explore.replay.judge import Judge
from screensearch.explore.replay.plan import judge_of
from screensearch.select.choose import policy_named
from screensearch.study.conditions import Condition, Initial
from screensearch.study.episode import run_episode
from screensearch.study.files import conducted
from screensearch.study.initial import initial_run
from screensearch.study.plan import Plan, StudyFolder
from screensearch.study.suite import OpenSuite, open_suite
from screensearch.study.trace import Failure, Place, Trace

TRIES = 2
"""So often an episode is run before a failure around it is taken for what it is."""

OnEpisode = Callable[[Trace, int, int], None]
"""Called with each finished episode, and how many of how many are finished."""


@dataclass(frozen=True, slots=True)
class Task:
    """All that a process needs to run one episode."""

    folder: str  # of the study
    suite: str  # folder of the suite
    initial: str | None  # folder of the run that the condition's graph begins with; None if that is empty
    condition: Condition
    place: Place
    steps: int
    seed: int


def run_study(
    plan: Plan,
    folder: str | Path,
    suites: Mapping[str, Path],
    *,
    workers: int = 1,
    retry_failed: bool = False,
    on_episode: OnEpisode = lambda trace, done, total: None,
) -> list[Trace]:
    """Run what is left of a study, and give all its episodes in the order of the plan.

    `suites` says where each suite of the plan lies. Failed episodes count as finished unless `retry_failed`.
    """
    check_no_loop_runs("a study")
    study = StudyFolder(Path(folder))
    with conducted(study.path):
        study.begin(plan)
        shutil.rmtree(study.path / "working", ignore_errors=True)  # of processes that were killed
        study.unpack()
        places = list(plan.places())
        finished = {place: trace for place in places if (trace := study.trace(place)) is not None}
        left = [
            place
            for place in places
            if place not in finished or (retry_failed and not finished[place].complete)
        ]
        if left:
            initial = _prepare(plan, study, suites, left)
            tasks = [
                Task(
                    folder=str(study.path),
                    suite=str(suites[place.suite]),
                    initial=initial[place.suite, place.condition],
                    condition=plan.condition(place.condition),
                    place=place,
                    steps=plan.steps,
                    seed=plan.seed,
                )
                for place in left
            ]
            done = len(places) - len(left)
            for trace in _run_all(tasks, study, workers):
                done += 1
                on_episode(trace, done, len(places))
        shutil.rmtree(study.path / "working", ignore_errors=True)
        study.write_results(plan)
        return [_there(study, place) for place in places]


def _there(study: StudyFolder, place: Place) -> Trace:
    trace = study.trace(place)
    assert trace is not None  # it was written just now, or found
    return trace


def _prepare(
    plan: Plan, study: StudyFolder, suites: Mapping[str, Path], left: Iterable[Place]
) -> dict[tuple[str, str], str | None]:
    """The run that each condition's graph begins with: the corpus, one made anew from it, or None."""
    initial: dict[tuple[str, str], str | None] = {}
    wanted = {(place.suite, place.condition) for place in left}
    for planned in plan.suites:
        with open_suite(suites[planned.name]) as suite:
            for condition in plan.conditions:
                if (planned.name, condition.name) not in wanted:
                    continue
                try_out(suite.suite.environment, _unhurried(condition.settings(suite.settings)))
                begins = initial_run(study, suite, condition)
                empty = condition.initial is Initial.EMPTY
                initial[planned.name, condition.name] = None if empty else str(begins)
    return initial


def _unhurried(settings: Settings) -> Settings:
    """The settings as they are tried out: in a study, nobody gives up a worker that decides for long."""
    policy = policy_named(settings.select.selector)
    patience = 0.0 if policy is None else policy.patience_seconds(settings.select)
    deadline = settings.explore.step_deadline_seconds + patience
    return replace(settings, explore=replace(settings.explore, step_deadline_seconds=deadline))


# -- running --------------------------------------------------------------------------------------


def _run_all(tasks: list[Task], study: StudyFolder, workers: int) -> Iterable[Trace]:
    """Every task, each until it is complete or has failed often enough; what comes of it is kept first."""
    tries: Counter[Place] = Counter()
    waiting = list(tasks)
    while waiting:
        again: list[Task] = []
        for task, trace in _in_processes(waiting, workers) if workers > 1 else _here(waiting):
            tries[task.place] += 1
            if not trace.complete and tries[task.place] < TRIES:
                again.append(task)
                continue
            study.keep(trace)
            yield trace
        waiting = again


def _here(tasks: Iterable[Task]) -> Iterable[tuple[Task, Trace]]:
    try:
        for task in tasks:
            yield task, run_task(task)
    finally:
        _close_suites()


def _in_processes(tasks: list[Task], workers: int) -> Iterable[tuple[Task, Trace]]:
    """Tasks in worker processes. One that dies takes the others of its pool with it: a new pool goes on."""
    waiting = list(reversed(tasks))
    while waiting:
        pool = ProcessPoolExecutor(
            workers, mp_context=multiprocessing.get_context("spawn"), initializer=_begin_process
        )
        under_way: dict[Future[Trace], Task] = {}
        try:
            while waiting or under_way:
                while waiting and len(under_way) < workers:
                    task = waiting.pop()
                    under_way[pool.submit(run_task, task)] = task
                for future in wait(under_way, return_when=FIRST_COMPLETED).done:
                    task = under_way.pop(future)
                    yield task, future.result()
        except BrokenProcessPool as problem:
            # Which of them died cannot be told: all that were under way count as tried once.
            for lost in [task, *under_way.values()]:
                yield lost, Trace(lost.place, failure=Failure.WORKER, note=str(problem))
        finally:
            for process in list((pool._processes or {}).values()):
                if under_way and process.is_alive():
                    process.terminate()
            pool.shutdown(cancel_futures=True)


def _begin_process() -> None:
    """A worker process leaves interrupts to its parent, and does not outlive it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = multiprocessing.parent_process()
    assert parent is not None  # this is a worker

    def follow() -> None:
        multiprocessing.connection.wait([parent.sentinel])
        os._exit(1)

    threading.Thread(target=follow, daemon=True).start()


_opened: dict[str, tuple[OpenSuite, Judge]] = {}
"""Suites that this process has open: to read one takes longer than an episode of a synthetic world."""


def run_task(task: Task) -> Trace:
    """Run one episode. The suite stays open for the next."""
    if task.suite not in _opened:
        suite = open_suite(task.suite)
        _opened[task.suite] = suite, judge_of(suite.run)
    suite, judge = _opened[task.suite]
    return asyncio.run(
        run_episode(
            suite,
            judge,
            task.condition.settings(suite.settings),
            None if task.initial is None else Path(task.initial),
            task.place,
            steps=task.steps,
            seed=task.seed,
            working=Path(task.folder) / "working",
            policy=task.condition.policy,
        )
    )


def _close_suites() -> None:
    while _opened:
        _, (suite, _) = _opened.popitem()
        suite.close()
