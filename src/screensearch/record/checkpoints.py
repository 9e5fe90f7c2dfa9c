"""The graphs that a log keeps beside its entries: packed, and used only while they match their digest.

They are a cache. One that was damaged costs a longer fold and a warning, never a wrong graph.
"""

from __future__ import annotations

import logging
import zlib
from collections.abc import Iterable, Iterator

from screensearch.errors import FormatError, StoreFailed
from screensearch.record.columns import digest_of
from screensearch.record.log import Checkpoint

logger = logging.getLogger(__name__)

KEPT_GRAPHS = 2
"""How many graphs a log keeps. Digests are kept for ever."""

Kept = tuple[int, str, bytes]
"""A graph that is kept: the entry it was folded up to, the digest that was noted for it, its packed dump."""


def pack_graph(graph: bytes) -> bytes:
    """The dump of a graph as it is kept."""
    return zlib.compress(graph, 1)


def check_new(sequence: int, digest: str, *, last: int, noted: str | None) -> None:
    """Refuse a checkpoint beyond the `last` entry, or with another digest than was `noted` at its entry."""
    if not 0 <= sequence <= last:
        raise StoreFailed(f"a checkpoint at {sequence} is beyond the last entry, {last}")
    if noted is not None and noted != digest:
        raise FormatError(
            f"the graph at entry {sequence} had digest {noted} and now has {digest}: "
            "one of the two folds is wrong; run `screensearch verify`"
        )


def newest_whole(kept: Iterable[Kept], where: str) -> Checkpoint | None:
    """The first of these that is whole; a damaged one is passed over with a warning that names the log."""
    for sequence, digest, packed in kept:
        graph = _whole(packed, digest)
        if graph is not None:
            return Checkpoint(sequence, digest, graph)
        logger.warning("%s; more of the log is folded instead", _damage(sequence, where))
    return None


def list_damage(kept: Iterable[Kept], where: str) -> Iterator[str]:
    """A sentence for each of these that is damaged."""
    for sequence, digest, packed in kept:
        if _whole(packed, digest) is None:
            yield _damage(sequence, where)


def _whole(packed: bytes, digest: str) -> bytes | None:
    """The dump, or None when it is not the one whose digest was noted."""
    try:
        graph = zlib.decompress(packed)
    except zlib.error:
        return None
    return graph if digest_of([graph]) == digest else None


def _damage(sequence: int, where: str) -> str:
    return f"the graph kept for entry {sequence} of {where} does not match its digest"
