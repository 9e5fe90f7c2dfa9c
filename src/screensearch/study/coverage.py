"""Lines of code beside states: how much of an application an exploration has run, and when.

States are our own idea of what there is to find; the lines of the application know nothing of it. Where both
grow together, a new state was something new to the program as well.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass

from screensearch.domain.transition import EpisodeId, Outcome, Transition
from screensearch.errors import ScreenSearchError
from screensearch.explore.run import Run
from screensearch.record.coverage import COVERAGE, read_coverage


@dataclass(frozen=True, slots=True)
class Point:
    """After so many steps: the states found and the lines run by then."""

    steps: int
    states: int
    lines: int


@dataclass(frozen=True, slots=True)
class CoverageReport:
    """What was run in a run, in all and over its steps."""

    run: str
    steps: int
    states: int
    lines: int
    at_start: int  # lines that were run before the first action: they need no exploration
    files: dict[str, int]  # lines run of each file, the most first
    curve: list[Point]  # where either has grown, and the end


def measure_coverage(run: Run) -> CoverageReport:
    """Put the notes of all workers in the order of the log. Refused for a run that was not measured."""
    notes: defaultdict[tuple[EpisodeId, int], list[dict[str, list[int]]]] = defaultdict(list)
    for episode, note in read_coverage(run.path / COVERAGE):
        notes[episode, note.step].append(note.lines)
    if not notes:
        raise ScreenSearchError(
            f"no lines were counted in {run.path}: explore an application written in Python with "
            "--set 'app.coverage=[\"FOLDER OR PACKAGE\"]'"
        )
    covered: defaultdict[str, set[int]] = defaultdict(set)
    steps = states = lines = 0
    at_start: int | None = None
    curve: list[Point] = []
    for _, entry in run.entries():
        if isinstance(entry, Transition):
            if at_start is None:
                at_start = lines
            steps += entry.outcome is not Outcome.LOST
        states += entry.decision is not None and entry.decision.founded
        for found in notes.pop((entry.episode, entry.step), ()):
            for name, numbers in found.items():
                covered[name].update(numbers)
            lines = sum(map(len, covered.values()))
        if not curve or (curve[-1].states, curve[-1].lines) != (states, lines):
            curve.append(Point(steps, states, lines))
    if curve and curve[-1].steps != steps:
        curve.append(Point(steps, states, lines))
    return CoverageReport(
        run=str(run.path),
        steps=steps,
        states=states,
        lines=lines,
        at_start=lines if at_start is None else at_start,
        files=dict(
            sorted(
                ((name, len(numbers)) for name, numbers in covered.items()),
                key=lambda each: (-each[1], each[0]),
            )
        ),
        curve=curve,
    )


def at_most(curve: list[Point], rows: int) -> list[Point]:
    """A curve in few points: what was known after equal parts of the steps."""
    if not curve:
        return []
    last = curve[-1].steps
    chosen = {round(last * part / (rows - 1)): None for part in range(rows)}
    shown: list[Point] = []
    for steps in chosen:
        known = [point for point in curve if point.steps <= steps]
        if known:
            shown.append(Point(steps, known[-1].states, known[-1].lines))
    return shown
