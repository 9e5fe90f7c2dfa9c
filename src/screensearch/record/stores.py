"""Where the log of a run is kept: in the run's folder, or in a database."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from screensearch.errors import PluginUnavailable, SettingsError
from screensearch.record.log import Log
from screensearch.record.sharded_log import ShardedLog
from screensearch.record.sqlite_file import check_log_file
from screensearch.record.sqlite_log import SqliteLog

if TYPE_CHECKING:
    from screensearch.record.postgres_log import PostgresLog, Reach

POSTGRES = ("postgresql://", "postgres://")

_SHARD_FILE = re.compile(r"log-(?P<shard>[1-9][0-9]*)\.sqlite")

_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://")


class Store(Protocol):
    """The place of one log."""

    def create(self) -> None:
        """Make an empty log; raises `LogExists` if there is one."""
        ...

    def check(self, *, owned: bool, to_write: bool = False) -> None:
        """Raise when there is no log, or one that this version cannot read. Changes nothing.

        One that can only be read once `open_to_write` has brought it up to date will do `to_write`.
        """
        ...

    def shards(self) -> list[int]:
        """The shards of the run, in order of their numbers."""
        ...

    def open_to_read(self, *, owned: bool) -> Log:
        """The log, for reading; `owned` when a process on this machine is writing it."""
        ...

    def open_to_write(self, *, take_over: bool = False) -> Log:
        """The log, for its owner; with `take_over` also in the place of one that seems to be at work."""
        ...

    def discard(self) -> None:
        """Undo `create`."""
        ...


def find_store(url: str, folder: Path, run: str) -> Store:
    """The store of a run's log: the database of an address, or the run's own folder when there is none."""
    if not url:
        return SqliteStore(folder / "log.sqlite")
    if url.startswith(POSTGRES):
        return PostgresStore(url, run)
    # The rest of an address that we do not understand may hold a password.
    scheme = _SCHEME.match(url)
    raise SettingsError(
        f"the store {scheme[0] + '… ' if scheme else ''}is of no known kind: give "
        "postgresql://USER@HOST/DATABASE, or none for a file"
    )


def reach_store(url: str) -> None:
    """Raise when no log can be kept there: an address of no known kind, or no server that answers."""
    find_store(url, Path(), "")
    if url:
        _postgres_log().reach(url)


@dataclass(frozen=True, slots=True)
class SqliteStore:
    """A file of the run's folder; further ones beside it where it was brought here in several shards."""

    path: Path

    def create(self) -> None:
        SqliteLog.create(self.path).close()

    def create_shard(self, shard: int) -> Log:
        """A further shard, opened for writing, of a run that is being brought here."""
        return SqliteLog.create(self._file(shard))

    def _file(self, shard: int) -> Path:
        return self.path if not shard else self.path.with_stem(f"{self.path.stem}-{shard}")

    def shards(self) -> list[int]:
        """The shards of the run, in order of their numbers."""
        found = (_SHARD_FILE.fullmatch(path.name) for path in self.path.parent.glob("log-*.sqlite"))
        return [0, *sorted(int(name["shard"]) for name in found if name)]

    def check(self, *, owned: bool, to_write: bool = False) -> None:
        del to_write
        for shard in self.shards():
            check_log_file(self._file(shard), owned=owned)

    def open_to_read(self, *, owned: bool) -> Log:
        """The log; its shards, where there are several, are read as one."""
        return _open_shards(
            self.shards(), lambda shard: SqliteLog.open_to_read(self._file(shard), owned=owned)
        )

    def open_to_write(self, *, take_over: bool = False) -> Log:
        """The first shard."""
        if take_over:
            raise SettingsError(
                f"the log {self.path} is a file, whose owner is known to be there or not: only one that is "
                "kept in a database can be taken over"
            )
        return SqliteLog.open_to_write(self.path)

    def discard(self) -> None:
        self.path.unlink(missing_ok=True)


@dataclass(frozen=True, slots=True)
class PostgresStore:
    """A PostgreSQL database, which many runs share."""

    url: str
    run: str
    shard: int = 0
    exploration: str = ""  # whose owners replace each other without asking (`postgres_lease`)

    @property
    def _shard(self) -> str:
        return str(self.shard or "")

    def create(self) -> None:
        log = _postgres_log().create(self.url, self.run, self._shard, exploration=self.exploration)
        log.close()

    def shards(self) -> list[int]:
        """The shards of the run, in order of their numbers."""
        return self._sorted(_postgres_log().shards(self.url, self.run))

    @staticmethod
    def _sorted(names: Sequence[str]) -> list[int]:
        return sorted(int(name or 0) for name in names)

    def latest_shards(self) -> list[int]:
        """The same as those who write see it: where reading is for replicas, they may be behind."""
        return self._sorted(_postgres_log().shards(self.url, self.run, latest=True))

    def how_far(self) -> Reach:
        """How far this shard's log goes now, also while it has an owner."""
        return _postgres_log().how_far(self.url, self.run, self._shard)

    def answers(self) -> bool:
        """Whether the database makes something durable for this process, and soon."""
        return _postgres_log().answers(self.url)

    def check(self, *, owned: bool, to_write: bool = False) -> None:
        if to_write:
            _postgres_log().check_to_write(self.url, self.run, self._shard)
        else:
            self.open_to_read(owned=owned).close()

    def open_to_read(self, *, owned: bool) -> Log:
        """This shard; the first one stands for the whole run, whose shards are then read as one."""
        return self._open([self.shard] if self.shard else self.shards())

    def open_latest(self) -> Log:
        """The whole run to read, as those who write see it."""
        return self._open(self.latest_shards(), latest=True)

    def _open(self, shards: Sequence[int], *, latest: bool = False) -> Log:
        def open_shard(shard: int) -> Log:
            return _postgres_log().open_to_read(self.url, self.run, str(shard or ""), latest=latest)

        return _open_shards(shards or [0], open_shard)

    def open_to_write(self, *, take_over: bool = False, again: bool = False) -> PostgresLog:
        """This shard, for its owner; `again` if the exploration has had it before."""
        return _postgres_log().open_to_write(
            *(self.url, self.run, self._shard),
            take_over=take_over,
            exploration=self.exploration,
            again=again,
        )

    def discard(self) -> None:
        _postgres_log().drop(self.url, self.run, self._shard)


def _open_shards(shards: Sequence[int], open_shard: Callable[[int], Log]) -> Log:
    """The log of the only shard, or those of all of them as one."""
    logs: list[tuple[int, Log]] = []
    try:
        logs.extend((shard, open_shard(shard)) for shard in shards)
        return logs[0][1] if len(logs) == 1 else ShardedLog(logs)
    except BaseException:
        for _, log in logs:
            log.close()
        raise


def _postgres_log() -> type[PostgresLog]:
    try:
        from screensearch.record.postgres_log import PostgresLog
    except ImportError as problem:
        raise PluginUnavailable(
            "a store in PostgreSQL needs the extra `postgres`: pip install 'screensearch[postgres]'"
        ) from problem
    return PostgresLog
