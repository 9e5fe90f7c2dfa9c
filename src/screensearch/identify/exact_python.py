"""The pure-Python twin of the compiled core (`_exact.c`): same interface, same answers.

The reasoning behind the bounds is written down once, at the top of `_exact.c`; the names here are the
same. An atom is a token, ``2·number + kind``; a state's tokens are ordered newest first.
"""

from __future__ import annotations

import sys
from array import array
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from operator import xor

Atoms = Sequence[int]
"""Interned atoms of one kind; repeats count once. The compiled core wants a buffer of uint32."""

Overlaps = tuple[int, int, int, int, int]
"""State, shared roles, union of roles, shared texts, union of texts. Two empty sets are (1, 1)."""

Answer = tuple[Overlaps, Overlaps | None]
"""The best state over the threshold, and the runner-up."""

MOST_ATOMS = 1 << 24
MOST_WEIGHT = 1 << 20
_HIGHEST_ATOM = (1 << 31) - 2
_SKETCH = [1 << (place * 37 % 128) for place in range(128)]


@dataclass(frozen=True, slots=True)
class _Query:
    roles: frozenset[int]
    texts: frozenset[int]
    tokens: list[int]  # newest first, kinds with weight only
    sketch: int
    lacking: int
    difference: int


class ExactIndex:
    """The states of one pool, by their atoms. States are numbered from 0 as they are added.

    The rule: ``role_weight·J(roles) + text_weight·J(texts) ≥ threshold``, all integers.
    """

    def __init__(self, role_weight: int, text_weight: int, threshold: int) -> None:
        if (
            min(role_weight, text_weight) < 0
            or role_weight + text_weight > MOST_WEIGHT
            or not 0 < threshold <= role_weight + text_weight
        ):
            raise ValueError(
                f"weights {role_weight} + {text_weight} must not exceed {MOST_WEIGHT}, "
                f"and the threshold {threshold} must be 1 to their sum"
            )
        self._weights = (role_weight, text_weight)
        self._threshold = threshold
        self._budget = role_weight + text_weight - threshold
        self._states: list[tuple[array[int], array[int]]] = []
        self._sketches: list[int] = []
        self._postings: dict[int, tuple[array[int], array[int]]] = {}  # token: states, positions
        self._bare: tuple[list[int], list[int], list[int]] = ([], [], [])

    def __len__(self) -> int:
        return len(self._states)

    @property
    def nbytes(self) -> int:
        """Bytes of the arrays and tables, without the interpreter's own overhead."""
        arrays = [part for state in self._states for part in state]
        arrays += [part for posting in self._postings.values() for part in posting]
        tables = (self._states, self._sketches, self._postings)
        return sum(map(sys.getsizeof, arrays)) + sum(map(sys.getsizeof, tables))

    def find(self, roles: Atoms, texts: Atoms, /) -> Answer | None:
        """The best state over the threshold and the runner-up, ties to the oldest; None if there is none."""
        return self.find_since(0, roles, texts)

    def find_since(self, since: int, roles: Atoms, texts: Atoms, /, *found: int) -> Answer | None:
        """The same, among the states from `since` on and those `found` before.

        With the two that `find` gave when there were `since` states, the answer is that of `find` now.
        """
        if since < 0:
            raise OverflowError(f"a count of states is not negative, as {since} is")
        for state in found:
            self._require(state)
        best = self._search(self._query(roles, texts), since, found)
        if not best:
            return None
        return best[0], best[1] if len(best) > 1 else None

    def add(self, roles: Atoms, texts: Atoms, /) -> int:
        """Found the next state and return its number."""
        query = self._query(roles, texts)
        number = len(self._states)
        self._states.append((array("I", sorted(query.roles)), array("I", sorted(query.texts))))
        self._sketches.append(query.sketch)
        if not query.roles and self._weights[0] >= self._threshold:
            self._bare[0].append(number)
        if not query.texts and self._weights[1] >= self._threshold:
            self._bare[1].append(number)
        if not query.roles and not query.texts:
            self._bare[2].append(number)
        for position, token in enumerate(query.tokens[: query.lacking + 1]):
            states, positions = self._postings.setdefault(token, (array("I"), array("I")))
            states.append(number)
            positions.append(position)
        return number

    def compare(self, state: int, roles: Atoms, texts: Atoms, /) -> Overlaps:
        """The overlaps with a state's founding screen, whatever the threshold."""
        self._require(state)
        query = self._query(roles, texts)
        return self._overlaps(query, state)

    def _require(self, state: int) -> None:
        if not 0 <= state < len(self._states):
            raise IndexError(f"no state {state}: the index holds {len(self._states)}")

    def _query(self, roles: Atoms, texts: Atoms) -> _Query:
        sets = frozenset(roles), frozenset(texts)
        for atoms in sets:
            if len(atoms) >= MOST_ATOMS:
                raise ValueError(f"a screen of {len(atoms)} atoms is over the limit of {MOST_ATOMS - 1}")
            if atoms and (max(atoms) > _HIGHEST_ATOM or min(atoms) < 0):
                raise ValueError("an atom's number must be below 2**31 - 1")
        tokens = [atom * 2 + kind for kind in (0, 1) if self._weights[kind] for atom in sets[kind]]
        tokens.sort(reverse=True)
        sketch = reduce(xor, [_SKETCH[token & 127] for token in tokens], 0)
        sizes = len(sets[0]), len(sets[1])
        return _Query(*sets, tokens, sketch, self._most_lacking(sizes), self._most_different(sizes))

    def _most_lacking(self, sizes: tuple[int, int]) -> int:
        """How many of its atoms a screen may lack in a match (bound 1)."""
        kinds = [kind for kind in (0, 1) if self._weights[kind] and sizes[kind]]
        if len(kinds) == 2 and self._weights[0] * sizes[1] > self._weights[1] * sizes[0]:
            kinds.reverse()
        budget, most = self._budget, 0
        for kind in kinds:
            cost = self._weights[kind]
            if budget < cost:
                return most + budget * sizes[kind] // cost
            most += sizes[kind]
            budget -= cost
        return most

    def _most_different(self, sizes: tuple[int, int]) -> int:
        """How many atoms, of either screen, a match may not share (bound 2)."""
        most = 0
        for cost, size in zip(self._weights, sizes, strict=True):
            if not cost:
                continue
            if self._budget >= cost:
                return sys.maxsize
            most = max(most, self._budget * size // (cost - self._budget))
        return most

    def _search(self, query: _Query, since: int, found_before: Sequence[int]) -> list[Overlaps]:
        """The best two over the threshold, ties to the oldest. All lists of states ascend."""
        candidates = set(found_before)
        bare = (not query.roles, not query.texts, not query.roles and not query.texts)
        for wanted, listed in zip(bare, self._bare, strict=True):
            if wanted:
                candidates.update(listed[bisect_left(listed, since) :])
        for position, token in enumerate(query.tokens[: query.lacking + 1]):
            posted = self._postings.get(token)
            if posted is None:
                continue
            states, positions = posted
            if since:
                first = bisect_left(states, since)
                if first == len(states):
                    continue
                states, positions = states[first:], positions[first:]
            deepest = query.difference - position
            if deepest >= positions[-1] and len(states) == 1:
                candidates.add(states[0])
            else:
                candidates.update(
                    [state for state, place in zip(states, positions, strict=True) if place <= deepest]
                )
        sketch, sketches, difference = query.sketch, self._sketches, query.difference
        found = [
            self._overlaps(query, state)
            for state in candidates
            if (sketches[state] ^ sketch).bit_count() <= difference
        ]
        passing = [each for each in found if self._passes(each)]
        if len(passing) > 1:
            passing.sort(key=lambda each: each[0])
            return self._best_two(passing)
        return passing

    def _overlaps(self, query: _Query, state: int) -> Overlaps:
        roles, texts = self._states[state]
        shared_roles, shared_texts = (
            len(query.roles.intersection(roles)),
            len(query.texts.intersection(texts)),
        )
        union_roles = len(query.roles) + len(roles) - shared_roles
        union_texts = len(query.texts) + len(texts) - shared_texts
        if not union_roles:
            shared_roles = union_roles = 1
        if not union_texts:
            shared_texts = union_texts = 1
        return state, shared_roles, union_roles, shared_texts, union_texts

    def _score(self, found: Overlaps) -> tuple[int, int]:
        _, shared_roles, union_roles, shared_texts, union_texts = found
        numerator = (
            self._weights[0] * shared_roles * union_texts + self._weights[1] * shared_texts * union_roles
        )
        return numerator, union_roles * union_texts

    def _passes(self, found: Overlaps) -> bool:
        numerator, denominator = self._score(found)
        return numerator >= self._threshold * denominator

    def _best_two(self, found: list[Overlaps]) -> list[Overlaps]:
        """The two best of a list in order of age; an equal score does not displace an older state."""
        best: list[tuple[int, int, Overlaps]] = []
        for each in found:
            numerator, denominator = self._score(each)
            place = next(
                (i for i, (top, bottom, _) in enumerate(best) if numerator * bottom > top * denominator),
                len(best),
            )
            best.insert(place, (numerator, denominator, each))
            del best[2:]
        return [each for _, _, each in best]
