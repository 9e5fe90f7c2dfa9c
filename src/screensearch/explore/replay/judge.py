"""Which of the known states is this? The identity rule of a run, which here only answers and never founds."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, replace

from screensearch.config import Settings
from screensearch.domain.screen import Screen, StateId
from screensearch.domain.shard import shard_key
from screensearch.encode.atoms import AtomTable
from screensearch.encode.embed import make_embedder
from screensearch.encode.embedder import Embedder
from screensearch.identify.resolve import IDENTIFIERS, Identifier, IdentifySettings, Query
from screensearch.identify.verify import Comparison, compare
from screensearch.record.log import Log
from screensearch.record.sharded_log import ShardedLog


@dataclass(frozen=True, slots=True)
class Judgement:
    """What a screen was taken for, and how it compares with the one that was expected."""

    expected: StateId
    state: StateId | None  # None: none of the known ones
    comparison: Comparison  # `a` is the expected screen

    @property
    def as_expected(self) -> bool:
        return self.state == self.expected


class Judge:
    """The known states, each by its founding screen, in pools as the run's rule has them."""

    def __init__(
        self, rule: IdentifySettings, embedder: Embedder | None = None, *, sharded: bool = False
    ) -> None:
        self.rule = rule
        self._embedder = embedder
        self._sharded = sharded
        self._factory = IDENTIFIERS.get(rule.identifier)
        self._roles, self._texts = AtomTable(), AtomTable()
        self._pools: dict[Hashable, Identifier] = {}
        self._memo: dict[tuple[Hashable, str], StateId] = {}  # decided before, as the log has it
        self._founders: dict[StateId, Screen] = {}

    @classmethod
    def of_screens(cls, settings: Settings, screens: Mapping[StateId, Screen]) -> Judge:
        """One that knows these states only.

        `hybrid` decides by the score of `exact`: its retrieval limits who is asked, and here they are few.
        """
        rule = settings.identify
        judge = cls(replace(rule, identifier="exact") if rule.identifier == "hybrid" else rule)
        for state, screen in sorted(screens.items()):
            judge.found(state, screen)
        return judge

    @classmethod
    def of_log(cls, settings: Settings, log: Log) -> Judge:
        """One that knows every state of a run, and every screen that was decided in it."""
        factory = IDENTIFIERS.get(settings.identify.identifier)
        needed = getattr(factory, "needs_embedder", False)
        embedder = make_embedder(settings.embed) if needed else None
        judge = cls(settings.identify, embedder, sharded=isinstance(log, ShardedLog))
        for (_, state, founder), screen in log.known_screens():
            if founder:
                judge.found(state, screen)
            else:
                judge.join(state, screen)
        return judge

    def found(self, state: StateId, screen: Screen) -> None:
        """Take in a state with its founding screen; in each pool they come in ascending order."""
        pool = self._pool_name(screen)
        identifier = self._pools.get(pool)
        if identifier is None:
            identifier = self._pools[pool] = self._factory(self.rule, self._embedder)
        identifier.add(state, self._query(screen))
        self._founders[state] = screen
        self._memo[pool, screen.key] = state

    def join(self, state: StateId, screen: Screen) -> None:
        """Take in that this screen was judged to be of that state."""
        self._memo[self._pool_name(screen), screen.key] = state

    def founder(self, state: StateId) -> Screen:
        """The screen that a known state was founded on."""
        return self._founders[state]

    def state_of(self, screen: Screen) -> StateId | None:
        """The state that this screen would join, if it is one of the known."""
        pool = self._pool_name(screen)
        remembered = self._memo.get((pool, screen.key))
        if remembered is not None:
            return remembered
        identifier = self._pools.get(pool)
        match = None if identifier is None else identifier.find(self._query(screen))
        return None if match is None else match.state

    def judge(self, screen: Screen, expected: StateId) -> Judgement:
        """Whether a screen is of the expected state."""
        comparison = compare(self._founders[expected], screen, self.rule.merge)
        return Judgement(expected, self.state_of(screen), comparison)

    def differing_filters(self, screen: Screen, expected: StateId) -> list[tuple[str, str, str]]:
        """What keeps a screen from being compared with that state: name, expected and seen value."""
        known = self._founders[expected].metadata
        return [
            (name, getattr(known, name), getattr(screen.metadata, name))
            for name in self.rule.filters
            if getattr(known, name) != getattr(screen.metadata, name)
        ]

    def _pool_name(self, screen: Screen) -> Hashable:
        """Shards are never compared, whatever the filters are."""
        values = tuple([getattr(screen.metadata, name) for name in self.rule.filters])
        return (*shard_key(screen.metadata), *values) if self._sharded else values

    def _query(self, screen: Screen) -> Query:
        return Query(screen, self._roles.intern(screen.role_atoms), self._texts.intern(screen.text_atoms))
