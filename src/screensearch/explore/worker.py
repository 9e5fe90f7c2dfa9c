"""A worker: one environment, one mind, episodes until the run has enough.

As a process of its own it is started as ``python -m screensearch.explore.worker FD`` with one end
of a socket pair, told what to do over it, and ends when the other end closes.
"""

from __future__ import annotations

import asyncio
import contextlib
import signal
import socket
import sys
from collections.abc import Iterator
from pathlib import Path

import msgspec
import numpy as np

from screensearch.config import Settings, settings_from_document
from screensearch.domain.transition import EpisodeId
from screensearch.environments.protocol import Environment, TruthTeller
from screensearch.environments.specification import open_environment
from screensearch.errors import EnvironmentFailed, FormatError, ScreenSearchError
from screensearch.explore.messages import Announce, Begin, Receipt, Report
from screensearch.explore.mind import Mind
from screensearch.explore.step import Store, Witness, explore_episode
from screensearch.explore.wire import LENGTH, Assignment, Failed, Frame, pack, unpack
from screensearch.record.artifacts import Artifacts

EMPTY_EPISODES = 3
"""So many episodes in a row without a single action mean that there is nothing to explore."""


async def work(
    world: Environment,
    store: Store,
    settings: Settings,
    *,
    folder: Path,
    worker: int,
    seed: int,
    first_episode: int,
) -> None:
    """Run episodes until a receipt says that the run has enough."""
    artifacts = Artifacts(folder / "artifacts") if settings.explore.screenshots == "all" else None
    mind = Mind(settings, world.application, artifacts)
    number, empty = first_episode, 0
    with _truth_notes(world, folder / "truth" / f"w{worker}.jsonl") as witness:
        while True:
            world_seed, choice_seed = np.random.SeedSequence(seed, spawn_key=(worker, number)).spawn(2)
            mind.start_episode(choice_seed)
            last = await explore_episode(
                world,
                store,
                mind,
                EpisodeId(worker, number),
                seed=int(world_seed.generate_state(1, np.uint64)[0]),
                length=settings.explore.episode_steps,
                witness=witness,
            )
            if not last.receipt.proceed:
                return
            empty = empty + 1 if last.step == 0 else 0
            if empty == EMPTY_EPISODES:
                raise EnvironmentFailed(
                    f"{world.application!r} offered no action on its first screen in {empty} episodes; "
                    "check the candidates and guard settings and that its elements can be clicked"
                )
            number += 1


@contextlib.contextmanager
def _truth_notes(world: Environment, path: Path) -> Iterator[Witness | None]:
    """Note the truth of every observation beside the run, where the environment knows it."""
    if not isinstance(world, TruthTeller):
        yield None
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    encode = msgspec.json.Encoder().encode
    with path.open("ab", buffering=0) as notes:  # a note is written whole or not at all

        def witness(episode: EpisodeId, step: int) -> None:
            notes.write(encode({"episode": episode.number, "step": step, **world.truth()}) + b"\n")

        yield witness


class RemoteStore:
    """The store at the other end of a socket. One worker has one message under way."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer

    async def begin(self, begin: Begin) -> Receipt:
        return await self._ask(begin)

    async def record(self, report: Report) -> Receipt:
        return await self._ask(report)

    async def announce(self, announcement: Announce) -> None:
        self.send(announcement)

    def send(self, frame: Frame) -> None:
        self._writer.write(pack(frame))

    async def receive(self) -> Frame:
        (length,) = LENGTH.unpack(await self._reader.readexactly(LENGTH.size))
        return unpack(await self._reader.readexactly(length))

    async def _ask(self, message: Begin | Report) -> Receipt:
        self.send(message)
        answer = await self.receive()
        if isinstance(answer, Failed):
            raise FormatError(answer.message)
        if not isinstance(answer, Receipt):
            raise FormatError(f"the owner answered with {type(answer).__name__}, not with a receipt")
        return answer

    async def close(self) -> None:
        self._writer.close()
        with contextlib.suppress(ConnectionError):
            await self._writer.wait_closed()


async def serve(connection: socket.socket) -> None:
    """Be a worker process: receive the assignment, work, say why if it cannot go on."""
    store = RemoteStore(*await asyncio.open_unix_connection(sock=connection))
    assignment = await store.receive()
    if not isinstance(assignment, Assignment):
        raise FormatError(f"a worker was started with {type(assignment).__name__}, not with an assignment")
    try:
        settings = settings_from_document(assignment.settings)
        world = open_environment(assignment.environment, screenshots=settings.explore.screenshots == "all")
        try:
            await work(
                world,
                store,
                settings,
                folder=Path(assignment.folder),
                worker=assignment.worker,
                seed=assignment.seed,
                first_episode=assignment.first_episode,
            )
        finally:
            await world.close()
    except ScreenSearchError as problem:
        store.send(Failed(str(problem)))
    await store.close()


def main() -> None:
    """The process. An interrupt is the owner's business: it lets workers finish their step."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    connection = socket.socket(fileno=int(sys.argv[1]))
    with contextlib.suppress(asyncio.IncompleteReadError, ConnectionError):  # the owner is gone: so are we
        asyncio.run(serve(connection))


if __name__ == "__main__":
    main()
