"""Why two screens are, or are not, one state; and why a screen joined a state or founded one.

A decision is made again against the founding screens of all states that were known when it was made, so
that what is told is not only who won, but also who came near. What is told holds no secret that the run
keeps for itself (`redact.at = "export"`): scores are of the screens as they are, words are redacted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass

import msgspec

from screensearch.domain.screen import Observation, Screen, StateId, moved
from screensearch.domain.transition import Decision, Entry
from screensearch.encode.masks import Masks
from screensearch.errors import ScreenSearchError
from screensearch.explore.redaction import Redaction, stored_observation
from screensearch.explore.run import Run
from screensearch.identify.ablations import merge_of
from screensearch.identify.resolve import FILTERS
from screensearch.identify.verify import compare, merge_rule
from screensearch.view.comparisons import Considered, DecisionInfo, Explanation, Pool, ScreenSide
from screensearch.view.elements import element_atoms, elements_of, rectangle, shortened
from screensearch.view.founders import Founders

NEAREST = 10
"""How many states are told of that a screen was compared with in vain: the nearest ones."""

_SHORT = 60  # characters of a title


def explain(
    run: Run,
    first: str,
    second: str | None = None,
    *,
    name: str | None = None,
    title: Callable[[StateId], str] | None = None,
    founders: Founders | None = None,
) -> Explanation:
    """Compare two screens: a state's founding one, named ``12``, or that of a log entry, named ``@345``.

    One alone is explained by how it was decided: an entry by what it joined, a state by its founding. What
    founded a state is compared with the state that came nearest to it. If the second is an entry, it is told
    which states it was compared with. `name` is what addresses of pictures call the run; without one they are
    files. `founders` of the same run may be kept by the caller, who then extends them.
    """
    known = Founders.of(run.log) if founders is None else founders
    tell = _Teller(run, name, title or (lambda state: plain_title(run, state)))
    if second is None:
        second = _deciding_entry(run, first)
        first = ""
    b = tell.find(second)
    considered, pool = _considered(run, known, b)
    if not first:
        first = _counterpart(b, considered)
    a = tell.find(first)
    settings = run.settings.identify
    merge = merge_of(settings)
    comparison = compare(a.screen, b.screen, merge)
    apart = [
        each
        for each in settings.filters
        if getattr(a.screen.metadata, each) != getattr(b.screen.metadata, each)
    ]
    shown = a.words | b.words
    return Explanation(
        run=name or str(run.path),
        first=tell.side(a),
        second=tell.side(b),
        one_state=run.joins(a.screen, b.screen),
        score=comparison.score,
        role_jaccard=comparison.role_jaccard,
        text_jaccard=comparison.text_jaccard,
        threshold=merge.threshold,
        role_weight=merge.role_weight,
        text_weight=merge.text_weight,
        identifier=settings.identifier,
        differing_filters=apart,
        shared=_shown(comparison.shared, shown),
        only_first=_shown(comparison.only_a, shown),
        only_second=_shown(comparison.only_b, shown),
        decision=None if b.decision is None else _decision_info(b.decision),
        considered=[msgspec.structs.replace(each, title=tell.title(each.state)) for each in considered],
        pool=pool,
    )


def plain_title(run: Run, state: StateId) -> str:
    """The window of a state's founding screen and the first of its words."""
    run.founding_screen(state)  # refuses a number that no state has
    row = run.log.founder(state)
    assert row is not None  # it was founded
    screen = Redaction(run.settings).screen(run.log, row)
    kind, _, window = screen.metadata.window.partition("|")
    words = f"{window or kind}: {screen.text}" if screen.text else window or kind
    return shortened(words, _SHORT)


@dataclass(frozen=True, slots=True)
class _Named:
    """A screen that was asked for by name, with all that is told of it."""

    name: str
    row: int
    screen: Screen
    entry: Entry
    decision: Decision | None  # if the name is that of an entry
    state: StateId | None
    observation: Observation  # without secrets
    words: dict[str, str | None]  # atoms that hold a secret, and as what they are told


