"""What the viewer's API answers, as types: the page's own types are made from these.

A run is named by a short name that is unique among those that are shown together, a picture by its address
relative to the page. Big tables are columns: the same place in each belongs together.
"""

from __future__ import annotations

from msgspec import Struct

Rectangle = tuple[float, float, float, float]
"""x, y, width, height in pixels of the picture."""


class Answer(Struct, kw_only=True):
    """The base of all that is answered."""


class Problem(Answer):
    """What could not be answered, and what to do about it."""

    problem: str


class RunInfo(Answer):
    """A run, and what it came to so far."""

    run: str  # its name in addresses
    path: str
    environment: str
    application: str
    seed: int
    created: str  # ISO 8601
    version: str  # of the program that wrote it
    live: bool  # somebody is still writing it
    sequence: int  # entries
    steps: int
    episodes: int
    states: int
    edges: int  # distinct (state, signature, state)
    outcomes: dict[str, int]
    worker_seconds: float  # spent acting and deciding, all workers together
    identifier: str
    threshold: float
    filters: list[str]
    kappa: float
    prior_ambiguity: float  # u₀
    redacted: list[str]  # kinds of secrets that are taken out of what is shown


class Runs(Answer):
    runs: list[RunInfo]


class MapStates(Answer):
    """The states of a map, a column each. Words are places in the lists of `Map`."""

    id: list[int]
    x: list[float]
    y: list[float]
    depth: list[int]  # fewest actions from where episodes begin, there 0; -1: no known way leads there
    visits: list[int]
    ambiguity: list[float]
    first_seen: list[int]  # sequence number
    seconds: list[float]  # of all workers' time, when it was discovered
    application: list[int]
    display_mode: list[int]
    text_size: list[int]
    window: list[int]
    title: list[str]  # a few words that tell it from others
    crashes: list[int]  # crashes and hangs of actions done there
    start: list[bool]  # episodes begin there
    picture: list[bool]  # there is a thumbnail at `runs/RUN/thumbnails/STATE`


class MapLinks(Answer):
    """Arrows between states: edges with the same ends as one. Ends are places in the states' columns."""

    source: list[int]
    target: list[int]
    count: list[int]  # transitions
    actions: list[int]  # distinct signatures
    certain: list[float]  # the greatest share that one of its actions gives this target


class Map(Answer):
    run: str
    sequence: int
    applications: list[str]
    display_modes: list[str]
    text_sizes: list[str]
    windows: list[str]
    states: MapStates
    links: MapLinks


class StateBrief(Answer):
    """A state in a list."""

    id: int
    title: str
    window: str
    display_mode: str
    text_size: str
    application: str
    visits: int
    ambiguity: float
    picture: str | None  # the whole screenshot of its founding screen
    thumbnail: str | None


class ElementInfo(Answer):
    """An element of a screen as it is drawn over its picture."""

    role: str
    text: str
    value: str
    box: Rectangle
    clickable: bool
    editable: bool
    enabled: bool
    focused: bool
    checked: bool
    secret: bool
    role_atom: str | None  # None: it does not count
    text_atom: str | None
    signatures: list[str]  # of the actions tried at this state that aim at it


class Successor(Answer):
    state: int
    title: str
    count: int
    share: float


class ActionInfo(Answer):
    """An action that was tried at a state."""

    signature: str
    words: str  # the same for people: click "open" (menuitem)
    visits: int  # N
    value: float  # Q
    prior: float | None  # P as the latest selection saw it
    dispersion: float
    successors: list[Successor]
    failures: dict[str, int]  # by outcome


class AmbiguityTerm(Answer):
    """What one action adds to D(s)."""

    signature: str
    words: str
    visits: int
    weight: float  # its share of all executions at the state
    entropy: float  # normalised


class AmbiguityInfo(Answer):
    """How u(s) came about (eq. 1 and 2): (trials·dispersion + κ·u₀) / (trials + κ), as the paper has it."""

    value: float
    trials: int  # n_s
    dispersion: float  # D(s)
    kappa: float
    prior: float  # u₀
    terms: list[AmbiguityTerm]  # those above 0 first, the greatest first


class Incoming(Answer):
    """From where a state was reached."""

    state: int
    title: str
    count: int
    actions: int


