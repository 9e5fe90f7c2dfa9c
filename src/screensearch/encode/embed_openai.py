"""Embeddings from any OpenAI-compatible endpoint, such as the paper's ``text-embedding-3-small``.

Everything that `httpx` can raise is translated here. The key appears in no message.
"""

from __future__ import annotations

import os
import random
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING

import msgspec
import numpy as np

from screensearch.domain.text import storable
from screensearch.encode.embedder import EmbedSettings, Vectors, unit_rows
from screensearch.errors import EmbeddingFailed, PluginUnavailable, SettingsError

if TYPE_CHECKING:
    import httpx

_OPENAI = "https://api.openai.com/v1"
_SIZES = {"text-embedding-3-small": 1536, "text-embedding-3-large": 3072, "text-embedding-ada-002": 1536}
_LARGEST = 1e9  # any honest coordinate is far below; the square must fit a 32-bit float
_MAY_PASS = frozenset({408, 429})  # and every 5xx


@dataclass(frozen=True, slots=True)
class _Row:
    index: int
    embedding: list[float]


@dataclass(frozen=True, slots=True)
class _Reply:
    data: list[_Row]


class OpenAIEmbedder:
    """A client of ``POST {base}/embeddings``: batches, retries what may pass, checks what comes back."""

    name = "openai"

    def __init__(
        self,
        settings: EmbedSettings | None = None,
        *,
        sleep: Callable[[float], None] = time.sleep,
        jitter: Callable[[], float] | None = None,  # draws from [0, 1)
    ) -> None:
        self._settings = settings = EmbedSettings() if settings is None else settings
        self._sleep = sleep
        self._jitter = random.Random().random if jitter is None else jitter  # noqa: S311 (spreads retries)
        self.dimensions = self.size_for(settings)
        self._key = os.environ.get(settings.key_env, "")
        if not self._key:
            raise PluginUnavailable(
                f"embedder 'openai' needs a key: set {settings.key_env} "
                f"(and {settings.base_url_env} for an endpoint other than OpenAI's)"
            )
        self._client = self._connect(os.environ.get(settings.base_url_env) or _OPENAI)

    @staticmethod
    def size_for(settings: EmbedSettings) -> int:
        """How many dimensions its vectors have; settings that do not say so are refused."""
        size = settings.dimensions or _SIZES.get(settings.model)
        if size is None:
            raise SettingsError(
                f"embed.model is {settings.model!r}, whose size is not known here; set embed.dimensions"
            )
        return size

    def _connect(self, base_url: str) -> httpx.Client:
        try:
            import httpx
        except ImportError as problem:
            raise PluginUnavailable(
                f"embedder 'openai' needs the extra `embed`: pip install 'screensearch[embed]' ({problem})"
            ) from problem
        try:
            url = httpx.URL(base_url.rstrip("/") + "/embeddings")
        except httpx.InvalidURL as problem:
            raise PluginUnavailable(f"{self._settings.base_url_env} is not a URL: {problem}") from problem
        if url.scheme not in {"http", "https"} or not url.host:
            raise PluginUnavailable(f"{self._settings.base_url_env} must be an http or https URL with a host")
        if not (self._key.isascii() and self._key.isprintable()):
            raise PluginUnavailable(f"{self._settings.key_env} holds characters that no header can carry")
        self._url = url
        self._where = f"{url.scheme}://{url.netloc.decode('ascii')}{url.path}"
        headers = {"Authorization": f"Bearer {self._key}", "Content-Type": "application/json"}
        try:
            return httpx.Client(headers=headers, timeout=self._settings.timeout_seconds)
        except (ImportError, ValueError) as problem:  # a proxy in the environment that httpx cannot use
            raise PluginUnavailable(
                f"embedder 'openai' cannot use the configured proxy: {problem}"
            ) from problem

    def embed(self, texts: Sequence[str]) -> Vectors:
        rows = np.zeros((len(texts), self.dimensions), dtype=np.float32)
        # The endpoint refuses empty texts: they keep the zero row.
        sent = [(place, storable(text[: self._settings.text_limit])) for place, text in enumerate(texts)]
        sent = [(place, text) for place, text in sent if text.strip()]
        for start in range(0, len(sent), self._settings.batch_size):
            batch = sent[start : start + self._settings.batch_size]
            rows[[place for place, _ in batch]] = self._checked(
                self._request([text for _, text in batch]), len(batch)
            )
        return unit_rows(rows)

    def close(self) -> None:
        """Close the connections. Safe to call twice."""
        self._client.close()

    def _request(self, texts: list[str]) -> bytes:
        """The body of a successful reply, after as many attempts as the settings allow."""
        import httpx

        body: dict[str, object] = {
            "model": self._settings.model,
            "input": texts,
            "encoding_format": "float",
        }
        if _SIZES.get(self._settings.model, self.dimensions) != self.dimensions:
            body["dimensions"] = self.dimensions  # other models may not know the field, so it is not sent
        content = msgspec.json.encode(body)
        attempts = self._settings.retries + 1
        cause: httpx.TransportError | None
        for attempt in range(attempts):
            asked_wait = None
            try:
                reply = self._client.post(self._url, content=content)
            except httpx.TransportError as problem:
                failure, cause = f"{type(problem).__name__}: {problem}", problem
            except (httpx.HTTPError, httpx.InvalidURL, UnicodeError) as problem:  # the last: a host name
                raise self._failed(f"{type(problem).__name__}: {problem}") from problem
            else:
                if reply.is_success:
                    return reply.content
                failure, cause = f"HTTP {reply.status_code}: {self._without_key(reply.text)[:300]}", None
                if not (reply.status_code in _MAY_PASS or reply.is_server_error):
                    raise self._failed(failure)
                asked_wait = _retry_after(reply.headers.get("Retry-After"), reply.headers.get("Date"))
            if attempt + 1 < attempts:
                self._sleep(self._pause(attempt, asked_wait, failure))
        raise self._failed(f"{failure} (gave up after {attempts} attempts)") from cause

    def _pause(self, attempt: int, asked: float | None, failure: str) -> float:
        """Exponential, between half and all of the step, or what the endpoint asked for if that is more."""
        longest = self._settings.longest_wait_seconds
        if asked is not None and asked > longest:
            raise self._failed(
                f"{failure} (it asks for a pause of {asked:g} s, embed.longest_wait_seconds = {longest:g})"
            )
        step = min(self._settings.backoff_seconds * 2.0**attempt, longest)
        return max(step * (0.5 + 0.5 * self._jitter()), asked or 0.0)

    def _checked(self, content: bytes, count: int) -> Vectors:
        """The vectors of a reply in the order of the request; an endpoint may answer in any order."""
        try:
            reply = msgspec.json.decode(content, type=_Reply)
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as problem:
            raise self._failed(f"the reply is not a list of embeddings: {problem}") from problem
        if sorted(row.index for row in reply.data) != list(range(count)):
            raise self._failed(f"{count} texts were sent, {len(reply.data)} embeddings came back")
        ordered = sorted(reply.data, key=lambda row: row.index)
        for row in ordered:
            if len(row.embedding) != self.dimensions:
                raise self._failed(
                    f"embedding {row.index} has {len(row.embedding)} dimensions, not {self.dimensions}; "
                    "set embed.dimensions to the model's size"
                )
        numbers = np.array([row.embedding for row in ordered], dtype=np.float64)
        if np.abs(numbers).max() > _LARGEST or not numbers.astype(np.float32).any(axis=1).all():
            raise self._failed("an embedding in the reply is zero or out of range")
        return numbers.astype(np.float32)

    def _failed(self, why: str) -> EmbeddingFailed:
        return EmbeddingFailed(self._without_key(f"no embeddings from {self._where}: {why}"))

    def _without_key(self, text: str) -> str:
        return text.replace(self._key, "***")


def _retry_after(header: str | None, date: str | None) -> float | None:
    """The seconds that ``Retry-After`` asks for. If it is a date, the reply's own ``Date`` says how long."""
    if header is None:
        return None
    if header.strip().isdecimal():
        return float(header)
    try:
        return (parsedate_to_datetime(header) - parsedate_to_datetime(date or "")).total_seconds()
    except (ValueError, TypeError):
        return None