class _Teller:
    """Finds screens by name, and tells them to people."""

    def __init__(self, run: Run, name: str | None, title: Callable[[StateId], str]) -> None:
        self._run = run
        self._name = name
        self._masks = Masks(run.settings.encode.masks)
        self._redaction = Redaction(run.settings)
        self.title = title

    def find(self, name: str) -> _Named:
        run, number = self._run, _number(name)
        if name.startswith("@"):
            entry = run.entry(number)
            decision, state = entry.decision, None if entry.decision is None else entry.decision.state
            if entry.screen is None:
                elsewhere = "" if state is None else f"; it landed in state {state} of another shard"
                raise ScreenSearchError(
                    f"entry {number} of {run.path} ended with nothing to be seen{elsewhere}"
                )
        else:
            run.founding_screen(number)  # refuses a number that no state has
            first_seen = run.graph.first_seen(number)
            assert first_seen is not None  # it was founded
            entry, decision, state = run.entry(first_seen), None, number
        assert entry.screen is not None  # seen to above; what founds a state has a screen
        row = entry.screen
        observation = self._redaction.observation(run.log, row)
        words = self._redacted(stored_observation(run.log, row), observation)
        return _Named(name, row, run.log.screen(row), entry, decision, state, observation, words)

    def _redacted(self, stored: Observation, shown: Observation) -> dict[str, str | None]:
        """What becomes of the atoms of elements that hold a secret."""
        words: dict[str, str | None] = {}
        for was, now in zip(stored.elements, shown.elements, strict=True):
            if was is not now:
                before = element_atoms(was, stored.window.box, self._masks)[1]
                after = element_atoms(now, shown.window.box, self._masks)[1]
                if before is not None and before != after:
                    words[before] = after
        return words

    def side(self, named: _Named) -> ScreenSide:
        run = self._run
        picture = named.entry.evidence.screenshot
        window = named.observation.window.box
        there = named.entry.evidence.window or window
        elements = elements_of(named.observation, run.settings)
        for element, info in zip(named.observation.elements, elements, strict=True):
            info.box = rectangle(moved(element.box, window, there))
        return ScreenSide(
            name=named.name,
            state=named.state,
            title="" if named.state is None else self.title(named.state),
            picture=None if picture is None else self._address(picture),
            window_box=rectangle(there),
            metadata=asdict(self._redaction.screen(run.log, named.row).metadata),
            elements=elements,
        )

    def _address(self, picture: str) -> str:
        if self._name is None:
            return self._run.artifacts.where(picture)
        return f"runs/{self._name}/pictures/{picture}.png"


def _number(name: str) -> int:
    number = name.removeprefix("@")
    if not number.isdecimal() or not number.isascii():
        raise ScreenSearchError(f"{name!r} is neither a state (12) nor a log entry (@345)")
    return int(number)


def _deciding_entry(run: Run, name: str) -> str:
    """The name of the entry whose decision explains a screen that is named alone."""
    number = _number(name)
    if not name.startswith("@"):
        run.founding_screen(number)  # refuses a number that no state has
        return f"@{run.graph.first_seen(number)}"
    if run.entry(number).decision is None:
        raise ScreenSearchError(f"entry {number} of {run.path} has no decision: it reached no state")
    return name


def _counterpart(named: _Named, considered: list[Considered]) -> str:
    """What a decision is explained by: the state that was joined, or the one that came nearest."""
    decision = named.decision
    assert decision is not None  # it is that of an entry that has one
    if decision.founded and considered:
        return str(considered[0].state)
    return str(decision.state)


def _considered(run: Run, founders: Founders, named: _Named) -> tuple[list[Considered], Pool | None]:
    """The states that an entry's screen could have joined when it was first decided: their scores now."""
    if named.decision is None:
        return [], None
    settings = run.settings.identify
    among = founders.known_before(_first_decided(run, named))
    if not named.decision.founded and founders.states[among : among + 1] == [named.decision.state]:
        among += 1  # these very atoms founded it, earlier
    places = founders.pool(named.screen.metadata, settings.filters, among)
    ranked = founders.rank(named.screen, places, merge_rule(merge_of(settings)), NEAREST)
    considered = [
        Considered(
            state=each.state,
            title="",
            score=each.score,
            role_jaccard=each.role_jaccard,
            text_jaccard=each.text_jaccard,
            passes=each.passes,
        )
        for each in ranked
    ]
    return considered, Pool(known=among, compared=len(places), filters=list(settings.filters))


def _first_decided(run: Run, named: _Named) -> int:
    """The row of the screen that was first decided with these atoms in this pool: its decision is repeated.

    It is another row only where the filters leave something out that tells screens of one pool apart.
    """
    filters = run.settings.identify.filters
    if set(filters) == set(FILTERS):
        return named.row
    metadata = named.screen.metadata
    for decided, screen in run.log.known_screens():
        if screen.key == named.screen.key and all(
            getattr(screen.metadata, each) == getattr(metadata, each) for each in filters
        ):
            return decided.screen
    return named.row


def _decision_info(decision: Decision) -> DecisionInfo:
    second = decision.runner_up
    return DecisionInfo(
        state=decision.state,
        how=decision.how,
        score=decision.score,
        role_jaccard=decision.role_jaccard,
        text_jaccard=decision.text_jaccard,
        runner_up=None if second is None else second.state,
        runner_up_score=None if second is None else second.score,
    )


def _shown(atoms: Iterable[str], words: dict[str, str | None]) -> list[str]:
    """Atoms without the secrets in them; one of which nothing is left is left out."""
    told = (words.get(atom, atom) for atom in atoms)
    return [atom for atom in told if atom is not None]
