"""WordLlama: 256 dimensions from the weights inside its wheel. No network, one thread.

The weights derive from the token embeddings of several language models; their provenance is mixed.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from screensearch.domain.text import storable
from screensearch.encode.embedder import EmbedSettings, Vectors, unit_rows
from screensearch.errors import EmbeddingFailed, PluginUnavailable, SettingsError

_SIZES = (64, 128, 256)


class WordLlamaEmbedder:
    """The mean of a text's token vectors."""

    name = "wordllama"

    def __init__(self, settings: EmbedSettings | None = None) -> None:
        self.dimensions = self.size_for(EmbedSettings() if settings is None else settings)
        model = _load()
        self._tokenizer = model.tokenizer
        # As the wheel has them, in 16 bits: half the memory, and the same numbers once they are widened.
        self._vectors = np.ascontiguousarray(model.embedding[:, : self.dimensions], np.float16)

    @staticmethod
    def size_for(settings: EmbedSettings) -> int:
        """How many dimensions its vectors have; a size that it does not offer is refused."""
        size = _SIZES[-1] if settings.dimensions is None else settings.dimensions
        if size not in _SIZES:
            raise SettingsError(f"embed.dimensions = {size}: wordllama offers {', '.join(map(str, _SIZES))}")
        return size

    def embed(self, texts: Sequence[str]) -> Vectors:
        rows = np.zeros((len(texts), self.dimensions), dtype=np.float32)
        for row, text in zip(rows, texts, strict=True):
            numbers = self._tokens(text)
            if numbers:
                np.mean(self._vectors[numbers].astype(np.float32), axis=0, out=row)
        return unit_rows(rows)

    def _tokens(self, text: str) -> list[int]:
        # One text at a time: the tokenizer's batch form starts threads of its own.
        try:
            encoded = self._tokenizer.encode(storable(text), add_special_tokens=False)
        except (TypeError, ValueError, OverflowError) as problem:
            raise EmbeddingFailed(f"wordllama could not tokenise {text[:60]!r}: {problem}") from problem
        last = len(self._vectors) - 1
        return [min(number, last) for number in encoded.ids]


def _load() -> Any:
    """The model from the installed package's own folder: it is given as the cache, with downloads off."""
    try:
        with _logging_untouched():
            import wordllama
    except ImportError as problem:
        raise PluginUnavailable(
            f"embedder 'wordllama' needs the extra `embed`: pip install 'screensearch[embed]' ({problem})"
        ) from problem
    try:
        return wordllama.WordLlama.load(
            cache_dir=Path(wordllama.__file__).parent, dim=_SIZES[-1], disable_download=True
        )
    except (OSError, ValueError, AttributeError) as problem:
        raise PluginUnavailable(
            f"the installed wordllama has no usable weights of {_SIZES[-1]} dimensions ({problem}); "
            "install wordllama>=0.3.9 from its wheel"
        ) from problem


@contextmanager
def _logging_untouched() -> Iterator[None]:
    """Importing wordllama configures the root logger, which is not its to configure."""
    root = logging.getLogger()
    level, handlers = root.level, list(root.handlers)
    try:
        yield
    finally:
        root.setLevel(level)
        for handler in set(root.handlers) - set(handlers):
            root.removeHandler(handler)
