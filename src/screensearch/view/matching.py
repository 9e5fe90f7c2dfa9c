"""Which states of two runs are the same: the second is read as if it had gone on from the first.

Every distinct screen of the second run is identified among the states of the first, by the first one's
rule. A state of the second run is a state of the first if one of its screens is: to compare the founding
screens alone would depend on which screen of a state happened to come first.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

from screensearch.domain.screen import StateId
from screensearch.identify.resolve import IdentifySettings, Resolver
from screensearch.record.log import Log


@dataclass(frozen=True, slots=True)
class Matching:
    """Screens that two runs have in common, numbered from 0, with the states that each is in either run.

    Nearly all are of one state each. Several states of one run are one screen here if the other run took
    them for one.
    """

    first: dict[StateId, int]  # state of the first run: screen
    second: dict[StateId, int]
    first_states: list[list[StateId]]  # by screen, those with the most screens in common first
    second_states: list[list[StateId]]


def match_states(
    first: Log,
    second: Log,
    rule: IdentifySettings,
    *,
    threshold: float | None = None,
    ignore: Sequence[str] = (),
) -> Matching:
    """Match the states of two runs by the first one's rule; with another threshold or fewer filters if asked.

    Then the states of the first are made anew, too, since its own decisions were made otherwise. Retrieval
    plays no part: every state over the threshold is found, and the best one taken.
    """
    asked = replace(
        rule,
        identifier="exact" if rule.identifier == "hybrid" else rule.identifier,
        filters=tuple(name for name in rule.filters if name not in ignore),
        merge=rule.merge if threshold is None else replace(rule.merge, threshold=threshold),
    )
    resolver = Resolver(asked)
    own: dict[int, list[StateId]] = {}  # number of the resolver: states of the first run
    numbers: dict[StateId, int] = {}
    for decided, screen in first.known_screens():
        if (asked.merge, asked.filters) == (rule.merge, rule.filters):
            number = numbers.setdefault(decided.state, len(numbers))
            resolver.restore(screen, number, founder=decided.founder)
        else:
            number = resolver.resolve(screen).state
        states = own.setdefault(number, [])
        if decided.state not in states:
            states.append(decided.state)
    links: Counter[tuple[StateId, StateId]] = Counter()
    for decided, screen in second.known_screens():
        number = resolver.resolve(screen).state
        for state in own.get(number, ()):
            links[state, decided.state] += 1
    return _joined(links)


def _joined(links: Counter[tuple[StateId, StateId]]) -> Matching:
    """The links as screens: what hangs together is one."""
    screens: list[tuple[Counter[StateId], Counter[StateId]]] = []
    first: dict[StateId, int] = {}
    second: dict[StateId, int] = {}
    for (a, b), count in sorted(links.items()):
        known = sorted({each for each in (first.get(a), second.get(b)) if each is not None})
        if not known:
            known = [len(screens)]
            screens.append((Counter(), Counter()))
        place = known[0]
        for other in known[1:]:  # both had a screen, not the same one: they are one now
            for side, states in zip((first, second), screens[other], strict=True):
                side.update(dict.fromkeys(states, place))
            for kept, joined in zip(screens[place], screens[other], strict=True):
                kept.update(joined)
                joined.clear()
        first[a] = second[b] = place
        screens[place][0][a] += count
        screens[place][1][b] += count
    order = {place: number for number, place in enumerate(p for p, (own, _) in enumerate(screens) if own)}
    kept_screens = [screens[place] for place in order]
    return Matching(
        {state: order[place] for state, place in first.items()},
        {state: order[place] for state, place in second.items()},
        [[state for state, _ in own.most_common()] for own, _ in kept_screens],
        [[state for state, _ in theirs.most_common()] for _, theirs in kept_screens],
    )
