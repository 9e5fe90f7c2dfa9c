"""Workers as processes, killed at any moment: what they wrote down until then is checked like all else."""

from __future__ import annotations

import asyncio
import sys
from asyncio.subprocess import Process
from dataclasses import dataclass, field
from pathlib import Path

from checker import problems_of
from history import read_history
from owners import Owner, Owners

from screensearch.config import Settings
from screensearch.explore.messages import Announce, Begin, BeginFailed, Report
from screensearch.explore.wire import LENGTH, pack, unpack
from screensearch.record.sqlite_log import SqliteLog

WORLD = "synthetic:generated?states=60&hazards=1.0&races=0.3"
WORKERS = 2
STEPS = 100
KILLS = 2


@dataclass(slots=True)
class Gate:
    """Where processes reach the owner: each says its messages over one connection."""

    owner: Owner
    serving: dict[int, asyncio.Task[None]] = field(default_factory=dict)  # by worker

    async def admit(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        try:
            while True:
                (length,) = LENGTH.unpack(await reader.readexactly(LENGTH.size))
                message = unpack(await reader.readexactly(length))
                if isinstance(message, Announce):
                    self.owner.announce(message)
                    continue
                assert isinstance(message, Begin | BeginFailed | Report)
                self.serving[message.episode.worker] = task
                writer.write(pack(await self.owner.ask(message)))
        except (asyncio.IncompleteReadError, ConnectionError):  # it is gone
            writer.close()


async def test_what_killed_processes_saw_of_their_store_holds(tmp_path: Path) -> None:
    history, address = tmp_path / "history", tmp_path / "socket"
    history.mkdir()
    log = SqliteLog.create(tmp_path / "log.sqlite")
    owners = Owners(lambda: log, Settings(), STEPS)
    await owners.replace()
    gate = Gate(owners.present)

    async def start(worker: int, episode: int) -> Process:
        program = Path(__file__).with_name("recording_worker.py")
        told = (address, history, str(worker), str(episode), WORLD)
        return await asyncio.create_subprocess_exec(sys.executable, program, *told)

    processes: list[Process] = []
    try:
        async with asyncio.timeout(120), await asyncio.start_unix_server(gate.admit, address):
            processes += [await start(worker, 0) for worker in range(WORKERS)]
            for number in range(KILLS):
                await owners.until(30 * (number + 1))
                worker = next(each for each, task in gate.serving.items() if not task.done())
                processes[worker].kill()
                await processes[worker].wait()
                await gate.serving[worker]  # what it has sent still counts
                episode = await owners.present.lose(worker)
                processes[worker] = await start(worker, episode)
            assert [await process.wait() for process in processes] == [0] * WORKERS
            await asyncio.gather(*gate.serving.values())
        assert problems_of(history, log, Settings()) == []
        assert len({call.life for call in read_history(history).calls}) == WORKERS + KILLS
    finally:
        for process in processes:
            if process.returncode is None:
                process.kill()
                await process.wait()
        await owners.close()
