"""An application in two versions, of which all is known: what the second lost, gained and does otherwise."""

from __future__ import annotations

from pathlib import Path

import screensearch as ss
from screensearch import Action, Box, Element, Image, Observation, Outcome, Result, Start, Window

FIRST = {
    "home": {"Mail": "mail", "Help": "help", "Draw": "drawing", "About": "about"},
    "mail": {"Back": "home", "New": "letter"},
    "letter": {"Back": "mail"},
    "help": {"Back": "home"},
    "drawing": {"Back": "home"},
    "about": {"Back": "home"},
}
"""Screens, and where their buttons lead."""

SECOND = {
    **FIRST,
    "home": {"Mail": "mail", "Help": "website", "Draw": "crash", "About": "about"},  # Help, Draw: otherwise
    "website": {"Back": "home"},  # gained; "help" and "drawing" are lost
    "mail": {"Back": "home", "New": "letter", "Search": "found"},  # gained, in the same screen but a button
    "found": {"Back": "mail"},
}


class Versioned:
    """Every screen has a dozen texts of its own, so that no two of them score over the threshold."""

    def __init__(self, screens: dict[str, dict[str, str]], application: str = "mailer") -> None:
        self.application = application
        self._screens = screens
        self._shown = "home"

    async def reset(self, seed: int) -> Start:
        self._shown = "home"
        return Start(self._look())

    async def perform(self, action: Action) -> Result:
        pressed = "" if action.element is None else action.element.text
        leads = self._screens[self._shown].get(pressed, self._shown)
        if leads == "crash":
            return Result(Outcome.CRASH, None, note="signal SIGSEGV")
        self._shown = leads
        return Result(Outcome.OK, self._look())

    async def close(self) -> None:
        pass

    def _look(self) -> Observation:
        words = [
            Element("text", f"{self._shown} {place}", Box(200, 10 + 14 * place, 80, 10), self.application)
            for place in range(24)
        ]
        buttons = [
            Element("button", label, Box(10, 10 + 30 * place, 80, 20), self.application, clickable=True)
            for place, label in enumerate(self._screens[self._shown])
        ]
        window = Window("Mailer", "main", Box(0, 0, 400, 400), self.application)
        picture = Image(8, 8, bytes([len(self._shown)]) * 192)
        return Observation((*words, *buttons), window, screenshot=picture)


def explore_version(
    folder: Path,
    screens: dict[str, dict[str, str]],
    *,
    seed: int = 1,
    steps: int = 150,
    application: str = "mailer",
) -> Path:
    """A run of one version, made in this process."""
    settings = ss.resolve(
        overrides=(
            *("candidates.wait=false", "candidates.scroll=false", "candidates.keys=[]"),
            *("explore.episode_steps=15", "explore.most_crashes=none"),
        )
    )
    ss.start_exploration(
        Versioned(screens, application), folder, stop=ss.StopRule(steps=steps), settings=settings, seed=seed
    )
    return folder
