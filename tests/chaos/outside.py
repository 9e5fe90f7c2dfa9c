"""A run on a cluster as seen from outside, by a process of its own.

Ray ends a program whose head goes away. A test that kills heads must not be such a program: here it talks
to one, and starts another if that one is gone.

    python outside.py ADDRESS FOLDER    (pickled requests come in, pickled answers go out)
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

    address: str
    folder: Path
    _program: subprocess.Popen[bytes] | None = field(default=None, init=False)

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

    def close(self) -> None:
        if self._program is not None:
            self._program.kill()
            self._program.communicate()
            self._program = None

    def _ask(self, *request: object) -> Any:
        until = time.monotonic() + ALL_SECONDS
        while True:
            try:
                failure, answer = self._exchange(request)
            except (EOFError, BrokenPipeError, TimeoutError, pickle.UnpicklingError) as problem:
                self.close()
                failure, answer = True, repr(problem)
            if not failure:
                return answer
            if time.monotonic() > until:
                raise Unanswered(f"{request[0]}: {answer}")
            time.sleep(0.5)

    def _exchange(self, request: tuple[object, ...]) -> tuple[bool, Any]:
        if self._program is None:
            self._program = subprocess.Popen(
                [sys.executable, __file__, self.address, str(self.folder)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                start_new_session=True,
            )
        assert self._program.stdin is not None
        assert self._program.stdout is not None
        pickle.dump(request, self._program.stdin)
        self._program.stdin.flush()
        if not select.select([self._program.stdout], [], [], ANSWER_SECONDS)[0]:
            raise TimeoutError(f"no answer for {ANSWER_SECONDS:.0f} s")
        failure, answer = pickle.load(self._program.stdout)
        return bool(failure), answer


def main(address: str, folder: str) -> None:
    from noted import NotedConductor

    from screensearch.cluster import launch
    from screensearch.cluster.engine import connect, nodes_alive

    setattr(launch, "Conductor", NotedConductor)  # noqa: B010 (it is a class to the type checker)
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # whatever else is said here must not get among the answers
    where = Path(folder)

    attached: list[launch.Attached] = []  # one, as soon as there is a run

    def run() -> launch.Attached:
        if not attached:
            attached.append(launch.Attached(address, where))
        return attached[0]

    def start(how: Start) -> str:
        if where.exists():  # an attempt before this one has made it, and may have begun it
            return resume(how)
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

    def resume(how: Start) -> str:
        attached.clear()
        with suppress(RunBusy):  # an attempt before this one has begun it
            # Owners of a cluster that is gone may still be at work: theirs is the log that is taken.
            launch.resume_on_cluster(address, where, stop=how.stop, workers=how.workers, take_over=True)
        return read_manifest(where).run

    def follow() -> None:
        with suppress(RunNotFound):  # it is gone already
            run().follow(lambda view: None)

    def alive() -> set[str]:
        connect(address)
        return nodes_alive()

    doing: dict[str, Callable[..., object]] = {
        "start": start,
        "resume": resume,
        "view": lambda: run().view(),
        "stop": lambda: run().stop("interrupted"),
        "follow": follow,
        "nodes_alive": alive,
    }
    while True:
        try:
            name, *arguments = pickle.load(sys.stdin.buffer)
        except EOFError:
            return
        try:
            answer: tuple[bool, object] = (False, doing[name](*arguments))
        except Exception as problem:  # whatever it is, the test is told
            answer = (True, f"{type(problem).__name__}: {problem}")
        pickle.dump(answer, answers)
        answers.flush()


if __name__ == "__main__":
    main(*sys.argv[1:])
