"""Synthetic screens for `identity.py`: one application, drawn from a seed, with the skew of real ones.

A state has some 137 atoms: window chrome that nearly all states share (title bar, menus, toolbar), the
atoms of its view (shared by a family of states), words that recur here and there, and content of its
own. Every third state is a close sibling of the one before it, mostly just too different to be merged.
Atoms are numbered by first appearance, as the encoder does.
"""

from __future__ import annotations

from array import array
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.uint32]
Pair = tuple["array[int]", "array[int]"]

FAMILY = 48  # states of a view
CHROME, VIEW, RECURRING, OWN = 0, 1, 2, 3
# (kind of column, how many, pool of each column: 0 is "always fresh", chance that a state has it)
ROLE_COLUMNS = ((CHROME, 40, 1, 0.99), (VIEW, 12, 600, 0.97), (RECURRING, 10, 600, 0.9))
TEXT_COLUMNS = (
    (CHROME, 40, 1, 0.99),
    (VIEW, 20, 0, 0.97),
    (RECURRING, 10, 20_000, 0.9),
    (OWN, 9, 0, 0.8),
)


@dataclass(frozen=True, slots=True)
class AtomSets:
    """Sets of atoms of one kind, one after the other."""

    atoms: Numbers
    starts: NDArray[np.int64]  # [states + 1]

    def __len__(self) -> int:
        return len(self.starts) - 1

    def __getitem__(self, state: int) -> Numbers:
        return self.atoms[self.starts[state] : self.starts[state + 1]]

    def first(self, states: int) -> AtomSets:
        return AtomSets(self.atoms[: self.starts[states]], self.starts[: states + 1])

    def where(self, chosen: NDArray[np.bool_]) -> AtomSets:
        sizes = np.diff(self.starts)
        starts = np.concatenate(([0], np.cumsum(sizes[chosen])))
        return AtomSets(self.atoms[np.repeat(chosen, sizes)], starts)


@dataclass(frozen=True, slots=True)
class Corpus:
    """Founding screens of distinct states."""

    roles: AtomSets
    texts: AtomSets

    def __len__(self) -> int:
        return len(self.roles)

    def first(self, states: int) -> Corpus:
        return Corpus(self.roles.first(states), self.texts.first(states))

    def where(self, chosen: NDArray[np.bool_]) -> Corpus:
        return Corpus(self.roles.where(chosen), self.texts.where(chosen))

    def pair(self, state: int) -> Pair:
        return array("I", self.roles[state].tobytes()), array("I", self.texts[state].tobytes())

    @property
    def atoms_per_state(self) -> float:
        return (len(self.roles.atoms) + len(self.texts.atoms)) / len(self)


def draw_corpus(states: int, seed: int) -> Corpus:
    """So many screens. Now and then two siblings came out so alike that they are one state."""
    return Corpus(
        _draw(states, ROLE_COLUMNS, np.random.default_rng([seed, 0])),
        _draw(states, TEXT_COLUMNS, np.random.default_rng([seed, 1])),
    )


def _draw(
    states: int, columns: tuple[tuple[int, int, int, float], ...], random: np.random.Generator
) -> AtomSets:
    names: list[NDArray[np.int64]] = []
    kept: list[NDArray[np.bool_]] = []
    rows = np.arange(states)
    base = 0
    for kind, count, pool, chance in columns:
        for _ in range(count):
            if pool:
                drawn = (pool * random.random(states) ** 3).astype(np.int64)
                name = base + (drawn[rows // FAMILY] if kind == VIEW else drawn)
                base += pool
            else:
                name = base + (rows // FAMILY if kind == VIEW else rows)
                base += states
            names.append(name)
            kept.append(random.random(states) < chance)
    table, mask = np.stack(names, axis=1), np.stack(kept, axis=1)
    _make_siblings(table, mask, random)
    return _number_by_first_appearance(table, mask)


def _make_siblings(table: NDArray[np.int64], mask: NDArray[np.bool_], random: np.random.Generator) -> None:
    """Every third state keeps all but some columns of the state before it."""
    siblings = np.arange(2, len(table), 3)
    keep = random.random((len(siblings), table.shape[1])) < 0.65
    table[siblings] = np.where(keep, table[siblings - 1], table[siblings])
    mask[siblings] = np.where(keep, mask[siblings - 1], mask[siblings])


def _number_by_first_appearance(table: NDArray[np.int64], mask: NDArray[np.bool_]) -> AtomSets:
    flat = table[mask]  # row by row
    distinct, first, inverse = np.unique(flat, return_index=True, return_inverse=True)
    numbers = np.empty(len(distinct), dtype=np.uint32)
    numbers[np.argsort(first, kind="stable")] = np.arange(len(distinct), dtype=np.uint32)
    starts = np.concatenate(([0], np.cumsum(mask.sum(axis=1))))
    return AtomSets(numbers[inverse], starts)


def near_duplicates(corpus: Corpus, count: int, seed: int) -> list[Pair]:
    """Screens that differ a little from random states: a few atoms gone, a few never seen before."""
    random = np.random.default_rng([seed, 2])
    fresh = int(corpus.texts.atoms.max()) + 1
    found = []
    for state in random.integers(0, len(corpus), count).tolist():
        roles = random.permutation(corpus.roles[state])
        texts = random.permutation(corpus.texts[state])
        added = int(random.integers(1, 4))
        roles = roles[int(random.integers(0, 2)) :]
        texts = np.concatenate((texts[int(random.integers(0, 4)) :], np.arange(fresh, fresh + added)))
        fresh += added
        found.append((array("I", roles.tolist()), array("I", random.permutation(texts).tolist())))
    return found


def switchboard(states: int, seed: int) -> Corpus:
    """The adversary of newest-first: sixty switches on every screen, and all atoms are old."""
    random = np.random.default_rng([seed, 3])
    table = 2 * np.arange(60) + random.integers(0, 2, (states, 60))
    starts = np.arange(states + 1) * 60
    roles = np.tile(np.arange(60, dtype=np.uint32), states)
    return Corpus(AtomSets(roles, starts), AtomSets(table.astype(np.uint32).ravel(), starts))
