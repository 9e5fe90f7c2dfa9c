"""Feature hashing: vectors without weights, for tests and for machines that have nothing else."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from screensearch.encode.embedder import EmbedSettings, Vectors, unit_rows
from screensearch.encode.text import words


class HashingEmbedder:
    """Every word adds +1 or -1 to one of the dimensions, both by its hash. The same in every process."""

    name = "hashing"

    def __init__(self, settings: EmbedSettings | None = None) -> None:
        chosen = None if settings is None else settings.dimensions
        self.dimensions = 256 if chosen is None else chosen

    def embed(self, texts: Sequence[str]) -> Vectors:
        rows = np.zeros((len(texts), self.dimensions), dtype=np.float32)
        for row, text in zip(rows, texts, strict=True):
            for word in words(text):
                number = _hash(word)
                row[(number >> 1) % self.dimensions] += 1.0 if number & 1 else -1.0
            if not row.any():
                # Words may cancel each other out; a text that has words still gets a direction.
                for word in words(text):
                    row[(_hash(word) >> 1) % self.dimensions] += 1.0
        return unit_rows(rows)


@lru_cache(maxsize=65_536)
def _hash(word: str) -> int:
    # The built-in hash differs from process to process.
    return int.from_bytes(hashlib.blake2b(word.encode(), digest_size=8).digest(), "little")
