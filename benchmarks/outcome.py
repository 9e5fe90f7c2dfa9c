"""How a benchmark is asked, and how it tells what it found: to people, as JSON, and into a file."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any


def parser_for(document: str | None) -> argparse.ArgumentParser:
    """A parser with the options that all benchmarks have; `document` is the text of the script."""
    parser = argparse.ArgumentParser(
        description=document, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object and nothing else")
    parser.add_argument("--out", type=Path, help="also write the JSON to this file")
    return parser


def parser_of_a_run(document: str | None) -> argparse.ArgumentParser:
    """The same for one that goes back in a run: a stored one, or one that it explores first."""
    parser = parser_for(document)
    parser.add_argument("--app", default="mousepad", help="what `screensearch explore` takes")
    parser.add_argument("--run", type=Path, help="take this stored run")
    parser.add_argument("--explore-steps", type=int, default=400, help="of the run explored for this")
    parser.add_argument("--seed", type=int, default=11, help="of the run explored for this, and of the pick")
    return parser


def tell(
    result: dict[str, Any], options: argparse.Namespace, show: Callable[[dict[str, Any]], None] | None = None
) -> None:
    """Write the result where it was asked for; `show` prints it for people, or each figure in a line."""
    if options.out is not None:
        save(result, options.out)
    if options.json:
        print(json.dumps(result, indent=2))
        return
    (show or show_figures)(result)
    show_targets(result.get("targets", {}))


def save(result: dict[str, Any], path: Path) -> None:
    """Write a result; whoever looks sees the one before or this one, never a part."""
    beside = path.with_name(path.name + ".new")
    beside.write_text(json.dumps(result, indent=2) + "\n")
    beside.replace(path)


def show_figures(result: Mapping[str, Any]) -> None:
    for name, value in result.items():
        if name != "targets":
            print(f"{name:32} {value}")


def show_targets(targets: Mapping[str, bool]) -> None:
    for target, met in targets.items():
        print(f"{'met' if met else 'NOT MET':8} {target}")
