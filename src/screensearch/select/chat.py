"""A client of ``POST {base}/chat/completions`` at any OpenAI-compatible endpoint.

One question, one answer: no retries, no redirects, and an end to waiting and to reading. Everything that
`httpx` can raise is translated here. The address and the key appear in no message, since those are kept, and
the key is taken out of every answer.
"""

from __future__ import annotations

import asyncio
import os
import ssl
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

import msgspec

from screensearch.errors import PluginUnavailable, ScreenSearchError
from screensearch.select.policy import Asked, Unanswered
from screensearch.select.settings import ReactiveSettings

if TYPE_CHECKING:
    import httpx

OPENAI = "https://api.openai.com/v1"

LARGEST_REPLY = 1_000_000
"""Bytes of a reply: an answer of 140 tokens with all that surrounds it has a few thousand."""

QUOTED = 300
"""Characters of a reply that a message quotes."""


class NotAnswered(ScreenSearchError):
    """There is no answer, and why."""

    def __init__(self, why: Unanswered, detail: str) -> None:
        super().__init__(f"{why.value}: {detail}")
        self.why = why
        self.detail = detail


@dataclass(frozen=True, slots=True)
class Answer:
    """What a model said, and whether it had come to its end by itself."""

    text: str
    cut_off: bool = False


@dataclass(frozen=True, slots=True)
class _Message:
    content: str | None = None
    refusal: str | None = None


@dataclass(frozen=True, slots=True)
class _Chosen:
    message: _Message
    finish_reason: str | None = None


@dataclass(frozen=True, slots=True)
class _Reply:
    choices: list[_Chosen]
    usage: Any = None  # not every endpoint tells it, and nothing rests on it


