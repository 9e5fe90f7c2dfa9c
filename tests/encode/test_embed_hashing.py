from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

from screensearch.encode.embed import EMBEDDERS, EmbedSettings, HashingEmbedder, make_embedder
from screensearch.errors import SettingsError, UnknownPlugin


def test_words_decide_and_their_order_does_not() -> None:
    one, other, different = HashingEmbedder().embed(["Save the file", "file, THE save", "open a window"])
    assert np.allclose(one, other)
    assert float(one @ different) < 0.5


def test_texts_that_share_words_are_nearer_than_those_that_do_not() -> None:
    base, near, far = HashingEmbedder().embed(
        ["file edit view help save", "file edit view help open", "wifi bluetooth sound display"]
    )
    assert float(base @ near) > float(base @ far) + 0.3


def test_vectors_are_the_same_in_every_process() -> None:
    program = (
        "from screensearch.encode.embed import HashingEmbedder;"
        "print(HashingEmbedder().embed(['save the file']).tobytes().hex())"
    )
    seen = {
        subprocess.run(
            [sys.executable, "-c", program],
            env={"PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert seen == {HashingEmbedder().embed(["save the file"]).tobytes().hex() + "\n"}


def test_words_that_cancel_each_other_still_give_a_direction() -> None:
    rows = HashingEmbedder(EmbedSettings(dimensions=1)).embed(
        [f"word{a} word{b}" for a in range(8) for b in range(8)]
    )
    assert np.allclose(np.abs(rows), 1)


def test_the_size_can_be_chosen() -> None:
    assert HashingEmbedder(EmbedSettings(dimensions=64)).embed(["x"]).shape == (1, 64)


def test_embedders_are_made_by_name() -> None:
    assert make_embedder(EmbedSettings(name="hashing")).name == "hashing"
    assert {"hashing", "openai", "wordllama"} <= set(EMBEDDERS.names())
    with pytest.raises(UnknownPlugin, match="did you mean 'hashing'"):
        make_embedder(EmbedSettings(name="hashin"))


@pytest.mark.parametrize(
    "setting",
    [
        {"dimensions": 0},
        {"batch_size": 0},
        {"retries": -1},
        {"timeout_seconds": 0.0},
        {"backoff_seconds": float("nan")},
        {"longest_wait_seconds": 1e9},
        {"text_limit": 0},
    ],
)
def test_settings_out_of_range_are_named(setting: dict[str, float]) -> None:
    name = next(iter(setting))
    with pytest.raises(SettingsError, match=f"embed.{name}"):
        EmbedSettings(**setting)  # type: ignore[arg-type]
