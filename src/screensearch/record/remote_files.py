"""Whole files below a URL, in a bucket or wherever else fsspec reaches: the one module that knows it.

What fails in a way that may pass is tried again, for so long; all else is a `StoreFailed` that names the
place and what helps. Credentials and endpoints are fsspec's own matter: they come from the environment and
from its configuration, never through us.
"""

from __future__ import annotations

import errno
import posixpath
import re
import time
from collections.abc import Callable
from functools import cached_property
from typing import Any, TypeVar

from screensearch.errors import PluginUnavailable, ScreenSearchError, SettingsError, StoreFailed

T = TypeVar("T")

FIRST_PAUSE_SECONDS = 0.1
LONGEST_PAUSE_SECONDS = 2.0

_REFUSALS = (
    FileNotFoundError,
    IsADirectoryError,
    NotADirectoryError,
    PermissionError,
    NotImplementedError,
    TypeError,
    ValueError,
)
_REFUSED = frozenset({errno.EINVAL, errno.ENAMETOOLONG, errno.ENOSYS, errno.EMSGSIZE, errno.EROFS})
"""What another try would not change, by type and by number."""

_USER = re.compile(r"//[^/\s@]*@")


class RemoteFiles:
    """The files below a URL. It is opened when it is first used, in the process that uses it."""

    def __init__(self, url: str, patience_seconds: float) -> None:
        self.url = url
        self.kind = url.partition("://")[0]
        self._patience_seconds = patience_seconds

    def read(self, path: str) -> bytes | None:
        """The content of a file; None when there is none."""
        return self._ask("read from", lambda seconds: self._read(path, seconds))

    def read_end(self, path: str, size: int) -> bytes | None:
        """The last bytes of a file, all of it if it has less; None when there is none."""
        return self._ask("read from", lambda seconds: self._read_end(path, size, seconds))

    def write(self, path: str, content: bytes) -> None:
        """Write a file, in the place of one that is there. It is durable when this returns."""
        self._ask("write to", lambda seconds: self._write(path, content, seconds))

    # -- one try --------------------------------------------------------------------------------

    def _read(self, path: str, seconds: float) -> bytes | None:
        try:
            content: bytes = self._call("cat_file", seconds, path)
        except FileNotFoundError:
            return None
        return content

    def _read_end(self, path: str, size: int, seconds: float) -> bytes | None:
        try:
            content: bytes = self._call("cat_file", seconds, path, start=-size)
        except FileNotFoundError:
            return None
        except OSError as problem:
            if problem.errno == errno.EINVAL:  # S3 has no range of an empty file
                return b""
            raise
        return content

    def _write(self, path: str, content: bytes, seconds: float) -> None:
        try:
            self._call("pipe_file", seconds, path, content)
        except FileNotFoundError:
            folder = posixpath.dirname(path)
            if not folder:  # the place itself is not there, and not ours to make: it may be a bucket
                raise
            # What has folders lacks this one.
            self._call("mkdir", seconds, folder, create_parents=False)
            self._call("pipe_file", seconds, path, content)

    def _call(self, method: str, seconds: float, path: str, *values: Any, **options: Any) -> Any:
        """One call of the file system; those that can be are bounded in time."""
        files, root = self._opened
        whole = f"{root}/{path}"
        if files.async_impl:
            from fsspec.asyn import sync

            return sync(files.loop, getattr(files, f"_{method}"), whole, *values, timeout=seconds, **options)
        return getattr(files, method)(whole, *values, **options)

    @cached_property
    def _opened(self) -> tuple[Any, str]:
        """The file system, and where we are in it."""
        try:
            from fsspec.core import url_to_fs
        except ImportError as problem:
            raise self._unavailable() from problem
        try:
            files, root = url_to_fs(self.url, **self._options())
        except ImportError as problem:  # of the package that fsspec needs for this kind
            raise self._unavailable(str(problem)) from problem
        except ValueError as problem:
            raise SettingsError(f"artifacts cannot be kept at {self.url}: {problem}") from problem
        return files, str(root).rstrip("/")

    def _options(self) -> dict[str, Any]:
        """Of S3's own tries one is enough: ours go on for longer, and can say what went wrong meanwhile."""
        from fsspec.config import conf

        if self.kind != "s3":
            return {}
        return {
            "config_kwargs": {"retries": {"max_attempts": 0}, **conf.get("s3", {}).get("config_kwargs", {})}
        }

    # -- more than one --------------------------------------------------------------------------

    def _ask(self, verb: str, trying: Callable[[float], T]) -> T:
        """Try until it is done, for no longer than we are patient."""
        end = time.monotonic() + self._patience_seconds
        pause, told = FIRST_PAUSE_SECONDS, ""
        while True:
            left = end - time.monotonic()
            try:
                return trying(max(left, FIRST_PAUSE_SECONDS))
            except ScreenSearchError:
                raise
            except Exception as problem:  # a file system that fsspec finds is a plugin and may raise anything
                if not (told and isinstance(problem, TimeoutError)):  # the words before it say more
                    told = self._told(problem)
                if _is_refusal(problem) or left <= pause:
                    raise StoreFailed(f"cannot {verb} {self.url}: {told}{_remedy(problem)}") from problem
            time.sleep(pause)
            pause = min(2 * pause, LONGEST_PAUSE_SECONDS)

    def _told(self, problem: Exception) -> str:
        if isinstance(problem, TimeoutError):
            return f"no answer within {self._patience_seconds:g} s"
        words = getattr(problem, "strerror", None) or str(problem)
        return _USER.sub("//", words) or type(problem).__name__

    def _unavailable(self, why: str = "") -> PluginUnavailable:
        if self.kind == "s3" or not why:
            return PluginUnavailable(
                f"artifacts at {self.url} need the extra `s3`: pip install 'screensearch[s3]'"
            )
        return PluginUnavailable(f"artifacts at {self.url} need another package: {why}")


def _is_refusal(problem: Exception) -> bool:
    return isinstance(problem, _REFUSALS) or getattr(problem, "errno", None) in _REFUSED


def _remedy(problem: Exception) -> str:
    """What helps, where that is known."""
    if isinstance(problem, FileNotFoundError):
        return "; make the bucket or the folder first"
    if isinstance(problem, PermissionError) or "credentials" in str(problem):
        return (
            "; check the credentials (AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or ~/.aws/credentials), "
            "and that they may read, write and list there"
        )
    return ""
