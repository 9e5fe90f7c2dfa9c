"""A worker as a process of its own, which can be killed: SOCKET HISTORY WORKER FIRST_EPISODE WORLD."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

from history import Recorded

from screensearch.config import Settings
from screensearch.environments.protocol import Means
from screensearch.environments.specification import open_environment
from screensearch.explore.worker import work
from screensearch.explore.worker_process import RemoteStore


async def main(address: str, history: str, worker: str, first_episode: str, world: str) -> None:
    store = RemoteStore(*await asyncio.open_unix_connection(address))
    await work(
        open_environment(world, Means(screenshots=False)),
        Recorded(store, Path(history)),
        Settings(),
        folder=Path(history),
        worker=int(worker),
        seed=0,
        first_episode=int(first_episode),
    )
    await store.close()


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
