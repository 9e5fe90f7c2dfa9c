"""One owner, one message after another: what a store must do, small enough to be trusted by reading.

It is the paper's method with dictionaries and nothing else, and shares no code with the store: a screen is
compared with every founder, in fractions, and N, Q and u(s) are recounted for each question.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from dataclasses import dataclass
from fractions import Fraction

from screensearch.domain.screen import Metadata, Screen, StateId
from screensearch.domain.transition import Arrival, Decision, Entry, FailedStart, Outcome, Reward, Transition
from screensearch.explore.messages import Begin, BeginFailed, Here, Report, Sighting, Tried

Atoms = tuple[frozenset[str], frozenset[str]]
Pool = tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """The settings that the method depends on."""

    threshold: Fraction
    role_weight: Fraction
    text_weight: Fraction
    filters: tuple[str, ...]  # fields of the metadata that all screens of a pool share
    kappa: float
    prior_ambiguity: float
    reward_weights: tuple[float, float, float]  # λ of a new state, of a new edge, of less ambiguity


class Model:
    """A shard after `sequence` entries."""

    def __init__(self, rules: Rules) -> None:
        self.rules = rules
        self.sequence = 0
        self.screens: list[Screen] = []  # the one of row 1 first
        self.rows: dict[tuple[Atoms, Metadata], int] = {}
        self.founders: list[tuple[Pool, Atoms]] = []  # of state 0 first
        self.decided: dict[tuple[Pool, Atoms], StateId] = {}
        self.states: dict[StateId, int] = {}  # V, with the number of the first entry that landed there
        self.edges: dict[tuple[StateId, str, StateId], int] = {}  # E, likewise
        self.earned: dict[StateId, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
        self.led: dict[StateId, dict[str, Counter[StateId]]] = defaultdict(lambda: defaultdict(Counter))

    def take(self, message: Begin | BeginFailed | Report) -> Entry:
        """The entry that this message becomes as the next one of the log."""
        self.sequence += 1
        if isinstance(message, BeginFailed):
            failed = message
            return FailedStart(
                failed.episode, failed.outcome, failed.evidence, failed.configuration, failed.note
            )
        if isinstance(message, Begin):
            row = self.row(message.sighting)
            return Arrival(message.episode, self.land(row), row, message.evidence, message.configuration)
        assert message.choice is not None  # no worker here asks a model
        source, signature, reward, landed = message.source, message.choice.signature, 0.0, None
        shown = None if message.sighting is None else self.row(message.sighting)
        terms: Reward | None = None
        if shown is not None and message.outcome in (Outcome.OK, Outcome.MISSED):
            landed = self.land(shown)
        if landed is not None and message.outcome is Outcome.OK:
            terms = self.reward(message, landed.state)
            reward = terms.total
            self.edges.setdefault((source, signature, landed.state), self.sequence)
            self.led[source][signature][landed.state] += 1
        self.earned[source][signature].append(reward)  # a failure earns nothing, but it was tried
        return Transition(
            *(message.episode, message.step, source, signature, message.outcome, landed, shown),
            *(message.choice, terms, message.evidence, message.note),
        )

    def lose(self) -> None:
        """The next entry says that a worker was lost. It feeds nothing."""
        self.sequence += 1

    def row(self, sighting: Sighting) -> int:
        """The row of a screen: equal ones are stored once, and counted from 1."""
        if sighting.screen is None:
            return sighting.row or 0
        row = self.rows.setdefault((atoms(sighting.screen), sighting.screen.metadata), len(self.rows) + 1)
        if row > len(self.screens):
            self.screens.append(sighting.screen)
        return row

    def land(self, row: int) -> Decision:
        """A decision, and the state counted as seen."""
        decision = self.identify(self.screens[row - 1])
        self.states.setdefault(decision.state, self.sequence)
        return decision

    def identify(self, screen: Screen) -> Decision:
        """Equal atoms are one state; else the best founder over τ (eq. 3), the oldest of equals; else new."""
        pool = tuple(str(getattr(screen.metadata, name)) for name in self.rules.filters)
        seen = (pool, atoms(screen))
        if seen in self.decided:
            return Decision(self.decided[seen], "memo")
        scores = [
            (self.score(seen[1], founder), -state)
            for state, (theirs, founder) in enumerate(self.founders)
            if theirs == pool
        ]
        score, best = max(scores, default=(Fraction(0), 0))
        if score >= self.rules.threshold:
            self.decided[seen] = -best
            return Decision(-best, "match")
        self.decided[seen] = len(self.founders)
        self.founders.append(seen)
        return Decision(self.decided[seen], "new")

    def score(self, a: Atoms, b: Atoms) -> Fraction:
        roles, texts = (
            Fraction(len(x & y), len(x | y)) if x | y else Fraction(1) for x, y in zip(a, b, strict=True)
        )
        return self.rules.role_weight * roles + self.rules.text_weight * texts

    def reward(self, report: Report, target: StateId) -> Reward:
        """Eq. 5. New is what the snapshot of the choice had not; u(s) is that of the entries before this."""
        assert report.choice is not None  # or nothing was earned
        edge = (report.source, report.choice.signature, target)
        new_state = self.states[target] > report.choice.snapshot
        new_edge = self.edges.get(edge, self.sequence) > report.choice.snapshot
        gain = max(0.0, self.ambiguity(report.source) - self.ambiguity(target))
        by_state, by_edge, by_gain = self.rules.reward_weights
        return Reward(new_state, new_edge, gain, by_state * new_state + by_edge * new_edge + by_gain * gain)

    def ambiguity(self, state: StateId) -> float:
        """Eqs. 1 and 2: normalised entropies, weighted by trials, and shrunk to the prior."""
        trials = sum(counts.total() for counts in self.led[state].values())
        trust = trials / (trials + self.rules.kappa) if trials else 0.0
        dispersion = sum(counts.total() * _entropy(counts) for counts in self.led[state].values())
        return trust * dispersion / max(trials, 1) + (1 - trust) * self.rules.prior_ambiguity

    def here(self, state: StateId, row: int) -> Here:
        """What a worker that stands there is told: N, Q and u(s) of all entries so far."""
        tried = {name: Tried(len(all_), sum(all_) / len(all_)) for name, all_ in self.earned[state].items()}
        return Here(state, row, self.ambiguity(state), tried)


def atoms(screen: Screen) -> Atoms:
    return frozenset(screen.role_atoms), frozenset(screen.text_atoms)


def _entropy(counts: Counter[StateId]) -> float:
    """Normalised by log k: 1 when all k successors came as often, 0 when there is but one."""
    shares = [count / counts.total() for count in counts.values()]
    return -sum(p * math.log(p) for p in shares) / math.log(len(shares)) if len(shares) > 1 else 0.0
