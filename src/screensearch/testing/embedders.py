"""The contract of an embedder."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence

import numpy as np

from screensearch.encode.embedder import Embedder, EmbedSettings, Vectors
from screensearch.encode.text import words
from screensearch.testing.contract import require, unbroken

HARD_TEXTS = (
    "",
    " \n\t",
    "?!",
    "save the file",
    "file edit view help " * 200,
    "日本語 עברית ünïcode 👍🏽",
    "\ud800 half",
    "nul \0 inside",
)
WORDS = ("save", "open", "file", "network", "größe", "設定", "page 3 of 12", "a|b::c", "…")
TOLERANCE = 1e-5
"""How far a length may be from 1, and a row from the same row in another batch: 32-bit sums vary."""


def check_embedder(
    make_embedder: Callable[[EmbedSettings], Embedder],
    settings: EmbedSettings,
    *,
    texts: int = 24,
    seed: int = 7,
) -> None:
    """Embed some texts in several ways and raise `ContractBroken` on the first broken clause.

    Clauses: it bears the name that the settings give it, and has the size they ask for, if they do; a
    `size_for` of the plugin, if there is one, tells that size; every text can be embedded, empty and
    malformed ones too; rows are finite 32-bit floats of length 1, or zero for a text without words; a row
    depends on its text alone; different texts get different rows; a second embedder of the same settings
    gives the same rows. Each row is asked for about three times: mind what a remote one costs.
    """
    rng = random.Random(seed)  # noqa: S311 - a test, not a secret
    drawn = [*HARD_TEXTS, *(" ".join(rng.choices(WORDS, k=rng.randint(1, 30))) for _ in range(texts))]
    embedder, second = make_embedder(settings), make_embedder(settings)
    try:
        _check_name_and_size(embedder, settings)
        _check_told_size(make_embedder, embedder, settings)
        _rows(embedder, [])
        rows = _rows(embedder, [*drawn, *drawn])
        require(
            np.array_equal(rows[: len(drawn)], rows[len(drawn) :]), "equal texts get equal rows", "others"
        )
        rows = rows[: len(drawn)]
        _check_lengths(drawn, rows)
        _check_alone(embedder, drawn, rows)
        _check_apart(embedder)
        twin = _rows(second, drawn)
        require(
            np.allclose(twin, rows, rtol=0, atol=TOLERANCE),
            "a second embedder of the same settings gives the same rows",
            _furthest(drawn, rows, twin),
        )
    finally:
        for each in (embedder, second):
            getattr(each, "close", lambda: None)()


def _check_name_and_size(embedder: Embedder, settings: EmbedSettings) -> None:
    require(
        embedder.name == settings.name,
        f"an embedder bears the name it is registered under, {settings.name!r}",
        embedder.name,
    )
    size = embedder.dimensions
    require(type(size) is int and size > 0, "`dimensions` is a positive `int`", size)
    require(
        settings.dimensions in (None, size), f"a wanted size, {settings.dimensions}, is kept or refused", size
    )


def _check_told_size(
    make_embedder: Callable[[EmbedSettings], Embedder], embedder: Embedder, settings: EmbedSettings
) -> None:
    size_for = getattr(make_embedder, "size_for", None)
    if size_for is None:
        return
    clause = f"`size_for` tells the size of the embedder, {embedder.dimensions}"
    with unbroken(clause):
        told = size_for(settings)
    require(told == embedder.dimensions, clause, told)


def _rows(embedder: Embedder, texts: Sequence[str]) -> Vectors:
    with unbroken("every text can be embedded, or `EmbeddingFailed` says why not"):
        rows = embedder.embed(texts)
    require(
        isinstance(rows, np.ndarray) and rows.dtype == np.float32,
        "rows are an array of 32-bit floats",
        getattr(rows, "dtype", type(rows)),
    )
    shape = (len(texts), embedder.dimensions)
    require(rows.shape == shape, f"there is one row per text, of the embedder's size: {shape}", rows.shape)
    require(bool(np.isfinite(rows).all()), "rows are finite", rows)
    return rows


def _check_lengths(texts: Sequence[str], rows: Vectors) -> None:
    for text, length in zip(texts, np.linalg.norm(rows, axis=1).tolist(), strict=True):
        wordless = not words(text)
        require(
            abs(length - 1) <= TOLERANCE or (wordless and length == 0),
            "a row has length 1, or is zero if its text has no words",
            (text[:60], length),
        )


def _check_alone(embedder: Embedder, texts: Sequence[str], rows: Vectors) -> None:
    alone = np.vstack([_rows(embedder, [text]) for text in texts])
    require(
        np.allclose(alone, rows, rtol=0, atol=TOLERANCE),
        "a row depends on its text alone, not on its neighbours",
        _furthest(texts, rows, alone),
    )


def _check_apart(embedder: Embedder) -> None:
    one, other = _rows(embedder, ["save the file", "wireless network settings"])
    require(float(one @ other) < 0.99, "texts that differ get rows that differ", float(one @ other))


def _furthest(texts: Sequence[str], one: Vectors, other: Vectors) -> tuple[str, float]:
    """The text whose two rows differ most, and by how much."""
    gaps = np.abs(one - other).max(axis=1)
    place = int(gaps.argmax())
    return texts[place][:60], float(gaps[place])
