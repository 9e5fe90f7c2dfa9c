"""State identity: is `exact` exact, how fast is it, and how much memory does a state cost?

    python benchmarks/identity.py [--json] [--sizes 10000,100000,1000000] [--out FILE]

One pool, the compiled core against brute force, its pure-Python twin, our `hybrid` and a LanceDB
hybrid table, all on the same screens (`identity_corpus.py`). Times are per query, in microseconds.
"""

from __future__ import annotations

import argparse
import ctypes
import datetime
import gc
import json
import os
import platform
import sys
import tempfile
import time
from array import array
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
from identity_corpus import Corpus, Pair, draw_corpus, near_duplicates, switchboard
from identity_rivals import METADATA, Find, build_hybrid, build_lancedb

from screensearch.domain.screen import Screen
from screensearch.identify import exact_python
from screensearch.identify.exact import CompiledIndex, Index
from screensearch.identify.resolve import IdentifySettings, Resolver
from screensearch.identify.verify import MergeSettings, merge_rule

RULE = merge_rule(MergeSettings())
QUERIES = 2_000
DECISIONS = 200_000
MIX = (("identical", 0.85), ("near", 0.12), ("new", 0.03))


def main() -> None:
    options = _options()
    if CompiledIndex is None:
        sys.exit("the compiled core is not built: install a C compiler and reinstall")
    largest = max(options.sizes)
    print(f"drawing {largest:,} states ...", file=sys.stderr)
    corpus = draw_corpus(largest + DECISIONS // 10, options.seed)
    result: dict[str, Any] = {"machine": machine(), "seed": options.seed, "exact": {}}
    for size in options.sizes:
        print(f"exact at {size:,} ...", file=sys.stderr)
        result["exact"][size] = measure_exact(corpus, size, options.seed)
    result["python"] = {
        size: measure_twin(corpus.first(size), options.seed) for size in _said("twin", options.python_sizes)
    }
    result["hybrid"] = {
        size: measure_rival(corpus.first(size), options.seed, build_hybrid, 300)
        for size in _said("hybrid", options.hybrid_sizes)
    }
    with tempfile.TemporaryDirectory() as folder:
        result["lancedb"] = {
            size: measure_rival(corpus.first(size), options.seed, lambda *given: build_lancedb(*given, folder), 100)
            for size in _said("LanceDB", options.lancedb_sizes)
        }
    result["adversary"] = measure_adversary(min(largest, 100_000), options.seed)
    result["ratios"] = ratios(result)
    result["targets"] = targets(result)
    text = json.dumps(result, indent=1)
    if options.out:
        Path(options.out).parent.mkdir(parents=True, exist_ok=True)
        Path(options.out).write_text(text + "\n")
    print(text if options.json else readable(result))


def measure_exact(corpus: Corpus, size: int, seed: int) -> dict[str, Any]:
    """Build by deciding, query near duplicates and strangers, then decide the mix."""
    known = corpus.first(size)
    assert CompiledIndex is not None
    before = resident_bytes()
    index: Index = CompiledIndex(RULE.role_weight, RULE.text_weight, RULE.threshold)
    started = time.perf_counter()
    for state in range(size):
        index.resolve(known.roles[state], known.texts[state])
    build_seconds = time.perf_counter() - started
    resident, allocated, states = resident_bytes() - before, index.nbytes, len(index)

    near = near_duplicates(known, QUERIES, seed)
    strangers = [corpus.pair(len(corpus) - 1 - number) for number in range(QUERIES)]
    samples = 200 if size <= 20_000 else 100 if size <= 200_000 else 30
    checked = [*near[: samples // 2], *strangers[: samples // 4], *(known.pair(n) for n in range(samples // 4))]
    founders = [number for number in range(size) if index.resolve(*known.pair(number))[2:4] is not None]
    del founders
    return {
        "states": states,
        "atoms_per_state": round(known.atoms_per_state, 1),
        "brute_force": {"checked": len(checked), "differences": differences(index, known, checked)},
        "near": timed(lambda number: index.find(*near[number]), QUERIES),
        "stranger": timed(lambda number: index.find(*strangers[number]), QUERIES),
        "memo": timed(lambda number: index.resolve(*strangers_known[number]), QUERIES)
        if (strangers_known := [known.pair(number * (size // QUERIES)) for number in range(QUERIES)])
        else {},
        "build_states_per_second": round(states / build_seconds),
        "bytes_per_state": {"allocated": round(allocated / states), "resident": round(resident / states)},
        "decisions_per_second": decide_mix(index, corpus, size, seed),
    }


if __name__ == "__main__":
    main()
