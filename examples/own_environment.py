"""Explore something of your own: a combination lock with a hidden memory.

Two buttons, `left` and `right`, and a `try` button that opens the lock only after left-left-right.
What was pressed before does not show on the screen, so `try` has inconsistent outcomes: ambiguity.

    python examples/own_environment.py [folder]
"""

from __future__ import annotations

import sys
import tempfile

import screensearch as ss
from screensearch import Action, Box, Element, Observation, Outcome, Result, Start, Window

WINDOW = Box(0, 0, 300, 200)


class Lock:
    """One worker drives it in this process; see `screensearch.testing.check_environment`."""

    application = "lock"

    def __init__(self) -> None:
        self._pressed: list[str] = []
        self._open = False

    async def reset(self, seed: int) -> Start:
        self._pressed, self._open = [], False
        return Start(self._look())

    async def perform(self, action: Action) -> Result:
        pressed = "" if action.element is None else action.element.text
        if pressed == "try":
            self._open, self._pressed = self._pressed[-3:] == ["left", "left", "right"], []
        elif pressed == "close":
            self._open = False
        elif pressed:
            self._pressed.append(pressed)
        return Result(Outcome.OK, self._look())

    async def close(self) -> None:
        pass

    def _look(self) -> Observation:
        labels = ("close",) if self._open else ("left", "right", "try")
        buttons = tuple(
            Element("button", label, Box(20 + 90 * place, 80, 80, 30), self.application, clickable=True)
            for place, label in enumerate(labels)
        )
        return Observation(buttons, Window("Lock", "main", WINDOW, self.application))


def main(folder: str) -> None:
    only_buttons = ["candidates.wait=false", "candidates.scroll=false", "candidates.keys=[]"]
    settings = ss.resolve(overrides=only_buttons)
    summary = ss.start_exploration(Lock(), folder, stop=ss.StopRule(steps=300), settings=settings)
    print(f"{summary.states} states, {summary.edges} edges in {summary.steps} steps")
    with ss.open_run(folder) as run:
        for state in run.states():
            print(f"state {state.id}: u = {state.ambiguity:.3f}, {state.text!r}")
            for signature, tried in run.tried(state.id).items():
                print(f"  {signature}: N={tried.visits} Q={tried.value:.3f} leads to {tried.successors}")


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else tempfile.mkdtemp(prefix="screensearch-"))
