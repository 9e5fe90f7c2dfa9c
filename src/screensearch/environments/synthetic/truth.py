"""What is really the case, by enumerating a declaration. Explorers never see any of this.

A *true state* is a valuation of all variables. A *true screen* is what a careful human would call the
same screen: equal widgets, title, display mode and text size, whatever the noise and whatever has the
focus. A screen is *aliased* when some one action on it has at least two possible `OK` successors among
the true screens, be it that the screen stands for several true states or that the action is random.
Only `OK` counts, because only `OK` feeds the ambiguity that is to be judged by this (DESIGN, 3.10).

The reachable states are enumerated once (breadth first, a few thousand per application). Two
reductions keep that finite: an `inert` variable is read by no effect and is seen on every main screen,
so one of its values stands for all (a dialog that hides it also hides what makes it aliased anyway);
and effects read open text only by equality, so renaming the texts of a state, distinct ones to
distinct samples, changes nothing else. A word of the application's own that is typed by hand is
renamed too: what it may coincide with is lost to `aliased`, never to ``state`` and ``screen``.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from screensearch.domain.transition import Outcome
from screensearch.environments.synthetic.kept import Enumeration, Keep
from screensearch.environments.synthetic.model import Deed, State, Value
from screensearch.environments.synthetic.stage import Drawn, Stage

SAMPLE_TEXTS = ("hello", "world")
"""Enough to tell every pair of texts an effect compares equal from different."""

ENUMERABLE = 100_000
"""More true states than this are a mistake in a hand-written declaration."""


@dataclass(frozen=True, slots=True)
class TruthSummary:
    """How much there is to find. A number is absent where it cannot be known without exploring."""

    states: int | None
    screens: int | None
    aliased: int | None  # of the screens


def affordances(drawn: Drawn) -> Iterator[Deed]:
    """Every action on this screen that can do anything, typed texts by sample."""
    yield Deed("wait")
    for key in drawn.pane.keys:
        yield Deed("key", argument=key)
    for widget in drawn.widgets:
        if not widget.enabled:
            continue
        if widget.click is not None:
            yield Deed("focus_click", widget.key)
        if widget.type is not None:
            for text in SAMPLE_TEXTS:
                yield Deed("focus_type", widget.key, text)
        if widget.scroll is not None:
            yield Deed("scroll", widget.key, "down")
            yield Deed("scroll", widget.key, "up")
    if drawn.pane.dismiss is not None:
        beside = next((w for w in drawn.widgets if w.click is None and w.enabled), None)
        if beside is not None:
            yield Deed("focus_click", beside.key)


class Survey:
    """The reachable states and screens of one application, and which screens are aliased."""

    def __init__(self, stage: Stage, kept: Keep | None = None) -> None:
        self._stage = stage
        self._texts = [v.name for v in stage.app.variables if v.text]
        self._inert: Mapping[str, Value] = {
            v.name: stage.initial[v.name][0] for v in stage.app.variables if v.inert
        }
        found = self._enumerate() if kept is None else kept(self._enumerate)
        self.states, self.aliased = found.states, found.aliased

    @property
    def summary(self) -> TruthSummary:
        """Counts over one value of every inert variable and the sample texts."""
        return TruthSummary(len(self.states), len(self.aliased), sum(self.aliased.values()))

    def representative(self, state: State) -> State:
        """The enumerated state that behaves as this one does."""
        names: dict[Value, str] = {"": ""}
        for name in self._texts:
            if state[name] not in names:
                names[state[name]] = SAMPLE_TEXTS[min(len(names) - 1, len(SAMPLE_TEXTS) - 1)]
        return {**state, **self._inert, **{name: names[state[name]] for name in self._texts}}

    def declared(self, state: State) -> tuple[tuple[Value, ...], str] | None:
        """The enumerated state and screen that this one counts as; absent where none stands for it."""
        key = tuple(self.representative(state).values())
        look = self.states.get(key)
        return None if look is None else (key, look)

    def is_aliased(self, state: State) -> bool:
        """Whether the screen shown in this state is aliased (always false in another application)."""
        return self.aliased.get(self._stage.drawn(self.representative(state)).look, False)

    def _initial_states(self) -> Iterator[State]:
        states: list[State] = [{}]
        for name, values in self._stage.initial.items():
            chosen = (self._inert[name],) if name in self._inert else values
            states = [{**state, name: value} for state in states for value in chosen]
        return iter(states)

    def _enumerate(self) -> Enumeration:
        stage = self._stage
        states: dict[tuple[Value, ...], str] = {}
        successors: dict[str, dict[Deed, set[str]]] = {}
        waiting: deque[tuple[tuple[Value, ...], State]] = deque()

        def visit(state: State) -> str:
            state = self.representative(state)
            key = tuple(state.values())
            look = states.get(key)
            if look is None:
                look = states[key] = stage.drawn(state).look
                waiting.append((key, state))
                assert len(states) <= ENUMERABLE, f"{stage.app.name} has too many true states"
            return look

        for state in self._initial_states():
            visit(state)
        while waiting:
            key, state = waiting.popleft()
            seen = successors.setdefault(states[key], {})
            for deed in affordances(stage.drawn(state)):
                reached = seen.setdefault(deed, set())
                for branch in stage.outcomes(state, deed):
                    if branch.outcome is Outcome.OK:
                        reached.add(visit(branch.state))
                    elif branch.outcome is Outcome.MISSED:
                        visit(branch.state)  # the episode may go on from there
        aliased = {
            look: any(len(reached) > 1 for reached in by_deed.values())
            for look, by_deed in successors.items()
        }
        return Enumeration(states, aliased)