class StatePage(Answer):
    run: str
    state: StateBrief
    text: str
    first_seen: int
    depth: int
    screens: int  # distinct ones that were judged to be it
    observations: int
    window_box: Rectangle | None
    elements: list[ElementInfo]
    actions: list[ActionInfo]  # the most visited first
    ambiguity: AmbiguityInfo
    incoming: list[Incoming]  # the most frequent first


class ObservationInfo(Answer):
    """A time that a state was seen, and why it was taken for that."""

    sequence: int
    episode: str
    step: int
    how: str  # new, match, memo, elsewhere
    score: float
    role_jaccard: float
    text_jaccard: float
    runner_up: int | None
    runner_up_score: float | None
    picture: str | None


class Observations(Answer):
    run: str
    state: int
    total: int
    offset: int
    observations: list[ObservationInfo]


class TransitionInfo(Answer):
    """One execution."""

    sequence: int
    episode: str
    step: int
    source: int
    target: int | None
    signature: str
    words: str
    outcome: str
    note: str
    before: str | None  # pictures
    after: str | None
    acted_on: Rectangle | None  # in the picture before
    candidates: int | None
    prior: float | None
    value: float | None
    visits: int | None
    score: float | None
    reward: float | None
    new_state: bool
    new_edge: bool
    act_seconds: float
    decide_seconds: float


class EdgeAction(Answer):
    signature: str
    words: str
    count: int  # times it led to this target
    visits: int  # times it was done
    share: float


class EdgePage(Answer):
    """Everything from one state to another; transitions of all actions, or of the one asked for."""

    run: str
    source: StateBrief
    target: StateBrief
    actions: list[EdgeAction]
    signature: str | None  # what was asked for
    total: int
    offset: int
    transitions: list[TransitionInfo]


class Rate(Answer):
    """A share over windows of steps: the step that a window ends with, and the share there."""

    step: list[int]
    share: list[float]


class Latency(Answer):
    """How long something took, in seconds: quantiles, and a histogram with bounds that double."""

    p50: float
    p90: float
    p99: float
    bounds: list[float]  # upper ones
    counts: list[int]


class Figures(Answer):
    """The course of a run, thinned to some two thousand points."""

    run: str
    sequence: int
    step: list[int]
    seconds: list[float]  # of all workers' time
    states: list[int]
    edges: list[int]
    revisits: Rate  # landings on a state that was known before
    loops: Rate  # steps that ended where they began
    captures: Rate
    decide: Latency
    act: Latency
    outcomes: dict[str, int]
    lengths: dict[str, int]  # episodes by number of steps


class FindingInfo(Answer):
    """A crash, a hang, an exit or a capture: how often, and how it came about the first time."""

    number: int  # of its cause: those that share one are one fault at several places
    outcome: str
    state: int | None  # None: at the start
    title: str
    signature: str
    words: str
    count: int
    note: str
    first: int  # sequence number
    episode: str
    configuration: dict[str, str]
    actions: list[str]  # in words, from the start of the episode to the one that failed
    pictures: list[str]  # the last screens before it, oldest first
    picture: str | None  # the screen it ended on


class Findings(Answer):
    run: str
    findings: list[FindingInfo]


class AmbiguousAction(Answer):
    state: int
    title: str
    signature: str
    words: str
    visits: int
    dispersion: float
    successors: list[Successor]


class Ambiguities(Answer):
    """The actions whose outcomes differ most, weighed by how often they were tried."""

    run: str
    actions: list[AmbiguousAction]


class Hit(Answer):
    """A state that was searched for."""

    run: str
    state: StateBrief
    score: float
    by_words: int | None  # place among those found by BM25, from 1
    by_meaning: int | None  # place among those found by vectors
    snippet: str  # of its text, around the first word found


class Hits(Answer):
    query: str
    hits: list[Hit]


class PathStep(Answer):
    source: int
    source_title: str
    signature: str
    words: str
    target: int
    target_title: str
    count: int  # times it led there
    visits: int  # times it was done there
    share: float


class Path(Answer):
    """The most reliable way from a start to a state."""

    run: str
    state: int
    reachable: bool
    start: int | None
    configuration: dict[str, str]  # of an episode that began there
    reliability: float  # product of the shares: what was seen
    estimate: float  # how likely it comes out again: by Laplace's rule, since once of once is not always
    steps: list[PathStep]


class Live(Answer):
    """An event of a run that goes on."""

    run: str
    sequence: int
    states: int
    edges: int
    live: bool
