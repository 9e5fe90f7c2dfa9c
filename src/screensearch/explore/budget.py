"""How many steps a run takes, and who may take the next one.

Steps are granted before they are taken, so that workers in parallel take exactly as many as were asked
for. A worker holds its grant until its step is recorded, over the end of an episode too.
"""

from __future__ import annotations


class Budget:
    """Grants steps until there are enough: so many in all, or so many in a row without a new state."""

    def __init__(self, *, steps: int | None = None, plateau: int | None = None) -> None:
        self._steps = steps
        self._plateau = plateau
        self._granted: set[int] = set()  # workers that were told to take one more step
        self._last_discovery = 0
        self.taken = 0
        self.stopping = False  # grants nothing any more; steps under way may finish

    def start_from(self, taken: int) -> None:
        """Go on with a run that has so many steps. A plateau counts from here."""
        self.taken = self._last_discovery = taken

    def grant(self, worker: int) -> bool:
        """Whether this worker may take one more step."""
        if worker in self._granted:
            return True
        if self.stopping or self.out_of_steps(self.under_way) or self.on_plateau():
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

    @property
    def exhausted(self) -> bool:
        """Whether nothing will be granted any more."""
        return self.stopping or self.out_of_steps() or self.on_plateau()
