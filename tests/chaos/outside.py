"""A run on a cluster as seen from outside, by a process of its own.

Ray ends a program whose head goes away. A test that kills heads must not be such a program: here it talks
to one, and starts another if that one is gone.

    python outside.py ADDRESS    (pickled requests come in, pickled answers go out)
"""

from __future__ import annotations

import os
import pickle
import select
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from screensearch.cluster.names import View
from screensearch.config import Settings
from screensearch.errors import RunBusy, RunNotFound
from screensearch.explore.budget import StopRule
from screensearch.explore.progress import Summary
from screensearch.record.run import read_manifest

ANSWER_SECONDS = 90.0
"""A request that takes longer is made again, by a new process."""

ALL_SECONDS = 300.0
"""For all the attempts of one request."""


class Unanswered(AssertionError):
    """Nobody could say how the run is."""


@dataclass(frozen=True, slots=True)
class Start:
    """What a run is begun or resumed with."""

    environment: str
    store: str
    settings: Settings
    stop: StopRule
    workers: int
    seed: int = 1


@dataclass
class Outside:
    """One run, whoever conducts it."""

    program: Program
    folder: Path

    def start(self, how: Start) -> str:
        """Begin it, once; returns the run's id."""
        return str(self._ask("start", how))

    def resume(self, how: Start) -> None:
        self._ask("resume", how)

    def view(self) -> View:
        view = self._ask("view")
        assert isinstance(view, View)
        return view

    def stop(self) -> None:
        self._ask("stop")

    def nodes_alive(self) -> set[str]:
        return set(self._ask("nodes_alive"))

    def follow(self) -> Summary:
        """Wait until it has ended; what it came to."""
        until = time.monotonic() + ALL_SECONDS
        while (view := self.view()).phase != "ended":
            if time.monotonic() > until:
                raise Unanswered(f"the run does not end: {view}")
            time.sleep(0.2)
        if view.problem or view.summary is None:
            raise AssertionError(f"the run ended badly: {view}")
        self._ask("follow")
        return view.summary

    def _ask(self, *request: object) -> Any:
        return self.program.ask(self.folder, *request)


@dataclass
class Program:
    """The program that belongs to a cluster."""

    address: str
    _process: subprocess.Popen[bytes] | None = field(default=None, init=False)

    def __enter__(self) -> Program:
        return self

    def __exit__(self, *problem: object) -> None:
        self.close()

    def close(self) -> None:
        """Let it go; another one is started when it is needed."""
        if self._process is not None:
            self._process.kill()
            self._process.communicate()
            self._process = None

    def ask(self, folder: Path, *request: object) -> Any:
        """What it answers, or another one that has taken its place."""
        until = time.monotonic() + ALL_SECONDS
        while True:
            try:
                failure, answer = self._exchange((folder, *request))
            except (EOFError, BrokenPipeError, TimeoutError, pickle.UnpicklingError) as problem:
                failure, answer = True, repr(problem)
            if not failure:
                return answer
            self.close()
            if time.monotonic() > until:
                raise Unanswered(f"{request[0]} {folder}: {answer}")
            time.sleep(0.5)

    def _exchange(self, request: tuple[object, ...]) -> tuple[bool, Any]:
        if self._process is None:
            self._process = subprocess.Popen(
                [sys.executable, __file__, self.address],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                start_new_session=True,
            )
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        pickle.dump(request, self._process.stdin)
        self._process.stdin.flush()
        if not select.select([self._process.stdout], [], [], ANSWER_SECONDS)[0]:
            raise TimeoutError(f"no answer for {ANSWER_SECONDS:.0f} s")
        failure, answer = pickle.load(self._process.stdout)
        return bool(failure), answer


def main(address: str) -> None:
    from noted import NotedConductor

    from screensearch.cluster import launch
    from screensearch.cluster.engine import connect, nodes_alive

    setattr(launch, "Conductor", NotedConductor)  # noqa: B010 (it is a class to the type checker)
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # whatever else is said here must not get among the answers
    attached: dict[Path, launch.Attached] = {}

    def run(where: Path) -> launch.Attached:
        if where not in attached:
            attached[where] = launch.Attached(address, where)
        return attached[where]

    def start(where: Path, how: Start) -> str:
        if where.exists():  # an attempt before this one has made it, and may have begun it
            return resume(where, how)
        return launch.start_on_cluster(
            address,
            how.environment,
            where,
            settings=how.settings,
            stop=how.stop,
            workers=how.workers,
            seed=how.seed,
            store=how.store,
        )

    def resume(where: Path, how: Start) -> str:
        attached.pop(where, None)
        with suppress(RunBusy):  # an attempt before this one has begun it
            # Owners of a cluster that is gone may still be at work: theirs is the log that is taken.
            launch.resume_on_cluster(address, where, stop=how.stop, workers=how.workers, take_over=True)
        return read_manifest(where).run

    def follow(where: Path) -> None:
        with suppress(RunNotFound):  # it is gone already
            run(where).follow(lambda view: None)

    def alive(where: Path) -> set[str]:
        connect(address)
        return nodes_alive()

    doing: dict[str, Callable[..., object]] = {
        "start": start,
        "resume": resume,
        "view": lambda where: run(where).view(),
        "stop": lambda where: run(where).stop("interrupted"),
        "follow": follow,
        "nodes_alive": alive,
    }
    while True:
        try:
            where, name, *arguments = pickle.load(sys.stdin.buffer)
        except EOFError:
            return
        try:
            answer: tuple[bool, object] = (False, doing[name](where, *arguments))
        except Exception as problem:  # whatever it is, the test is told
            answer = (True, f"{type(problem).__name__}: {problem}")
        pickle.dump(answer, answers)
        answers.flush()


if __name__ == "__main__":
    main(*sys.argv[1:])
