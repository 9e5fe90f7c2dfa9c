"""State identity: is `exact` exact, how fast is it, and how much memory does a state cost?

    python benchmarks/identity.py [--json] [--sizes 10000,100000,1000000] [--out FILE]

One pool, the compiled core against brute force, its pure-Python twin, our `hybrid` and a LanceDB
hybrid table, all on the same screens (`identity_corpus.py`). Times are per query, in microseconds.

What is counted:

- Near duplicates and strangers: one `find` of the compiled core, given arrays of interned atoms.
- Repeats and the decisions per second on the mix: `Pool.decide` as the resolver calls it, fed with
  interned atoms. Counted are the memo (whose keys are new strings, not yet hashed by Python), the search,
  founding and remembering, and the decision that is returned. Not counted are encoding, content keys,
  choosing the pool and interning: screens come with their key, and `intern` returns a query made before.
- The resolver: the same mix given as screens of string atoms, so choosing the pool and interning count
  too. Encoding and content keys do not: they are the encoder's.
- Bytes a state: what the core has allocated (the index alone), and what the process grew by (the index,
  the memo and the keys in it).
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import sys
import tempfile
import time
from collections.abc import Callable
from fractions import Fraction
from functools import partial
from hashlib import blake2b
from pathlib import Path
from typing import Any

import numpy as np

from identity_corpus import Corpus, Pair, draw_corpus, near_duplicates, switchboard
from identity_report import ratios, readable, resident_bytes, targets, timed
from identity_rivals import METADATA, Find, build_hybrid, build_lancedb
from machine import describe_machine
from screensearch.domain.screen import Screen
from screensearch.encode.encoder import atoms_key
from screensearch.identify import exact_python
from screensearch.identify.exact import CompiledIndex, ExactIdentifier, Index
from screensearch.identify.resolve import IdentifySettings, Pool, Query, Resolver
from screensearch.identify.verify import MergeSettings, merge_rule

RULE = merge_rule(MergeSettings())
QUERIES = 2_000
DECISIONS = 200_000
MIX = {"identical": 0.85, "near": 0.12, "new": 0.03}


def main() -> None:
    options = _options()
    if CompiledIndex is None:
        sys.exit("the compiled core is not built: install a C compiler and reinstall")
    if options.lancedb_sizes and importlib.util.find_spec("lancedb") is None:
        sys.exit("LanceDB is not installed: pip install '.[bench]', or leave it out with --lancedb-sizes=''")
    say(f"drawing {max(options.sizes):,} states")
    spare = DECISIONS // 10  # states that no index knows yet
    corpus = distinct(draw_corpus(int(1.03 * max(options.sizes)) + 2 * spare, options.seed))
    result: dict[str, Any] = {"machine": describe_machine(), "seed": options.seed, "mix": MIX}
    result["exact"] = {str(size): measure_exact(corpus, size, options.seed) for size in options.sizes}
    result["python"] = {str(size): measure_twin(corpus, size, options.seed) for size in options.python_sizes}
    result["hybrid"] = {
        str(size): measure_rival("hybrid", corpus.first(size), options.seed, build_hybrid)
        for size in options.hybrid_sizes
    }
    with tempfile.TemporaryDirectory() as folder:
        result["lancedb"] = {
            str(size): measure_rival(
                "LanceDB", corpus.first(size), options.seed, partial(build_lancedb, folder=folder)
            )
            for size in options.lancedb_sizes
        }
    result["resolver"] = measure_resolver(corpus, min(options.sizes), options.seed)
    result["switchboard"] = measure_switchboard(min(options.sizes), options.seed)
    result["ratios"] = ratios(result)
    result["targets"] = targets(result)
    text = json.dumps(result, indent=1)
    if options.out:
        Path(options.out).parent.mkdir(parents=True, exist_ok=True)
        Path(options.out).write_text(text + "\n")
    print(text if options.json else readable(result))


def new_index(core: type[Index] | None = None) -> Index:
    make = core or CompiledIndex
    assert make is not None
    return make(RULE.role_weight, RULE.text_weight, RULE.threshold)


def distinct(corpus: Corpus) -> Corpus:
    """The screens that found a state of their own."""
    index = new_index()
    founders = np.zeros(len(corpus), dtype=np.bool_)
    for number in range(len(corpus)):
        pair = corpus.pair(number)
        if index.find(*pair) is None:
            index.add(*pair)
            founders[number] = True
    return corpus.where(founders)


def interned(pair: Pair) -> tuple[Screen, Callable[[Screen], Query]]:
    """A screen whose atoms are interned already: of the screen itself, only the key is needed."""
    digest = blake2b(digest_size=16)
    for part in pair:
        digest.update(np.sort(part).tobytes() + b"\xff" * 4)
    query = Query(Screen(digest.hexdigest(), (), (), "", METADATA), *pair)
    return query.screen, lambda _: query


def measure_exact(corpus: Corpus, size: int, seed: int) -> dict[str, Any]:
    """Build by deciding; query near duplicates, strangers and repeats; then decide the mix."""
    say(f"exact at {size:,} states")
    known = corpus.first(size)
    before = resident_bytes()
    index = new_index()
    pool = Pool(ExactIdentifier(IdentifySettings(), index=index))
    seconds = 0.0
    for state in range(size):
        given = interned(known.pair(state))
        started = time.perf_counter()
        pool.decide(*given, state)
        seconds += time.perf_counter() - started
    resident = resident_bytes() - before
    near = near_duplicates(known, QUERIES, seed)
    strangers = [corpus.pair(len(corpus) - 1 - number) for number in range(QUERIES)]
    repeats = [known.pair(number * (size // QUERIES)) for number in range(QUERIES)]
    again = [interned(pair) for pair in repeats]
    sample = 200 if size <= 20_000 else 100 if size <= 200_000 else 40
    checked = [*near[: sample // 2], *strangers[: sample // 4], *repeats[: sample // 4]]
    return {
        "states": len(index),
        "atoms_per_state": round(known.atoms_per_state, 1),
        "brute_force": {
            "checked": len(checked),
            "differences": sum(index.find(*query) != by_brute_force(known, query) for query in checked),
        },
        "near": timed(lambda number: index.find(*near[number]), QUERIES),
        "stranger": timed(lambda number: index.find(*strangers[number]), QUERIES),
        "memo": timed(lambda number: pool.decide(*again[number], size), QUERIES),
        "near_found": sum(index.find(*query) is not None for query in near),
        "build_states_per_second": round(size / seconds),
        "bytes_per_state": {"allocated": round(index.nbytes / size), "resident": round(resident / size)},
        "decisions_per_second": decide_mix(pool, corpus, size, seed),
    }


def by_brute_force(corpus: Corpus, query: Pair) -> tuple[object, ...] | None:
    """The answer by comparing with every state, in exact arithmetic for all that come near."""
    shared, unions = [], []
    for sets, wanted in zip((corpus.roles, corpus.texts), query, strict=True):
        has = np.zeros(max(int(sets.atoms.max()), *wanted) + 1, dtype=np.uint8)
        has[list(wanted)] = 1
        hits = np.concatenate(([0], np.cumsum(has[sets.atoms], dtype=np.int64)))
        both = hits[sets.starts[1:]] - hits[sets.starts[:-1]]
        shared.append(both)
        unions.append(np.diff(sets.starts) + len(set(wanted)) - both)
    left = RULE.role_weight * shared[0] * unions[1] + RULE.text_weight * shared[1] * unions[0]
    passing = np.flatnonzero(left >= RULE.threshold * unions[0] * unions[1]).tolist()
    passing.sort(
        key=lambda state: (-Fraction(int(left[state]), int(unions[0][state] * unions[1][state])), state)
    )
    if not passing:
        return None
    found = [(s, *(int(part[s]) for part in (shared[0], unions[0], shared[1], unions[1]))) for s in passing]
    return found[0], found[1] if len(found) > 1 else None


def the_mix(corpus: Corpus, size: int, count: int, seed: int) -> list[Pair]:
    """Screens to decide about: 85 % seen before, 12 % nearly, 3 % never."""
    random = np.random.default_rng([seed, 4])
    kinds = random.choice(3, count, p=list(MIX.values())).tolist()
    near = iter(near_duplicates(corpus.first(size), kinds.count(1), seed + 1))
    fresh = iter(range(size, len(corpus)))
    seen = [corpus.pair(state) for state in random.integers(0, size, 5_000).tolist()]
    stream = []
    for kind, pick in zip(kinds, random.random(count).tolist(), strict=True):
        if kind == 0:
            stream.append(seen[int(pick * len(seen))])
        else:
            stream.append(next(near) if kind == 1 else corpus.pair(next(fresh)))
            seen.append(stream[-1])
    return stream


def decide_mix(pool: Pool, corpus: Corpus, size: int, seed: int) -> int:
    """Decisions per second about screens whose atoms are interned already."""
    # Each comes with a key string of its own, repeats too, as they do from an encoder.
    stream = [interned(pair) for pair in the_mix(corpus, size, DECISIONS, seed)]
    states = size
    started = time.perf_counter()
    for screen, intern in stream:
        states += pool.decide(screen, intern, states).founded
    return round(len(stream) / (time.perf_counter() - started))


def measure_twin(corpus: Corpus, size: int, seed: int) -> dict[str, Any]:
    say(f"the pure-Python twin at {size:,} states")
    known = corpus.first(size)
    index, compiled = new_index(exact_python.ExactIndex), new_index()
    for state in range(size):
        index.add(*known.pair(state))
        compiled.add(*known.pair(state))
    near = near_duplicates(known, QUERIES, seed)
    return {
        "near": timed(lambda number: index.find(*near[number]), QUERIES),
        "differences": sum(index.find(*query) != compiled.find(*query) for query in near),
    }


def measure_rival(
    name: str, known: Corpus, seed: int, build: Callable[[Corpus, list[Pair]], tuple[Find, float]]
) -> dict[str, Any]:
    """The rival's time, and how often it misses what `exact` finds."""
    say(f"{name} at {len(known):,} states")
    near = near_duplicates(known, 300, seed)
    find, seconds = build(known, near)
    index = new_index()
    for state in range(len(known)):
        index.add(*known.pair(state))
    pairs = [(index.find(*query), find(number)) for number, query in enumerate(near)]
    true = [(answer[0][0], found) for answer, found in pairs if answer is not None]
    return {
        "near": timed(find, len(near)),
        "build_states_per_second": round(len(known) / seconds),
        "true_matches": len(true),
        "missed": sum(found is None for _, found in true),
        "other_state": sum(found is not None and found != best for best, found in true),
    }


