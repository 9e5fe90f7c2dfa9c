"""Actions on the element as it is now, or not at all.

Before anything is pressed the pointer goes there, the application gets its turn, and the element is
read again: one that is gone, changed, moved or covered is missed. So a click never lands on whatever
happens to be there.
"""

from __future__ import annotations

from screensearch.domain.action import Action
from screensearch.domain.screen import Box, Element, Observation
from screensearch.environments.desktop.desk import Desk
from screensearch.environments.desktop.elements import on_screen
from screensearch.errors import EnvironmentFailed

_ON_ELEMENTS = frozenset({"focus_click", "double_click", "right_click", "focus_type"})


class Missed(Exception):
    """The target was not there any more; says how."""


class Targets:
    """The elements of the latest observation, as they were seen."""

    def __init__(self) -> None:
        self._seen: dict[str, Element] = {}
        self._window = Box(0, 0, 0, 0)
        self.given = False  # whether the latest action got as far as its input

    def see(self, observation: Observation) -> None:
        """Remember what an action may be aimed at."""
        self._seen = {element.handle: element for element in observation.elements}
        self._window = observation.window.box

    async def act(self, desk: Desk, action: Action, *, wait_seconds: float) -> None:
        """Give the input of an action. Raises `Missed` before anything is pressed."""
        template = action.template.partition("@")[0]
        arguments = dict(action.arguments)
        display = desk.display
        if template == "wait":
            self.given = True
            await desk.wait(wait_seconds)
            return
        if template == "key":
            self._begin(desk)
            display.press(str(arguments["key"]))
            return
        if template == "scroll":
            point = self._middle() if action.element is None else await self._aim(desk, action.element)
            self._begin(desk)
            display.scroll(*point, str(arguments["direction"]), int(arguments["amount"]))
            return
        if action.element is None or template not in _ON_ELEMENTS:
            raise EnvironmentFailed(f"a desktop cannot perform {action.template} on {action.element}")
        point = await self._aim(desk, action.element)
        self._begin(desk)
        if template == "focus_click":
            display.click(*point)
        elif template == "double_click":
            display.click(*point, count=2)
        elif template == "right_click":
            display.click(*point, button=3)
        else:
            display.click(*point)
            await desk.settle_briefly()
            display.type_text(str(arguments["text"]))

    def _begin(self, desk: Desk) -> None:
        """From here on the application may have felt something."""
        self.given = True
        desk.expect()

    def _middle(self) -> tuple[int, int]:
        box = self._window
        return int(box.x + box.width / 2), int(box.y + box.height / 2)

    async def _aim(self, desk: Desk, element: Element) -> tuple[int, int]:
        """Move the pointer over the element; where it is, if it is still the one that was seen."""
        seen = self._find(element)
        box = seen.box
        point = int(box.x + box.width / 2), int(box.y + box.height / 2)
        desk.expect()
        desk.display.move_pointer(*point)
        await desk.settle_briefly()  # it may leave when the pointer comes
        node = await desk.look_again(seen.handle)
        if node is None:
            raise Missed(f"{_called(seen)} is gone")
        if node.name and seen.text and seen.text not in (node.name, node.description, node.text):
            raise Missed(f"{_called(seen)} is now called {node.name!r}")
        now = on_screen(node, desk.origin_of(seen.handle))
        if not (now.x <= point[0] < now.x + now.width and now.y <= point[1] < now.y + now.height):
            raise Missed(f"{_called(seen)} moved from {_at(box)} to {_at(now)}")
        covering = desk.covering(point)
        if covering is not None:
            raise Missed(f"{_called(seen)} is covered by the window {covering!r}")
        return point

    def _find(self, element: Element) -> Element:
        """The element as the desktop saw it: what the explorer holds may be redacted, or of another run."""
        seen = self._seen.get(element.handle)
        if seen is not None:
            return seen
        alike = [
            each for each in self._seen.values() if (each.role, each.text) == (element.role, element.text)
        ]
        if not alike:
            raise Missed(f"{_called(element)} is gone")
        return min(alike, key=lambda each: abs(each.box.x - element.box.x) + abs(each.box.y - element.box.y))


def _called(element: Element) -> str:
    return f"the {element.role} {element.text[:60]!r}"


def _at(box: Box) -> str:
    return f"({box.x:g}, {box.y:g})"
