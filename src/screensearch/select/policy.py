"""Selectors that look at the screen instead of the statistics, and may come to no decision.

A policy is told what a person would be told: the window, what can be acted on, some counters, what was done
lately. It picks one candidate, or says why it has not: then nothing is done, the step is spent, and the log
keeps the reason (`Outcome.UNDECIDED`). There is no fallback: what a policy cannot decide, nobody decides.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from screensearch.domain.action import Candidate
from screensearch.domain.screen import Window
from screensearch.domain.transition import Outcome
from screensearch.select.settings import SelectSettings


class Unanswered(StrEnum):
    """Why there was no decision. The note of such a step begins with one of these and a colon."""

    REFUSAL = "refusal"  # the model would not
    BAD_JSON = "bad_json"  # the answer is not one JSON object and nothing else
    CUT_OFF = "cut_off"  # the answer ended at the limit of tokens before it was one
    MANY_ACTIONS = "many_actions"  # several objects, where one was asked for
    BAD_ACTION = "bad_action"  # an object, but no action: an unknown word, a missing part, a part of no use
    INVENTED_ID = "invented_id"  # the candidate is none of those that were offered
    IMPOSSIBLE = "impossible"  # the candidate cannot be clicked, or not typed into
    VETOED = "vetoed"  # a guard forbids the action
    TIMEOUT = "timeout"  # no answer in time
    TRANSPORT = "transport"  # no connection, or one that broke
    HTTP_STATUS = "http_status"  # an answer of the endpoint that is no success
    BAD_REPLY = "bad_reply"  # a success that is no chat completion


@dataclass(frozen=True, slots=True)
class Undecided:
    """There is no action for this step, and why."""

    why: Unanswered
    detail: str

    @property
    def note(self) -> str:
        """What the log keeps of it."""
        return f"{self.why.value}: {self.detail}"


OF_THE_ENDPOINT = frozenset({Unanswered.TRANSPORT, Unanswered.HTTP_STATUS, Unanswered.BAD_REPLY})
"""What says nothing about a model: its endpoint failed. A time-out may be either's, and counts as its own."""


def unanswered_of(note: str) -> str:
    """Why there was no decision, from the note of a step without one."""
    return note.partition(":")[0]


@dataclass(frozen=True, slots=True)
class Counters:
    """How far an episode has come. Steps without a decision are steps; this screen is a state like others."""

    step: int  # taken before this choice
    steps: int  # that the episode has at most
    states: int  # different states seen in this episode
    visits: int  # how often this state was seen in this episode, now included


@dataclass(frozen=True, slots=True)
class Done:
    """An action that was carried out in this episode, and how it ended."""

    candidate: Candidate
    outcome: Outcome


@dataclass(frozen=True, slots=True)
class Scene:
    """What a policy decides on. The candidates are those that may be chosen: never empty."""

    candidates: Sequence[Candidate]
    window: Window
    counters: Counters
    recent: Sequence[Done]  # in this episode, the latest last


@dataclass(frozen=True, slots=True)
class Pick:
    """The place of the chosen candidate and, if it types, what is to be typed in place of its own text."""

    index: int
    text: str | None = None


@dataclass(frozen=True, slots=True)
class Asked:
    """What a policy has asked so far; tokens as far as whoever answers tells them."""

    questions: int = 0
    question_tokens: int = 0
    answer_tokens: int = 0

    def __add__(self, other: Asked) -> Asked:
        return Asked(
            self.questions + other.questions,
            self.question_tokens + other.question_tokens,
            self.answer_tokens + other.answer_tokens,
        )


class Policy(ABC):
    """A selector plugin of the kind that is a class: made once by every worker, asked on every step."""

    @abstractmethod
    def __init__(self, settings: SelectSettings) -> None:
        """Raises `PluginUnavailable` if something it needs, such as a key, is not there."""

    @abstractmethod
    async def decide(self, scene: Scene) -> Pick | Undecided:
        """One of the candidates, or why none. Failures of whoever is asked are never raised."""

    @property
    def asked(self) -> Asked:
        """What it has asked since it was made; nothing, for a policy that asks nobody."""
        return Asked()

    @classmethod
    def settled(cls, settings: SelectSettings) -> SelectSettings:
        """The settings as a new run stores them: with what they leave to the surroundings filled in."""
        return settings

    @classmethod
    def patience_seconds(cls, settings: SelectSettings) -> float:
        """How long a decision may take."""
        return 0.0