def measure_resolver(corpus: Corpus, size: int, seed: int) -> dict[str, Any]:
    """The whole resolver, fed with screens of text atoms instead of integers."""
    say(f"the resolver at {size:,} states")
    resolver = Resolver(IdentifySettings())

    def screen(pair: Pair) -> Screen:
        roles, texts = (tuple(sorted(map(str, part))) for part in pair)
        return Screen(atoms_key(roles, texts), roles, texts, "", METADATA)

    for state in range(size):
        resolver.resolve(screen(corpus.pair(state)))
    stream = [screen(pair) for pair in the_mix(corpus, size, DECISIONS // 10, seed)]
    started = time.perf_counter()
    for each in stream:
        resolver.resolve(each)
    return {"states": size, "decisions_per_second": round(len(stream) / (time.perf_counter() - started))}


def measure_switchboard(size: int, seed: int) -> dict[str, Any]:
    """The worst case for newest-first: every state is a combination of the same old atoms."""
    say(f"the adversary at {size:,} states")
    known = switchboard(size, seed)
    index = new_index()
    for state in range(size):
        index.add(*known.pair(state))
    queries = [known.pair(number) for number in range(0, size, size // 200)]
    return {"states": size, "near": timed(lambda number: index.find(*queries[number]), len(queries))}


def say(what: str) -> None:
    print(f"{what} ...", file=sys.stderr, flush=True)


def _options() -> argparse.Namespace:
    def sizes(text: str) -> list[int]:
        return [int(part) for part in text.split(",") if part]

    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--sizes", type=sizes, default="10000,100000,1000000", help="states in the index")
    parser.add_argument("--python-sizes", type=sizes, default="10000,100000", help="same, for the twin")
    parser.add_argument("--hybrid-sizes", type=sizes, default="10000,100000", help="same, for hybrid")
    parser.add_argument("--lancedb-sizes", type=sizes, default="10000,100000", help="same, for LanceDB")
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--out", help="also write the JSON to this file")
    options = parser.parse_args()
    if min(options.sizes) < QUERIES:
        parser.error(f"--sizes must be at least {QUERIES}")
    return options


if __name__ == "__main__":
    main()
