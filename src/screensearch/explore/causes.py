"""Findings that have one cause: one line for a fault that many states lead to, with all of its places."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

from screensearch.act.wording import describe_action
from screensearch.domain.transition import Outcome
from screensearch.explore.findings import FINDINGS, Finding


@dataclass(frozen=True, slots=True)
class Cause:
    """Findings of the same outcome that ended in the same way, by an action that is called the same."""

    outcome: Outcome
    how: str  # a signal, a status, the program that took the input: what the note begins with
    action: str  # in words; empty at the start
    findings: tuple[Finding, ...]  # one for each place, the most frequent first, then the oldest

    @property
    def count(self) -> int:
        """How often it came up, at all places."""
        return sum(each.count for each in self.findings)

    @property
    def oldest(self) -> Finding:
        """The finding of the first time."""
        return min(self.findings, key=lambda each: each.first)


def group_by_cause(findings: Iterable[Finding]) -> list[Cause]:
    """The causes of findings: by kind, then the most frequent first, then the oldest.

    Starts that failed under different configurations stay apart: the configuration may be the cause.
    """
    alike: defaultdict[tuple[object, ...], list[Finding]] = defaultdict(list)
    for each in findings:
        setting = tuple(sorted(each.configuration.items())) if each.at_start else ()
        alike[each.outcome, _how(each), _action(each), setting].append(each)
    causes = [
        Cause(group[0].outcome, _how(group[0]), _action(group[0]), tuple(group)) for group in alike.values()
    ]
    return sorted(causes, key=lambda each: (FINDINGS.index(each.outcome), -each.count, each.oldest.first))


def _how(finding: Finding) -> str:
    """How it ended, without what the application said last, which may differ from time to time."""
    return finding.note.partition(";")[0]


def _action(finding: Finding) -> str:
    return "" if finding.at_start else describe_action(finding.signature)
