"""The fold as one would write it on a blackboard: no caches, no tricks, everything recounted."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field

from screensearch.record.log import Row


@dataclass
class NaiveGraph:
    """What a log amounts to. Keys are (state, signature); rewards are kept and averaged at the end."""

    occupancy: Counter[int] = field(default_factory=Counter)
    outcomes: Counter[str] = field(default_factory=Counter)
    first_seen: dict[int, int] = field(default_factory=dict)
    edges: dict[tuple[int, str, int], list[int]] = field(default_factory=lambda: defaultdict(list))
    rewards: dict[tuple[int, str], list[float]] = field(default_factory=lambda: defaultdict(list))
    failures: Counter[tuple[int, str, str]] = field(default_factory=Counter)


def naive_fold(rows: Iterable[Row]) -> NaiveGraph:
    graph = NaiveGraph()
    for row in rows:
        graph.outcomes[row.outcome] += 1
        if row.target is not None:
            graph.occupancy[row.target] += 1
            graph.first_seen.setdefault(row.target, row.sequence)
        if row.outcome == "ok":
            assert row.source is not None
            assert row.signature is not None
            assert row.target is not None
            assert row.reward is not None
            graph.edges[row.source, row.signature, row.target].append(row.sequence)
            graph.rewards[row.source, row.signature].append(row.reward)
        elif not row.outcome.startswith("start"):
            assert row.source is not None
            graph.failures[row.source, row.signature or "", row.outcome] += 1
    return graph


def naive_ambiguity(graph: NaiveGraph, kappa: float, prior: float) -> dict[int, float]:
    """Equations 1 and 2, term by term, for every state."""
    counts: dict[int, dict[str, list[int]]] = {state: defaultdict(list) for state in graph.occupancy}
    for (source, signature, _), seen in graph.edges.items():
        counts[source][signature].append(len(seen))
    result = {}
    for state, actions in counts.items():
        total = sum(sum(successors) for successors in actions.values())
        dispersion = 0.0
        for successors in actions.values():
            shares = [count / sum(successors) for count in successors]
            entropy = -sum(share * math.log(share) for share in shares)
            normalised = entropy / math.log(len(shares)) if len(shares) > 1 else 0.0
            dispersion += sum(successors) / total * normalised
        trust = total / (total + kappa)
        result[state] = trust * dispersion + (1 - trust) * prior
    return result
