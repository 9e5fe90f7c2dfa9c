"""Claim: a log of a million transitions folds to N, Q, successors and u in ≤ 5 s and ≤ 600 MB.

A process of its own opens the SQLite log, folds all of it and asks every state for u; its time and its
peak memory count everything, reading included. In the same run: the naive fold on a sample, as the
baseline of the ratio, and the check that a checkpoint plus the tail is the whole, to the bit.

    python benchmarks/fold.py [--json] [--transitions 1000000] [--cache FOLDER] [--out FILE]
"""

from __future__ import annotations

import argparse
import json
import random
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

from machine import describe_machine
from screensearch.domain.screen import Metadata, Screen
from screensearch.domain.transition import (
    Arrival,
    Choice,
    Decision,
    Entry,
    EpisodeId,
    Evidence,
    Outcome,
    Reward,
    Transition,
)
from screensearch.record.ambiguity import AmbiguitySettings
from screensearch.record.graph import StateGraph
from screensearch.record.sqlite_log import SqliteLog

ROOT = Path(__file__).resolve().parent.parent
sys.path.append(str(ROOT / "tests" / "reference"))

from naive_fold import naive_ambiguity, naive_fold  # noqa: E402

SETTINGS = AmbiguitySettings()
MOST_SECONDS, MOST_MEGABYTES = 5.0, 600.0
REPEATS = 3
SAMPLE = 100_000
EPISODE_STEPS = 30
WORKERS = 8
STATE_RATE = 0.031  # states per transition in the paper's corpus
ACTIONS_PER_STATE = 40
ALIASED = 0.1  # actions with a hidden cause: two to four successors


