"""Runs to look at: a little application with pictures, secrets, an ambiguous action and a crash."""

from __future__ import annotations

from pathlib import Path

import screensearch as ss
from screensearch import Action, Box, Element, Image, Observation, Outcome, Result, Start, Window

ADDRESS = "joe.doe@example.com"
PASSWORD = "correct-horse-battery"
TOKEN = "AKIAABCDEFGHIJKLMNOP"  # is found by its capitals alone: normalised, it would pass
SECRETS = (ADDRESS, PASSWORD, TOKEN)
HOSTILE = "</script><script>alert(1)</script>\u202e\x07"

WINDOW = Box(20, 30, 200, 160)
WIDTH, HEIGHT = 240, 200
FIELD = Box(30, 150, 100, 20)
WHITE = 255


class Desk:
    """A list of mails. "Open" comes out in two ways, "Crash" crashes; a menu opens and closes."""

    application = "desk"

    def __init__(self, *, secrets: bool = False) -> None:
        self._secrets = secrets
        self._shown = "list"
        self._opened = 0

    async def reset(self, seed: int) -> Start:
        self._shown = "list"
        return Start(self._look(), configuration={"document": "mails"})

    async def perform(self, action: Action) -> Result:
        said = "" if action.element is None else action.element.text
        if said == "Crash":
            return Result(Outcome.CRASH, None, note="signal 11")
        if said.startswith("Open"):
            self._opened += 1
            self._shown = "letter" if self._opened % 3 else "error"
        elif said == "Menu":
            self._shown = "menu"
        elif said == "Back":
            self._shown = "list"
        return Result(Outcome.OK, self._look())

    async def close(self) -> None:
        pass

    def _look(self) -> Observation:
        owner = ADDRESS if self._secrets else "joe"
        labels = {
            "list": ("Menu", f"Open {owner}", "Crash", HOSTILE),
            "menu": ("Back", "Print", "Settings"),
            "letter": ("Back", "Dear reader", f"key {TOKEN}" if self._secrets else "key"),
            "error": ("Back", "It could not be opened"),
        }[self._shown]
        elements = [
            Element("button", label, Box(30, 40 + 25 * place, 150, 20), "desk", clickable=True)
            for place, label in enumerate(labels)
        ]
        if self._secrets:
            elements.append(Element("edit", "", FIELD, "desk", editable=True, value=PASSWORD, secret=True))
        kind = "menu" if self._shown == "menu" else "main"
        window = Window(f"{owner} - Desk", kind, WINDOW, "desk")
        shade = bytes([WHITE - len(self._shown)])
        return Observation(
            tuple(elements), window, screenshot=Image(WIDTH, HEIGHT, shade * (3 * WIDTH * HEIGHT))
        )


CLICKS = ("candidates.wait=false", "candidates.scroll=false", "candidates.keys=[]")


def explore(folder: Path, *overrides: str, steps: int = 120, secrets: bool = False) -> Path:
    """A run of the desk, made in this process."""
    settings = ss.resolve(overrides=(*CLICKS, "explore.episode_steps=20", *overrides))
    ss.start_exploration(
        Desk(secrets=secrets), folder, stop=ss.StopRule(steps=steps), settings=settings, seed=5
    )
    return folder


def explore_further(folder: Path, steps: int) -> None:
    """Go on with a run, up to so many steps."""
    ss.resume_exploration(folder, stop=ss.StopRule(steps=steps), environment=Desk())
