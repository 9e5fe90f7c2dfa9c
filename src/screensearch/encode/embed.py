"""The built-in embedders under one roof: what the entry points and the other rooms name.

The third-party packages behind them are imported when an embedder is made, not here.
"""

from __future__ import annotations

from screensearch.encode.embed_hashing import HashingEmbedder
from screensearch.encode.embed_openai import OpenAIEmbedder
from screensearch.encode.embed_wordllama import WordLlamaEmbedder
from screensearch.encode.embedder import EMBEDDERS, Embedder, EmbedSettings, Vectors


def make_embedder(settings: EmbedSettings) -> Embedder:
    """The embedder that the settings name."""
    return EMBEDDERS.get(settings.name)(settings)


__all__ = [
    "EMBEDDERS",
    "EmbedSettings",
    "Embedder",
    "HashingEmbedder",
    "OpenAIEmbedder",
    "Vectors",
    "WordLlamaEmbedder",
    "make_embedder",
]
