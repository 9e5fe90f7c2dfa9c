"""In the place of owners on a cluster, and of the database that they open."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from types import SimpleNamespace
from typing import Any

import pytest
from stand_ins import Actor, Method, job, on, quick, until  # noqa: F401 (a fixture)

from screensearch.cluster import keeping, owners, shards
from screensearch.cluster.account import Account
from screensearch.cluster.engine import Gone
from screensearch.cluster.names import Job, OwnerReport
from screensearch.domain.screen import Metadata
from screensearch.domain.shard import shard_key
from screensearch.explore.progress import Figures

SERVING = OwnerReport(
    node="10.0.0.2",
    node_id="a",
    process=1,
    figures=Figures(),
    key=None,
    limit=None,
    left=None,
    under_way=0,
    queue=0,
    answer_seconds=0.0,
    epoch=1,
    metrics="",
)


DARK = shard_key(Metadata("app", "dark", "1.0", "main"))


LIGHT = shard_key(Metadata("app", "light", "1.0", "main"))


@asynccontextmanager
async def owned(
    monkeypatch: pytest.MonkeyPatch, account: Account | None = None
) -> AsyncIterator[owners.Owners]:
    """The owners of one shard, whose log does not grow."""
    held = owners.Owners(job(), lambda shard: keeping.AtWork({}, []), account or Account())

    async def records(shard: int, epoch: int) -> bool:
        return False

    monkeypatch.setattr(held._keeper, "records", records)
    held.shard(shard_key(Metadata("app", "light", "1.0", "main")))
    try:
        yield held
    finally:
        held.end()


class Opening(Actor):
    """An owner that opens its log, or says why not; then it says how it is."""

    def __init__(
        self, asked: list[tuple[bool, bool]], fails: Exception | None = None, *says: OwnerReport
    ) -> None:
        super().__init__(*says or [SERVING] * 1000)
        self._asked, self._fails = asked, fails

    async def _open(self, *arguments: Any, **named: Any) -> None:
        self._asked.append((named["take_over"], named["again"]))
        if self._fails is not None:
            raise raised(self._fails)


def raised(cause: Exception) -> Gone:
    """As Ray raises what was raised in an actor."""
    problem = Gone(str(cause))
    problem.cause = cause  # type: ignore[attr-defined]
    return problem


def owners_of(wanted: Job, *existing: shards.Shard) -> owners.Owners:
    """The owners of these shards."""
    held = owners.Owners(wanted, lambda shard: keeping.AtWork({}, []), Account())
    for shard in existing:
        held._have(shard)
    return held


def stand_in(monkeypatch: pytest.MonkeyPatch, there: dict[str, Actor]) -> None:
    """Let these be there, and a database with one shard."""
    monkeypatch.setattr(owners, "actors_of", lambda run: list(there))
    monkeypatch.setattr(keeping, "look_up", there.get)
    monkeypatch.setattr(owners, "PostgresStore", lambda *place: SimpleNamespace(latest_shards=lambda: [0]))


def answering(monkeypatch: pytest.MonkeyPatch, *answers: bool) -> list[bool]:
    """A database that answers the conductor, or not, each time it is asked; what is left of that."""
    left = list(answers)
    monkeypatch.setattr(
        keeping,
        "PostgresStore",
        lambda *place: SimpleNamespace(answers=lambda: left.pop(0) if left else False),
    )
    return left
