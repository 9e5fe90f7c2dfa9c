"""What the API answers when two things are compared: two screens (`explaining`), two runs (`difference`)."""

from __future__ import annotations

from screensearch.view.messages import Answer, ElementInfo, Rectangle, StateBrief, Successor


class ScreenSide(Answer):
    """One of two screens that are compared."""

    name: str  # 12 for a state, @345 for an entry
    state: int | None
    title: str
    picture: str | None
    window_box: Rectangle | None
    metadata: dict[str, str]
    elements: list[ElementInfo]


class Considered(Answer):
    """A state that a screen was compared with, as it was known when the screen was decided."""

    state: int
    title: str
    score: float
    role_jaccard: float
    text_jaccard: float
    passes: bool


class DecisionInfo(Answer):
    state: int
    how: str
    score: float
    role_jaccard: float
    text_jaccard: float
    runner_up: int | None
    runner_up_score: float | None


class Pool(Answer):
    """Which states a screen was compared with when it was decided: those that agree in the filters."""

    known: int  # states that there were then
    compared: int  # of these
    filters: list[str]


class Explanation(Answer):
    """Why two screens are, or are not, one state; and how the second, if it is an entry, was decided."""

    run: str
    first: ScreenSide
    second: ScreenSide
    one_state: bool
    score: float
    role_jaccard: float
    text_jaccard: float
    threshold: float
    role_weight: float
    text_weight: float
    identifier: str
    differing_filters: list[str]
    shared: list[str]
    only_first: list[str]
    only_second: list[str]
    decision: DecisionInfo | None
    considered: list[Considered]  # the best first
    pool: Pool | None  # what these are the best of; None where there is no decision


class ChangedAction(Answer):
    """The same action at the same screen, with other outcomes."""

    first_state: int
    second_state: int
    title: str
    signature: str
    words: str
    why: str  # other: its successors have nothing in common; fails: it fails in one run
    first: list[Successor]  # one with state -1 is a failure, and its title the outcome
    second: list[Successor]


class EdgeChange(Answer):
    """An edge that only one of two runs has, between states of that run."""

    source: int
    source_title: str
    words: str
    signature: str
    target: int
    target_title: str
    count: int
    tried: int  # how often the other run did that action at the matching screen; 0: it had no chance
    gone: bool  # it always led there, and the other run did it so often that it would have seen it


class Difference(Answer):
    """What became of a map: states and edges of the second run matched with those of the first."""

    first: str
    second: str
    threshold: float
    matched: int
    lost: list[StateBrief]  # of the first run
    gained: list[StateBrief]  # of the second run
    lost_tried: list[int]  # how often the other run did actions that led there, in the order of `lost`
    gained_tried: list[int]
    lost_gone: list[bool]  # whether that is evidence: the other run did what always led there, often enough
    gained_new: list[bool]  # the same of `gained`; where it is none, a state was merely not seen
    lost_edges: list[EdgeChange]
    gained_edges: list[EdgeChange]
    changed: list[ChangedAction]
    comparable: int  # actions that both runs tried often enough to tell
    note: str  # the rule in words
