"""An S3-compatible server of our own: SeaweedFS, a new store in a temporary folder, on loopback only."""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from urllib.error import URLError
from urllib.request import urlopen

import s3fs
from aftermath import AFTERMATH

_START_SECONDS = 60
_SECRET = "not-to-be-seen-anywhere"
_USERS = {"writer": ["Admin", "Read", "Write", "List"], "reader": ["Read", "List"]}
_PARTS = ("master", "master.grpc", "volume", "volume.grpc", "filer", "filer.grpc", "s3", "s3.grpc")


class S3Server:
    """A server with room for so many buckets. The user `writer` may do everything, `reader` may look."""

    def __init__(self, folder: Path, buckets: int) -> None:
        program = shutil.which("weed", path=f"{Path(sys.executable).parent}:{os.environ['PATH']}")
        if program is None:
            raise RuntimeError("SeaweedFS is not installed: run scripts/setup")
        self._folder = folder
        (folder / "data").mkdir()
        users = [
            {"name": name, "credentials": [{"accessKey": name, "secretKey": _SECRET}], "actions": actions}
            for name, actions in _USERS.items()
        ]
        (folder / "users.json").write_text(json.dumps({"identities": users}))
        ports = dict(zip(_PARTS, free_ports(len(_PARTS)), strict=True))
        self._ports = ports.values()
        self.endpoint = f"http://127.0.0.1:{ports['s3']}"
        self._command = [
            program,
            "-logtostderr=true",
            "server",
            f"-dir={folder}/data",
            "-ip=127.0.0.1",
            "-ip.bind=127.0.0.1",
            "-filer",
            "-s3",
            *(f"-{part}.port={ports[part]}" for part in _PARTS if "." not in part),
            *(f"-{part.removesuffix('.grpc')}.port.grpc={ports[part]}" for part in _PARTS if "." in part),
            "-master.telemetry=false",
            "-master.electionTimeout=500ms",  # alone, it needs no time to agree with others
            "-master.heartbeatInterval=50ms",
            "-master.volumeSizeLimitMB=64",
            f"-volume.max={buckets}",
            "-volume.minFreeSpace=1",
            f"-filer.localSocket={folder}/filer",
            f"-s3.config={folder}/users.json",
            f"-s3.localSocket={folder}/s3",
            "-s3.port.iceberg=0",
            "-s3.port.lance=0",
            "-s3.iam=false",
            "-s3.autoCreateBucket=false",
        ]
        self._process: subprocess.Popen[bytes] | None = None
        self._ended: Callable[[], None] = lambda: None

    def start(self) -> None:
        own = {name: value for name, value in os.environ.items() if not name.startswith("AWS_")}
        own["WEED_MASTER_VOLUME_GROWTH_COPY_1"] = "1"  # a bucket takes one volume at first, not seven
        with (self._folder / "log").open("ab") as log:
            self._process = subprocess.Popen(self._command, stdout=log, stderr=log, cwd=self._folder, env=own)
        self._ended()
        self._ended = AFTERMATH.end(self._process.pid)
        end = time.monotonic() + _START_SECONDS
        while not self._is_up():
            if self._process.poll() is not None or time.monotonic() > end:
                raise RuntimeError(f"SeaweedFS did not start: {(self._folder / 'log').read_text()[-2000:]}")
            time.sleep(0.05)

    def _is_up(self) -> bool:
        with suppress(URLError, OSError), urlopen(f"{self.endpoint}/healthz", timeout=5):
            return True
        return False

    def kill(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._ended()

    def remove(self) -> None:
        """End it and remove all that it made, also the sockets that it puts where it likes."""
        self.kill()
        for port in self._ports:
            for path in Path("/tmp").glob(f"seaweedfs-*-{port}.sock"):
                path.unlink(missing_ok=True)
        shutil.rmtree(self._folder)

    def signal(self, number: signal.Signals) -> None:
        assert self._process is not None
        self._process.send_signal(number)

    def environment(self, user: str = "writer") -> dict[str, str]:
        """What a client needs to know."""
        return {
            "AWS_ENDPOINT_URL": self.endpoint,
            "AWS_ACCESS_KEY_ID": user,
            "AWS_SECRET_ACCESS_KEY": _SECRET,
            "AWS_DEFAULT_REGION": "us-east-1",
        }

    def files(self) -> s3fs.S3FileSystem:
        """A client that is not ours."""
        return s3fs.S3FileSystem(
            key="writer", secret=_SECRET, endpoint_url=self.endpoint, use_listings_cache=False
        )

    def make_bucket(self, name: str) -> str:
        """A new bucket; its URL. Its first file is written here: the server makes room for it meanwhile."""
        self.files().mkdir(name)
        self.files().pipe_file(f"{name}/first", b"a file of some size")
        return f"s3://{name}"


def free_ports(count: int) -> list[int]:
    """So many ports of loopback that nobody listens on."""
    with ExitStack() as held:
        sockets = [held.enter_context(socket.socket()) for _ in range(count)]
        for each in sockets:
            each.bind(("127.0.0.1", 0))
        return [each.getsockname()[1] for each in sockets]


@contextmanager
def s3_server(buckets: int = 1_000) -> Iterator[S3Server]:
    """A running server, gone afterwards."""
    folder = Path(tempfile.mkdtemp(prefix="screensearch-s3-"))  # short: a socket's path has a limit
    removed = AFTERMATH.remove(folder)
    server = S3Server(folder, buckets)
    try:
        server.start()
        yield server
    finally:
        server.remove()
        removed()
