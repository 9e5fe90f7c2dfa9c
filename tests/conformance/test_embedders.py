"""What every embedder promises, whoever wrote it."""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import numpy as np
import pytest

from screensearch.encode.embed import Embedder, EmbedSettings, make_embedder

SIZE = 256
TEXTS = [
    "save the file",
    "open a new window",
    "",
    "file edit view help " * 200,
    "日本語 עברית ünïcode 👍🏽",
    "\ud800 half",
    "save the file",
]


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


@pytest.fixture(params=["hashing", "wordllama", "openai"])
def embedder(
    request: pytest.FixtureRequest, address: str, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Embedder]:
    pytest.importorskip({"hashing": "numpy", "wordllama": "wordllama", "openai": "httpx"}[request.param])
    monkeypatch.setenv("OPENAI_BASE_URL", address)
    monkeypatch.setenv("OPENAI_API_KEY", "any")
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    made = make_embedder(EmbedSettings(name=request.param, dimensions=SIZE, batch_size=3))
    yield made
    getattr(made, "close", lambda: None)()


def test_it_says_its_name_and_size(embedder: Embedder, request: pytest.FixtureRequest) -> None:
    assert embedder.name in request.node.name
    assert embedder.dimensions == SIZE


def test_every_text_gets_a_row_of_length_one_or_zero(embedder: Embedder) -> None:
    rows = embedder.embed(TEXTS)
    assert rows.shape == (len(TEXTS), SIZE)
    assert rows.dtype == np.float32
    assert np.isfinite(rows).all()
    lengths = np.linalg.norm(rows, axis=1)
    assert np.allclose(lengths[[bool(text) for text in TEXTS]], 1, atol=1e-5)
    assert lengths[TEXTS.index("")] in (0, pytest.approx(1))


def test_a_row_depends_on_its_text_alone(embedder: Embedder) -> None:
    together = embedder.embed(TEXTS)
    assert np.allclose(together, np.vstack([embedder.embed([text]) for text in TEXTS]), atol=1e-6)
    assert np.array_equal(together[0], together[-1])


def test_different_texts_get_different_rows(embedder: Embedder) -> None:
    one, other = embedder.embed(["save the file", "wireless network settings"])
    assert float(one @ other) < 0.99


def test_no_texts_give_no_rows(embedder: Embedder) -> None:
    assert embedder.embed([]).shape == (0, SIZE)


def test_a_second_embedder_gives_the_same_vectors(embedder: Embedder) -> None:
    other = make_embedder(EmbedSettings(name=embedder.name, dimensions=SIZE))
    assert np.array_equal(embedder.embed(["save the file"]), other.embed(["save the file"]))
    getattr(other, "close", lambda: None)()
