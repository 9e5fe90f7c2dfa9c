"""The remote embedder against a real HTTP server on the loopback interface."""

from __future__ import annotations

import json
import sys
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import numpy as np
import pytest

from screensearch.encode.embed import EmbedSettings, OpenAIEmbedder
from screensearch.errors import EmbeddingFailed, PluginUnavailable, SettingsError

KEY = "sk-test-0123456789"
SIZE = 4

Reply = tuple[int, dict[str, str], bytes]
Plan = Callable[[dict[str, Any]], Reply]


def vectors(request: dict[str, Any]) -> Reply:
    """What a good endpoint answers; out of order, as the protocol allows."""
    rows = [
        {"object": "embedding", "index": place, "embedding": [1.0, float(len(text)), 0.0, 0.0]}
        for place, text in enumerate(request["input"])
    ]
    return 200, {}, json.dumps({"object": "list", "data": rows[::-1], "model": request["model"]}).encode()


def failing(status: int, body: bytes = b"no", **headers: str) -> Plan:
    return lambda _: (status, {name.replace("_", "-"): value for name, value in headers.items()}, body)


@dataclass
class Endpoint:
    """The server: answers request after request by plan; the last plan repeats."""

    url: str = ""
    plans: list[Plan] = field(default_factory=lambda: [vectors])
    requests: list[dict[str, Any]] = field(default_factory=list)
    paths: list[str] = field(default_factory=list)
    keys: list[str | None] = field(default_factory=list)
    released: threading.Event = field(default_factory=threading.Event)

    def hang(self, _: dict[str, Any]) -> Reply:
        self.released.wait(10)
        return 200, {}, b""


@pytest.fixture
def endpoint(monkeypatch: pytest.MonkeyPatch) -> Iterator[Endpoint]:
    state = Endpoint()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            state.requests.append(request)
            state.paths.append(self.path)
            state.keys.append(self.headers["Authorization"])
            plan = state.plans.pop(0) if len(state.plans) > 1 else state.plans[0]
            if self.headers["Authorization"] != f"Bearer {KEY}":
                plan = failing(401, f"{'.' * 280}wrong key {self.headers['Authorization']}".encode())
            status, headers, body = plan(request)
            try:
                self.send_response_only(status)
                for name, value in {"Content-Length": str(len(body)), **headers}.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(body)
            except (BrokenPipeError, ConnectionResetError):
                self.close_connection = True  # the client gave up waiting

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    state.url = f"http://127.0.0.1:{server.server_port}/v1"
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)
    monkeypatch.setenv("OPENAI_BASE_URL", state.url)
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    yield state
    state.released.set()
    server.shutdown()
    server.server_close()
    thread.join()


class Pauses(list[float]):
    """Stands in for sleeping: writes the seconds down."""

    def __call__(self, seconds: float) -> None:
        self.append(seconds)


@pytest.fixture
def pauses() -> Pauses:
    return Pauses()


@pytest.fixture
def make(pauses: Pauses) -> Iterator[Callable[..., OpenAIEmbedder]]:
    made: list[OpenAIEmbedder] = []

    def build(**settings: Any) -> OpenAIEmbedder:
        embedder = OpenAIEmbedder(
            EmbedSettings(**{"dimensions": SIZE, **settings}), sleep=pauses, jitter=lambda: 1.0
        )
        made.append(embedder)
        return embedder

    yield build
    for embedder in made:
        embedder.close()


Make = Callable[..., OpenAIEmbedder]


def test_rows_come_back_in_the_order_of_the_texts_and_of_length_one(endpoint: Endpoint, make: Make) -> None:
    rows = make().embed(["a", "bbb"])
    assert rows.dtype == np.float32
    assert np.allclose(rows[0], np.array([1, 1, 0, 0]) / np.sqrt(2))
    assert np.allclose(rows[1], np.array([1, 3, 0, 0]) / np.sqrt(10))
    assert endpoint.paths == ["/v1/embeddings"]
    assert endpoint.requests[0] == {
        "model": "text-embedding-3-small",
        "input": ["a", "bbb"],
        "encoding_format": "float",
        "dimensions": SIZE,
    }
    assert endpoint.keys == [f"Bearer {KEY}"]


