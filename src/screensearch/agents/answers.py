"""What an agent is answered, as types: the schemas of the tools are made from these.

Without slots: the SDK reads defaults from the class, where a slot would stand in their place.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from screensearch.agents.quoting import NOTICE


@dataclass(frozen=True, kw_only=True)
class Answer:
    """The base of all answers."""

    notice: str = NOTICE


@dataclass(frozen=True, kw_only=True)
class RunSummary:
    """A run: what was explored, and what it came to so far. `live`: it is still being explored."""

    run: str
    environment: str
    application: str
    live: bool
    steps: int
    episodes: int
    states: int
    edges: int
    outcomes: dict[str, int]


@dataclass(frozen=True, kw_only=True)
class Runs(Answer):
    """The runs that can be asked about."""

    runs: list[RunSummary]


@dataclass(frozen=True, kw_only=True)
class StateLine:
    """A state in a list. `ambiguity` is u(s) in [0, 1]: 0 if every action always led to one state."""

    state: int
    title: str
    window: str
    display_mode: str
    text_size: str
    visits: int
    ambiguity: float


@dataclass(frozen=True, kw_only=True)
class States(Answer):
    """A page of states. `total` counts all of them; ask for the next page with `next_offset`."""

    run: str
    total: int
    next_offset: int | None
    states: list[StateLine]


@dataclass(frozen=True, kw_only=True)
class Hit:
    """A state that was found. `by_words` and `by_meaning` are its places in the two rankings, from 1."""

    run: str
    state: StateLine
    snippet: str
    by_words: int | None
    by_meaning: int | None


@dataclass(frozen=True, kw_only=True)
class Hits(Answer):
    """States that were searched for, the best first."""

    hits: list[Hit]


@dataclass(frozen=True, kw_only=True)
class SuccessorLine:
    """Where an action led: how often, and which share of the times it came out at all."""

    state: int
    title: str
    count: int
    share: float


@dataclass(frozen=True, kw_only=True)
class ActionLine:
    """An action that was tried at a state.

    `visits` is N, `value` is Q (the mean reward), `dispersion` is 0 if it always led to the same state and 1
    if it led to each of its successors equally often. `failures` counts crash, hang, exit, capture, missed.
    `successors` are the most frequent of `distinct_successors`.
    """

    signature: str
    words: str
    visits: int
    value: float
    prior: float | None
    dispersion: float
    distinct_successors: int
    successors: list[SuccessorLine]
    failures: dict[str, int]


@dataclass(frozen=True, kw_only=True)
class ElementLine:
    """An element of a screen: its box is x, y, width, height in pixels of the screenshot.

    `actions` are signatures of the actions tried on it.
    """

    role: str
    text: str
    value: str
    box: list[float]
    clickable: bool
    editable: bool
    enabled: bool
    focused: bool
    checked: bool
    actions: list[str]


@dataclass(frozen=True, kw_only=True)
class Incoming:
    """A state from which this one was reached, and how often."""

    state: int
    title: str
    count: int


@dataclass(frozen=True, kw_only=True)
class StateDescription(Answer):
    """A state: what its founding screen shows, what was tried there and where that led.

    `elements` leaves out frames around others (`elements_left_out`): no text, nothing to be done with them.
    `steps_from_start` is the fewest actions from a start of the application, null if it cannot be told.
    `ambiguity` is u(s) = (trials·dispersion + kappa·prior) / (trials + kappa).
    """

    run: str
    state: int
    title: str
    application: str
    window: str
    display_mode: str
    text_size: str
    text: str
    visits: int
    distinct_screens: int
    steps_from_start: int | None
    has_screenshot: bool
    ambiguity: float
    trials: int
    dispersion: float
    elements_total: int
    elements_left_out: int
    elements_next_offset: int | None
    elements: list[ElementLine]
    actions_total: int
    actions_next_offset: int | None
    actions: list[ActionLine]
    reached_from: list[Incoming]


@dataclass(frozen=True, kw_only=True)
class Step:
    """One action of a way: done at `source`, it led to `target` `count` of the `tries` times."""

    source: int
    source_title: str
    signature: str
    words: str
    target: int
    target_title: str
    count: int
    tries: int
    share: float


@dataclass(frozen=True, kw_only=True)
class Way(Answer):
    """The most reliable way to a state by what was observed.

    From a start of the application, it begins with `configuration`. `reliability` is the product of the
    observed shares, `estimate` how likely it is to come out, with little evidence counted for little.
    If `reachable` is false, `why` says so in words.
    """

    run: str
    to_state: int
    from_state: int | None
    reachable: bool
    why: str
    configuration: dict[str, str]
    reliability: float
    estimate: float
    steps: list[Step]


@dataclass(frozen=True, kw_only=True)
class Execution:
    """One time that an action was done. `target` is null if it led to no state."""

    entry: int
    outcome: str
    target: int | None
    note: str


@dataclass(frozen=True, kw_only=True)
class ActionOutcomes(Answer):
    """What came of one action at one state: all outcomes with their shares, and the latest executions.

    `ambiguous` is true if it led to several states: what the screen shows then does not tell what it does.
    """

    run: str
    state: int
    title: str
    action: ActionLine
    ambiguous: bool
    state_ambiguity: float
    latest: list[Execution]


@dataclass(frozen=True, kw_only=True)
class AmbiguousAction:
    """An action that did not always lead to the same state."""

    state: int
    title: str
    signature: str
    words: str
    visits: int
    dispersion: float
    successors: list[SuccessorLine]


@dataclass(frozen=True, kw_only=True)
class AmbiguousActions(Answer):
    """A page of the actions whose outcomes differ most, weighed by how often they were tried."""

    run: str
    total: int
    next_offset: int | None
    actions: list[AmbiguousAction]


@dataclass(frozen=True, kw_only=True)
class Finding:
    """A crash, hang, exit or capture, and how it came about the first time; no state: at the start.

    Findings of one cause have the same number.
    """

    number: int
    outcome: str
    state: int | None
    title: str
    words: str
    count: int
    note: str
    configuration: dict[str, str]
    actions: list[str]
    actions_left_out: int


@dataclass(frozen=True, kw_only=True)
class Findings(Answer):
    """A page of findings: crashes first, then hangs, exits and captures."""

    run: str
    total: int
    next_offset: int | None
    findings: list[Finding]


@dataclass(frozen=True, kw_only=True)
class Near:
    """A state, and how much a screen is like the one that founded it: 1 is equal."""

    state: int
    title: str
    score: float
    role_jaccard: float
    text_jaccard: float


@dataclass(frozen=True, kw_only=True)
class Place(Answer):
    """Which state a screen is, by the rule of the run.

    `known` is false if no state fits; `nearest` then are those that come nearest, the best first, of the same
    application, display mode and so on (`compared_with` of them), unless `why` says that there are none.
    """

    run: str
    known: bool
    state: int | None
    title: str
    score: float | None
    threshold: float
    why: str
    compared_with: int
    nearest: list[Near]
    elements_counted: int
    unknown_roles: list[str] = field(default_factory=list)
