"""The language in which synthetic applications are declared.

An application is a finite machine. Its true state is a valuation of declared variables; a pane
(window, menu, dialog) draws widgets from the few variables it shows; a widget carries pure effects
that give the whole distribution of what may follow; events change the state by themselves while they
are pending. One declaration serves three readers: the world samples from it, the truth report
enumerates it, and the renderer paints it, so that they cannot disagree.

What is *hidden* follows from the declaration: a variable that no shown pane draws. Clipboard, focus,
mode, permission and pending events are hidden in this sense (paper, introduction).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from screensearch.domain.transition import Outcome

Value = str | int | float | bool
State = dict[str, Value]
S = TypeVar("S")

UNIT_WIDTH, UNIT_HEIGHT = 40, 28
"""Pixels of a layout unit. The main window is 30 by 30 units, so a unit is a cell of the grid and
widgets centred in units keep their cell when a pixel of noise moves them."""


@dataclass(frozen=True, slots=True)
class Branch(Generic[S]):
    """One way an execution can go: how likely, where it leads, and how it ended."""

    probability: float
    state: S
    outcome: Outcome = Outcome.OK
    note: str = ""


Effect = Callable[[State, str], "tuple[Branch[State], ...]"]
"""State and argument (typed text, key, scroll direction) to every branch; probabilities sum to 1."""


@dataclass(frozen=True, slots=True)
class Variable:
    """One variable of the true state.

    An episode starts with one of `initial`, drawn by its seed. `text` marks open text: it may hold
    anything typed, and effects read it only by asking whether two texts are equal. `inert` marks
    what no effect reads or writes and every main screen shows (seeded content): enumerating one
    value stands for all.
    """

    name: str
    initial: tuple[Value, ...]
    hidden: bool = False  # reported under "hidden" by truth()
    text: bool = False
    inert: bool = False


@dataclass(frozen=True, slots=True)
class Widget:
    """One control: `at` is column, row, width and height in layout units within its window."""

    key: str
    role: str
    text: str
    at: tuple[float, float, float, float]
    click: Effect | None = None
    type: Effect | None = None
    scroll: Effect | None = None
    enabled: bool = True
    checked: bool = False
    focus: str = ""  # focused while the variable `focus` has this value
    parent: str = ""  # key of the widget it sits in
    noise: str = ""  # "clock": text changes by itself; "unordered": neighbours may swap places
    double_click: Effect | None = None  # none: a double click is a click
    right_click: Effect | None = None  # none: nothing happens


@dataclass(frozen=True, slots=True)
class Pane:
    """A window that can take the input. It can draw only the variables named in `shows`.

    Panes of kind ``menu`` and ``popup`` include the window they open over, as accessibility trees
    do; a click beside the menu runs `dismiss`. A dialog is a window of its own over `behind`. A
    pane of another application is a capture.
    """

    name: str
    kind: str
    title: Callable[[State], str]
    shows: tuple[str, ...]
    draw: Callable[[State], tuple[Widget, ...]]
    size: tuple[float, float] = (30, 30)  # layout units
    at: tuple[float, float] = (0, 0)  # layout units from the main window's corner
    keys: Mapping[str, Effect] = field(default_factory=dict)
    dismiss: Effect | None = None
    behind: str = ""
    application: str = ""  # empty: the application itself


@dataclass(frozen=True, slots=True)
class Event:
    """An asynchronous update: while `pending` holds it may land before an action or after it.

    Before: between the observation the explorer saw and the action it chose, so that the target can
    have vanished. After: before the next observation. `wait@1` always lets it land.
    """

    name: str
    pending: Callable[[State], bool]
    change: Callable[[State], State]
    before: float  # probability, [0, 1]
    after: float  # probability, [0, 1]


@dataclass(frozen=True, slots=True)
class App:
    """A whole application. The variable `window` names the pane that takes the input.

    Variables in `transient` (a status message) return to their first initial value whenever an
    effect runs that does not set them.
    """

    name: str
    application: str
    variables: tuple[Variable, ...]
    panes: tuple[Pane, ...]
    events: tuple[Event, ...] = ()
    transient: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Deed:
    """An action in the model's own terms: which template, on which widget, with which argument."""

    template: str  # without its version
    key: str = ""  # of the widget
    argument: str = ""
