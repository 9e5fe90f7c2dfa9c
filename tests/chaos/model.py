"""What the store of one shard must do, one message after another: short enough to be trusted by reading.

It is the paper's method with the identifier `exact`, in dictionaries, and shares no code with the store: a
screen is compared with every founder, in fractions, and N, Q and u(s) are recounted for each question.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from fractions import Fraction

from screensearch.config import Settings
from screensearch.domain.screen import Metadata, Screen, StateId
from screensearch.domain.transition import Choice, Decision, Outcome, Reward
from screensearch.explore.messages import Begin, BeginFailed, Report, Tried

Atoms = tuple[frozenset[str], frozenset[str]]
Added = tuple[int | None, Decision | None, Reward | None]  # what an entry has beside its message; a row first
Trials = dict[str, list[tuple[float, StateId | None]]]  # of each action what it earned, and where it led


class Model:
    """A shard after `sequence` entries."""

    def __init__(self, settings: Settings) -> None:
        assert settings.identify.identifier == "exact", "the model cannot tell what other identifiers decide"
        self.settings, self.sequence, merge = settings, 0, settings.identify.merge
        self.weights = Fraction(str(merge.role_weight)), Fraction(str(merge.text_weight))
        self.rows: dict[tuple[Atoms, Metadata], int] = {}  # of screens, counted from 1: equal ones share one
        self.founders: list[tuple[str, Atoms]] = []  # that of state 0 first, each with its pool
        self.decided: dict[tuple[str, Atoms], StateId] = {}
        self.states: dict[StateId, int] = {}  # V, with the number of the first entry that landed there
        self.edges: dict[tuple[StateId, str, StateId], int] = {}  # E, likewise
        self.trials: dict[StateId, Trials] = defaultdict(lambda: defaultdict(list))

    def take(self, message: Begin | BeginFailed | Report | None) -> Added:
        """What the next entry of the log adds to this message, or to none: then a worker was lost."""
        self.sequence += 1
        if message is None or isinstance(message, BeginFailed):
            return None, None, None
        row = None if (seen := message.sighting) is None else seen.row
        if seen is not None and seen.screen is not None:
            row = self.rows.setdefault(key(seen.screen), len(self.rows) + 1)
        outcome = message.outcome if isinstance(message, Report) else Outcome.OK
        landed = self.land(row) if row and outcome in (Outcome.OK, Outcome.MISSED) else None
        if isinstance(message, Begin):
            return row, landed, None
        choice, reward, earned, led_to = message.choice, None, 0.0, None  # a failure was tried, too
        assert choice is not None  # no worker here asks a model
        if landed is not None and outcome is Outcome.OK:
            reward = self.reward(message.source, choice, landed.state)
            earned, led_to = reward.total, landed.state
        self.trials[message.source][choice.signature].append((earned, led_to))
        return row, landed, reward

    def land(self, row: int) -> Decision:
        """Equal atoms are one state; else the best founder over τ (eq. 3), the oldest of equals; else new."""
        atoms, metadata = list(self.rows)[row - 1]
        pool = repr([getattr(metadata, name) for name in self.settings.identify.filters])
        if (pool, atoms) in self.decided:
            return Decision(self.decided[pool, atoms], "memo")
        rivals = [(self.score(atoms, b), -state) for state, (a, b) in enumerate(self.founders) if a == pool]
        score, nearest = max(rivals, default=(Fraction(0), 0))
        joins = score >= Fraction(str(self.settings.identify.merge.threshold))
        self.decided[pool, atoms] = state = -nearest if joins else len(self.founders)
        self.founders += [] if joins else [(pool, atoms)]
        self.states.setdefault(state, self.sequence)
        return Decision(state, "match" if joins else "new")

    def score(self, a: Atoms, b: Atoms) -> Fraction:
        both, (of_roles, of_texts) = zip(a, b, strict=True), self.weights
        roles, texts = (Fraction(len(x & y), len(x | y)) if x | y else Fraction(1) for x, y in both)
        return of_roles * roles + of_texts * texts

    def reward(self, source: StateId, choice: Choice, target: StateId) -> Reward:
        """Eq. 5. New is what the snapshot of the choice had not; u(s) is that of the entries before this."""
        first = self.edges.setdefault((source, choice.signature, target), self.sequence)
        gain = max(0.0, self.ambiguity(source) - self.ambiguity(target))
        terms = (self.states[target] > choice.snapshot, first > choice.snapshot, gain)
        return Reward(*terms, sum(w * t for w, t in zip(self.settings.reward.weights, terms, strict=True)))

    def ambiguity(self, state: StateId) -> float:
        """Eqs. 1 and 2: entropies over log k of k successors, weighted by trials, and shrunk to the prior."""
        n, spread, rule = 0, 0.0, self.settings.ambiguity
        for each in self.trials[state].values():
            led = Counter(to for _, to in each if to is not None)
            n += led.total()
            if len(led) > 1:
                spread -= sum(m * math.log(m / led.total()) for m in led.values()) / math.log(len(led))
        return (spread + rule.kappa * rule.prior_ambiguity) / (n + rule.kappa) if n else rule.prior_ambiguity

    def tried(self, state: StateId) -> dict[str, Tried]:
        """N and Q of every action that was tried there."""
        earned = {name: [reward for reward, _ in each] for name, each in self.trials[state].items()}
        return {name: Tried(len(each), sum(each) / len(each)) for name, each in earned.items()}


def key(screen: Screen) -> tuple[Atoms, Metadata]:
    return (frozenset(screen.role_atoms), frozenset(screen.text_atoms)), screen.metadata
