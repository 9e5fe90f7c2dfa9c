"""What the workers saw of their store: each call, when it was made, and what came back.

`Recorded` goes around any store, in any process, and writes a file of its own into a folder; `read_history`
reads the files of all. A file is one life of a worker: one that is started anew has another. A line is
written before a call is made and another when it returns, so that a worker that is killed leaves the calls
it made, the last one without an answer.

Times are nanoseconds of the machine's monotonic clock, which all its processes share.
"""

from __future__ import annotations

import os
import time
from collections.abc import Awaitable, Iterable
from dataclasses import dataclass, replace
from pathlib import Path

import msgspec

from screensearch.explore.messages import Announce, Begin, BeginFailed, Receipt, Report
from screensearch.explore.step import Store

Message = Begin | BeginFailed | Report


@dataclass(frozen=True, slots=True)
class Answered:
    """A receipt, and when it came."""

    at: int
    receipt: Receipt


@dataclass(frozen=True, slots=True)
class Call:
    """One message to the store. Without an answer it is not known what became of it: it may count."""

    life: str  # the name of the file it was written to
    invoked: int
    message: Message
    answer: Answered | None = None
    failure: str = ""  # why there is no answer, where that was told


@dataclass(frozen=True, slots=True)
class Announced:
    """A choice that was announced: it may have reached the store from then on, or never."""

    life: str
    invoked: int
    message: Announce


@dataclass(frozen=True, slots=True)
class History:
    """What all workers saw, by the time at which they asked."""

    calls: tuple[Call, ...]
    announced: tuple[Announced, ...] = ()


@dataclass(frozen=True, slots=True)
class _Line:
    """A line of a file: one of the four messages, or what came of the call before it."""

    at: int
    begin: Begin | None = None
    begin_failed: BeginFailed | None = None
    report: Report | None = None
    announce: Announce | None = None
    receipt: Receipt | None = None
    failure: str | None = None


class Recorded:
    """A `Store` that writes down what is said to another, and what that one answers. For one worker."""

    def __init__(self, store: Store, folder: Path) -> None:
        self._store = store
        self.life = f"{os.getpid()}-{time.monotonic_ns()}"
        self._file = (folder / f"{self.life}.jsonl").open("xb")

    async def begin(self, begin: Begin) -> Receipt:
        self._write(_Line(time.monotonic_ns(), begin=begin))
        return await self._answer(self._store.begin(begin))

    async def begin_failed(self, failed: BeginFailed) -> Receipt:
        self._write(_Line(time.monotonic_ns(), begin_failed=failed))
        return await self._answer(self._store.begin_failed(failed))

    async def record(self, report: Report) -> Receipt:
        self._write(_Line(time.monotonic_ns(), report=report))
        return await self._answer(self._store.record(report))

    async def announce(self, announcement: Announce) -> None:
        self._write(_Line(time.monotonic_ns(), announce=announcement))
        await self._store.announce(announcement)  # has no answer

    def close(self) -> None:
        self._file.close()

    async def _answer(self, answering: Awaitable[Receipt]) -> Receipt:
        try:
            receipt = await answering
        except BaseException as problem:  # a cancelled call, too, may have been carried out
            self._write(_Line(time.monotonic_ns(), failure=f"{type(problem).__name__}: {problem}"))
            raise
        self._write(_Line(time.monotonic_ns(), receipt=receipt))
        return receipt

    def _write(self, line: _Line) -> None:
        self._file.write(msgspec.json.encode(line) + b"\n")
        self._file.flush()  # to the system: what is there outlives a SIGKILL


def read_history(folder: Path) -> History:
    """All that was written into a folder; workers may still be at it."""
    calls: list[Call] = []
    announced: list[Announced] = []
    for path in sorted(folder.glob("*.jsonl")):
        for line in _lines(path):
            message = line.begin or line.begin_failed or line.report
            if message is not None:
                calls.append(Call(path.stem, line.at, message))
            elif line.announce is not None:
                announced.append(Announced(path.stem, line.at, line.announce))
            elif line.receipt is not None:  # a life makes one call at a time: it is the last one's
                calls[-1] = replace(calls[-1], answer=Answered(line.at, line.receipt))
            elif line.failure is not None:
                calls[-1] = replace(calls[-1], failure=line.failure)
    return History(
        tuple(sorted(calls, key=lambda call: call.invoked)),
        tuple(sorted(announced, key=lambda each: each.invoked)),
    )


def _lines(path: Path) -> Iterable[_Line]:
    """The whole lines of a file: what a kill cut short was not acted upon."""
    *whole, _ = path.read_bytes().split(b"\n")
    return map(msgspec.json.Decoder(_Line).decode, whole)