def entries(transitions: int, seed: int) -> Iterator[Entry]:
    """A random exploration: popular states, popular actions, a tenth of the actions ambiguous."""
    draw = random.Random(seed)
    most_states = max(2, int(transitions * STATE_RATE))
    states = 1
    leads_to: dict[tuple[int, int], list[int]] = {}
    for step in range(transitions):
        episode = EpisodeId(step // EPISODE_STEPS % WORKERS, step // EPISODE_STEPS // WORKERS)
        if step % EPISODE_STEPS == 0:
            here = 0
            founded = step == 0
            yield Arrival(
                episode, Decision(0, "new" if founded else "memo"), 1, Evidence(decide_seconds=1e-4)
            )
        action = min(int(draw.expovariate(4.0) * ACTIONS_PER_STATE), ACTIONS_PER_STATE - 1)
        if here and draw.random() < 0.005:
            outcome = draw.choice((Outcome.CRASH, Outcome.HANG, Outcome.CAPTURE))
            yield _transition(episode, step % EPISODE_STEPS + 1, here, action, outcome, None, states)
            here = 0
            continue
        successors = leads_to.get((here, action))
        if successors is None:
            count = draw.randint(2, 4) if draw.random() < ALIASED else 1
            successors = [states] if states < most_states and draw.random() < 0.3 else []
            while len(successors) < count:
                successors.append(int(states * draw.random() ** 3))
            leads_to[here, action] = successors
        target = draw.choice(successors)
        founded = target == states
        states += founded
        decision = Decision(target, "new" if founded else "memo")
        yield _transition(episode, step % EPISODE_STEPS + 1, here, action, Outcome.OK, decision, states)
        here = target


def _transition(
    episode: EpisodeId,
    step: int,
    source: int,
    action: int,
    outcome: Outcome,
    decision: Decision | None,
    states: int,
) -> Transition:
    label = f"control_{(source * 7 + action) % 20_000}"
    signature = f"focus_click@1::r{action % 30}_c{source % 30}|button|{label}|notepad::{{}}"
    ambiguity = 1 / (step + 1)
    founded = decision is not None and decision.founded
    return Transition(
        episode=episode,
        step=step,
        source=source,
        signature=signature,
        outcome=outcome,
        decision=decision,
        screen=None if decision is None else 1,
        choice=Choice(signature, states, ACTIONS_PER_STATE, 1 / ACTIONS_PER_STATE, ambiguity, step, 1.5),
        reward=Reward(founded, founded, ambiguity, 2.0 * founded + ambiguity) if decision else None,
        evidence=Evidence(act_seconds=0.0321, decide_seconds=0.00123),
    )


def build_log(path: Path, transitions: int) -> None:
    """Write the log once; a half-written one never takes the name."""
    building = path.with_suffix(".building")
    building.unlink(missing_ok=True)
    log = SqliteLog.create(building)
    log.add_screen(Screen("0", (), (), "", Metadata("notepad", "light", "medium", "main")), b"")
    for count, entry in enumerate(entries(transitions, seed=7), start=1):
        log.append(entry)
        if count % 10_000 == 0:
            log.commit()
    log.commit()
    log.close()
    building.rename(path)


def measure_fold(path: Path) -> dict[str, Any]:
    """Fold everything, in this process, from opening the log to the last u."""
    began = time.perf_counter()
    log = SqliteLog.open_to_read(path)
    graph = StateGraph.fold(log.rows(), SETTINGS)
    folded = time.perf_counter()
    total = sum(graph.ambiguity(state) for state in graph.iter_states())
    ended = time.perf_counter()
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000
    return {
        "seconds": ended - began,
        "cpu_seconds": time.process_time(),  # of the whole process, start-up included
        "fold_seconds": folded - began,
        "ambiguity_seconds": ended - folded,
        "peak_megabytes": peak,
        "entries": graph.sequence,
        "states": graph.states,
        "edges": graph.edges,
        "actions": sum(len(graph.tried(state)) for state in graph.iter_states()),
        "mean_ambiguity": total / graph.states,
        "digest": graph.digest(),
    }


def measure_parts(path: Path) -> dict[str, Any]:
    """Checkpoint in the middle, load it, fold the tail."""
    log = SqliteLog.open_to_read(path)
    middle = log.last_sequence // 2
    data = StateGraph.fold(islice(log.rows(), middle), SETTINGS).dump()
    began = time.perf_counter()
    graph = StateGraph.load(data)
    loaded = time.perf_counter()
    graph = StateGraph.fold(log.rows(graph.sequence), SETTINGS, start=graph)
    return {
        "checkpoint_at": middle,
        "checkpoint_megabytes": len(data) / 1e6,
        "load_seconds": loaded - began,
        "tail_seconds": time.perf_counter() - loaded,
        "digest": graph.digest(),
    }


def measure_sample(path: Path) -> dict[str, Any]:
    """The same rows, in memory, folded by the graph and by the naive fold; best of three each."""
    rows = list(islice(SqliteLog.open_to_read(path).rows(), SAMPLE))

    def ours() -> None:
        graph = StateGraph.fold(rows, SETTINGS)
        for state in graph.iter_states():
            graph.ambiguity(state)

    def naive() -> None:
        naive_ambiguity(naive_fold(rows), SETTINGS.kappa, SETTINGS.prior_ambiguity)

    def best(function: Any) -> float:
        times = []
        for _ in range(3):
            began = time.perf_counter()
            function()
            times.append(time.perf_counter() - began)
        return min(times)

    seconds, naive_seconds = best(ours), best(naive)
    return {
        "sample": len(rows),
        "microseconds_per_row": seconds / len(rows) * 1e6,
        "naive_microseconds_per_row": naive_seconds / len(rows) * 1e6,
        "times_faster_than_naive": naive_seconds / seconds,
    }


MEASURES = {"fold": measure_fold, "parts": measure_parts, "sample": measure_sample}


def in_fresh_process(measure: str, path: Path) -> dict[str, Any]:
    command = [sys.executable, __file__, "--measure", measure, "--log", str(path)]
    result: dict[str, Any] = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)
    return result


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--json", action="store_true", help="print the result as one JSON object")
    parser.add_argument("--transitions", type=int, default=1_000_000)
    parser.add_argument("--cache", type=Path, help="keep the generated log in this folder and use it again")
    parser.add_argument("--out", type=Path, help="also write the JSON to this file")
    parser.add_argument("--measure", choices=MEASURES, help=argparse.SUPPRESS)
    parser.add_argument("--log", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.measure:
        print(json.dumps(MEASURES[options.measure](options.log)))
        return 0
    with tempfile.TemporaryDirectory() as scratch:
        cache = options.cache or Path(scratch)
        cache.mkdir(parents=True, exist_ok=True)
        log = cache / f"fold-{options.transitions}.sqlite"
        if not log.exists():
            build_log(log, options.transitions)
        machine = describe_machine()
        megabytes = log.stat().st_size / 1e6
        folds = [in_fresh_process("fold", log) for _ in range(REPEATS)]
        results = {measure: in_fresh_process(measure, log) for measure in ("parts", "sample")}
    # Other work on the machine only ever adds time: the shortest is the one it disturbed least.
    fold = min(folds, key=lambda measured: float(measured["seconds"]))
    report = {
        "benchmark": "fold",
        "machine": machine,
        "log_megabytes": megabytes,
        "targets": {"seconds": MOST_SECONDS, "peak_megabytes": MOST_MEGABYTES},
        "fold": fold,
        "seconds_of_all_repeats": [measured["seconds"] for measured in folds],
        **results,
        "checkpoint_plus_tail_equals_whole": results["parts"]["digest"] == fold["digest"],
        "holds": fold["seconds"] <= MOST_SECONDS
        and fold["peak_megabytes"] <= MOST_MEGABYTES
        and results["parts"]["digest"] == fold["digest"],
    }
    if options.out:
        options.out.write_text(json.dumps(report, indent=2) + "\n")
    if options.json:
        print(json.dumps(report))
    else:
        print(
            f"{fold['entries']:,} entries → {fold['states']:,} states, {fold['edges']:,} edges in "
            f"{fold['seconds']:.2f} s and {fold['peak_megabytes']:.0f} MB (targets {MOST_SECONDS:.0f} s, "
            f"{MOST_MEGABYTES:.0f} MB)\n"
            f"naive fold: {results['sample']['times_faster_than_naive']:.2f}× our time per row, on "
            f"{results['sample']['sample']:,} rows\n"
            f"checkpoint + tail = whole: {report['checkpoint_plus_tail_equals_whole']}"
        )
    return 0 if report["holds"] else 1


if __name__ == "__main__":
    sys.exit(main())
