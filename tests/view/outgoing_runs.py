"""Runs that tests export and search: a mailbox with secrets, an application that says what breaks files."""

from __future__ import annotations

from pathlib import Path

import screensearch as ss
from screensearch import Action, Box, Element, Image, Observation, Outcome, Result, Start, Window

ADDRESSES = ("joe.doe@example.com", "ann.roe@example.org")
TOKEN = "ghp_" + "A1b2C3d4E5f6G7h8I9j0K1l2"
PASSWORD = "correct-horse-battery"
SECRETS = (*ADDRESSES, TOKEN, PASSWORD)

HOSTILE = (
    "<script>alert(1)</script>",
    "null \x00 bell \x07 escape \x1b[31m",
    "]]> & \"quoted\" 'single'",
    "\r\nnew\tline\u2028separator",
    "\ufffe not a character",
    "right \u202eto left",
    "\U0001f600 beyond",
    "x" * 5_000,
)


class Mail:
    """Two mailboxes named by addresses, one of which opens a page with a token; and a password field."""

    application = "mail"

    def __init__(self) -> None:
        self._page = 0

    async def reset(self, seed: int) -> Start:
        self._page = 0
        return Start(self._look(), {"account": ADDRESSES[0]})

    async def perform(self, action: Action) -> Result:
        text = "" if action.element is None else action.element.text
        for page, address in enumerate(ADDRESSES, start=1):
            if address in text:
                self._page = page
        if text == "Back":
            self._page = 0
        note = f"{ADDRESSES[0]} was told" if text == "Send" else ""
        return Result(Outcome.OK, self._look(), note)

    async def close(self) -> None:
        pass

    def _look(self) -> Observation:
        elements = [
            Element("button", "Send", Box(20, 20, 80, 30), "mail", clickable=True, handle="1"),
            Element("edit", "", Box(20, 50, 200, 20), "mail", editable=True, value=PASSWORD, secret=True),
        ]
        if self._page:
            text = f"Key {TOKEN}" if self._page == 1 else "Nothing to be read"
            elements.append(Element("text", text, Box(20, 200, 200, 30), "mail"))
            elements.append(Element("button", "Back", Box(20, 240, 80, 30), "mail", clickable=True))
        else:
            for place, address in enumerate(ADDRESSES):
                box = Box(20, 80 + place, 200, 30)  # in one cell: without the address, both are the same
                elements.append(Element("button", f"Mailbox of {address}", box, "mail", clickable=True))
        window = Window(f"{ADDRESSES[self._page == 2]} - Mail", "main", Box(0, 0, 300, 300), "mail")
        return Observation(tuple(elements), window, screenshot=Image(300, 300, bytes([250]) * 270_000))


class Hostile:
    """Every press of its button shows the next of the hostile texts."""

    application = "hostile <&>"

    def __init__(self) -> None:
        self._page = 0

    async def reset(self, seed: int) -> Start:
        self._page = 0
        return Start(self._look(), {"document": HOSTILE[1]})

    async def perform(self, action: Action) -> Result:
        self._page = (self._page + 1) % len(HOSTILE)
        return Result(Outcome.OK, self._look(), HOSTILE[self._page][:100])

    async def close(self) -> None:
        pass

    def _look(self) -> Observation:
        text = HOSTILE[self._page]
        elements = (
            Element("button", text, Box(10, 10, 80, 20), self.application, clickable=True),
            Element("text", text[::-1], Box(10, 10 + 30 * self._page, 80, 20), self.application),
        )
        return Observation(elements, Window(text, "main", Box(0, 0, 300, 300), self.application))


def explore_mail(folder: Path, *overrides: str, steps: int = 60) -> Path:
    """A run of the mailbox; with ``redact.at=export`` its log keeps the secrets."""
    settings = ss.resolve(overrides=("select.selector=random", *overrides))
    ss.start_exploration(Mail(), folder, stop=ss.StopRule(steps=steps), settings=settings, seed=3)
    return folder


def explore_hostile(folder: Path, steps: int = 30) -> Path:
    """A run in which every text is hostile."""
    ss.start_exploration(Hostile(), folder, stop=ss.StopRule(steps=steps), seed=3)
    return folder


def explore_notepad(folder: Path, *overrides: str, steps: int = 50) -> Path:
    """A run of the synthetic notepad."""
    settings = ss.resolve(overrides=overrides)
    stop = ss.StopRule(steps=steps)
    ss.start_exploration("synthetic:notepad", folder, stop=stop, settings=settings, seed=7)
    return folder