def test_texts_are_sent_in_batches(endpoint: Endpoint, make: Make) -> None:
    rows = make(batch_size=2).embed(["x" * n for n in range(1, 6)])
    assert [len(request["input"]) for request in endpoint.requests] == [2, 2, 1]
    assert [round(float(row[1] / row[0])) for row in rows] == [1, 2, 3, 4, 5]


def test_empty_texts_are_not_sent_and_long_ones_are_cut(endpoint: Endpoint, make: Make) -> None:
    rows = make(text_limit=3).embed(["", "abcdef", "  ", "\ud800"])
    assert endpoint.requests[0]["input"] == ["abc", "\ufffd"]
    assert not rows[0].any()
    assert not rows[2].any()
    assert rows[1].any()


def test_nothing_to_embed_asks_nothing(endpoint: Endpoint, make: Make) -> None:
    assert make().embed([]).shape == (0, SIZE)
    assert endpoint.requests == []


def test_the_size_of_a_known_model_need_not_be_given(endpoint: Endpoint, make: Make) -> None:
    assert make(dimensions=None).dimensions == 1536
    with pytest.raises(SettingsError, match=r"'my-model'.*embed\.dimensions"):
        make(dimensions=None, model="my-model")


def test_the_size_of_another_model_is_checked_but_not_asked_for(endpoint: Endpoint, make: Make) -> None:
    assert make(model="my-model").embed(["a"]).any()
    assert "dimensions" not in endpoint.requests[0]


def test_a_busy_endpoint_is_asked_again_after_the_pause_it_wants(
    endpoint: Endpoint, make: Make, pauses: Pauses
) -> None:
    endpoint.plans = [failing(429, Retry_After="7"), vectors]
    assert make().embed(["a"]).any()
    assert pauses == [7.0]


def test_a_pause_may_be_given_as_a_date(endpoint: Endpoint, make: Make, pauses: Pauses) -> None:
    endpoint.plans = [
        failing(503, Date="Wed, 21 Oct 2015 07:28:00 GMT", Retry_After="Wed, 21 Oct 2015 07:28:09 GMT"),
        failing(503, Retry_After="soon"),
        vectors,
    ]
    assert make().embed(["a"]).any()
    assert pauses == [9.0, 1.0]


def test_a_pause_longer_than_allowed_is_refused(endpoint: Endpoint, make: Make, pauses: Pauses) -> None:
    endpoint.plans = [failing(429, Retry_After="3600")]
    with pytest.raises(EmbeddingFailed, match=r"HTTP 429.*pause of 3600 s.*longest_wait_seconds"):
        make().embed(["a"])
    assert pauses == []


def test_pauses_double_and_attempts_end(endpoint: Endpoint, make: Make, pauses: Pauses) -> None:
    endpoint.plans = [failing(500, b"on fire")]
    with pytest.raises(EmbeddingFailed, match=r"HTTP 500: on fire \(gave up after 4 attempts\)"):
        make(retries=3, backoff_seconds=0.5, longest_wait_seconds=1.5).embed(["a"])
    assert pauses == [0.5, 1.0, 1.5]
    assert len(endpoint.requests) == 4


def test_jitter_shortens_a_pause_by_at_most_half(endpoint: Endpoint, pauses: Pauses) -> None:
    endpoint.plans = [failing(500), vectors]
    settings = EmbedSettings(dimensions=SIZE, backoff_seconds=2.0)
    embedder = OpenAIEmbedder(settings, sleep=pauses, jitter=lambda: 0.0)
    embedder.embed(["a"])
    embedder.close()
    assert pauses == [1.0]


def test_a_timeout_is_tried_again(endpoint: Endpoint, make: Make, pauses: Pauses) -> None:
    endpoint.plans = [endpoint.hang, vectors]
    assert make(timeout_seconds=0.2).embed(["a"]).any()
    assert len(pauses) == 1


def test_timeouts_in_a_row_are_a_failure(endpoint: Endpoint, make: Make) -> None:
    endpoint.plans = [endpoint.hang]
    with pytest.raises(EmbeddingFailed, match=r"ReadTimeout.*gave up after 2 attempts"):
        make(timeout_seconds=0.2, retries=1).embed(["a"])


