"""What a step of a real application leaves behind: what has to be stored, and what travels.

Runs of `screensearch explore APP` are read, with their pictures in their folders: how many observations were
screens that nobody had seen before, how many were new to their worker alone, and the bytes of all of it. The
shares fall as a run grows, so they say how much a longer run needs at the most.

    python benchmarks/weight.py RUN... [--json] [--out FILE]
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import screensearch as ss
from machine import describe_machine
from outcome import parser_for, tell
from screensearch.record.local_artifacts import LocalArtifacts


def weigh(folder: Path) -> dict[str, Any]:
    """One run."""
    steps = episodes = 0
    screens: set[int] = set()
    by_worker: set[tuple[int, int]] = set()
    pictures: set[str] = set()
    with ss.open_run(folder) as run:
        if not isinstance(run.artifacts, LocalArtifacts):
            raise SystemExit(
                f"{folder}: the pictures are in {run.artifacts}; only those of a folder are weighed"
            )
        for _, entry in run.entries():
            if isinstance(entry, ss.Transition):
                steps += 1
            else:
                episodes += 1
            if entry.screen is not None:
                screens.add(entry.screen)
                by_worker.add((entry.episode.worker, entry.screen))
            if entry.evidence.screenshot is not None:
                pictures.add(entry.evidence.screenshot)
        states = run.graph.states
        elements = [len(run.log.elements(row)) for row in screens]
        atoms = [len(screen.role_atoms) + len(screen.text_atoms) for screen in map(run.log.screen, screens)]
    files = [path.stat().st_size for path in (folder / "artifacts").rglob("*.png")]
    return {
        "environment": run.environment,
        "steps": steps,
        "episodes": episodes,
        "states_per_step": round(states / steps, 4),
        "new_screens_per_step": round(len(screens) / steps, 4),
        "screens_new_to_their_worker_per_step": round(len(by_worker) / steps, 4),
        "atoms_of_a_screen": round(sum(atoms) / len(atoms), 1),
        "elements_bytes_of_a_screen": round(sum(elements) / len(elements)),
        "pictures_per_step": round(len(pictures) / steps, 4),
        "picture_bytes": round(sum(files) / len(files)),
        "picture_bytes_per_step": round(sum(files) / steps),
    }


def main() -> None:
    parser = parser_for(__doc__)
    parser.add_argument("runs", type=Path, nargs="+", metavar="RUN", help="folder of a run")
    options = parser.parse_args()
    runs = [weigh(folder) for folder in options.runs]
    tell({"runs": runs, "machine": describe_machine()}, options, lambda result: print(*runs, sep="\n"))


if __name__ == "__main__":
    main()
