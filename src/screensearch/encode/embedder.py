"""What an embedder is, and its settings. Embeddings serve `hybrid` and search, never the default identity."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from screensearch.errors import SettingsError
from screensearch.registry import Registry

Vectors = NDArray[np.float32]


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbedSettings:
    """Which embedder, and how a remote one is reached. Addresses and keys come from the environment."""

    name: str = "hashing"  # a plugin of kind `embedder`
    model: str = "text-embedding-3-small"  # remote embedders only (paper, section 4.1)
    dimensions: int | None = None  # [1, 8192]; None is the embedder's own size
    text_limit: int = 8000  # [1, 100000] characters of a text that are sent to a remote embedder
    batch_size: int = 64  # [1, 2048] texts per request
    timeout_seconds: float = 30.0  # (0, 600], for each request
    retries: int = 4  # [0, 20] further attempts after a failure that may pass
    backoff_seconds: float = 0.5  # (0, 60] before the first further attempt; doubled for each next one
    longest_wait_seconds: float = 60.0  # (0, 3600] longest pause before an attempt
    base_url_env: str = "OPENAI_BASE_URL"  # environment variable; unset means OpenAI itself
    key_env: str = "OPENAI_API_KEY"  # environment variable

    def __post_init__(self) -> None:
        _within("dimensions", 1 if self.dimensions is None else self.dimensions, 1, 8192)
        _within("text_limit", self.text_limit, 1, 100_000)
        _within("batch_size", self.batch_size, 1, 2048)
        _within("retries", self.retries, 0, 20)
        _above_zero("timeout_seconds", self.timeout_seconds, 600)
        _above_zero("backoff_seconds", self.backoff_seconds, 60)
        _above_zero("longest_wait_seconds", self.longest_wait_seconds, 3600)


def _within(name: str, value: int, low: int, high: int) -> None:
    if not low <= value <= high:
        raise SettingsError(f"embed.{name} = {value} is not in [{low}, {high}]")


def _above_zero(name: str, value: float, high: float) -> None:
    if not 0 < value <= high:
        raise SettingsError(f"embed.{name} = {value} is not in (0, {high}]")


class Embedder(Protocol):
    """Texts to vectors. The name and the size are stored with a run."""

    name: str
    dimensions: int

    def embed(self, texts: Sequence[str]) -> Vectors:
        """One row per text, of length 1. A text without words may give the zero row; nothing else does.

        A row depends on its text alone, not on its neighbours. Raises `EmbeddingFailed`.
        """
        ...


EMBEDDERS: Registry[Callable[[EmbedSettings], Embedder]] = Registry("embedder")
"""Embedder plugins: each is called with the settings and returns an embedder or says why it cannot.

A plugin may have a static method ``size_for(settings)``, which returns the `dimensions` that its embedder
will have and needs nothing of the machine, such as a key or weights. It is asked when settings are read, and
raises `SettingsError` with the name of the setting, such as ``embed.dimensions``, for a value that it cannot
serve.
"""


def unit_rows(rows: Vectors) -> Vectors:
    """The rows scaled to length 1; zero rows stay zero."""
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    scaled: Vectors = np.divide(rows, lengths, out=np.zeros_like(rows), where=lengths > 0)
    return scaled