def test_nobody_listening_is_a_failure(
    endpoint: Endpoint, make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:1/v1")
    with pytest.raises(EmbeddingFailed, match=r"http://127\.0\.0\.1:1/v1/embeddings: ConnectError"):
        make(retries=1).embed(["a"])


def test_a_wrong_key_is_not_tried_again_and_not_shown(
    endpoint: Endpoint, make: Make, monkeypatch: pytest.MonkeyPatch, pauses: Pauses
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-wrong-secret")
    with pytest.raises(EmbeddingFailed, match="HTTP 401") as caught:
        make().embed(["a"])
    assert "sk-wrong" not in str(caught.value)
    assert pauses == []


def data(*rows: tuple[int, list[Any]]) -> bytes:
    return json.dumps({"data": [{"index": index, "embedding": row} for index, row in rows]}).encode()


GOOD = [1.0, 0.0, 0.0, 0.0]


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (b"<html>", "not a list of embeddings"),
        (b"\xff", "not a list of embeddings"),
        (b'{"data": 3}', r"not a list of embeddings.*\$\.data"),
        (b"[" * 100_000, "not a list of embeddings"),
        (data((0, ["x"] * 4)), "not a list of embeddings"),
        (data((0, GOOD)), "2 texts were sent, 1 embeddings came back"),
        (data((0, GOOD), (1, GOOD), (2, GOOD)), "2 texts were sent, 3 embeddings"),
        (data((0, GOOD), (0, GOOD)), "2 texts were sent"),
        (data((0, GOOD), (1, [1.0])), r"embedding 1 has 1 dimensions, not 4; set embed\.dimensions"),
        (data((0, GOOD), (1, [0.0] * 4)), "zero or out of range"),
        (data((0, GOOD), (1, [1e300] * 4)), "zero or out of range"),
    ],
)
def test_a_malformed_reply_is_a_failure_that_says_why(
    endpoint: Endpoint, make: Make, body: bytes, message: str
) -> None:
    endpoint.plans = [failing(200, body)]
    with pytest.raises(EmbeddingFailed, match=message):
        make().embed(["a", "b"])


def test_a_redirect_is_not_followed_with_the_key(endpoint: Endpoint, make: Make) -> None:
    endpoint.plans = [failing(307, Location=f"{endpoint.url}/elsewhere")]
    with pytest.raises(EmbeddingFailed, match="HTTP 307"):
        make().embed(["a"])
    assert endpoint.paths == ["/v1/embeddings"]


def test_a_missing_key_is_named(endpoint: Endpoint, make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY")
    with pytest.raises(PluginUnavailable, match="set OPENAI_API_KEY"):
        make()
    with pytest.raises(PluginUnavailable, match="set MY_KEY"):
        make(key_env="MY_KEY")


def test_a_missing_extra_is_named(endpoint: Endpoint, make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "httpx", None)
    with pytest.raises(PluginUnavailable, match=r"screensearch\[embed\]"):
        make()


@pytest.mark.parametrize("url", ["ftp://host/v1", "localhost", "http://", "http://h\x01st"])
def test_an_address_that_is_none_is_named(
    endpoint: Endpoint, make: Make, monkeypatch: pytest.MonkeyPatch, url: str
) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", url)
    with pytest.raises(PluginUnavailable, match="OPENAI_BASE_URL"):
        make()


def test_a_host_name_that_cannot_be_looked_up_is_a_failure(
    endpoint: Endpoint, make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", "http://a..b/v1")
    with pytest.raises(EmbeddingFailed, match=r"http://a\.\.b/v1/embeddings"):
        make(retries=0).embed(["a"])


def test_a_key_that_no_header_can_carry_is_refused_unseen(
    endpoint: Endpoint, make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret\n")
    with pytest.raises(PluginUnavailable, match="no header can carry") as caught:
        make()
    assert "secret" not in str(caught.value)


def test_credentials_in_the_address_are_not_shown(
    endpoint: Endpoint, make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", "http://user:hidden@127.0.0.1:1/v1")
    with pytest.raises(EmbeddingFailed) as caught:
        make(retries=0).embed(["a"])
    assert "hidden" not in str(caught.value)
