"""Pure effects, and how they combine. Each gives its whole distribution, so truth can enumerate it."""

from __future__ import annotations

from collections.abc import Callable

from screensearch.domain.transition import Outcome
from screensearch.environments.synthetic.model import Branch, Effect, State, Value

TEXT_LIMIT = 40
"""Typed text is kept to this many characters: the fields are no wider."""


def nothing(state: State, argument: str) -> tuple[Branch[State], ...]:
    """Leave everything as it is."""
    return (Branch(1.0, state),)


def put(**changes: Value) -> Effect:
    """Set variables to constants."""

    def effect(state: State, argument: str) -> tuple[Branch[State], ...]:
        return (Branch(1.0, {**state, **changes}),)

    return effect


def compute(change: Callable[[State], State]) -> Effect:
    """Set the variables that `change` returns, computed from the state."""

    def effect(state: State, argument: str) -> tuple[Branch[State], ...]:
        return (Branch(1.0, {**state, **change(state)}),)

    return effect


def write(variable: str, **changes: Value) -> Effect:
    """Replace the text of a field by what was typed."""

    def effect(state: State, argument: str) -> tuple[Branch[State], ...]:
        return (Branch(1.0, {**state, **changes, variable: " ".join(argument.split())[:TEXT_LIMIT]}),)

    return effect


def when(test: Callable[[State], bool], then: Effect, otherwise: Effect = nothing) -> Effect:
    """One effect or the other, as the state has it."""

    def effect(state: State, argument: str) -> tuple[Branch[State], ...]:
        return then(state, argument) if test(state) else otherwise(state, argument)

    return effect


def by_argument(**effects: Effect) -> Effect:
    """The effect named by the argument (a scroll direction); nothing for any other."""

    def effect(state: State, argument: str) -> tuple[Branch[State], ...]:
        return effects.get(argument, nothing)(state, argument)

    return effect


def chance(probability: float, then: Effect, otherwise: Effect = nothing) -> Effect:
    """`then` with the given probability, else `otherwise`."""

    def effect(state: State, argument: str) -> tuple[Branch[State], ...]:
        likely = ((probability, b) for b in then(state, argument))
        unlikely = ((1.0 - probability, b) for b in otherwise(state, argument))
        return tuple(
            Branch(p * b.probability, b.state, b.outcome, b.note) for p, b in (*likely, *unlikely) if p > 0
        )

    return effect


def end(outcome: Outcome, note: str) -> Effect:
    """The application crashes or hangs."""

    def effect(state: State, argument: str) -> tuple[Branch[State], ...]:
        return (Branch(1.0, state, outcome, note),)

    return effect


def crash(note: str) -> Effect:
    """The application's process ends."""
    return end(Outcome.CRASH, note)


def hang(note: str) -> Effect:
    """The application stops answering."""
    return end(Outcome.HANG, note)
