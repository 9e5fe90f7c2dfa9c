"""Which state of a run a screen is, by the run's own rule and without a word in its log."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from screensearch.config import Settings
from screensearch.domain.screen import Screen, StateId
from screensearch.domain.shard import first_of
from screensearch.explore.store import make_resolver
from screensearch.identify.ablations import merge_of
from screensearch.identify.resolve import Resolver
from screensearch.identify.verify import merge_rule
from screensearch.record.log import Log
from screensearch.record.sharded_log import ShardedLog
from screensearch.view.founders import Founders, Scored

NEAREST = 3
"""How many states are named that a screen is like, but not enough."""


@dataclass(frozen=True, slots=True)
class Identified:
    """The state of a screen, if it is one; and those it was compared with, the best first."""

    state: StateId | None
    score: float | None
    compared_with: int
    nearest: tuple[Scored, ...]


class _Shard:
    """The states of one log, with a resolver that has seen every screen of it."""

    def __init__(self, log: Log, first: StateId) -> None:
        self.log = log
        self.first = first
        self.sequence = 0
        self.resolver: Resolver | None = None
        self._met: set[int] = set()

    def follow(self, settings: Settings) -> Resolver:
        """The resolver with all that the log has decided until now."""
        if self.resolver is None:
            self.resolver, self.sequence = make_resolver(settings), 0
            self._met.clear()
        last = self.log.last_sequence
        for row, state, founder in self._new(last):
            if row not in self._met:
                self._met.add(row)
                self.resolver.restore(self.log.screen(row), state - self.first, founder=founder)
        self.sequence = last
        return self.resolver

    def _new(self, last: int) -> Iterator[tuple[int, StateId, bool]]:
        if last == self.sequence:
            return
        if not self.sequence:
            yield from self.log.decided_screens()
            return
        for sequence, entry in self.log.read(self.sequence):
            if sequence > last:
                return
            if entry.screen is not None and entry.decision is not None:
                yield entry.screen, entry.decision.state, entry.decision.founded

    def find(self, screen: Screen, settings: Settings) -> tuple[StateId, float] | None:
        """The state of a screen, with its score; None if it would found one."""
        resolver = self.follow(settings)
        prepared = resolver.prepare(screen)
        if prepared is not None and prepared.among:  # it was searched for, and nothing is remembered of that
            match = prepared.match
            return None if match is None else (self.first + match.state, match.score)
        decision = resolver.resolve(screen, prepared)
        if decision.founded:
            self.resolver = None  # it has taken the screen for a state, which the run has not
            return None
        return self.first + decision.state, decision.score


class Whereabouts:
    """Answers for one run. One thread at a time, like its log."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._log: Log | None = None
        self._shards: list[_Shard] = []
        self._founders = Founders()
        self._sequence = 0

    def identify(self, log: Log, screen: Screen) -> Identified:
        """Which state this screen is. `log` is that of the run, as it is open now."""
        rule = self._settings.identify
        if log is not self._log:
            self._begin(log)
        elif log.last_sequence > self._sequence:
            self._founders.extend(log)
        self._sequence = log.last_sequence
        places = self._founders.pool(screen.metadata, rule.filters, len(self._founders))
        if not places:
            return Identified(None, None, 0, ())
        found = [each for shard in self._shards if (each := shard.find(screen, self._settings)) is not None]
        state, score = max(found, key=lambda each: (each[1], -each[0]), default=(None, None))
        ranked = self._founders.rank(screen, places, merge_rule(merge_of(rule)), NEAREST)
        return Identified(state, score, len(places), tuple(ranked[:NEAREST]))

    def _begin(self, log: Log) -> None:
        shards = log.shards if isinstance(log, ShardedLog) else ((0, log),)
        self._log = log
        self._shards = [_Shard(each, first_of(number)) for number, each in shards]
        self._founders = Founders.of(log)
