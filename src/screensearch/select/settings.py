"""What steers the choice of an action: the selector, its prior, and their constants."""

from __future__ import annotations

import math
from dataclasses import dataclass

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
class SelectSettings(PriorSettings):
    """Which action is chosen (eq. 4). Selector and prior are plugin names."""

    selector: str = "puct"
    prior: str = "heuristic@1"
    c_puct: float = 1.0  # >= 0, weight of the exploration bonus
    count_in_flight: bool = False  # count choices that other workers are executing as visits

    def __post_init__(self) -> None:
        # Not super(): a dataclass with slots is a second class, which zero-argument super() misses.
        PriorSettings.__post_init__(self)
        require("select", "c_puct", self.c_puct, ">= 0", self.c_puct >= 0)
