"""`hybrid`, as in the paper (section 4.2): BM25 and HNSW nominate, fusion ranks, the score decides.

The highest-ranked of the fused candidates that passes the merge rule is the state, even if another one
scores higher; what the two rankings do not nominate is not seen. A new state changes both rankings, so a
search cannot go on where an earlier one stopped (`resolve.Continuing`): it is made whole, in its turn.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Sequence
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from screensearch.domain.screen import StateId
from screensearch.domain.transition import RunnerUp
from screensearch.encode.embedder import Embedder
from screensearch.errors import SettingsError
from screensearch.identify.dense import Hnsw
from screensearch.identify.fuse import reciprocal_rank_fusion
from screensearch.identify.resolve import IdentifySettings, Match, Query, match_of
from screensearch.identify.sparse import Bm25
from screensearch.identify.verify import Overlap, merge_rule


class HybridIdentifier:
    """The paper's: BM25 and HNSW nominate, ranks fuse, the highest-ranked over the threshold is the state."""

    needs_embedder = True

    def __init__(self, settings: IdentifySettings, embedder: Embedder | None = None) -> None:
        if embedder is None:
            raise SettingsError(
                "identify.identifier 'hybrid' ranks by embeddings and was given no embedder; "
                "choose one in the settings of the encoder, or use the identifier 'exact', which needs none"
            )
        self._settings = settings
        self._rule = merge_rule(settings.merge)
        self._embedder = embedder
        self._sparse = Bm25(k1=settings.bm25_k1, b=settings.bm25_b)
        self._dense = Hnsw(
            embedder.dimensions,
            connectivity=settings.hnsw_connectivity,
            expansion_add=settings.hnsw_expansion_add,
            expansion_search=settings.hnsw_expansion_search,
        )
        self._states: array[int] = array("Q")
        self._roles = _Atoms()
        self._texts = _Atoms()
        self._embedded: tuple[str, NDArray[np.float32]] | None = None

    def find(self, query: Query) -> Match | None:
        candidates = self.candidates(query)
        first: Match | None = None
        for place, roles, texts in zip(
            candidates,
            self._roles.overlaps(query.roles, candidates),
            self._texts.overlaps(query.texts, candidates),
            strict=True,
        ):
            if not self._rule.passes(roles, texts):
                continue
            state, score = self._states[place], self._rule.score(roles, texts)
            if first is not None:
                runner_up = RunnerUp(state, score)
                return Match(first.state, first.score, first.role_jaccard, first.text_jaccard, runner_up)
            first = match_of(state, score, roles, texts)
        return first

    def candidates(self, query: Query) -> list[int]:
        """The places of the fused candidates in this pool, highest-ranked first."""
        depth = self._settings.list_depth
        return reciprocal_rank_fusion(
            (
                self._sparse.top(_terms(query), depth),
                self._dense.top(self._vector(query.screen.text), depth),
            ),
            k=self._settings.rrf_k,
            top=self._settings.fused_top,
        )

    def add(self, state: StateId, query: Query) -> None:
        self._dense.add(self._vector(query.screen.text))
        self._sparse.add(_terms(query))
        self._roles.add(query.roles)
        self._texts.add(query.texts)
        self._states.append(state)

    def measure(self, state: StateId, query: Query) -> Match:
        place = bisect_left(self._states, state)
        if place == len(self._states) or self._states[place] != state:
            raise KeyError(state)
        (roles,) = self._roles.overlaps(query.roles, [place])
        (texts,) = self._texts.overlaps(query.texts, [place])
        return match_of(state, self._rule.score(roles, texts), roles, texts)

    def describe(self) -> str:
        embedder = f"embedder {self._embedder.name} of {self._embedder.dimensions} dimensions"
        return f"hybrid (BM25 and HNSW, {embedder})"

    def _vector(self, text: str) -> NDArray[np.float32]:
        """The embedding of a text; a search and the insertion that follows it embed once."""
        if self._embedded is None or self._embedded[0] != text:
            self._embedded = (text, self._embedder.embed([text])[0])
        return self._embedded[1]


class _Atoms:
    """The atoms of one kind of all founding screens, counted against a query in one sweep."""

    def __init__(self) -> None:
        self._atoms: array[int] = array("I")
        self._starts: array[int] = array("Q", [0])
        self._wanted = np.zeros(1024, dtype=np.uint8)  # per atom: whether the query has it

    def add(self, atoms: array[int]) -> None:
        self._atoms.extend(atoms)
        self._starts.append(len(self._atoms))
        highest = max(atoms, default=0)
        if highest >= len(self._wanted):
            self._wanted = np.zeros(2 * highest, dtype=np.uint8)

    def overlaps(self, query: array[int], places: Sequence[int]) -> list[Overlap]:
        """What the query shares with each of these states."""
        if not places:
            return []
        # Atoms that no state had when the table was last grown are in no state.
        known = [atom for atom in query if atom < len(self._wanted)]
        self._wanted[known] = 1
        spans = [(self._starts[place], self._starts[place + 1]) for place in places]
        everything = np.asarray(self._atoms)
        hits = self._wanted[np.concatenate([everything[start:end] for start, end in spans])]
        self._wanted[known] = 0
        sums = np.concatenate(([0], np.cumsum(hits, dtype=np.int64)))
        ends = np.cumsum([end - start for start, end in spans])
        found = []
        for (start, end), last in zip(spans, ends.tolist(), strict=True):
            size = end - start
            shared = int(sums[last] - sums[last - size])
            found.append(Overlap(shared, len(query) + size - shared))
        return found


def _terms(query: Query) -> chain[int]:
    """Role and text atoms as one vocabulary: the numbers of a kind are even or odd."""
    return chain((atom * 2 for atom in query.roles), (atom * 2 + 1 for atom in query.texts))
