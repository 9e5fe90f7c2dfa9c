"""The hand-written applications, and the model that puts one of them into a world."""

from __future__ import annotations

import random
from collections.abc import Mapping
from functools import lru_cache, partial
from hashlib import blake2b
from typing import Any

from screensearch.environments.synthetic.files import FILES
from screensearch.environments.synthetic.kept import kept
from screensearch.environments.synthetic.model import App, Branch, Deed, State, Value
from screensearch.environments.synthetic.notepad import NOTEPAD
from screensearch.environments.synthetic.scene import Placement, Scene
from screensearch.environments.synthetic.settings import SETTINGS
from screensearch.environments.synthetic.stage import Stage
from screensearch.environments.synthetic.truth import Survey

APPS: Mapping[str, App] = {app.name: app for app in (NOTEPAD, FILES, SETTINGS)}

Initial = tuple[tuple[str, tuple[Value, ...]], ...]
"""Initial values that an argument pins, by variable."""


@lru_cache(maxsize=16)
def survey(name: str, initial: Initial = ()) -> Survey:
    """The enumeration of an application: about a second, once per machine and choice of start."""
    return Survey(Stage(APPS[name], dict(initial)), partial(kept, f"{name} {initial!r}"))


class DeclaredModel:
    """A hand-written application as the world's model. The truth is enumerated when first asked for."""

    def __init__(self, name: str, initial: Initial = ()) -> None:
        self.application = APPS[name].application
        self._name = name
        self._initial = initial
        self._stage = Stage(APPS[name], dict(initial))
        self._hidden = [v.name for v in APPS[name].variables if v.hidden]

    def begin(self, rng: random.Random) -> State:
        return self._stage.begin(rng)

    def configuration(self, state: State) -> dict[str, str]:
        varied = {*self._stage.varied, "display_mode", "text_scale"}
        return {name: str(value) for name, value in state.items() if name in varied}

    def outcomes(self, state: State, deed: Deed) -> tuple[Branch[State], ...]:
        return self._stage.outcomes(state, deed)

    def scene(self, state: State, placement: Placement) -> Scene:
        return self._stage.scene(state, placement)

    def backdrop(self, state: State, placement: Placement) -> Scene | None:
        return self._stage.backdrop(state, placement)

    def focused(self, state: State) -> str:
        return self._stage.focused(state)

    def truth(self, state: State) -> dict[str, Any]:
        known = survey(self._name, self._initial)
        counted = known.declared(state)
        return {
            "state": _digest(tuple(state.values())),
            "screen": self._stage.drawn(state).look,
            "aliased": known.is_aliased(state),
            "hidden": {name: state[name] for name in self._hidden},
            "declared_state": None if counted is None else _digest(counted[0]),
            "declared_screen": None if counted is None else counted[1],
        }


def _digest(values: tuple[Value, ...]) -> str:
    return blake2b(repr(values).encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()
