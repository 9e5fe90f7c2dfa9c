"""The start script of a profile: log in, open a document, close a greeting; then the episode begins."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from screensearch.domain.screen import Element
from screensearch.environments.desktop.desk import Desk
from screensearch.environments.desktop.settings import StartStep
from screensearch.errors import EnvironmentFailed


class StartFailed(EnvironmentFailed):
    """A step of the start script found nothing to act on."""


async def follow(desk: Desk, steps: Sequence[StartStep], *, seconds: float) -> None:
    """Do the steps in order, each on a settled screen."""
    for number, step in enumerate(steps):
        desk.expect()
        if step.press:
            desk.display.press(step.press)
        elif step.type:
            desk.display.type_text(step.type)
        else:
            named = step.click or step.double_click or step.wait_for
            found = await _shown(desk, named, seconds=seconds, what=f"app.start[{number}]")
            if not step.wait_for:
                box = found.box
                x, y = int(box.x + box.width / 2), int(box.y + box.height / 2)
                desk.expect()
                desk.display.click(x, y, count=2 if step.double_click else 1)
        await desk.settle()


async def _shown(desk: Desk, text: str, *, seconds: float, what: str) -> Element:
    """Wait for an element of that text."""
    loop = asyncio.get_running_loop()
    deadline = loop.time() + seconds
    while True:
        view = await desk.observe()
        for element in view.observation.elements:
            if element.text.casefold() == text.casefold():
                return element
        left = deadline - loop.time()
        if left <= 0:
            shown = sorted({each.text for each in view.observation.elements if each.text})
            raise StartFailed(
                f"{what} waited {seconds:g} s for {text!r}, which did not show; what showed: "
                f"{', '.join(map(repr, shown[:20]))}"
            )
        desk.expect()
        await desk.changed(left)
