"""The tables of an exported run: one type a table, one field a column, with what it means.

JSON and Parquet have the same tables and columns, so that what is said here holds of both; the page
``docs/reference/export.md`` is written from it. A column is added with a default, and never changes its
meaning: that would be another `VERSION`.
"""

from __future__ import annotations

import types
import typing
from collections.abc import Mapping
from typing import Annotated, Any, NamedTuple, get_args, get_origin, get_type_hints

from msgspec import Struct

KIND = "export"
"""What a document of an export says it is: ``screensearch.export``."""

VERSION = 1


_REPEATS = object()

Name = Annotated[str, _REPEATS]
"""A text of which there are few distinct ones: stored as their numbers where a format can do that."""


class Row(Struct, frozen=True, kw_only=True, gc=False):
    """A row of one of the tables below."""


class Head(Struct, frozen=True, kw_only=True):
    """What the run was of, and what it came to."""

    environment: Annotated[str, "such as `synthetic:notepad`"]
    seed: Annotated[int, "from which all its random numbers derive"]
    created: Annotated[str, "when it began, ISO 8601, UTC"]
    version: Annotated[str, "of the ScreenSearch that wrote it"]
    settings: Annotated[dict[str, Any], "every setting, as in `run.json`"]
    shards: Annotated[int, "how many owners its states were divided among; mostly 1"]
    entries: Annotated[int, "rows of `transitions`"]
    states: Annotated[int, "rows of `states`"]
    edges: Annotated[int, "rows of `edges`"]
    digest: Annotated[str, "of the graph that these tables hold"]
    original: Annotated[str, "of the graph of the run; differs if signatures were redacted"]
    redacted: Annotated[list[str], "kinds of secrets that were taken out on the way"]
    changed_signatures: Annotated[int, "signatures that held one"]
    pictures: Annotated[bool, "whether the screenshots are there too"]
    shard_numbers: Annotated[list[int], "of each shard, if there are several"] = []
    shard_entries: Annotated[
        list[int], "how many rows of `transitions` each of them has, one after the other"
    ] = []


class StateRow(Row, frozen=True, kw_only=True, gc=False):
    """The states: screens that were judged the same."""

    state: Annotated[int, "its number, in order of discovery"]
    first_seen: Annotated[int, "sequence number of the entry that founded it"]
    visits: Annotated[int, "observations that landed there, starts included"]
    trials: Annotated[int, "n_s: actions done there that ended `ok`"]
    ambiguity: Annotated[float, "u(s), equation 2"]
    actions: Annotated[int, "distinct signatures tried there"]
    failures: Annotated[int, "actions done there that ended otherwise"]
    starts: Annotated[int, "episodes that began there"]
    screens: Annotated[int, "distinct screens that were judged to be it"]
    screen: Annotated[int, "the one that founded it, a row of `screens`"]
    application: Annotated[Name, "of its founding screen, as are the next four"]
    display_mode: Annotated[Name, "such as `light`"]
    text_size: Annotated[Name, "the bin of the text scale, by its edges"]
    window: Annotated[Name, "kind and title class of the window"]
    text: Annotated[str, "all that it shows, in reading order"]
    picture: Annotated[str | None, "screenshot, a row of `artifacts`"]


class EdgeRow(Row, frozen=True, kw_only=True, gc=False):
    """The edges: an action at a state, and where it led."""

    source: Annotated[int, "the state it was done at"]
    signature: Annotated[Name, "the action, as the run identifies it"]
    words: Annotated[Name, "the same for people"]
    target: Annotated[int, "the state it led to"]
    count: Annotated[int, "how often it did"]
    visits: Annotated[int, "N(s, σ): how often it was done there and ended `ok`"]
    share: Annotated[float, "count / visits"]
    value: Annotated[float, "Q(s, σ): the mean of its rewards"]
    first_seen: Annotated[int, "sequence number of the entry that it appeared with"]


class TransitionRow(Row, frozen=True, kw_only=True, gc=False):
    """The log: every execution, and the beginning of every episode (`outcome` begins with `start`)."""

    sequence: Annotated[int, "its place in the log, from 1, no gaps"]
    worker: Annotated[int, "who did it"]
    episode: Annotated[int, "number of the episode, by worker"]
    step: Annotated[int, "in the episode; 0 is its start"]
    outcome: Annotated[
        Name,
        "`start`, or `start:crash` and so on if it failed; else `ok`, `capture`, `crash`, `hang`, `exit`, "
        "`missed`, `undecided`, `lost`; `landing`: a step of another shard ended here",
    ]
    source: Annotated[int | None, "the state it started from"]
    signature: Annotated[Name | None, "the action"]
    target: Annotated[int | None, "the state it ended in"]
    screen: Annotated[int | None, "the screen it ended on, a row of `screens`"]
    how: Annotated[Name | None, "how the state was decided: `new`, `match`, `memo`, `elsewhere`"]
    score: Annotated[float | None, "against the founding screen, as are the next two"]
    role_jaccard: Annotated[float | None, "of the cell×role atoms"]
    text_jaccard: Annotated[float | None, "of the cell×text atoms"]
    runner_up: Annotated[int | None, "the second-best state over the threshold"]
    runner_up_score: Annotated[float | None, "its score"]
    snapshot: Annotated[int | None, "sequence number of the graph that the choice saw"]
    candidates: Annotated[int | None, "how many actions there were to choose from"]
    vetoed: Annotated[int | None, "how many more were kept from being done"]
    chosen: Annotated[Name | None, "the action that was chosen, if it is not `signature`"]
    prior: Annotated[float | None, "P of the action when it was chosen"]
    value: Annotated[float | None, "Q, then"]
    visits: Annotated[int | None, "N, then"]
    choice_score: Annotated[float | None, "what the selector made of them"]
    reward: Annotated[float | None, "the total of equation 5"]
    reward_state: Annotated[bool | None, "it earned a new state"]
    reward_edge: Annotated[bool | None, "it earned a new edge"]
    reward_ambiguity: Annotated[float | None, "the third term, before its weight"]
    act_seconds: Annotated[float, "performing and settling; at step 0 the reset"]
    decide_seconds: Annotated[float, "encoding, identification and selection before it"]
    picture: Annotated[str | None, "screenshot, a row of `artifacts`"]
    window_x: Annotated[float | None, "where the window is in the picture, in pixels"]
    window_y: Annotated[float | None, "its upper edge"]
    window_width: Annotated[float | None, "its width"]
    window_height: Annotated[float | None, "its height"]
    configuration: Annotated[Name, "what varied in the episode, pairs as JSON; at step 0"]
    note: Annotated[Name, "what the environment said"]


