"""Coverage of true states: of those that a declared world can reach, how many a run has met, and when.

A world's declaration can be enumerated (`declared`): open text by sample, one value of the seeded content.
Every note says which of the enumerated states it counts as, so that what was met and what there is are
counted alike. The count belongs to the run: no identity rule plays a part in it.
"""

from __future__ import annotations

from dataclasses import dataclass

from screensearch.domain.transition import Outcome, Transition
from screensearch.environments.synthetic import TruthSummary, declared
from screensearch.errors import FormatError
from screensearch.explore.run import Run
from screensearch.record.run import TRUTH
from screensearch.record.truth import read_truth

POINTS = 51
"""Of the curve, from step 0 to the last one, evenly spaced."""

SYNTHETIC = "synthetic:"


@dataclass(frozen=True, slots=True)
class Met:
    """After so many steps: the true states and screens met by then."""

    steps: int
    states: int
    screens: int


@dataclass(frozen=True, slots=True)
class TrueCoverage:
    """What one run has met of what there is. Numbers are absent where nothing was declared."""

    environment: str
    seed: int
    steps: int
    states: int  # distinct true states met, as they are: every text and content is another
    screens: int
    declared_states: int | None  # likewise, as the enumeration counts them
    declared_screens: int | None
    reachable_states: int | None
    reachable_screens: int | None
    outside: int  # observations that no enumerated state stands for: 0, or the enumeration has a gap
    curve: tuple[Met, ...]  # as the enumeration counts, if there is one

    @property
    def state_share(self) -> float:
        """Of the reachable true states, those met; NaN where unknown."""
        return _share(self.declared_states, self.reachable_states)

    @property
    def screen_share(self) -> float:
        """Of the reachable true screens, those met; NaN where unknown."""
        return _share(self.declared_screens, self.reachable_screens)


def true_coverage(run: Run) -> TrueCoverage:
    """Count what a run has met. Refused for a run without truth."""
    truth = read_truth(run.path / TRUTH)
    if not truth:
        raise FormatError(f"{run.path} has no truth: only a synthetic world notes what is really the case")
    counted = any(note.declared_state is not None for note in truth.values())
    there = _reachable(run.environment) if counted else TruthSummary(None, None, None)
    raw_states: set[int | str] = set()
    raw_screens: set[int | str] = set()
    states: set[int | str] = set()
    screens: set[int | str] = set()
    steps = outside = 0
    growth: list[Met] = []
    for _, entry in run.entries():
        if isinstance(entry, Transition):
            steps += entry.outcome is not Outcome.LOST
        note = truth.get((entry.episode, entry.step))
        if note is not None:
            raw_states.add(note.state)
            raw_screens.add(note.screen)
            if note.declared_state is not None and note.declared_screen is not None:
                states.add(note.declared_state)
                screens.add(note.declared_screen)
            else:
                outside += 1
        met = (len(states), len(screens)) if counted else (len(raw_states), len(raw_screens))
        growth.append(Met(steps, *met))
    return TrueCoverage(
        environment=run.environment,
        seed=run.seed,
        steps=steps,
        states=len(raw_states),
        screens=len(raw_screens),
        declared_states=len(states) if counted else None,
        declared_screens=len(screens) if counted else None,
        reachable_states=there.states,
        reachable_screens=there.screens,
        outside=outside if counted else 0,
        curve=_evenly(growth, steps),
    )


def _reachable(environment: str) -> TruthSummary:
    if not environment.startswith(SYNTHETIC):
        return TruthSummary(None, None, None)
    return declared(environment.removeprefix(SYNTHETIC))


def _evenly(growth: list[Met], steps: int) -> tuple[Met, ...]:
    """What was met after equal parts of the steps."""
    places = sorted({round(steps * part / (POINTS - 1)) for part in range(POINTS)})
    curve: list[Met] = []
    at = 0
    for place in places:
        while at + 1 < len(growth) and growth[at + 1].steps <= place:
            at += 1
        curve.append(Met(place, growth[at].states, growth[at].screens))
    return tuple(curve)


def _share(met: int | None, there: int | None) -> float:
    return float("nan") if met is None or not there else met / there
