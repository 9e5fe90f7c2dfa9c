from __future__ import annotations

import logging
import socket
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import wordllama

from screensearch.encode.embed import EmbedSettings, WordLlamaEmbedder
from screensearch.errors import PluginUnavailable, SettingsError


@pytest.fixture(scope="module")
def embedder() -> WordLlamaEmbedder:
    return WordLlamaEmbedder()


def test_meaning_is_nearer_than_spelling(embedder: WordLlamaEmbedder) -> None:
    picture, image, pitcher = embedder.embed(["picture", "image", "pitcher"])
    assert float(picture @ image) > float(picture @ pitcher)


def test_vectors_equal_those_of_the_library_itself(embedder: WordLlamaEmbedder) -> None:
    texts = ["save the file", "network & internet settings", "日本語 ünïcode"]
    model = wordllama.WordLlama.load(cache_dir=Path(wordllama.__file__).parent, disable_download=True)
    assert np.allclose(embedder.embed(texts), model.embed(texts, norm=True), atol=1e-5)


def test_it_loads_without_a_network(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("a connection was attempted")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(wordllama.WordLlama, "DEFAULT_CACHE_DIR", tmp_path)
    assert WordLlamaEmbedder().embed(["save"]).shape == (1, 256)
    assert not list(tmp_path.iterdir())


def test_fewer_dimensions_can_be_chosen_but_not_any_number() -> None:
    assert WordLlamaEmbedder(EmbedSettings(dimensions=64)).embed(["save"]).shape == (1, 64)
    with pytest.raises(SettingsError, match="64, 128, 256"):
        WordLlamaEmbedder(EmbedSettings(dimensions=100))


def test_the_root_logger_is_left_as_it_was() -> None:
    program = (
        "import logging; from screensearch.encode.embed import WordLlamaEmbedder; WordLlamaEmbedder();"
        "root = logging.getLogger(); print(root.level, len(root.handlers))"
    )
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert run.stdout.split() == [str(logging.WARNING), "0"]


def test_a_missing_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "wordllama", None)
    with pytest.raises(PluginUnavailable, match=r"screensearch\[embed\]"):
        WordLlamaEmbedder()


def test_missing_weights_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def load(**_: object) -> None:
        raise FileNotFoundError("Weights file not found")

    monkeypatch.setattr(wordllama.WordLlama, "load", load)
    with pytest.raises(PluginUnavailable, match="no usable weights"):
        WordLlamaEmbedder()
