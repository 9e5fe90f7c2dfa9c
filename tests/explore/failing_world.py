"""A world with a button for every way to end, for tests of what is made of failures."""

from __future__ import annotations

from screensearch import Action, Box, Element, Image, Observation, Outcome, Result, Start, Window

ENDS = {
    "crash": (Outcome.CRASH, "signal SIGSEGV"),
    "hang": (Outcome.HANG, "no answer within 5 s"),
    "quit": (Outcome.EXIT, "status 0"),
    "help": (Outcome.CAPTURE, "browser took the input"),
}


class FailingWorld:
    """One screen per step of a corridor: `next` leads on, the other buttons end the episode."""

    application = "corridor"

    def __init__(self, *, pictures: bool = False) -> None:
        self._pictures = pictures
        self._place = 0

    async def reset(self, seed: int) -> Start:
        self._place = 0
        return Start(self._look(), {"seed": str(seed % 2)})

    async def perform(self, action: Action) -> Result:
        pressed = "" if action.element is None else action.element.text
        if pressed in ENDS:
            outcome, note = ENDS[pressed]
            seen = self._look("browser") if outcome is Outcome.CAPTURE else None
            return Result(outcome, seen, note)
        self._place = min(self._place + (pressed == "next"), 9)
        return Result(Outcome.OK, self._look())

    async def close(self) -> None:
        pass

    def _look(self, application: str = "corridor") -> Observation:
        buttons = tuple(
            Element("button", label, Box(10 + 60 * place, 20, 50, 20), application, clickable=True)
            for place, label in enumerate(("next", *ENDS))
        )
        where = Element("text", f"room {self._place}", Box(10, 100 + 20 * self._place, 80, 20), application)
        shade = bytes([20 * self._place, len(application), 0])
        picture = Image(1, 1, shade) if self._pictures else None
        window = Window("Corridor", "main", Box(0, 0, 400, 400), application)
        return Observation((*buttons, where), window, screenshot=picture)
