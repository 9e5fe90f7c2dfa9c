"""When a run has enough, how many steps it takes, and who may take the next one.

Steps are granted before they are taken, so that workers in parallel take exactly as many as were asked
for. A worker holds its grant until its step is recorded, over the end of an episode too.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from screensearch.config import StopSettings
from screensearch.errors import SettingsError


@dataclass(frozen=True, slots=True, kw_only=True)
class StopRule:
    """When an exploration has enough. The first rule that applies ends it; at least one is needed."""

    steps: int | None = None  # of the whole run, resumed parts included
    seconds: float | None = None  # of this exploration
    states: int | None = None  # of the whole run; steps under way may find a few more
    plateau: int | None = None  # steps in a row without a new state

    def __post_init__(self) -> None:
        given = {name: getattr(self, name) for name in ("steps", "seconds", "states", "plateau")}
        if set(given.values()) == {None}:
            raise SettingsError(
                "an exploration needs a stop rule: give steps, seconds, states or plateau, or set one of "
                "stop.steps, stop.minutes, stop.states and stop.plateau"
            )
        for name, value in given.items():
            if value is not None and not 0 < value < math.inf:
                raise SettingsError(f"{name} is {value}; it must be positive and finite")

    @classmethod
    def of(cls, settings: StopSettings) -> StopRule:
        """The rule that the table `stop` of the settings gives."""
        seconds = None if settings.minutes is None else 60 * settings.minutes
        return cls(steps=settings.steps, seconds=seconds, states=settings.states, plateau=settings.plateau)


class Budget:
    """Grants steps until there is enough: steps or states in all, or steps in a row without a new state."""

    def __init__(
        self, *, steps: int | None = None, states: int | None = None, plateau: int | None = None
    ) -> None:
        self._steps = steps
        self._states = states
        self._plateau = plateau
        self._granted: set[int] = set()  # workers that were told to take one more step
        self._last_discovery = 0
        self.taken = 0
        self._found = 0  # states
        self.stopping = False  # grants nothing any more; steps under way may finish

    def start_from(self, taken: int, states: int) -> None:
        """Go on with a run that has so many steps and states. A plateau counts from here."""
        self.taken = self._last_discovery = taken
        self._found = states
        if self._steps is not None:
            self._steps = max(self._steps, taken)  # what is taken cannot be ceded

    def allot(self, limit: int) -> int:
        """Grant so many steps in all, or as few as were granted already; returns how many it is now.

        May be said again with the same effect.
        """
        if self._steps is not None:
            self._steps = max(limit, self.taken + self.under_way)
        return limit if self._steps is None else self._steps

    @property
    def limit(self) -> int | None:
        """How many steps it grants in all, those taken included; None when there is no limit."""
        return self._steps

    @property
    def left(self) -> int | None:
        """Steps that may still be granted; None when there is no limit."""
        return None if self._steps is None else max(0, self._steps - self.taken - self.under_way)

    def grant(self, worker: int) -> bool:
        """Whether this worker may take one more step."""
        if worker in self._granted:
            return True
        if self.enough(self.under_way):
            return False
        self._granted.add(worker)
        return True

    def take(self, worker: int) -> None:
        """A worker's step was recorded."""
        self.taken += 1
        self._granted.discard(worker)

    def release(self, worker: int) -> None:
        """A worker is gone: another one may have its step."""
        self._granted.discard(worker)

    def discover(self) -> None:
        """A new state was found."""
        self._last_discovery = self.taken
        self._found += 1

    @property
    def under_way(self) -> int:
        """How many granted steps have not been recorded yet."""
        return len(self._granted)

    def out_of_steps(self, under_way: int = 0) -> bool:
        """Whether all steps are taken, counting those under way."""
        return self._steps is not None and self.taken + under_way >= self._steps

    def on_plateau(self) -> bool:
        """Whether no new state was found for as long as is allowed."""
        return self._plateau is not None and self.taken - self._last_discovery >= self._plateau

    def has_states(self) -> bool:
        """Whether all states that were asked for are found; steps under way may find more."""
        return self._states is not None and self._found >= self._states

    def enough(self, under_way: int = 0) -> bool:
        """Whether nothing more is to be granted, counting steps under way as taken."""
        return self.stopping or self.has_states() or self.out_of_steps(under_way) or self.on_plateau()

    def left_steps(self) -> int | None:
        """How many steps may still be taken; None if the rule does not ask for so many."""
        return None if self._steps is None else max(0, self._steps - self.taken)

    def left_states(self) -> int | None:
        """How many states are still to be found, likewise."""
        return None if self._states is None else max(0, self._states - self._found)

    def left_plateau(self) -> int | None:
        """How many more steps without a new state end the run, likewise."""
        return None if self._plateau is None else max(0, self._plateau - self.taken + self._last_discovery)

    @property
    def exhausted(self) -> bool:
        """Whether nothing will be granted any more."""
        return self.enough()