class ChatClient:
    """Asks one model. Connections are not kept, so there is nothing to close.

    `asked` counts its questions, and the tokens that the endpoint says they took.
    """

    def __init__(self, settings: ReactiveSettings) -> None:
        self._settings = settings
        self.model = model_of(settings)
        self.asked = Asked()
        self._key = os.environ.get(settings.key_env, "")
        base_url = os.environ.get(settings.base_url_env, "")
        if not (self._key or base_url):
            raise PluginUnavailable(
                f"a model needs an endpoint: set {settings.key_env} for OpenAI's, or {settings.base_url_env} "
                f"(and {settings.key_env}, if it wants a key) for another one"
            )
        self._connect(base_url or OPENAI)

    def _connect(self, base_url: str) -> None:
        try:
            import httpx
        except ImportError as problem:
            raise PluginUnavailable(
                "asking a model needs the extra `baselines`: pip install 'screensearch[baselines]' "
                f"({problem})"
            ) from problem
        name = self._settings.base_url_env
        try:
            url = httpx.URL(base_url.rstrip("/") + "/chat/completions")
        except httpx.InvalidURL as problem:
            raise PluginUnavailable(f"{name} is not a URL: {problem}") from problem
        if url.scheme not in {"http", "https"} or not url.host:
            raise PluginUnavailable(f"{name} must be an http or https URL with a host")
        if not (self._key.isascii() and self._key.isprintable()):
            raise PluginUnavailable(f"{self._settings.key_env} holds characters that no header can carry")
        self._url = url
        # Not compressed: a small body could otherwise become one that fills the memory.
        self._headers = {"Content-Type": "application/json", "Accept-Encoding": "identity"}
        if self._key:
            self._headers["Authorization"] = f"Bearer {self._key}"
        try:
            self._client()
        except (ImportError, ValueError) as problem:  # a proxy in the environment that httpx cannot use
            raise PluginUnavailable(f"the configured proxy cannot be used: {problem}") from problem

    def _client(self) -> httpx.AsyncClient:
        import httpx

        return httpx.AsyncClient(
            headers=self._headers, verify=_trusted(), timeout=self._settings.timeout_seconds
        )

    async def ask(self, messages: Sequence[dict[str, str]], form: Mapping[str, Any] | None = None) -> Answer:
        """What the model says to these messages. Raises `NotAnswered`, and nothing else.

        `form` is a JSON schema that the endpoint is to hold the answer to.
        """
        import httpx

        settings = self._settings
        body: dict[str, Any] = {
            "model": self.model,
            "messages": messages,
            "temperature": settings.temperature,
            settings.tokens_field: settings.most_tokens,
        }
        if form is not None:
            named = {"name": "action", "strict": True, "schema": form}
            body["response_format"] = {"type": "json_schema", "json_schema": named}
        self.asked += Asked(questions=1)
        try:
            async with asyncio.timeout(settings.timeout_seconds):
                content = await self._post(msgspec.json.encode(body))
        except (TimeoutError, httpx.TimeoutException) as problem:
            raise self._failed(
                Unanswered.TIMEOUT,
                f"within {settings.timeout_seconds:g} s (select.reactive.timeout_seconds)",
            ) from problem
        except (httpx.HTTPError, httpx.InvalidURL, UnicodeError, OSError) as problem:
            # UnicodeError: a host name that cannot be encoded
            raise self._failed(Unanswered.TRANSPORT, f"{type(problem).__name__}: {problem}") from problem
        return self._read(content)

    async def _post(self, body: bytes) -> bytes:
        """The body of a successful reply."""
        async with self._client() as client, client.stream("POST", self._url, content=body) as reply:
            content = bytearray()
            async for part in reply.aiter_raw():
                content += part
                if len(content) > LARGEST_REPLY:
                    raise self._failed(
                        Unanswered.BAD_REPLY, f"it is longer than {LARGEST_REPLY:,} bytes and was not read on"
                    )
            if not reply.is_success:
                quoted = bytes(content).decode(errors="replace")
                aside = ", and redirects are not followed" if reply.is_redirect else ""
                raise self._failed(Unanswered.HTTP_STATUS, f"HTTP {reply.status_code}{aside}: {quoted}")
            kind = reply.headers.get("Content-Type", "")
            if kind.partition(";")[0].strip().lower() != "application/json":
                raise self._failed(Unanswered.BAD_REPLY, f"its content is {kind!r}, not application/json")
            return bytes(content)

    def _read(self, content: bytes) -> Answer:
        """The first choice of a chat completion."""
        try:
            reply = msgspec.json.decode(content, type=_Reply)
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as problem:
            raise self._failed(Unanswered.BAD_REPLY, f"it is no chat completion: {problem}") from problem
        if not reply.choices:
            raise self._failed(Unanswered.BAD_REPLY, "it has no choices")
        self.asked += _tokens_of(reply.usage)
        chosen = reply.choices[0]
        if chosen.message.refusal:
            raise self._failed(Unanswered.REFUSAL, chosen.message.refusal)
        if chosen.finish_reason == "content_filter":
            raise self._failed(Unanswered.REFUSAL, "the endpoint's filter held the answer back")
        return Answer(self._without_key(chosen.message.content or ""), chosen.finish_reason == "length")

    def _failed(self, why: Unanswered, detail: str) -> NotAnswered:
        return NotAnswered(why, quoted(self._without_key(detail)))

    def _without_key(self, text: str) -> str:
        return text.replace(self._key, "***") if self._key else text


def _tokens_of(usage: object) -> Asked:
    """The tokens of one question and its answer, as far as the endpoint says."""
    told: dict[str, object] = usage if isinstance(usage, dict) else {}
    question, answer = (
        value if type(value := told.get(name)) is int and value > 0 else 0
        for name in ("prompt_tokens", "completion_tokens")
    )
    return Asked(question_tokens=question, answer_tokens=answer)


@cache
def _trusted() -> ssl.SSLContext:
    """Whose certificates are believed: read once, since a connection is made for every question."""
    import httpx

    return httpx.create_ssl_context()


def model_of(settings: ReactiveSettings) -> str:
    """The model that is to be asked; refused if nobody has named one."""
    model = settings.model or os.environ.get(settings.model_env, "")
    if not model:
        raise PluginUnavailable(
            f"no model is named: set {settings.model_env}, or select.reactive.model, to what the endpoint "
            "calls it"
        )
    return model


def quoted(text: str) -> str:
    """A foreign text for a message: one line, printable, not a long one."""
    line = "".join(letter if letter.isprintable() else " " for letter in text[: 4 * QUOTED])
    line = " ".join(line.split())
    return line if len(line) <= QUOTED else f"{line[:QUOTED]}…"
