"""What became of a map: the states and edges of one run beside those of another.

States are matched by the identity rule, actions by their signatures. What one run has and the other has not
is not therefore gone: an exploration sees what it happens to do. So each is told with how often the other
run did what had led there, and with whether that is evidence (`outcomes`).
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from screensearch.domain.screen import StateId
from screensearch.domain.transition import Outcome
from screensearch.errors import SettingsError
from screensearch.identify.ablations import merge_of
from screensearch.identify.resolve import FILTERS
from screensearch.identify.verify import MergeSettings
from screensearch.view.comparisons import ChangedAction, Difference, EdgeChange
from screensearch.view.entries import NONE
from screensearch.view.landings import any_alike, landings
from screensearch.view.matching import Matching, match_states
from screensearch.view.messages import Successor
from screensearch.view.outcomes import CHANCE, ENOUGH, Trials, began_to_fail, comparable, differ, gone, level
from screensearch.view.reading import Reading

FAILURES = (Outcome.CRASH, Outcome.HANG, Outcome.EXIT, Outcome.CAPTURE)
"""Outcomes that say something about the application, and lead to no state of it."""

FAILED = frozenset(outcome.value for outcome in FAILURES)

_TOLD = FAILED | {Outcome.OK.value}

Place = int | tuple[str, StateId]
"""A screen that both runs have, by its number, or a state of one of them."""

Led = Place | str
"""What an action led to: a place, or how it failed."""

Action = tuple[Place, str]
"""A place and a signature."""


def difference(
    first: Reading, second: Reading, *, threshold: float | None = None, ignore: Sequence[str] = ()
) -> Difference:
    """Compare two runs, as far as they were followed, by the first one's rule or at another threshold.

    `ignore` names filters by which screens need not agree: an application may have been renamed.
    """
    for name in ignore:
        if name not in FILTERS:
            raise SettingsError(f"{name!r} is no filter of screens (known: {', '.join(FILTERS)})")
    settings = first.run.settings.identify
    merge = merge_of(settings)
    rule = _Rule(
        merge if threshold is None else replace(merge, threshold=threshold),
        tuple(name for name in settings.filters if name not in ignore),
    )
    matching = match_states(first.run.log, second.run.log, settings, threshold=threshold, ignore=ignore)
    a = _Seen(first, "first", matching.first, matching.first_states)
    b = _Seen(second, "second", matching.second, matching.second_states)
    rare = _level(a, b)
    lost_edges, gained_edges = _missing_edges(a, b, rule, rare), _missing_edges(b, a, rule, rare)
    lost, gained = _missing(a, b, lost_edges), _missing(b, a, gained_edges)
    compared, changed = _changes(a, b, matching, rule, rare)
    return Difference(
        first=first.name,
        second=second.name,
        threshold=rule.merge.threshold,
        matched=len(matching.first),
        lost=[first.brief(each.state) for each in lost],
        lost_tried=[each.tried for each in lost],
        lost_gone=[each.gone for each in lost],
        gained=[second.brief(each.state) for each in gained],
        gained_tried=[each.tried for each in gained],
        gained_new=[each.gone for each in gained],
        lost_edges=lost_edges,
        gained_edges=gained_edges,
        changed=changed,
        comparable=compared,
        note=_in_words(first, second, rule),
    )


@dataclass(frozen=True, slots=True)
class _Rule:
    """When two screens of two runs are one."""

    merge: MergeSettings
    filters: tuple[str, ...]


class _Edge(NamedTuple):
    source: Place
    signature: str
    target: Place


class _Missing(NamedTuple):
    state: StateId
    tried: int
    gone: bool


class _Seen:
    """What a run saw, in places that both runs have words for."""

    def __init__(
        self,
        reading: Reading,
        which: str,
        screens: Mapping[StateId, int],
        states: Sequence[Sequence[StateId]],
    ) -> None:
        self.reading = reading
        self._which = which
        self._screens = screens
        self._states = states
        self.edges: defaultdict[_Edge, Counter[tuple[StateId, StateId]]] = defaultdict(Counter)
        self.led: defaultdict[Action, Trials[Led]] = defaultdict(Trials)
        entries = reading.entries
        told = {number for number, text in enumerate(entries.outcomes.texts) if text in _TOLD}
        columns = zip(
            *(entries.outcome, entries.source, entries.signature, entries.target),
            *(entries.worker, entries.episode),
            strict=True,
        )
        for outcome, source, number, target, *episode in columns:
            if outcome not in told or number == NONE:
                continue
            signature, failure = entries.signatures.texts[number], entries.outcomes.texts[outcome]
            led: Led = failure
            if failure not in FAILED:
                edge = _Edge(self.place(source), signature, self.place(target))
                self.edges[edge][source, target] += 1
                led = edge.target
            self.led[self.place(source), signature].add(led, tuple(episode))

    def place(self, state: StateId) -> Place:
        screen = self._screens.get(state)
        return (self._which, state) if screen is None else screen

    def states_of(self, place: Place) -> Sequence[StateId]:
        return self._states[place] if isinstance(place, int) else [place[1]]

    def alone(self) -> list[StateId]:
        """The states that only this run has."""
        return [state for state in self.reading.graph.iter_states() if state not in self._screens]

    def trials(self, action: Action) -> Trials[Led]:
        return self.led.get(action) or Trials()


def _level(first: _Seen, second: _Seen) -> float:
    """How rare a difference in one action has to be: of all those that both runs did at the same screen."""
    both = first.led.keys() & second.led.keys()
    return level((first.led[each].episodes.total(), second.led[each].episodes.total()) for each in both)


def _missing_edges(seen: _Seen, other: _Seen, rule: _Rule, rare: float) -> list[EdgeChange]:
    """The edges that only one run has: what is gone first, then what the other had most chances to see."""
    missing = []
    for edge, ends in seen.edges.items():
        if edge in other.edges:
            continue
        action = edge.source, edge.signature
        theirs = other.trials(action)
        surely = gone(seen.led[action], edge.target, theirs, rare) and not _alike(seen, other, action, rule)
        missing.append((not surely, -theirs.outcomes.total(), -ends.total(), min(ends), edge, ends))
    missing.sort(key=lambda each: each[:5])
    reading = seen.reading
    told = []
    for unsure, tried, _, _, edge, ends in missing:
        (source, target), _ = ends.most_common(1)[0]
        told.append(
            EdgeChange(
                source=source,
                source_title=reading.title(source),
                words=reading.words(edge.signature),
                signature=reading.redaction.signature(edge.signature),
                target=target,
                target_title=reading.title(target),
                count=ends.total(),
                tried=-tried,
                gone=not unsure,
            )
        )
    return told


def _missing(seen: _Seen, other: _Seen, edges: Sequence[EdgeChange]) -> list[_Missing]:
    """The states that only one run has: what is gone first, then what the other had most chances to see."""
    tried: Counter[StateId] = Counter()
    surely: set[StateId] = set()
    for edge in edges:
        if edge.source != edge.target:
            tried[edge.target] += edge.tried
            if edge.gone:
                surely.add(edge.target)
    missing = [_Missing(state, tried[state], state in surely) for state in seen.alone()]
    return sorted(missing, key=lambda each: (not each.gone, -each.tried, each.state))


def _changes(
    first: _Seen, second: _Seen, matching: Matching, rule: _Rule, rare: float
) -> tuple[int, list[ChangedAction]]:
    """How many actions both runs did often enough to compare them, and those whose outcomes differ."""
    compared = 0
    changed = []
    for action, ours in first.led.items():
        theirs = second.trials(action)
        place, signature = action
        if not isinstance(place, int):
            continue
        fails = began_to_fail(ours, theirs, FAILED)
        compared += fails or comparable(ours, theirs, rare)
        if not fails and (not differ(ours, theirs, rare) or _alike(first, second, action, rule)):
            continue
        a, b = matching.first_states[place][0], matching.second_states[place][0]
        changed.append(
            ChangedAction(
                first_state=a,
                second_state=b,
                title=first.reading.title(a),
                signature=first.reading.redaction.signature(signature),
                words=first.reading.words(signature),
                why="fails" if fails else "other",
                first=_successors(ours.outcomes, first),
                second=_successors(theirs.outcomes, second),
            )
        )
    return compared, sorted(changed, key=lambda each: (each.why, each.first_state, each.signature))


def _alike(first: _Seen, second: _Seen, action: Action, rule: _Rule) -> bool:
    """Whether both runs came to screens that are one by the rule, though their states are not."""
    place, signature = action
    return any_alike(
        landings(first.reading, first.states_of(place), signature),
        landings(second.reading, second.states_of(place), signature),
        rule.merge,
        rule.filters,
    )


def _successors(counts: Counter[Led], seen: _Seen) -> list[Successor]:
    """Outcomes with the numbers that their states have in one run, the most frequent first."""
    told = []
    for led, count in counts.most_common():
        state = -1 if isinstance(led, str) else seen.states_of(led)[0]
        title = led if isinstance(led, str) else seen.reading.title(state)
        told.append(Successor(state=state, title=title, count=count, share=count / counts.total()))
    return told


def _in_words(first: Reading, second: Reading, rule: _Rule) -> str:
    """By what all this was judged."""
    settings = first.run.settings.identify
    words = [
        f"A screen of {second.name} is taken for a state of {first.name} as if it had been seen there: by "
        f"{settings.identifier} at {rule.merge.threshold:g}, if it agrees in "
        f"{', '.join(rule.filters) or 'nothing in particular'}."
    ]
    if second.run.settings.identify != settings:
        words.append(f"{second.name} itself was made by another rule: its states may be coarser or finer.")
    words.append(
        "An action has changed if its outcomes in the two runs have nothing in common, in so many episodes "
        f"that chance would give it, for any of the actions compared, at most one time in {1 / CHANCE:.0f}; "
        f"or if it only failed in one run and went well in the other, in {ENOUGH} episodes or more. A state "
        "or an edge is gone if what always led there did not in the other run, by the first measure. "
        "Anything else was merely not seen: an exploration sees what it happens to do, and that is "
        "no evidence of a change."
    )
    return " ".join(words)
