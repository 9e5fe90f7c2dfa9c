"""Checks in a row, each within its deadline: what was seen, how long it took, and what helps."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from screensearch.errors import EnvironmentFailed

_T = TypeVar("_T")
_T_co = TypeVar("_T_co", covariant=True)


@dataclass(frozen=True, slots=True)
class Check:
    """What one check came to."""

    name: str
    state: str  # ok, warn, fail; skipped: what it needs is missing
    seen: str
    seconds: float
    remedy: str = ""  # a command, or what to change


@dataclass(frozen=True, slots=True)
class Seen(Generic[_T_co]):
    """What a check that did not fail has seen, and what later ones need of it."""

    text: str
    value: _T_co
    state: str = "ok"
    remedy: str = ""


class Ailment(Exception):
    """A check failed: what was seen, and what helps."""

    def __init__(self, seen: str, remedy: str = "") -> None:
        super().__init__(seen)
        self.remedy = remedy


class Checkup:
    """The checks so far; `told` hears of each as it ends."""

    def __init__(self, told: Callable[[Check], None]) -> None:
        self._told = told
        self.checks: list[Check] = []

    async def check(self, name: str, work: Coroutine[Any, Any, Seen[_T]], seconds: float) -> _T | None:
        """Do one check within its deadline; what it gives to later ones, or None when it failed."""
        loop = asyncio.get_running_loop()
        begun = loop.time()
        value: _T | None = None
        try:
            async with asyncio.timeout(seconds):
                found = await work
            state, text, remedy, value = found.state, found.text, found.remedy, found.value
        except Ailment as ailment:
            state, text, remedy = "fail", str(ailment), ailment.remedy
        except TimeoutError:
            state, text, remedy = "fail", f"did not come to an end within {seconds:g} s", ""
        except EnvironmentFailed as problem:
            state, text, remedy = "fail", without_advice(problem), ""
        except OSError as problem:
            state, text, remedy = "fail", str(problem), ""
        self._tell(Check(name, state, text, round(loop.time() - begun, 3), remedy))
        return value

    def skip(self, name: str, why: str) -> None:
        """Note a check that cannot be done."""
        self._tell(Check(name, "skipped", why, 0.0))

    def _tell(self, check: Check) -> None:
        self.checks.append(check)
        self._told(check)


def without_advice(problem: EnvironmentFailed) -> str:
    """What it says, but not that the doctor should be asked."""
    return str(problem).partition("; run `screensearch doctor`")[0]
