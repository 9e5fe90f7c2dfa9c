"""The most reliable way from a start to a state, as a page tells it."""

from __future__ import annotations

from collections.abc import Generator

from screensearch.domain.screen import StateId
from screensearch.domain.transition import START_FAILURES, Entry, Outcome
from screensearch.explore.courses import Courses
from screensearch.explore.path import Paths, Unreachable, find_starts
from screensearch.record.log import START, failed_start
from screensearch.view.entries import NONE
from screensearch.view.messages import Path, PathStep
from screensearch.view.reading import Reading

_SLICE_STARTS, _SLICE_STEPS = 100, 4_000  # that are looked at between two stops
_STARTS = (START, *(failed_start(each) for each in START_FAILURES))


def paths_of(reading: Reading) -> Paths:
    """The ways of a run as far as it was read, as `Run.paths` has them; the tree is made with the first."""
    making = making_paths(reading)
    while True:
        try:
            next(making)
        except StopIteration as made:
            paths: Paths = made.value
            return paths


def making_paths(reading: Reading) -> Generator[None, None, Paths]:
    """The same a little at a time: it stops in between, for as long as the run is not read further."""
    begun: list[tuple[int, Entry]] = []
    for place in reading.entries.places_with(*_STARTS).tolist():
        if not len(begun) % _SLICE_STARTS:
            yield
        begun.append((place + 1, reading.entry(place + 1)))
    courses = Courses.learn(reading.graph, begun)
    # All steps, from the columns: to decode the log takes far longer.
    entries, episodes = reading.entries, reading.entries.episodes()
    outcomes = {entries.outcomes.find(each.value): each for each in Outcome}
    for place in range(len(entries)):
        if not place % _SLICE_STEPS:
            yield
        outcome = outcomes.get(entries.outcome[place])
        if outcome is not None:
            courses.follow_step(
                episodes[place],
                entries.source[place],
                entries.signatures.text(entries.signature[place]),
                outcome,
                None if (target := entries.target[place]) == NONE else target,
            )
    return Paths(reading.graph, find_starts(begun), courses)


def make_path(reading: Reading, paths: Paths, state: StateId) -> Path:
    """The way to a state; one without steps and not reachable if nothing that was observed leads there."""
    try:
        found = paths.to(reading.check_state(state))
    except Unreachable:
        return Path(
            run=reading.name,
            state=state,
            reachable=False,
            start=None,
            configuration={},
            reliability=0.0,
            estimate=0.0,
            steps=[],
        )
    return Path(
        run=reading.name,
        state=state,
        reachable=True,
        start=found.origin,
        configuration={name: reading.redaction.text(value) for name, value in found.configuration.items()},
        reliability=found.reliability,
        estimate=found.estimate,
        steps=[
            PathStep(
                source=step.source,
                source_title=reading.title(step.source),
                signature=reading.redaction.signature(step.signature),
                words=reading.words(step.signature),
                target=step.target,
                target_title=reading.title(step.target),
                count=step.count,
                visits=step.tries,
                share=step.share,
            )
            for step in found.steps
        ],
    )
