"""What `exact` is measured against: our `hybrid`, and a LanceDB hybrid table (full text + vector, RRF).

Embeddings are computed before the clock starts: both rivals get theirs for nothing.
"""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Callable, Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from identity_corpus import Corpus, Pair
from screensearch.domain.screen import Metadata, Screen
from screensearch.encode.embed import HashingEmbedder
from screensearch.identify.hybrid import HybridIdentifier
from screensearch.identify.resolve import IdentifySettings, Query
from screensearch.identify.verify import merge_rule, overlap

METADATA = Metadata(application="bench", display_mode="light", text_size="1", window="main")
Find = Callable[[int], int | None]
"""The state that a rival finds for the query of that number."""


class EmbeddedBefore:
    """An embedder that has computed everything it will be asked for."""

    def __init__(self, texts: Iterable[str]) -> None:
        embedder = HashingEmbedder()
        self.name = embedder.name
        self.dimensions = embedder.dimensions
        distinct = list(dict.fromkeys(texts))
        self._vectors = dict(zip(distinct, embedder.embed(distinct), strict=True))

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        return np.stack([self._vectors[text] for text in texts])


def screen_text(texts: Iterable[int]) -> str:
    """What a person would read on the screen: a word for every text atom."""
    return " ".join(f"w{atom}" for atom in texts)


def terms(pair: Pair) -> str:
    """All atoms as the words of one document."""
    return " ".join([*(f"r{atom}" for atom in pair[0]), *(f"t{atom}" for atom in pair[1])])


def build_hybrid(corpus: Corpus, queries: list[Pair]) -> tuple[Find, float]:
    """Our `hybrid` over the corpus, and the seconds that building it took."""
    texts = [screen_text(corpus.texts[state].tolist()) for state in range(len(corpus))]
    query_texts = [screen_text(query[1]) for query in queries]
    identifier = HybridIdentifier(IdentifySettings(), EmbeddedBefore([*texts, *query_texts]))

    def query(text: str, pair: Pair) -> Query:
        return Query(Screen("", (), (), text, METADATA), *pair)

    started = time.perf_counter()
    for state, text in enumerate(texts):
        identifier.add(state, query(text, corpus.pair(state)))
    seconds = time.perf_counter() - started
    asked = [query(text, pair) for text, pair in zip(query_texts, queries, strict=True)]

    def find(number: int) -> int | None:
        match = identifier.find(asked[number])
        return None if match is None else match.state

    return find, seconds


def build_lancedb(corpus: Corpus, queries: list[Pair], folder: str) -> tuple[Find, float]:
    """A LanceDB table with both indexes and its RRF reranker; the first of 200 that passes is the answer."""
    for name in ("LANCE_LOG", "LANCEDB_LOG", "RUST_LOG"):
        os.environ[name] = "error"  # it warns at every search
    import lancedb
    import pyarrow as pa
    from lancedb.index import FTS, HnswSq
    from lancedb.rerankers import RRFReranker

    settings = IdentifySettings()
    rule = merge_rule(settings.merge)
    embedder = HashingEmbedder()
    vectors = embedder.embed([screen_text(corpus.texts[state].tolist()) for state in range(len(corpus))])
    query_vectors = embedder.embed([screen_text(query[1]) for query in queries])
    started = time.perf_counter()
    table = lancedb.connect(tempfile.mkdtemp(dir=folder)).create_table(
        "screens",
        pa.table(
            {
                "state": pa.array(range(len(corpus)), pa.int64()),
                "atoms": pa.array([terms(corpus.pair(state)) for state in range(len(corpus))]),
                "vector": pa.FixedSizeListArray.from_arrays(pa.array(vectors.ravel()), embedder.dimensions),
            }
        ),
    )
    plain = FTS(
        base_tokenizer="whitespace",
        lower_case=False,
        stem=False,
        remove_stop_words=False,
        ascii_folding=False,
    )
    table.create_index("atoms", config=plain)
    table.create_index("vector", config=HnswSq(distance_type="cosine"))
    seconds = time.perf_counter() - started
    reranker = RRFReranker(K=settings.rrf_k)
    asked = [terms(query) for query in queries]

    def find(number: int) -> int | None:
        search = table.search(query_type="hybrid").vector(query_vectors[number]).text(asked[number])
        ranked = search.rerank(reranker).limit(settings.fused_top).select(["state"]).to_arrow()
        roles, texts = (frozenset(part) for part in queries[number])
        for state in ranked["state"].to_pylist():
            their_roles, their_texts = corpus.pair(state)
            if rule.passes(overlap(roles, their_roles), overlap(texts, their_texts)):
                return int(state)
        return None

    return find, seconds
