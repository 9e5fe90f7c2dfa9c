"""What steers the choice of an action: the selector, its prior, and their constants."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from screensearch.errors import SettingsError

EXPLORATION_INSTRUCTION = "explore this application, open menus, dialogs, tabs, options, settings"


def require(table: str, name: str, value: float, allowed: str, holds: bool) -> None:
    """Refuse a number that is not finite or breaks its rule; name the setting, the value, the range."""
    if not (math.isfinite(value) and holds):
        raise SettingsError(f"{table}.{name} is {value!r}, but must be {allowed}")


@dataclass(frozen=True, slots=True, kw_only=True)
class PriorSettings:
    """What a prior may read. The weights are those of eq. 6; the paper does not publish its instruction."""

    instruction: str = EXPLORATION_INSTRUCTION  # g of eq. 6; may be empty
    overlap_weight: float = 0.2  # >= 0, per token that label and instruction share
    typing_weight: float = 0.15  # >= 0, for typing into an editable element

    def __post_init__(self) -> None:
        require("select", "overlap_weight", self.overlap_weight, ">= 0", self.overlap_weight >= 0)
        require("select", "typing_weight", self.typing_weight, ">= 0", self.typing_weight >= 0)


@dataclass(frozen=True, slots=True, kw_only=True)
class ReactiveSettings:
    """How a model is asked for every action (paper, appendix "Reactive LLM baselines").

    Where it is asked, and with which key, comes from the environment and is stored nowhere.
    """

    model: str = ""  # as the endpoint names it; without one, what `model_env` says when a run begins
    temperature: float = 0.0  # [0, 2]
    most_tokens: int = 140  # [1, 100000] of an answer
    tokens_field: str = "max_tokens"  # how the endpoint calls that: max_tokens, max_completion_tokens
    schema: bool = False  # hold answers to their form, by `response_format`, at endpoints that can
    most_candidates: int = 60  # [1, 10000] elements that are offered, the first ones on the screen
    history: int = 8  # [0, 1000] latest actions that `reactive-history` is told
    timeout_seconds: float = 25.0  # (0, 600] for an answer, from the first byte sent to the last received
    base_url_env: str = "OPENAI_BASE_URL"  # environment variable; unset means OpenAI itself
    key_env: str = "OPENAI_API_KEY"  # environment variable; an endpoint of your own may need none
    model_env: str = "OPENAI_MODEL"  # environment variable

    def __post_init__(self) -> None:
        table = "select.reactive"
        require(table, "temperature", self.temperature, "in [0, 2]", 0 <= self.temperature <= 2)
        for name, low, high in (
            ("most_tokens", 1, 100_000),
            ("most_candidates", 1, 10_000),
            ("history", 0, 1_000),
        ):
            value = getattr(self, name)
            require(table, name, value, f"in [{low}, {high}]", low <= value <= high)
        require(
            table, "timeout_seconds", self.timeout_seconds, "in (0, 600]", 0 < self.timeout_seconds <= 600
        )
        if self.tokens_field not in ("max_tokens", "max_completion_tokens"):
            raise SettingsError(
                f"{table}.tokens_field is {self.tokens_field!r}, but must be 'max_tokens' or "
                "'max_completion_tokens'"
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class SelectSettings(PriorSettings):
    """Which action is chosen (eq. 4). Selector and prior are plugin names."""

    selector: str = "puct"
    prior: str = "heuristic@1"
    c_puct: float = 1.0  # >= 0, weight of the exploration bonus
    count_in_flight: bool = False  # count choices that other workers are executing as visits
    reactive: ReactiveSettings = field(default_factory=ReactiveSettings)

    def __post_init__(self) -> None:
        # Not super(): a dataclass with slots is a second class, which zero-argument super() misses.
        PriorSettings.__post_init__(self)
        require("select", "c_puct", self.c_puct, ">= 0", self.c_puct >= 0)
