"""What texts mean, as vectors: of whole screens, and of single words.

The vector of a screen is a mean of all it says, in which one telling word hardly counts beside a menu bar.
So the words are compared too: a screen is also near to a question if one of its words is.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from screensearch.encode.embed import Embedder, HashingEmbedder, WordLlamaEmbedder
from screensearch.encode.embedder import Vectors
from screensearch.errors import PluginUnavailable
from screensearch.view.sweep import Scores

MOST_RELATED = 16
"""How many words may be named as related to a question."""

# Cosines of WordLlama. Of words: "colour" and "color" have 0.87, "typeface" and "font" 0.43, words without
# a relation up to 0.25. Of a question and a screen: nonsense has up to 0.21.
_RELATED = 0.33
_NEAR = 0.22

_MOST_WORDS = 40_000  # some 40 MB of vectors; what comes later is found as it is written only
_LONGEST_WORD = 24
_BLOCK = 2_048  # vectors


def choose_embedder() -> Embedder:
    """The best that needs no network: WordLlama if it is installed (extra `embed`), else feature hashing."""
    try:
        return WordLlamaEmbedder()
    except PluginUnavailable:
        return HashingEmbedder()


class Meanings:
    """The vectors of screens, numbered from 0 as they are added, and of the words in them."""

    def __init__(self, embedder: Embedder) -> None:
        self.embedder = embedder
        self._screens = _Rows(embedder.dimensions)
        self._vectors = _Rows(embedder.dimensions)  # of words
        self._words: list[str] = []
        self._known: set[str] = set()

    def add(self, texts: Sequence[str], words: Iterable[str]) -> None:
        """The next screens, and the words in all of them."""
        self._screens.extend(self.embedder.embed(texts))
        # Figures mean nothing apart from where they stand, and there is no end of them.
        new = [each for each in dict.fromkeys(words) if each not in self._known and _has_meaning(each)]
        new = new[: _MOST_WORDS - len(self._known)]
        self._vectors.extend(self.embedder.embed(new))
        self._words += new
        self._known.update(new)

    def embed(self, text: str) -> Vectors:
        """The vector of a question."""
        vector: Vectors = self.embedder.embed([text])[0]
        return vector

    def near(self, vector: Vectors) -> Scores:
        """How near each screen is; 0 where it is too far to say anything."""
        cosines = self._screens.cosines(vector)
        return np.where(cosines >= _NEAR, cosines, 0.0)

    def like(self, screen: int) -> Scores:
        """How near each screen is to one of them."""
        return self._screens.cosines(self._screens[screen])

    def related(self, vector: Vectors) -> dict[str, float]:
        """The words that are nearest, nearest first, and how near."""
        cosines = self._vectors.cosines(vector)
        found = np.flatnonzero(cosines >= _RELATED)
        order = found[np.argsort(-cosines[found], kind="stable")][:MOST_RELATED]
        return {self._words[place]: float(cosines[place]) for place in order.tolist()}


def _has_meaning(word: str) -> bool:
    return 2 < len(word) <= _LONGEST_WORD and word.isalpha()


class _Rows:
    """Vectors of length 1, in blocks: nothing is copied as they grow."""

    def __init__(self, dimensions: int) -> None:
        self._dimensions = dimensions
        self._blocks: list[Vectors] = []
        self._length = 0

    def __getitem__(self, place: int) -> Vectors:
        row: Vectors = self._blocks[place // _BLOCK][place % _BLOCK]
        return row

    def extend(self, rows: Vectors) -> None:
        while len(rows):
            used = self._length % _BLOCK
            if not used:
                self._blocks.append(np.zeros((_BLOCK, self._dimensions), dtype=np.float32))
            part = rows[: _BLOCK - used]
            self._blocks[-1][used : used + len(part)] = part
            self._length += len(part)
            rows = rows[len(part) :]

    def cosines(self, vector: Vectors) -> Scores:
        # einsum stays in this thread: a product of matrices starts others, which cost more than they bring.
        used = (block[: self._length - start * _BLOCK] for start, block in enumerate(self._blocks))
        products = [np.einsum("ij,j->i", block, vector) for block in used]
        return np.concatenate(products).astype(np.float64) if products else np.zeros(0)
