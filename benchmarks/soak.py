"""Claim: hours of exploration leave nothing behind and do not grow.

Several applications are explored in turn, each for its share of the time, with so many workers. Every few
seconds the processes are counted, with the memory, the threads and the open files of the owner and of
every worker. At the end: what grew over the second half of each run (a straight line fitted to the
samples of each process), what is left of all processes that were started (this process adopts orphans,
so none can hide), what is left in the temporary folder, the outcomes, every `lost` with its explanation,
and whether each log verifies.

A worker keeps nothing of a run, so it must not grow. An owner holds the graph and the pages of the log,
and these do grow: it must not hold more than an owner that has just opened the same run.

The same command goes on where an interrupted soak stopped: what is done is in the folder.

    python benchmarks/soak.py --apps mousepad,thunar,libreoffice-calc --minutes 60 --workers 4 --out DIR
"""

from __future__ import annotations

import argparse
import contextlib
import ctypes
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np

import screensearch as ss
from explorations import ExplorationFailed, finish, start_explore
from machine import describe_machine
from outcome import save, show_targets
from processes import Process, below, open_files, part_of, read

SAMPLE_SECONDS = 5.0
END_SECONDS = 10.0  # for processes to be gone after an exploration has ended
LEAST_SAMPLES = 6  # to fit a line to
MOST_MEGABYTES = 6.0  # growth of a worker over the second half of its run; of an owner over a new one
ANEW_SECONDS = 20.0  # for a new owner to open a run and take steps in it
MOST_FILES = 2.0
SHORTEST_SECONDS = 5.0  # of a slice that is worth starting
ADOPT_ORPHANS = 36  # PR_SET_CHILD_SUBREAPER of prctl(2)
MEGABYTE = 1 << 20