class ScreenRow(Row, frozen=True, kw_only=True, gc=False):
    """The distinct screens: what was compared to tell states apart, and the window behind it."""

    screen: Annotated[int, "its number"]
    state: Annotated[int | None, "what it was judged to be; none if it is of another application"]
    founder: Annotated[bool, "whether it founded that state"]
    key: Annotated[str, "a hash of its atoms"]
    application: Annotated[Name, "normalised, as are the next three: what the filters compare"]
    display_mode: Annotated[Name, "such as `light`"]
    text_size: Annotated[Name, "the bin of the text scale, by its edges"]
    window: Annotated[Name, "kind and title class of the window"]
    text: Annotated[str, "all that it shows, in reading order"]
    role_atoms: Annotated[list[str], "cell×role, sorted"]
    text_atoms: Annotated[list[str], "cell×text, sorted"]
    window_title: Annotated[Name, "as it was observed, as is all that follows"]
    window_kind: Annotated[Name, "`main`, `dialog`, `menu` or `popup`"]
    window_application: Annotated[Name, "whose it is"]
    window_x: Annotated[float, "left edge in pixels of the screen"]
    window_y: Annotated[float, "upper edge"]
    window_width: Annotated[float, "its width"]
    window_height: Annotated[float, "its height"]
    mode: Annotated[Name, "display mode as the environment named it"]
    text_scale: Annotated[float, "1 is normal"]
    partial: Annotated[bool, "a bound or a deadline cut the tree short"]


class ElementRow(Row, frozen=True, kw_only=True, gc=False):
    """The elements of each distinct screen when it was first seen."""

    screen: Annotated[int, "the screen, a row of `screens`"]
    place: Annotated[int, "its place in the tree's order, from 0"]
    role: Annotated[Name, "such as `button`"]
    text: Annotated[Name, "what it is called"]
    value: Annotated[Name, "what it holds, where that is something else"]
    x: Annotated[float, "left edge in pixels of the screen"]
    y: Annotated[float, "upper edge"]
    width: Annotated[float, "negative: it has no place"]
    height: Annotated[float, "negative, likewise"]
    application: Annotated[Name, "whose it is"]
    clickable: Annotated[bool, "it can be clicked"]
    editable: Annotated[bool, "it takes text"]
    enabled: Annotated[bool, "it is not greyed out"]
    focused: Annotated[bool, "it has the keyboard"]
    checked: Annotated[bool, "it is ticked"]
    secret: Annotated[bool, "it shows or takes a password"]
    parent: Annotated[int | None, "place of the element around it"]
    process: Annotated[int | None, "as its sandbox counts"]
    handle: Annotated[str, "the environment's own reference; means nothing later"]


class ArtifactRow(Row, frozen=True, kw_only=True, gc=False):
    """The screenshots that the other tables name."""

    picture: Annotated[str, "its name: a hash of its pixels"]
    first_entry: Annotated[int, "sequence number of the first entry that has it"]
    entries: Annotated[int, "how many entries have it"]
    file: Annotated[str | None, "where it is beside these tables, if it is there"]


TABLES: Mapping[str, type[Row]] = types.MappingProxyType(
    {
        "states": StateRow,
        "edges": EdgeRow,
        "transitions": TransitionRow,
        "screens": ScreenRow,
        "elements": ElementRow,
        "artifacts": ArtifactRow,
    }
)
"""The tables by name, in the order in which a document has them."""


class Column(NamedTuple):
    """A column as a format needs to know it."""

    name: str
    kind: type  # int, float, bool, str or list (of texts)
    optional: bool
    repeats: bool
    meaning: str


def columns_of(table: type[Struct]) -> list[Column]:
    """The columns of a table, in order."""
    hints = get_type_hints(table, include_extras=True)
    return [_read_column(name, hints[name]) for name in table.__struct_fields__]


def _read_column(name: str, hint: Any) -> Column:
    (kind, *marks) = get_args(hint)
    meaning = str(marks.pop())
    optional = get_origin(kind) in (types.UnionType, typing.Union)
    if optional:
        kind = next(each for each in get_args(kind) if each is not type(None))
        kind, *marks = get_args(kind) if get_origin(kind) is Annotated else (kind,)
    return Column(name, get_origin(kind) or kind, optional, _REPEATS in marks, meaning)
