"""Conduct a campaign: so many runs at the same time, each in a process of its own.

A process for each, because interrupts reach an exploration in the main thread of a process only, and
because a run that dies takes no other with it. Interrupts are the conductor's: the processes are in sessions
of their own and are told by it, so that one Ctrl-C is one interrupt for each. If the conductor itself is
killed, they notice and stop by themselves.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Protocol

import msgspec

from screensearch.config import settings_document
from screensearch.explore.budget import StopRule
from screensearch.explore.campaign.file import Campaign, PlannedRun
from screensearch.explore.campaign.process import Broken, Ended, Going, News, Order
from screensearch.explore.campaign.record import (
    CampaignRecord,
    Failure,
    Figures,
    RunState,
    Standing,
    at_work,
)
from screensearch.explore.logs import TEXT
from screensearch.explore.owner import interrupts
from screensearch.explore.processes import how_it_ended, kill_group, reap

LOGS = "campaign.logs"
"""The folder with what the processes of the runs printed."""

HERE = "screensearch.explore.campaign.process"
"""The module whose process explores a run by workers on this machine."""

SAVE_SECONDS = 5.0
"""How old the figures of a run under way may be in campaign.json."""

END_SECONDS = 90.0
"""How long a process may take to end whose conductor wants no more of it: as long as a step may take."""

_LONGEST_LINE = 1 << 20


class Onlooker(Protocol):
    """Who is told how a campaign goes."""

    def waiting(self) -> None:
        """Processes of a campaign that was killed have to end first."""
        ...

    def show(self, name: str, standing: Standing) -> None:
        """A run stands there now."""
        ...

    def stopping(self) -> None:
        """It was interrupted: steps under way are finished, and no more are taken."""
        ...


def conduct(
    campaign: Campaign,
    due: Sequence[PlannedRun],
    folder: Path,
    record: CampaignRecord,
    onlooker: Onlooker,
    *,
    process: str = HERE,
    metrics: str = "",
    log_format: str = TEXT,
) -> bool:
    """Explore the runs that are due, at most `at_once` at a time; False if it was interrupted.

    To be called within `conducted`. `process` is the module that explores one run, in a process of its own.
    Each run serves its metrics there or at the next port that is free, and logs in that form.
    Every run ends up in the record as what became of it; one that fails does not keep the others from being
    explored.
    """
    with at_work(folder, onlooker.waiting) as handle:
        conductor = _Conductor(campaign, folder, record, onlooker, handle, process, metrics, log_format)
        return asyncio.run(conductor.run(due))


class _Conductor:
    def __init__(
        self,
        campaign: Campaign,
        folder: Path,
        record: CampaignRecord,
        onlooker: Onlooker,
        handle: int,
        process: str,
        metrics: str,
        log_format: str,
    ) -> None:
        self._campaign = campaign
        self._metrics, self._log_format = metrics, log_format
        self._process = process
        self._folder = folder
        self._handle = handle  # of `at_work`
        self._record = record
        self._onlooker = onlooker
        self._processes: dict[asyncio.subprocess.Process, asyncio.StreamWriter] = {}
        self._interrupts = 0
        self._saved = time.monotonic()

    async def run(self, due: Sequence[PlannedRun]) -> bool:
        waiting = iter(due)

        async def explore_in_turn() -> None:
            for run in waiting:  # shared: each takes the next one
                if self._interrupts:
                    return
                await self._explore(run)

        with interrupts(self._first_interrupt, self._interrupt):
            try:
                async with asyncio.TaskGroup() as turns:
                    for _ in range(min(self._campaign.at_once, len(due))):
                        turns.create_task(explore_in_turn())
            except ExceptionGroup as problems:  # the record cannot be written: the others end with it
                raise problems.exceptions[0] from problems
        return not self._interrupts

    def _first_interrupt(self) -> None:
        self._onlooker.stopping()
        self._interrupt()

    def _interrupt(self) -> None:
        """Let steps under way finish; the second time give them up, the third time end the processes."""
        self._interrupts += 1
        for process, writer in self._processes.items():
            if self._interrupts == 1:
                _let_finish(writer)
            elif self._interrupts == 2:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(process.pid, signal.SIGINT)
            else:
                kill_group(process)

    # -- one run ------------------------------------------------------------------------------

    async def _explore(self, run: PlannedRun) -> None:
        before = self._record[run.name]
        stop = rest_of(run.stop, before)
        if stop is None:
            done = replace(before, state=RunState.FINISHED, stop=run.stop, ended="seconds", failure=None)
            self._put(run.name, done)
            return
        standing = replace(before, state=RunState.RUNNING, stop=run.stop, ended="", failure=None)
        self._put(run.name, standing)
        order = Order(
            folder=str(self._folder / run.name),
            environment=run.environment,
            settings=settings_document(run.settings),
            stop=stop,
            workers=run.workers,
            seed=run.seed,
            store=run.store,
            artifacts=run.artifacts,
            cluster=self._campaign.cluster,
            metrics=self._metrics,
            log_format=self._log_format,
        )

        def hear(news: News) -> None:
            nonlocal standing
            standing = _after(standing, news, before.seconds)
            if isinstance(news, Going):
                self._put(run.name, standing, durably=False)

        how = await self._in_process(run.name, order, hear)
        if standing.state is RunState.RUNNING:  # it ended without a last word
            if self._interrupts:
                standing = replace(standing, state=RunState.INTERRUPTED)
            else:
                failure = Failure("ProcessEnded", how)
                standing = replace(standing, state=RunState.FAILED, failure=failure)
        self._put(run.name, standing)

    def _put(self, name: str, standing: Standing, *, durably: bool = True) -> None:
        self._record.put(name, standing)
        if durably or time.monotonic() - self._saved > SAVE_SECONDS:
            self._record.save()
            self._saved = time.monotonic()
        self._onlooker.show(name, standing)

    # -- its process --------------------------------------------------------------------------

    async def _in_process(self, name: str, order: Order, hear: Callable[[News], None]) -> str:
        """One life of a run's process; how it ended, in words."""
        output = self._folder / LOGS / f"{name}.log"
        try:
            output.parent.mkdir(exist_ok=True)
            said_before = output.stat().st_size if output.exists() else 0
            process, reader, writer = await self._start_process(output)
        except OSError as problem:
            return f"its process cannot be started: {problem}"
        try:
            writer.write(msgspec.json.encode(order) + b"\n")
            if self._interrupts:  # while it was being started
                _let_finish(writer)
            with contextlib.suppress(ConnectionError):  # it died: its status tells more
                while line := await reader.readline():
                    hear(msgspec.json.decode(line, type=News))
        finally:
            writer.close()  # which also tells it to end, should it be at work
            code = await reap(process, END_SECONDS)
            del self._processes[process]
        return how_it_ended(code, output, said_before)

    async def _start_process(
        self, output_path: Path
    ) -> tuple[asyncio.subprocess.Process, asyncio.StreamReader, asyncio.StreamWriter]:
        ours, theirs = socket.socketpair()
        try:
            with output_path.open("ab") as output:
                process = await asyncio.create_subprocess_exec(
                    sys.executable,
                    "-P",  # what lies in the current folder is none of its modules
                    "-m",
                    self._process,
                    str(theirs.fileno()),
                    pass_fds=[theirs.fileno(), self._handle],
                    stdin=subprocess.DEVNULL,
                    stdout=output,
                    stderr=output,
                    start_new_session=True,  # an interrupt from the terminal reaches the conductor only
                )
        except BaseException:
            ours.close()
            raise
        finally:
            theirs.close()
        reader, writer = await asyncio.open_unix_connection(sock=ours, limit=_LONGEST_LINE)
        self._processes[process] = writer
        return process, reader, writer