class Soak:
    """One soak and its folder: ``soak.json``, ``samples.jsonl``, and a run for each application."""

    def __init__(self, folder: Path, apps: list[str], minutes: float, workers: int) -> None:
        self._folder = folder
        self._workers = workers
        self._share_seconds = 60 * minutes / len(apps)
        self._temporary = folder / "temporary"
        self._temporary.mkdir(parents=True, exist_ok=True)
        asked = {"apps": apps, "minutes": minutes, "workers": workers}
        self._report: dict[str, Any] = {"asked": asked, "slices": [], "machine": describe_machine()}
        if self._path.exists():
            self._report = json.loads(self._path.read_text())
            if self._report["asked"] != asked:
                raise SystemExit(f"{folder} holds another soak: {self._report['asked']}")
        self._apps = apps

    @property
    def _path(self) -> Path:
        return self._folder / "soak.json"

    def run(self) -> dict[str, Any]:
        if ctypes.CDLL(None, use_errno=True).prctl(ADOPT_ORPHANS, 1, 0, 0, 0):
            raise OSError(ctypes.get_errno(), "this process cannot adopt orphans")
        for app in self._apps:
            while (left := self._share_seconds - self._done_seconds(app)) > SHORTEST_SECONDS:
                self._slice(app, left)
        self._conclude()
        return self._report

    def _done_seconds(self, app: str) -> float:
        return float(sum(each["seconds"] for each in self._report["slices"] if each["app"] == app))

    def _run_of(self, app: str) -> Path:
        return self._folder / "".join(letter if letter.isalnum() else "-" for letter in app)

    def _slice(self, app: str, seconds: float) -> None:
        """Explore one application, from its start or from where it was left."""
        run, number = self._run_of(app), len(self._report["slices"])
        what = ["--resume"] if (run / "run.json").exists() else [app, "--seed", str(number)]
        process = start_explore(
            what,
            *("--seconds", str(seconds), "--workers", str(self._workers), "--out", str(run)),
            environment={"TMPDIR": str(self._temporary)},
        )
        begun = time.monotonic()
        entry: dict[str, Any] = {"app": app, "number": number, "seconds": 0.0}
        self._report["slices"].append(entry)
        try:
            with (self._folder / "samples.jsonl").open("a") as samples:
                while process.poll() is None:
                    sample = {"slice": number, "second": time.monotonic() - begun, **look(process.pid)}
                    samples.write(json.dumps(sample) + "\n")
                    samples.flush()
                    entry["seconds"] = sample["second"]
                    self._save()
                    with contextlib.suppress(subprocess.TimeoutExpired):
                        process.wait(SAMPLE_SECONDS)
            entry["summary"] = finish(process)
            entry["seconds"] = max(seconds, time.monotonic() - begun)
        except ExplorationFailed as problem:
            entry["problem"] = str(problem)
            entry["seconds"] = seconds  # not tried again: a failure is a result
        except KeyboardInterrupt:
            process.send_signal(signal.SIGINT)
            process.wait()
            raise
        finally:
            entry["left_processes"] = end_leftovers()
            entry["left_files"] = sorted(each.name for each in self._temporary.iterdir())
            self._save()
        if "summary" in entry:
            entry["new_owner_megabytes"] = self._open_anew(run)
            self._save()
        print(f"{app}: {entry.get('summary', entry.get('problem'))}", file=sys.stderr)

    def _open_anew(self, run: Path) -> float:
        """The memory of an owner that goes on with a copy of this run, after some steps."""
        copy = self._folder / "copy"
        shutil.rmtree(copy, ignore_errors=True)  # of a soak that was interrupted here
        shutil.copytree(run, copy, ignore=shutil.ignore_patterns("artifacts"))
        process = start_explore(
            ["--resume"],
            *("--seconds", str(ANEW_SECONDS), "--workers", "1", "--out", str(copy)),
            environment={"TMPDIR": str(self._temporary)},
        )
        samples: list[int] = []
        while process.poll() is None:
            owner = read(process.pid)
            samples += [] if owner is None else [owner.memory_bytes]
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(0.5)
        finish(process)
        shutil.rmtree(copy)
        return round(float(np.median(samples)) / MEGABYTE, 1)  # it starts and ends with less

    def _save(self) -> None:
        save(self._report, self._path)

    def _conclude(self) -> None:
        lines = (self._folder / "samples.jsonl").read_text().splitlines()
        samples = [json.loads(line) for line in lines]
        for entry in self._report["slices"]:
            entry["growth"] = growth([each for each in samples if each["slice"] == entry["number"]])
        self._report["runs"] = {app: conclusion(self._run_of(app)) for app in self._apps}
        slices, runs = self._report["slices"], self._report["runs"].values()
        watched = [each for entry in slices for each in entry["growth"]["processes"]]
        owners = [
            each["megabytes"] - entry["new_owner_megabytes"]
            for entry in slices
            for each in entry["growth"]["processes"]
            if each["part"] == "owner" and "new_owner_megabytes" in entry
        ]
        self._report["targets"] = {
            "every exploration ended well": not any("problem" in each for each in slices),
            "no process left": not any(each["left_processes"] for each in slices),
            "no temporary file left": not any(each["left_files"] for each in slices),
            f"in the second half of a run no worker grows by more than {MOST_MEGABYTES:g} MB": all(
                each["grown_megabytes"] <= MOST_MEGABYTES for each in watched if each["part"] == "worker"
            ),
            f"no owner ends with {MOST_MEGABYTES:g} MB more than one that opens its run anew": bool(owners)
            and max(owners) <= MOST_MEGABYTES
            and len(owners) == len([each for each in slices if "summary" in each]),
            f"in the second half of a run no process grows by more than {MOST_FILES:g} open files": all(
                each["grown_files"] <= MOST_FILES for each in watched
            ),
            "every lost step is explained": all(note for each in runs for note in each["lost"]),
            "every log verifies": not any(each["verify_problems"] for each in runs),
        }
        shutil.rmtree(self._temporary)
        self._save()


def look(owner: int) -> dict[str, Any]:
    """The processes of an exploration at this moment."""
    watched: list[dict[str, Any]] = []
    rest: list[Process] = []
    for process in below(owner):
        part = part_of(process, owner)
        if part in ("owner", "worker"):
            watched.append(
                {
                    "part": part,
                    "id": process.id,
                    "memory": process.memory_bytes,
                    "threads": process.threads,
                    "files": open_files(process.id),
                }
            )
        else:
            rest.append(process)
    return {
        "watched": watched,
        "sandbox_processes": len(rest),
        "sandbox_threads": sum(each.threads for each in rest),
        "sandbox_memory": sum(each.memory_bytes for each in rest),
        "sandboxes": sum(each.name == "Xvfb" for each in rest),
    }


