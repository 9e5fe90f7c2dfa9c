"""Where metrics can be scraped: a small HTTP server in threads of its own.

It answers while the thread that explores is busy or stuck, which is when one wants to look. It has no
authentication: it listens on the loopback interface unless another is named.
"""

from __future__ import annotations

import contextlib
import logging
import socket
import threading
from collections.abc import Iterator
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler
from importlib.metadata import version
from socketserver import TCPServer, ThreadingMixIn
from types import TracebackType
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from screensearch.errors import PluginUnavailable, ScreenSearchError, SettingsError
from screensearch.explore.budget import StopRule
from screensearch.explore.metrics import Metrics, Readable
from screensearch.explore.store import ShardStore
from screensearch.record.run import RunFolder

if TYPE_CHECKING:
    from screensearch.explore.exposition import Exposition

logger = logging.getLogger(__name__)

LOOPBACK = "127.0.0.1"
PATH = "/metrics"

SILENCE_SECONDS = 10.0
"""A client that says nothing for so long is not waited for."""

NEXT_PORTS = 16
"""Where a port is taken, as by another run on the same machine, so many after it are tried."""

_LOOK_SECONDS = 0.1  # how soon the server sees that it is to end


class MetricsUnavailable(ScreenSearchError):
    """Metrics cannot be served at the address that was asked for."""


class MetricsServer:
    """Serves metrics of the explorations that are given it, at ``http://HOST:PORT/metrics``.

    `address` is ``[HOST:]PORT``; without a host it is 127.0.0.1, and port 0 takes a free one: `url` says
    where it is. It listens once it is made, and ends with `close` or with its ``with`` block.
    """

    def __init__(self, address: str = "0") -> None:
        host, port = parse_listen_address(address)
        self._shown: list[Readable] = []
        self._server = _listen(host, port, _make_exposition(self._shown))
        self.url = f"http://{_at(host, self._server.server_address[1])}{PATH}"
        self._thread = threading.Thread(
            target=self._server.serve_forever, args=(_LOOK_SECONDS,), name="metrics", daemon=True
        )
        self._thread.start()

    def show(self, metrics: Readable) -> None:
        """Show these figures from now on."""
        self._shown.append(metrics)

    @contextlib.contextmanager
    def showing(self, metrics: Readable) -> Iterator[None]:
        """Show these figures while the body runs."""
        self.show(metrics)
        try:
            yield
        finally:
            self._shown.remove(metrics)

    def close(self) -> None:
        """Stop listening. Safe to call twice."""
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def __enter__(self) -> MetricsServer:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def serve_near(asked: str, *, before: str = "") -> MetricsServer:
    """A server at the port that was asked for, one after it, or any: for several that are asked for the same.

    `before` is the URL of an earlier one in its place: there again, if possible. `MetricsUnavailable` is
    raised where this machine does not have the address.
    """
    *others, last = _addresses(asked, before)
    for address in others:
        with contextlib.suppress(MetricsUnavailable):
            return MetricsServer(address)
    return MetricsServer(last)


def _addresses(asked: str, before: str) -> Iterator[str]:
    host, port = parse_listen_address(asked)
    if before:
        yield _at(host, urlsplit(before).port)
    if port:
        yield from (_at(host, each) for each in range(port, min(port + NEXT_PORTS, 65_536)))
    yield _at(host, 0)


def check_metrics(address: str, *, here: bool = False) -> None:
    """Raise unless it is an address and this machine has what serves metrics; `here` also the address."""
    host, _ = parse_listen_address(address)
    if here:
        MetricsServer(_at(host, 0)).close()
    else:
        _make_exposition([])


@contextlib.contextmanager
def shown(server: MetricsServer | None, run: RunFolder, shard: ShardStore, stop: StopRule) -> Iterator[None]:
    """Show the figures of an exploration while the body runs, if there is a place to show them."""
    if server is None:
        yield
        return
    shard.observer = metrics = Metrics(
        shard,
        run=run.manifest.run,
        environment=run.manifest.environment,
        folder=str(run.path),
        version=version("screensearch"),
        seconds=stop.seconds,
    )
    with server.showing(metrics):
        yield


def parse_listen_address(address: str) -> tuple[str, int]:
    """Host and port of ``[HOST:]PORT``; an IPv6 address stands in brackets."""
    host, colon, port = address.rpartition(":")
    if not (port.isascii() and port.isdecimal() and int(port) <= 65_535):
        raise SettingsError(f"metrics at {address!r}: {port!r} is no port; give [HOST:]PORT, such as 9464")
    bare = host.removeprefix("[").removesuffix("]")
    if colon and (not bare or (":" in bare) != (host == f"[{bare}]")):
        raise SettingsError(
            f"metrics at {address!r}: the host is missing or cannot be told from the port; give [HOST:]PORT, "
            "with an IPv6 address in brackets, and 0.0.0.0 for all interfaces"
        )
    return bare or LOOPBACK, int(port)


def _at(host: str, port: object) -> str:
    return f"{f'[{host}]' if ':' in host else host}:{port}"


def _make_exposition(shown: list[Readable]) -> Exposition:
    try:
        from screensearch.explore.exposition import Exposition
    except ImportError as problem:
        raise PluginUnavailable(
            f"metrics need the extra `metrics`: pip install 'screensearch[metrics]' ({problem})"
        ) from problem
    return Exposition(lambda: tuple(shown))


def _listen(host: str, port: int, exposition: Exposition) -> _Server:
    try:
        family, _, _, _, where = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        return _Server(family, where, exposition)
    except OSError as problem:
        raise MetricsUnavailable(
            f"metrics cannot be served at {host} port {port}: {problem.strerror or problem}; give an address "
            "of this machine and a port that is free (0 takes any)"
        ) from problem


class _Server(ThreadingMixIn, TCPServer):
    """One thread for each client, none of which keeps the process from ending."""

    daemon_threads = True
    allow_reuse_address = True  # that of a run that has just ended

    def __init__(self, family: int, address: Any, exposition: Exposition) -> None:
        self.address_family = family
        self.exposition = exposition
        super().__init__(address, _Handler)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that went away in the middle is no news, and standard error is not ours to write to."""
        logger.debug("a client of the metrics was not answered", exc_info=True)


class _Handler(BaseHTTPRequestHandler):
    timeout = SILENCE_SECONDS
    server: _Server

    def do_GET(self) -> None:
        if urlsplit(self.path).path != PATH:
            self.send_error(HTTPStatus.NOT_FOUND, f"metrics are at {PATH}")
            return
        content_type, body = self.server.exposition.write(self.headers.get("Accept", ""))
        self.send_response(HTTPStatus.OK)
        self.send_header("Content-Type", content_type)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 (the name that it overrides)
        logger.debug(format, *args)
