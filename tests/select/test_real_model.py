"""The reactive baseline against a real model behind a real OpenAI-compatible server, offline.

`scripts/setup tests` installs both. The model's answers are poor, which is why only the protocol is tested:
what comes is an action that was offered, or one of the ways not to answer, and none of those that a broken
client would cause.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from candidates_at_hand import click

from screensearch.domain.screen import Box, Window
from screensearch.select.policy import Counters, Pick, Scene, Unanswered, Undecided
from screensearch.select.reactive import Reactive, ReactiveWithHistory
from screensearch.select.settings import ReactiveSettings, SelectSettings

SERVER = Path(__file__).parents[2] / "scripts" / "model_server.py"

SCENE = Scene(
    [click("save"), click("open", 1)],
    Window("notes", "main", Box(0, 0, 640, 480), "notepad"),
    Counters(0, 50, 1, 1),
    [],
)

FEW = 24
"""Tokens of an answer: enough for a click, and not for long."""

ENDPOINT_FAILURES = (
    Unanswered.TIMEOUT,
    Unanswered.TRANSPORT,
    Unanswered.HTTP_STATUS,
    Unanswered.BAD_REPLY,
)

NOT_IN_FORM = (
    Unanswered.REFUSAL,
    Unanswered.BAD_JSON,
    Unanswered.MANY_ACTIONS,
    Unanswered.INVENTED_ID,
    Unanswered.IMPOSSIBLE,
    Unanswered.BAD_ACTION,
)


@pytest.fixture(scope="module")
def model() -> Iterator[str]:
    with (
        subprocess.Popen(
            [sys.executable, str(SERVER), "--port", "0", "--context", "1024"],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        ) as server,
        pytest.MonkeyPatch.context() as surroundings,
    ):
        assert server.stdout is not None
        said = dict(word.split("=", 1) for word in server.stdout.readline().split()[1:])
        assert said, "the server did not start: scripts/setup tests installs it"
        surroundings.setenv("OPENAI_BASE_URL", said["OPENAI_BASE_URL"])
        surroundings.delenv("OPENAI_API_KEY", raising=False)
        yield said["OPENAI_MODEL"]
        server.terminate()


def asking(model: str, instruction: str = "press save", *, schema: bool = False) -> SelectSettings:
    """Few tokens, and time enough for a machine that does much else."""
    reactive = ReactiveSettings(model=model, most_tokens=FEW, timeout_seconds=600.0, schema=schema)
    return SelectSettings(instruction=instruction, reactive=reactive)


async def test_a_real_model_is_understood_and_its_tokens_are_counted(model: str) -> None:
    policy = Reactive(asking(model))
    decided = await policy.decide(SCENE)
    if isinstance(decided, Pick):
        assert decided in (Pick(0), Pick(1))
    else:
        assert decided.why not in ENDPOINT_FAILURES, decided
    assert policy.asked.questions == 1
    assert policy.asked.question_tokens > 200, "the server tells them, and the rules alone are more"
    assert 0 < policy.asked.answer_tokens <= FEW


async def test_a_real_model_is_held_to_the_form_of_an_answer(model: str) -> None:
    decided = await ReactiveWithHistory(asking(model, schema=True)).decide(SCENE)
    if isinstance(decided, Pick):
        assert decided in (Pick(0), Pick(1))
    else:
        assert decided.why not in (*ENDPOINT_FAILURES, *NOT_IN_FORM), decided


async def test_a_question_that_is_too_long_for_the_model_is_an_answer_of_its_server(model: str) -> None:
    decided = await Reactive(asking(model, "word " * 3_000)).decide(SCENE)
    assert isinstance(decided, Undecided)
    assert decided.why is Unanswered.HTTP_STATUS
    assert "HTTP 400" in decided.note
