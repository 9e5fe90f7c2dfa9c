"""Which state is this screen? The resolver asks the memo, then the identifier, then founds a state.

Screens are compared within a pool only: the exact filters (paper, section 4.2) name the metadata that
all screens of a pool share. Each pool has an identifier of its own; states are numbered across pools.

States are founded one after the other, but most of the work of a decision can be done before its turn has
come (`Resolver.prepare`): in its turn only the states that were founded meanwhile are looked at.
"""

from __future__ import annotations

import difflib
from array import array
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field, fields
from typing import Protocol, runtime_checkable

from screensearch.domain.screen import Metadata, Screen, StateId
from screensearch.domain.transition import Decision, RunnerUp
from screensearch.encode.atoms import AtomTable
from screensearch.encode.embedder import Embedder
from screensearch.errors import FormatError, SettingsError
from screensearch.identify.verify import MergeSettings, Overlap
from screensearch.registry import Registry

FILTERS = tuple(each.name for each in fields(Metadata))
"""The metadata that a pool may be made of."""


@dataclass(frozen=True, slots=True, kw_only=True)
class IdentifySettings:
    """How screens become states. The last eight serve `hybrid` alone (paper, section 4.2)."""

    identifier: str = "exact"  # a plugin of the kind `identifier`
    merge: MergeSettings = field(default_factory=MergeSettings)
    filters: tuple[str, ...] = FILTERS  # screens that differ in one of these are never compared
    bm25_k1: float = 1.2  # ≥ 0
    bm25_b: float = 0.75  # in [0, 1]
    rrf_k: int = 60  # ≥ 0: ranks fuse as 1 / (rrf_k + rank)
    list_depth: int = 200  # ≥ 1: how far down each of the two ranked lists counts
    fused_top: int = 200  # ≥ 1: how many fused candidates are verified
    hnsw_connectivity: int = 16  # in [2, 512]: links of a vector in the graph
    hnsw_expansion_add: int = 128  # ≥ 1: vectors looked at when one is inserted
    hnsw_expansion_search: int = 200  # ≥ 1: vectors looked at in a search

    def __post_init__(self) -> None:
        for name in self.filters:
            if name not in FILTERS:
                near = difflib.get_close_matches(name, FILTERS, n=1)
                hint = f"; did you mean {near[0]!r}?" if near else ""
                raise SettingsError(
                    f"identify.filters names {name!r}, which no screen has{hint} "
                    f"(known: {', '.join(FILTERS)})"
                )
        if len(set(self.filters)) < len(self.filters):
            raise SettingsError(f"identify.filters names a field twice: {', '.join(self.filters)}")
        for name, low, high in _RANGES:
            value = getattr(self, name)
            if not low <= value <= high:
                raise SettingsError(f"identify.{name} is {value!r}; it must be between {low:g} and {high:g}")


_RANGES = (
    ("bm25_k1", 0, 100),
    ("bm25_b", 0, 1),
    ("rrf_k", 0, 1_000_000),
    ("list_depth", 1, 1_000_000),
    ("fused_top", 1, 1_000_000),
    ("hnsw_connectivity", 2, 512),
    ("hnsw_expansion_add", 1, 100_000),
    ("hnsw_expansion_search", 1, 100_000),
)


@dataclass(frozen=True, slots=True)
class Query:
    """A screen and its atoms as integers, interned once for all that follows."""

    screen: Screen
    roles: array[int]
    texts: array[int]


@dataclass(frozen=True, slots=True)
class Match:
    """A state that the identifier's rule accepts, compared with its founding screen."""

    state: StateId
    score: float
    role_jaccard: float
    text_jaccard: float
    runner_up: RunnerUp | None = None


@dataclass(frozen=True, slots=True)
class Prepared:
    """A search ahead of its turn: what the first `among` states of the screen's pool have for it."""

    query: Query
    among: int  # 0 where nothing was searched yet
    match: Match | None


class Identifier(Protocol):
    """The states of one pool. The resolver keeps the memo: an identifier need not know repeats.

    `add` is called with ascending states, each with the screen that founds it. Equal calls in equal
    order give equal answers. A rule is the identifier's own, but a match never scores below the
    threshold of the settings.
    """

    def find(self, query: Query) -> Match | None:
        """The state that this screen belongs to, or None. Changes nothing."""
        ...

    def add(self, state: StateId, query: Query) -> None:
        """Take in a new state, founded by this screen."""
        ...

    def measure(self, state: StateId, query: Query) -> Match:
        """Compare with a state's founding screen, whatever the rule. KeyError: no such state here."""
        ...

    def describe(self) -> str:
        """What a person should know about how this one works here."""
        ...


@runtime_checkable
class Continuing(Identifier, Protocol):
    """An identifier that can go on with a search where an earlier one stopped.

    Only those are searched ahead of a decision's turn; another one is asked in its turn, for everything.
    """

    def find_since(self, query: Query, since: int, earlier: Match | None) -> Match | None:
        """What `find` answers, `earlier` being what it answered when the pool had its first `since` states.

        The same answer to the last digit, without a look at those states again. Changes nothing.
        """
        ...


IDENTIFIERS: Registry[Callable[[IdentifySettings, Embedder | None], Identifier]] = Registry("identifier")
"""Identifier plugins: each is called with the settings and an embedder, once for every pool.

The embedder is None unless the plugin has a true attribute ``needs_embedder``: loading one is not free.
"""


