"""What goes into a report: the viewer's own answers, for as much of a run as fits.

Everything about a run as a whole is in it. Of states and edges those come first that a reader will look for:
where episodes begin, what failed, what is ambiguous, what was visited most.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import msgspec

from screensearch.domain.screen import StateId
from screensearch.view.edge_page import make_edge_page
from screensearch.view.figures import make_figures
from screensearch.view.found import make_ambiguities, make_findings
from screensearch.view.map_page import make_map
from screensearch.view.messages import Answer, Map, Runs
from screensearch.view.path_page import make_path, paths_of
from screensearch.view.reading import Reading
from screensearch.view.state_page import make_observations, make_state_page

_PICTURES = ("picture", "thumbnail", "before", "after")


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportLimits:
    """How much of a large run goes into a report."""

    states: int = 2_000  # with a page of their own
    edges: int = 4_000  # likewise
    listed: int = 10  # observations of a state, transitions of an edge
    text: int = 2_000  # characters of a state's text that can be searched
    answer_bytes: int = 60_000_000
    picture_bytes: int = 120_000_000
    file_bytes: int = 25_000_000  # more than that becomes a folder


class Part(NamedTuple):
    """Answers that belong together: a page and what it shows. In a folder they share a file."""

    answers: dict[str, bytes]
    pictures: list[str]  # addresses that they name, in order


@dataclass(slots=True)
class Contents:
    """What a report holds, and a sentence for each thing that it lacks."""

    whole: dict[str, bytes]  # by address; always in the page itself
    parts: list[Part]
    pictures: list[str]  # of all of it, each once, the most wanted first
    states: int  # with a page
    edges: int  # likewise
    lacks: list[str]


def collect(reading: Reading, limits: ReportLimits) -> Contents:
    """The answers of a report. The caller holds the reading's lock."""
    map_ = make_map(reading)
    depths = dict(zip(map_.states.id, map_.states.depth, strict=True))
    findings, ambiguities = make_findings(reading), make_ambiguities(reading)
    prefix = f"api/runs/{reading.name}"
    failed = [each.state for each in findings.findings if each.state is not None]
    ordered = _by_interest(map_, [*failed, *(each.state for each in ambiguities.actions)])
    info = reading.info()
    info.live = False  # a report does not go on
    info.path = reading.path.name  # where it lay is nobody's business
    whole: list[tuple[str, Answer]] = [
        ("api/runs", Runs(runs=[info])),
        (f"{prefix}/figures", make_figures(reading)),
        (f"{prefix}/findings", findings),
        (f"{prefix}/ambiguities", ambiguities),
    ]
    states = _fitting(
        _state_parts(reading, ordered[: limits.states], depths, limits), limits.answer_bytes * 3 // 4
    )
    shown = ordered[: len(states)]
    joined = _edges_among(map_, shown)[: limits.edges]
    edges = _fitting(_edge_parts(reading, joined, limits), limits.answer_bytes // 4)
    pictures = [address for _, answer in whole for address in _pictures_of(answer)]
    pictures += [address for part in (*states, *edges) for address in part.pictures]
    _keep_pictures(map_, set(shown))
    texts = _texts(reading, shown, limits)
    return Contents(
        whole={
            **{address: msgspec.json.encode(answer) for address, answer in whole},
            f"{prefix}/map": msgspec.json.encode(map_),
            "report/texts": msgspec.json.encode(texts),
        },
        parts=[*states, *edges],
        pictures=list(dict.fromkeys(pictures)),
        states=len(states),
        edges=len(edges),
        lacks=_lacks(len(ordered), len(states), len(map_.links.source), len(edges), limits),
    )


def _fitting(parts: Iterable[Part], room: int) -> list[Part]:
    """The first parts, as many as there is room for, in bytes."""
    fitting: list[Part] = []
    for part in parts:
        room -= sum(map(len, part.answers.values()))
        if room < 0:
            break
        fitting.append(part)
    return fitting


def _keep_pictures(map_: Map, shown: set[StateId]) -> None:
    """Say of the states that have no page that they have no picture: it is not in the report."""
    states = map_.states
    states.picture = [has and state in shown for has, state in zip(states.picture, states.id, strict=True)]


def _by_interest(map_: Map, wanted: list[StateId]) -> list[StateId]:
    """All states, those that a reader looks for first."""
    states = map_.states
    starts = [state for state, start in zip(states.id, states.start, strict=True) if start]
    visited = sorted(zip(states.visits, states.id, strict=True), key=lambda item: (-item[0], item[1]))
    ambiguous = sorted(zip(states.ambiguity, states.id, strict=True), key=lambda item: (-item[0], item[1]))
    shared = [state for pair in zip(visited, ambiguous, strict=True) for _, state in pair]
    return list(dict.fromkeys((*starts, *wanted, *shared)))


def _edges_among(map_: Map, states: list[StateId]) -> list[tuple[StateId, StateId]]:
    """The arrows between states that have a page, the most travelled first."""
    shown, links, ids = set(states), map_.links, map_.states.id
    found = [
        (count, ids[source], ids[target])
        for count, source, target in zip(links.count, links.source, links.target, strict=True)
        if ids[source] in shown and ids[target] in shown
    ]
    return [(source, target) for _, source, target in sorted(found, key=lambda each: (-each[0], each[1:]))]


def _state_parts(
    reading: Reading, states: list[StateId], depths: dict[StateId, int], limits: ReportLimits
) -> Iterator[Part]:
    paths = paths_of(reading)
    for state in states:
        address = f"api/runs/{reading.name}/states/{state}"
        page = make_state_page(reading, state, depths[state])
        seen = make_observations(reading, state, 0, limits.listed)
        way = make_path(reading, paths, state)
        answers: dict[str, Answer] = {address: page, f"{address}/observations": seen, f"{address}/path": way}
        pictures = [*_pictures_of(page), *_pictures_of(seen)]
        yield Part({each: msgspec.json.encode(answer) for each, answer in answers.items()}, pictures)


def _edge_parts(
    reading: Reading, edges: list[tuple[StateId, StateId]], limits: ReportLimits
) -> Iterator[Part]:
    for source, target in edges:
        page = make_edge_page(reading, source, target, None, 0, limits.listed)
        address = f"api/runs/{reading.name}/edges/{source}/{target}"
        yield Part({address: msgspec.json.encode(page)}, list(_pictures_of(page)))


def _texts(reading: Reading, states: list[StateId], limits: ReportLimits) -> dict[str, Any]:
    """What the report's own search looks through: the texts of the states that have a page."""
    log, redaction = reading.run.log, reading.redaction
    texts = [redaction.screen(log, reading.founding_row(state)).text[: limits.text] for state in states]
    return {"run": reading.name, "states": [reading.brief(state) for state in states], "texts": texts}


def _pictures_of(answer: Answer) -> Iterator[str]:
    """The addresses of the pictures that an answer names, in order."""
    waiting: list[Any] = [answer]
    while waiting:
        value = waiting.pop()
        if isinstance(value, list):
            waiting += reversed(value)
        elif isinstance(value, msgspec.Struct):
            for name in reversed(value.__struct_fields__):
                inner = getattr(value, name)
                if isinstance(inner, list | msgspec.Struct) and name != "pictures":
                    waiting.append(inner)
            for name in _PICTURES:
                if isinstance(found := getattr(value, name, None), str):
                    yield found
            yield from getattr(value, "pictures", ())


def _lacks(states: int, kept: int, edges: int, kept_edges: int, limits: ReportLimits) -> list[str]:
    said = [
        "It shows the run as it was when the report was made; it does not follow it.",
        "Search looks for plain words only, not for meaning, and there is no “screens like this one”.",
        "Only the viewer explains any two screens, and compares runs.",
        f"Of a state's observations and an edge's transitions it has the first {limits.listed}.",
        "Its pictures are compressed with loss; the run has them as they were taken.",
    ]
    if kept < states:
        said.append(
            f"{kept:,} of {states:,} states have a page and can be searched: those that episodes begin at, "
            "that failed, that are most ambiguous or were visited most. All are on the map."
        )
    if kept_edges < edges:
        said.append(f"{kept_edges:,} of {edges:,} arrows have a page, the most travelled.")
    return said
