"""A declared application in motion: what is drawn, what an action can do, and how it looks."""

from __future__ import annotations

import random
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from hashlib import blake2b
from operator import itemgetter
from typing import Any, TypeVar

from screensearch.domain.transition import Outcome
from screensearch.environments.synthetic.effects import nothing
from screensearch.environments.synthetic.model import (
    App,
    Branch,
    Deed,
    Effect,
    Pane,
    State,
    Value,
    Widget,
)
from screensearch.environments.synthetic.scene import Placement, Scene, compose

CACHED_SCREENS = 8_192
"""Bound of each cache: drawn panes are small, and composed scenes share their elements."""

Key = TypeVar("Key")
Item = TypeVar("Item")


class Recent(OrderedDict[Key, Item]):
    """A dictionary that forgets its oldest entries."""

    def keep(self, key: Key, item: Item) -> Item:
        self[key] = item
        if len(self) > CACHED_SCREENS:
            self.popitem(last=False)
        return item


@dataclass(frozen=True, slots=True)
class Drawn:
    """A pane's widgets for one valuation of what it shows. `look` is equal iff they look the same."""

    pane: Pane
    view: State
    widgets: tuple[Widget, ...]
    by_key: Mapping[str, Widget]
    look: str


class Stage:
    """Runs one declared application. Holds caches only: states go in and come out."""

    def __init__(self, app: App, initial: Mapping[str, tuple[Value, ...]] | None = None) -> None:
        self.app = app
        self.application = app.application
        self.initial = {v.name: (initial or {}).get(v.name, v.initial) for v in app.variables}
        self.varied = [v.name for v in app.variables if len(v.initial) > 1 or len(self.initial[v.name]) > 1]
        self._panes = {pane.name: pane for pane in app.panes}
        self._shows = {pane.name: _reader(pane) for pane in app.panes}
        self._settled = {name: self.initial[name][0] for name in app.transient}
        self._drawn: Recent[Any, Drawn] = Recent()
        self._scenes: Recent[Any, Scene] = Recent()

    def begin(self, rng: random.Random) -> State:
        """Draw an initial state."""
        return {name: rng.choice(values) for name, values in self.initial.items()}

    def drawn(self, state: State) -> Drawn:
        """The widgets on the screen in this state."""
        window = state["window"]
        key = (window, self._shows[str(window)](state))
        found = self._drawn.get(key)
        return found if found is not None else self._drawn.keep(key, self._draw(state))

    def scene(self, state: State, placement: Placement) -> Scene:
        """The screen in this state, without noise."""
        window = state["window"]
        key = (window, self._shows[str(window)](state), placement)
        found = self._scenes.get(key)
        if found is not None:
            return found
        drawn = self.drawn(state)
        application = drawn.pane.application or self.application
        return self._scenes.keep(key, compose(drawn.pane, drawn.view, drawn.widgets, placement, application))

    def backdrop(self, state: State, placement: Placement) -> Scene | None:
        """The window that stands behind the one taking the input, for the screenshot."""
        behind = self._panes[str(state["window"])].behind
        return self.scene({**state, "window": behind}, placement) if behind else None

    def focused(self, state: State) -> str:
        return str(state.get("focus", ""))

    def outcomes(self, state: State, deed: Deed) -> tuple[Branch[State], ...]:
        """Everything that can follow `deed` in `state`, with probabilities that sum to 1."""
        waits = deed.template == "wait"
        branches = self._act(state, deed)
        if not waits and any(event.pending(state) for event in self.app.events):
            branches = tuple(
                Branch(p * b.probability, b.state, b.outcome, b.note)
                for p, before in self._land_before(state)
                for b in self._act(before, deed)
            )
        return self._land_after(branches, certain=waits)

    def _draw(self, state: State) -> Drawn:
        pane = self._panes[str(state["window"])]
        view = {name: state[name] for name in (*pane.shows, "display_mode", "text_scale")}
        widgets = pane.draw(view)
        seen = [(w.role, w.text, w.at, w.enabled, w.checked) for w in widgets]
        text = repr((pane.kind, pane.title(view), view["display_mode"], view["text_scale"], seen))
        look = blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()
        by_key = {widget.key: widget for widget in widgets}
        assert len(by_key) == len(widgets), f"{self.app.name}: two widgets of {pane.name!r} share a key"
        return Drawn(pane, view, widgets, by_key, look)

    def _effect(self, drawn: Drawn, deed: Deed) -> Effect | None:
        """What the deed does here; absent when its target is not on the screen."""
        pane = drawn.pane
        if deed.template == "key":
            return pane.keys.get(deed.argument, nothing)
        if deed.template == "scroll" and not deed.key:  # in the window: whatever scrolls there
            return next((w.scroll for w in drawn.widgets if w.scroll is not None), nothing)
        if deed.template == "wait":
            return nothing
        widget = drawn.by_key.get(deed.key)
        if widget is None:
            return None
        if not widget.enabled:
            return nothing
        if deed.template == "right_click":
            return widget.right_click or nothing
        if deed.template == "double_click" and widget.double_click is not None:
            return widget.double_click
        if deed.template in ("focus_click", "double_click"):
            return widget.click or pane.dismiss or nothing
        return (widget.type if deed.template == "focus_type" else widget.scroll) or nothing

    def _act(self, state: State, deed: Deed) -> tuple[Branch[State], ...]:
        drawn = self.drawn(state)
        effect = self._effect(drawn, deed)
        if effect is None:
            return (Branch(1.0, state, Outcome.MISSED, "the target vanished before it could be reached"),)
        if effect is nothing:
            return (Branch(1.0, state),)
        branches = effect({**state, **self._settled}, deed.argument)
        return tuple(self._captured(branch) for branch in branches)

    def _captured(self, branch: Branch[State]) -> Branch[State]:
        other = self._panes[str(branch.state["window"])].application
        if not other or branch.outcome is not Outcome.OK:
            return branch
        return Branch(branch.probability, branch.state, Outcome.CAPTURE, f"{other} took the input")

    def _land_before(self, state: State) -> tuple[tuple[float, State], ...]:
        ways: tuple[tuple[float, State], ...] = ((1.0, state),)
        for event in self.app.events:
            ways = tuple(
                (p * q, after)
                for p, s in ways
                for q, after in (
                    ((event.before, {**s, **event.change(s)}), (1 - event.before, s))
                    if event.pending(s) and event.before > 0
                    else ((1.0, s),)
                )
            )
        return ways

    def _land_after(self, branches: tuple[Branch[State], ...], *, certain: bool) -> tuple[Branch[State], ...]:
        for event in self.app.events:
            if not any(b.outcome is Outcome.OK and event.pending(b.state) for b in branches):
                continue
            after = 1.0 if certain else event.after
            branches = tuple(
                Branch(b.probability * q, s, b.outcome, b.note)
                for b in branches
                for q, s in (
                    ((after, {**b.state, **event.change(b.state)}), (1 - after, b.state))
                    if b.outcome is Outcome.OK and event.pending(b.state)
                    else ((1.0, b.state),)
                )
                if q > 0
            )
        return branches


@cache
def _getter(names: tuple[str, ...]) -> Any:
    return itemgetter(*names)


def _reader(pane: Pane) -> Any:
    """Reads everything a pane's look depends on, as a key."""
    return _getter((*pane.shows, "display_mode", "text_scale"))
