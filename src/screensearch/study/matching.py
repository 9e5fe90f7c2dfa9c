"""How a condition's rule groups the observations of the corpus, against a reference: pair F1, false merges.

On a world that knows it, the reference is the true screen of each observation. Elsewhere it is the state that
the suite's own rule gave it, as in the paper's "persisted ids": a diagnostic of how far two rules agree, not
of which of them is right; the suite's own rule then agrees with itself.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from screensearch.explore.run import Run, open_run
from screensearch.record.run import TRUTH
from screensearch.record.truth import read_truth
from screensearch.study.files import conducted
from screensearch.study.initial import initial_run
from screensearch.study.metrics import pair_quality
from screensearch.study.plan import Plan, StudyFolder
from screensearch.study.suite import CORPUS, open_suite

TRUE_SCREENS = "true screens"
OWN_STATES = "the suite's states"


@dataclass(frozen=True, slots=True)
class Matching:
    """One condition's grouping of one corpus."""

    suite: str
    condition: str
    reference: str  # TRUE_SCREENS or OWN_STATES
    observations: int
    states: int
    pair_f1: float
    false_merge: float


def matching_of(suite: str, condition: str, corpus: Path, initial: Path) -> Matching:
    """Compare the run that a condition begins with, made of the corpus's log, with the reference."""
    with open_run(corpus) as theirs, open_run(initial) as ours:
        reference, labels = _reference(theirs)
        found = _states(ours)
        pairs = [(one, other) for one, other in zip(found, labels, strict=True) if None not in (one, other)]
        quality = pair_quality([one for one, _ in pairs], [other for _, other in pairs])
        return Matching(
            suite=suite,
            condition=condition,
            reference=reference,
            observations=len(pairs),
            states=ours.graph.states,
            pair_f1=quality.f1,
            false_merge=quality.false_merge_rate,
        )


def _reference(corpus: Run) -> tuple[str, list[Hashable]]:
    """What each entry of the corpus really was, or was judged to be; None where nothing was judged."""
    truth = read_truth(corpus.path / TRUTH)
    if not truth:
        return OWN_STATES, _states(corpus)
    noted = [truth.get((entry.episode, entry.step)) for _, entry in corpus.entries()]
    return TRUE_SCREENS, [None if note is None else note.screen for note in noted]


def _states(run: Run) -> list[Hashable]:
    """The state of each entry; None for one without."""
    return [None if entry.decision is None else entry.decision.state for _, entry in run.entries()]


def matchings_of(plan: Plan, study: Path, suites: Mapping[str, Path]) -> list[Matching]:
    """Every condition of a finished study on every corpus, by the run that its graph began with.

    Where that run is not there any more, it is made again.
    """
    found = []
    with conducted(study):
        for planned in plan.suites:
            with open_suite(suites[planned.name]) as suite:
                for condition in plan.conditions:
                    begins = initial_run(StudyFolder(study), suite, condition)
                    found.append(matching_of(planned.name, condition.name, suite.path / CORPUS, begins))
    return found


def matching_markdown(matchings: Sequence[Matching], titles: dict[str, str]) -> str:
    """The comparison as a table."""
    heads = ["Application", "Configuration", "Reference", "Observations", "States", "Pair F1", "False merge"]
    lines = [heads, ["---", "---", "---", *["--:"] * 4]]
    lines += [
        [
            each.suite,
            titles[each.condition],
            each.reference,
            f"{each.observations:,}",
            f"{each.states:,}",
            f"{each.pair_f1:.3f}",
            f"{each.false_merge:.3f}",
        ]
        for each in matchings
    ]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)
