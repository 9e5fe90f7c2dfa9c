"""The start script of a profile: log in, open a document, close a greeting; then the episode begins."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from screensearch.domain.screen import Element
from screensearch.environments.desktop.desk import Desk
from screensearch.environments.desktop.settings import StartStep
from screensearch.environments.desktop.vitals import ApplicationEnded, ApplicationHangs
from screensearch.errors import HopelessStart


class ScriptFailed(HopelessStart):
    """A step of the start script found nothing to act on."""


async def follow(desk: Desk, steps: Sequence[StartStep], *, seconds: float) -> None:
    """Do the steps in order, each on a settled screen; whatever ends it names the step."""
    for number, step in enumerate(steps):
        what = f"app.start[{number}]"
        try:
            await _do(desk, step, seconds=seconds, what=what)
            await desk.settle()
        except ApplicationEnded as end:
            raise ApplicationEnded(f"{end} at {what}", clean=end.clean) from end
        except ApplicationHangs as hang:
            raise ApplicationHangs(f"{hang} at {what}") from hang


async def _do(desk: Desk, step: StartStep, *, seconds: float, what: str) -> None:
    desk.expect()
    if step.press:
        desk.display.press(step.press)
    elif step.type:
        desk.display.type_text(step.type)
    else:
        named = step.click or step.double_click or step.wait_for
        found = await _shown(desk, named, seconds=seconds, what=what)
        if not step.wait_for:
            box = found.box
            x, y = int(box.x + box.width / 2), int(box.y + box.height / 2)
            desk.expect()
            desk.display.click(x, y, count=2 if step.double_click else 1)


async def _shown(desk: Desk, text: str, *, seconds: float, what: str) -> Element:
    """Wait for an element of that text."""
    loop = asyncio.get_running_loop()
    deadline = loop.time() + seconds
    while True:
        view = await desk.observe()
        for element in view.observation.elements:
            if _plain(element.text).casefold() == _plain(text).casefold():
                return element
        left = deadline - loop.time()
        if left <= 0:
            shown = sorted({_plain(each.text) for each in view.observation.elements} - {""})
            raise ScriptFailed(
                f"{what} waited {seconds:g} s for {text!r}, which did not show; what showed: "
                f"{', '.join(map(repr, shown[:20]))}"
            )
        desk.expect()
        await desk.changed(left)


def _plain(text: str) -> str:
    """A text as a person reads it: some tool kits fill up the names of menu items with spaces."""
    return " ".join(text.split())