class Pool:
    """Screens that are compared with each other: their memo, and the identifier that knows their states."""

    def __init__(self, identifier: Identifier) -> None:
        self._identifier = identifier
        self._continuing = identifier if isinstance(identifier, Continuing) else None
        self._founded = 0
        self._memo: dict[str, Decision | StateId] = {}  # a bare state: scores not yet measured

    def prepare(self, screen: Screen, intern: Callable[[Screen], Query]) -> Prepared | None:
        """Search ahead; None if the memo knows this screen. Decides nothing and remembers nothing."""
        if screen.key in self._memo:
            return None
        query = intern(screen)
        if self._continuing is None:
            return Prepared(query, 0, None)
        return Prepared(query, self._founded, self._continuing.find(query))

    def decide(
        self,
        screen: Screen,
        intern: Callable[[Screen], Query],
        new: StateId,
        prepared: Prepared | None = None,
    ) -> Decision:
        """Ask the memo, then the identifier; if neither knows this screen, it founds the state `new`.

        `intern` is called only for atoms that the memo cannot answer: most screens are repeats.
        """
        remembered = self._memo.get(screen.key)
        if isinstance(remembered, Decision):
            return remembered
        query = intern(screen) if prepared is None else prepared.query
        if remembered is not None:
            decision = self._memo[screen.key] = self._measure(remembered, query)
            return decision
        match = self._find(query, prepared)
        if match is None:
            self.found(new, query)
            return Decision(new, "new")
        self._memo[screen.key] = _decision("memo", match)
        return _decision("match", match)

    def found(self, state: StateId, query: Query) -> None:
        """Take in a new state, founded by this screen."""
        self._identifier.add(state, query)
        self._founded += 1
        self._memo[query.screen.key] = Decision(state, "memo")

    def join(self, state: StateId, screen: Screen) -> None:
        """Remember that this screen is of that state; its scores are measured when first asked for."""
        self._memo[screen.key] = state

    def _find(self, query: Query, prepared: Prepared | None) -> Match | None:
        if prepared is None or self._continuing is None:
            return self._identifier.find(query)
        if prepared.among == self._founded:
            return prepared.match
        return self._continuing.find_since(query, prepared.among, prepared.match)

    def _measure(self, state: StateId, query: Query) -> Decision:
        try:
            return _decision("memo", self._identifier.measure(state, query))
        except KeyError:
            raise FormatError(
                f"the log puts a screen into state {state}, which was founded in another pool; "
                "identify.filters differ from those of the run"
            ) from None


class Resolver:
    """Decides, screen after screen, which state each one is; states are dense and counted from 0."""

    def __init__(self, settings: IdentifySettings, embedder: Embedder | None = None) -> None:
        self.settings = settings
        self._embedder = embedder
        self._factory = IDENTIFIERS.get(settings.identifier)
        self._description = self._factory(settings, embedder).describe()
        self._roles, self._texts = AtomTable(), AtomTable()
        self._pools: dict[Hashable, Pool] = {}
        self._states = 0

    @property
    def states(self) -> int:
        """How many states there are."""
        return self._states

    def describe(self) -> str:
        """The identifier in use, and what it lacks."""
        return self._description

    def prepare(self, screen: Screen) -> Prepared | None:
        """Do ahead what a decision about this screen will need; None if it will need nothing.

        No decision depends on whether, or when, this was called: nothing is founded or remembered but the
        numbers of new atoms, and those only tell atoms apart.
        """
        pool = self._pools.get(self._pool_name(screen.metadata))
        return Prepared(self._query(screen), 0, None) if pool is None else pool.prepare(screen, self._query)

    def resolve(self, screen: Screen, prepared: Prepared | None = None) -> Decision:
        """Decide, and remember the decision. `prepared` may be what `prepare` gave for this screen before.

        A memo decision repeats the scores of the first decision about these atoms: a state that was
        founded since, and would fit better, does not change the past.
        """
        decision = self._pool(screen.metadata).decide(screen, self._query, self._states, prepared)
        if decision.founded:
            self._states += 1
        return decision

    def restore(self, screen: Screen, state: StateId, *, founder: bool) -> None:
        """Take a decision from the log, without searching, in the order of the log.

        The memo of a resumed run measures its scores against the founding screen, when first asked for,
        and has no runner-up.
        """
        pool = self._pool(screen.metadata)
        if founder:
            if state != self._states:
                raise FormatError(f"the log founds state {state}, but the next one is {self._states}")
            pool.found(state, self._query(screen))
            self._states += 1
            return
        if not 0 <= state < self._states:
            raise FormatError(f"the log names state {state}, but only {self._states} were founded before it")
        pool.join(state, screen)

    def _pool_name(self, metadata: Metadata) -> Hashable:
        return tuple([getattr(metadata, name) for name in self.settings.filters])

    def _pool(self, metadata: Metadata) -> Pool:
        name = self._pool_name(metadata)
        pool = self._pools.get(name)
        if pool is None:
            pool = self._pools[name] = Pool(self._factory(self.settings, self._embedder))
        return pool

    def _query(self, screen: Screen) -> Query:
        return Query(screen, self._roles.intern(screen.role_atoms), self._texts.intern(screen.text_atoms))


def match_of(
    state: StateId, score: float, roles: Overlap, texts: Overlap, runner_up: RunnerUp | None = None
) -> Match:
    """A match with its Jaccards written out."""
    return Match(state, score, roles.jaccard, texts.jaccard, runner_up)


def _decision(how: str, match: Match) -> Decision:
    return Decision(match.state, how, match.score, match.role_jaccard, match.text_jaccard, match.runner_up)
