"""HNSW over the embeddings of screen texts: approximate, and good enough to nominate candidates.

One graph per pool, since the library cannot filter. One thread: the graph then depends on the order of
insertion alone.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from usearch.index import Index


class Hnsw:
    """The vectors of one pool, numbered from 0 as they are added."""

    def __init__(
        self, dimensions: int, *, connectivity: int, expansion_add: int, expansion_search: int
    ) -> None:
        self._index = Index(
            ndim=dimensions,
            metric="ip",  # rows have length 1, or 0 when a text has no words: a cosine would be undefined
            dtype="f32",
            connectivity=connectivity,
            expansion_add=expansion_add,
            expansion_search=expansion_search,
        )

    def __len__(self) -> int:
        return len(self._index)

    def add(self, vector: NDArray[np.float32]) -> None:
        """Insert the next vector."""
        self._index.add(len(self._index), vector, threads=1)

    def top(self, vector: NDArray[np.float32], depth: int) -> list[int]:
        """The nearest vectors, nearest first, ties to the oldest."""
        if not len(self._index):
            return []
        matches = self._index.search(vector, min(depth, len(self._index)), threads=1)
        order = np.lexsort((matches.keys, matches.distances))
        return [int(key) for key in matches.keys[order]]