def _let_finish(writer: asyncio.StreamWriter) -> None:
    """Tell a process to finish the steps under way: no more comes from here, as if we were gone.

    A signal could come before it is ready for one, and be ignored where we were started in the background.
    """
    if not writer.is_closing():
        writer.write_eof()


def rest_of(stop: StopRule, standing: Standing) -> StopRule | None:
    """The rule for what is left of a run: time that it has had counts. None when its time is up.

    A run without a single state has had nothing of its time.
    """
    if stop.seconds is None or not standing.figures.states:
        return stop
    left = stop.seconds - standing.seconds
    return replace(stop, seconds=left) if left > 0 else None


def _after(standing: Standing, news: News, seconds_before: float) -> Standing:
    """Where a run stands after what its process told; it has had so many seconds in earlier lives."""
    told = news.progress if isinstance(news, Going) else news.summary
    if told is not None:
        seconds = round(seconds_before + told.seconds, 3)
        standing = replace(standing, figures=Figures.of(told), seconds=seconds)
    match news:
        case Ended(summary):
            state = RunState.INTERRUPTED if summary.ended == "interrupted" else RunState.FINISHED
            return replace(standing, state=state, ended=summary.ended, digest=summary.digest)
        case Broken(kind, message):
            return replace(standing, state=RunState.FAILED, failure=Failure(kind, message))
    return standing
