"""What stands out in a run: its crashes, hangs, exits and captures, and its most ambiguous actions."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from screensearch.domain.transition import START_FAILURES, Entry
from screensearch.explore.causes import group_by_cause
from screensearch.explore.findings import FINDINGS, Finding, find_among
from screensearch.record.ambiguity import normalised_entropy
from screensearch.record.log import failed_start
from screensearch.view.messages import Ambiguities, AmbiguousAction, FindingInfo, Findings
from screensearch.view.outline import outline_way
from screensearch.view.reading import Reading
from screensearch.view.state_page import successors_of

MOST_AMBIGUOUS = 200
"""How many ambiguous actions are told."""

AT_START = "at the start"


def make_findings(reading: Reading) -> Findings:
    """Every crash, hang, exit and capture, each place once, with the way that led there.

    Those of one cause share its number, which is that of `screensearch findings`; its oldest comes first.
    """
    causes = group_by_cause(find_among(_failed(reading), partial(outline_way, reading), str))
    return Findings(
        run=reading.name,
        findings=[
            _told(reading, number, each)
            for number, cause in enumerate(causes, start=1)
            for each in sorted(cause.findings, key=lambda each: (each is not cause.oldest, -each.count))
        ],
    )


def _failed(reading: Reading) -> Iterator[tuple[int, Entry]]:
    outcomes = [each.value for each in FINDINGS] + [failed_start(each) for each in START_FAILURES]
    for place in reading.entries.places_with(*outcomes):
        yield int(place) + 1, reading.entry(int(place) + 1)


def _told(reading: Reading, number: int, finding: Finding) -> FindingInfo:
    clean = reading.redaction
    unseen = finding.at_start and clean.active  # no screen tells what is a secret in that picture
    return FindingInfo(
        number=number,
        outcome=finding.outcome.value,
        state=finding.state,
        title=AT_START if finding.state is None else reading.title(finding.state),
        signature=clean.signature(finding.signature) if finding.signature else "",
        words=reading.words(finding.signature) if finding.signature else AT_START,
        count=finding.count,
        note=clean.text(finding.note),
        first=finding.first,
        episode=str(finding.episode),
        configuration={name: clean.text(value) for name, value in finding.configuration.items()},
        actions=[reading.words(signature) for signature in finding.actions],
        pictures=[address for name in finding.screenshots if (address := reading.picture(name))],
        picture=None if unseen else reading.picture(finding.screenshot),
    )


def make_ambiguities(reading: Reading) -> Ambiguities:
    """The actions whose outcomes differ most: by dispersion times trials, what they add to D(s)."""
    graph = reading.graph
    weighed = sorted(
        (
            (-entropy * tried.visits, state, signature)
            for state in reading.sights.states
            for signature, tried in graph.tried(state).items()
            if (entropy := normalised_entropy(tried.successors.values())) > 0
        ),
    )[:MOST_AMBIGUOUS]
    actions = []
    for weight, state, signature in weighed:
        tried = graph.tried(state)[signature]
        actions.append(
            AmbiguousAction(
                state=state,
                title=reading.title(state),
                signature=reading.redaction.signature(signature),
                words=reading.words(signature),
                visits=tried.visits,
                dispersion=-weight / tried.visits,
                successors=successors_of(reading, tried),
            )
        )
    return Ambiguities(run=reading.name, actions=actions)
