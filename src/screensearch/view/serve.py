"""The viewer's server. The only module that knows `uvicorn`: import it late."""

from __future__ import annotations

import contextlib
import ctypes
import gc
import logging
import socket
import sys
import threading
from collections.abc import Callable

import uvicorn

from screensearch.errors import ScreenSearchError
from screensearch.view.access import Access
from screensearch.view.application import make_application
from screensearch.view.shown import Shown

_ARENA_MAX, _ARENAS = -8, 2  # M_ARENA_MAX of glibc's malloc.h
_MMAP_THRESHOLD, _LARGE = -3, 4 << 20  # M_MMAP_THRESHOLD, in bytes
_TRIM_THRESHOLD, _SPARE = -1, 8 << 20  # M_TRIM_THRESHOLD, in bytes
_TURN_SECONDS = 0.001  # after which a thread that works lets one that answers go on
_TELLING_SECONDS = 0.1
_HEAD_START_SECONDS = 3  # for a browser that opens the address at once: it has the processor to itself
_ENDING_SECONDS = 2  # that answers under way get when it is over


class CannotServe(ScreenSearchError):
    """The port is taken, or the address is not of this machine."""


def serve(
    shown: Shown,
    host: str,
    port: int,
    on_ready: Callable[[Access], None],
    on_reading: Callable[[float], None] = lambda share: None,
) -> None:
    """Serve runs until an interrupt or a signal to end; `on_ready` is told the address when it can be opened.

    That is when the runs have been read and their maps drawn; until then `on_reading` is told now and then
    how much has been, from 0 to 1. An interrupt before is raised. With port 0 the system chooses one that is
    free. The runs are not to be used afterwards.
    """
    with contextlib.closing(_listen(host, port)) as listening:
        access = Access(host, listening.getsockname()[1])
        server = _Server(
            uvicorn.Config(
                make_application(shown, access),
                log_config=None,
                access_log=False,
                lifespan="off",
                server_header=False,
                date_header=False,
                timeout_graceful_shutdown=_ENDING_SECONDS,
            ),
            shown,
        )
        _share_memory()
        sys.setswitchinterval(_TURN_SECONDS)
        drawn = threading.Event()
        reading = threading.Thread(target=_read, args=(shown, drawn), name="reads the runs", daemon=True)
        try:
            reading.start()
            while not drawn.wait(_TELLING_SECONDS):
                on_reading(shown.share_read)
            on_ready(access)
            with contextlib.suppress(KeyboardInterrupt):
                server.run(sockets=[listening])
        finally:
            shown.end()
            reading.join(_ENDING_SECONDS)
            if not reading.is_alive():  # else it loads a model, and ends with the process
                shown.close()


def _read(shown: Shown, drawn: threading.Event) -> None:
    """All that is read ahead of questions.

    It stays for good, in millions of small objects: the search for garbage is to leave them out, or every
    search would stop all answers for as long as it takes to look at each of them.
    """
    gc.disable()
    try:
        shown.draw_all()
    finally:
        gc.freeze()
        gc.enable()
        drawn.set()
    shown.pause(_HEAD_START_SECONDS)
    shown.prepare()
    gc.freeze()
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).malloc_trim(0)


class _Server(uvicorn.Server):
    """Tells those that follow a run that it is over, so that nobody has to wait for them."""

    def __init__(self, config: uvicorn.Config, shown: Shown) -> None:
        super().__init__(config)
        self._shown = shown

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self._shown.end()
        logging.getLogger("uvicorn.error").setLevel(logging.CRITICAL)  # of answers that are cut off
        await super().shutdown(sockets)


def _share_memory() -> None:
    """Let all threads take memory from few places, where the C library can be told so.

    Each thread would else keep for itself what it has freed, and answers are made by many. What is large has
    a place of its own: a column that grows would else leave a hole wherever it was before. What a search
    needs for a moment is not that large, or each would have to ask the system for it.
    """
    with contextlib.suppress(OSError, AttributeError):
        library = ctypes.CDLL(None)
        library.mallopt(_ARENA_MAX, _ARENAS)
        library.mallopt(_MMAP_THRESHOLD, _LARGE)
        library.mallopt(_TRIM_THRESHOLD, _SPARE)


def _listen(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # With the protocol named, asyncio turns off the delay of small packets: 40 ms of every answer.
    listening = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind((host, port))
        listening.listen()  # who opens the address before the server has begun waits for it
    except OSError as problem:
        listening.close()
        raise CannotServe(
            f"cannot serve at {host} port {port}: {problem.strerror}; give another --port, or none"
        ) from problem
    return listening
