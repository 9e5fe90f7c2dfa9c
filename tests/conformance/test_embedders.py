"""Every registered embedder passes the shipped check, and the check catches each way to break it."""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Callable, Iterator, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import numpy as np
import pytest

from screensearch.encode.embed import EMBEDDERS, EmbedSettings, HashingEmbedder, Vectors
from screensearch.testing import ContractBroken, check_embedder

SIZE = 256


class Endpoint(BaseHTTPRequestHandler):
    """An OpenAI-compatible endpoint whose vectors are hashes of the texts."""

    def do_POST(self) -> None:
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        rows = [
            {
                "index": place,
                "embedding": [byte - 127.5 for byte in hashlib.shake_128(text.encode()).digest(SIZE)],
            }
            for place, text in enumerate(request["input"])
        ]
        body = json.dumps({"data": rows}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Endpoint)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}/v1"
    server.shutdown()
    server.server_close()
    thread.join()


@pytest.mark.parametrize("name", EMBEDDERS.names())
def test_every_embedder_keeps_the_contract(name: str, address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", address)
    monkeypatch.setenv("OPENAI_API_KEY", "any")
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    check_embedder(EMBEDDERS.get(name), EmbedSettings(name=name, dimensions=SIZE, batch_size=3))


class Tampered(HashingEmbedder):
    """A sound embedder, except for what a test tampers with."""

    closed = 0

    def close(self) -> None:
        type(self).closed += 1


class BornWithADirection(Tampered):
    made = 0

    def __init__(self, settings: EmbedSettings) -> None:
        super().__init__(settings)
        type(self).made += 1
        self.turn = self.made

    def embed(self, texts: Sequence[str]) -> Vectors:
        return np.roll(super().embed(texts), self.turn, axis=1)


def tampered(change: Callable[[Sequence[str], Vectors], object], **attributes: object) -> type[Tampered]:
    """A class whose rows are changed by a function of the texts and the sound rows."""

    def embed(self: Tampered, texts: Sequence[str]) -> object:
        return change(texts, HashingEmbedder.embed(self, texts))

    return type("Broken", (Tampered,), {"embed": embed, **attributes})


def untouched(texts: Sequence[str], rows: Vectors) -> Vectors:
    return rows


def marked_by_place(texts: Sequence[str], rows: Vectors) -> Vectors:
    """The last row of a batch points elsewhere, whatever its text."""
    return np.vstack([rows[:-1], np.roll(rows[-1:], 1, axis=1)])


def marked_by_size(texts: Sequence[str], rows: Vectors) -> Vectors:
    return np.roll(rows, len(texts), axis=1)


def constant(texts: Sequence[str], rows: Vectors) -> Vectors:
    return np.full_like(rows, rows.shape[1] ** -0.5)


def measured_in_bytes(texts: Sequence[str], rows: Vectors) -> Vectors:
    """Falls over a text that is not Unicode."""
    return rows[: len([text.encode() for text in texts])]


def test_a_sound_embedder_passes_and_both_are_closed() -> None:
    sound = tampered(untouched)
    check_embedder(sound, EmbedSettings(name="hashing", dimensions=64))
    assert sound.closed == 2


@pytest.mark.parametrize(
    ("broken", "clause"),
    [
        (tampered(untouched, name="other"), "bears the name it is registered under, 'hashing'"),
        (tampered(untouched, __init__=lambda self, settings: setattr(self, "dimensions", 32)), "wanted size"),
        (
            tampered(untouched, __init__=lambda self, settings: setattr(self, "dimensions", 64.0)),
            "positive `int`",
        ),
        (tampered(untouched, size_for=lambda settings: 65), "`size_for` tells the size"),
        (tampered(lambda texts, rows: rows.tolist()), "array of 32-bit floats"),
        (tampered(lambda texts, rows: rows.astype(np.float64)), "array of 32-bit floats"),
        (tampered(lambda texts, rows: rows[:, :-1]), "one row per text, of the embedder's size"),
        (tampered(lambda texts, rows: rows if texts else np.zeros(0, np.float32)), "one row per text"),
        (tampered(lambda texts, rows: rows + np.float32(np.nan)), "rows are finite"),
        (tampered(lambda texts, rows: rows * 2), "a row has length 1"),
        (tampered(lambda texts, rows: rows * 0), "is zero if its text has no words"),
        (tampered(measured_in_bytes), "every text can be embedded.*UnicodeEncodeError"),
        (tampered(marked_by_place), "equal texts get equal rows"),
        (tampered(marked_by_size), "depends on its text alone"),
        (tampered(constant), "texts that differ get rows that differ"),
        (BornWithADirection, "a second embedder of the same settings"),
    ],
)
def test_a_broken_clause_is_named(broken: type[Tampered], clause: str) -> None:
    with pytest.raises(ContractBroken, match=clause):
        check_embedder(broken, EmbedSettings(name="hashing", dimensions=64))
