"""The map: every state with its place, and the arrows between them."""

from __future__ import annotations

from typing import NamedTuple

from screensearch.domain.transition import Outcome
from screensearch.view.layout import lay_out
from screensearch.view.messages import Map, MapLinks, MapStates
from screensearch.view.reading import Reading

CRASHES = (Outcome.CRASH.value, Outcome.HANG.value)


class _Link(NamedTuple):
    """What leads from one state to another."""

    times: int
    actions: int
    certain: float


_NO_LINK = _Link(0, 0, 0.0)


def make_map(reading: Reading) -> Map:
    """The map of a run as far as it was read. Linear in states and edges."""
    graph, sights, entries = reading.graph, reading.sights, reading.entries
    states = sights.states
    links = _links(reading)
    laid = lay_out(
        len(states),
        [sorted(targets) for targets in links],
        sorted(sights.places[state] for state in entries.starts if state in sights.places),
    )
    seconds = entries.seconds()
    crashes = [0] * len(states)
    for place, state in enumerate(states):
        for outcomes in graph.failures(state).values():
            crashes[place] += sum(outcomes.get(kind, 0) for kind in CRASHES)
    founded = [entries.founded[state] for state in states]
    return Map(
        run=reading.name,
        sequence=reading.sequence,
        applications=sights.applications.texts,
        display_modes=sights.display_modes.texts,
        text_sizes=sights.text_sizes.texts,
        windows=sights.windows.texts,
        states=MapStates(
            id=states,
            x=laid.x,
            y=laid.y,
            depth=laid.depth,
            visits=[graph.visits(state) for state in states],
            ambiguity=[round(graph.ambiguity(state), 4) for state in states],
            first_seen=founded,
            seconds=[round(float(seconds[sequence - 1]), 3) for sequence in founded],
            application=list(sights.application),
            display_mode=list(sights.display_mode),
            text_size=list(sights.text_size),
            window=list(sights.window),
            title=sights.titles(),
            crashes=crashes,
            start=[state in entries.starts for state in states],
            picture=[entries.picture_of(sequence) is not None for sequence in founded],
        ),
        links=_columns(links),
    )


def _links(reading: Reading) -> list[dict[int, _Link]]:
    """For each state, by its place, what leads to others: edges with the same ends as one."""
    places = reading.sights.places
    found: list[dict[int, _Link]] = []
    for state in reading.sights.states:
        here: dict[int, _Link] = {}
        for tried in reading.graph.tried(state).values():
            for target, count in tried.successors.items():
                place = places.get(target)
                if place is not None:
                    times, actions, certain = here.get(place, _NO_LINK)
                    share = max(certain, count / tried.visits)
                    here[place] = _Link(times + count, actions + 1, share)
        found.append(here)
    return found


def _columns(links: list[dict[int, _Link]]) -> MapLinks:
    every = [link for targets in links for link in targets.values()]
    return MapLinks(
        source=[source for source, targets in enumerate(links) for _ in targets],
        target=[target for targets in links for target in targets],
        count=[link.times for link in every],
        actions=[link.actions for link in every],
        certain=[round(link.certain, 3) for link in every],
    )