def end_leftovers() -> list[str]:
    """What still runs below this process after an exploration has ended. It is ended, and reported."""
    deadline = time.monotonic() + END_SECONDS
    while True:
        reap()
        left = [each for each in below(os.getpid()) if each.id != os.getpid()]
        if not left or time.monotonic() > deadline:
            break
        time.sleep(0.1)
    for each in left:
        with contextlib.suppress(ProcessLookupError):
            os.kill(each.id, signal.SIGKILL)
    reap()
    return [f"{each.id} {each.name}" for each in left]


def reap() -> None:
    """Bury orphans that were adopted and have ended."""
    with contextlib.suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass


def growth(samples: list[dict[str, Any]]) -> dict[str, Any]:
    """What grew in the second half of a slice, for every process that lived through it, by a fitted line."""
    half = samples[len(samples) // 2 :]
    series: dict[tuple[str, int], list[tuple[float, float, float, float]]] = {}
    for sample in half:
        for each in sample["watched"]:
            figures = (sample["second"], each["memory"], each["files"] or 0, each["threads"])
            series.setdefault((each["part"], each["id"]), []).append(figures)
    processes = []
    for (part, pid), rows in series.items():
        if len(rows) < LEAST_SAMPLES:
            continue
        seconds, memory, files, threads = (np.array(column, float) for column in zip(*rows, strict=True))
        processes.append(
            {
                "part": part,
                "id": pid,
                "seconds": round(float(seconds[-1] - seconds[0])),
                "megabytes": round(float(memory[-1]) / MEGABYTE, 1),
                "grown_megabytes": round(grown(seconds, memory) / MEGABYTE, 2),
                "files": int(files[-1]),
                "grown_files": round(grown(seconds, files), 2),
                "grown_threads": round(grown(seconds, threads), 2),
            }
        )
    seconds = np.array([each["second"] for each in half], float)
    totals = {
        f"grown_{name}": round(grown(seconds, np.array([each[name] for each in half], float)), 1)
        for name in ("sandbox_processes", "sandbox_threads", "sandbox_memory")
        if len(half) >= LEAST_SAMPLES
    }
    return {"processes": processes, **totals}


def grown(seconds: np.ndarray[Any, Any], values: np.ndarray[Any, Any]) -> float:
    """How much a line through the values, by least squares, rises from the first to the last of them."""
    return float(np.polyfit(seconds, values, 1)[0] * (seconds[-1] - seconds[0]))


def conclusion(folder: Path) -> dict[str, Any]:
    """What a run came to, and whether it holds together."""
    if not (folder / "run.json").exists():
        return {"lost": [], "verify_problems": [f"there is no run at {folder}"]}
    with ss.open_run(folder) as run:
        transitions = list(run.transitions())
        verification = run.verify()
    return {
        "steps": len(transitions),
        "states": verification.states,
        "edges": verification.edges,
        "outcomes": dict(Counter(str(each.outcome) for each in transitions).most_common()),
        "lost": [each.note for each in transitions if each.outcome == ss.Outcome.LOST],
        "findings": dict(
            Counter(
                f"{each.outcome}: {each.note}"
                for each in transitions
                if each.outcome in (ss.Outcome.CRASH, ss.Outcome.HANG)
            ).most_common(20)
        ),
        "verify_problems": list(verification.problems),
    }


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--apps", default="mousepad,thunar,libreoffice-calc", help="with commas between them")
    parser.add_argument("--minutes", type=float, default=60.0, help="for all of them together")
    parser.add_argument("--workers", type=int, default=4)
    parser.add_argument("--out", type=Path, required=True, help="folder of the soak; it is kept")
    parser.add_argument("--json", action="store_true", help="print one JSON object and nothing else")
    options = parser.parse_args()
    report = Soak(options.out, options.apps.split(","), options.minutes, options.workers).run()
    if options.json:
        print(json.dumps(report, indent=2))
        return
    for app, run in report["runs"].items():
        print(f"{app:24} {run}")
    for entry in report["slices"]:
        for each in entry["growth"]["processes"]:
            print(f"{entry['app']:24} {each}")
    show_targets(report["targets"])


if __name__ == "__main__":
    main()
