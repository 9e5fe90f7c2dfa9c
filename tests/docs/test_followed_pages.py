"""A reader who follows these pages, command by command, sees what they show."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from our_pages import ROOT, Block, Typed, blocks, file_name, install_plugins, typed_lines

STORIES = (
    ("README.md", "docs/explanation/identity.md", "docs/how-to/read-a-run.md", "docs/how-to/verify-a-run.md"),
    ("docs/tutorial.md",),
    ("docs/how-to/explore-your-own.md",),
    ("docs/how-to/write-a-plugin.md",),
    ("docs/how-to/campaign.md",),
    ("docs/how-to/train-with-gymnasium.md",),
    ("docs/reference/synthetic.md",),
    ("docs/how-to/go-back-to-a-state.md",),
)
"""Pages that are followed in one folder, one after the other. All explorations they show are short."""

PROGRAMS = {
    "screensearch": [
        sys.executable,
        "-c",
        "from screensearch.cli import main; main(prog_name='screensearch')",
    ],
    "python": [sys.executable],
}
"""What a reader types and we run. Setting up is not repeated: the tests run where that was done."""

COLUMNS = "96"
LEFT_OUT = "…"
FIGURES = re.compile(r"((?:[\d,]+ +){9})[\d,]+")
"""The row of a summary: its last figure is a speed."""


@pytest.mark.parametrize("story", STORIES, ids=lambda story: story[0])
def test_following_a_page_shows_what_it_shows(story: tuple[str, ...], tmp_path: Path) -> None:
    followed = [block for page in story for block in blocks(ROOT / page)]
    for block in followed:
        prepare(block, tmp_path)
    ran = 0
    for block in followed:
        if block.language == "console":
            for typed in typed_lines(block):
                program, *arguments = shlex.split(typed.line)
                if program in PROGRAMS:
                    check_shown(typed, run([*PROGRAMS[program], *arguments], tmp_path, str(block)))
                    ran += 1
        elif block.language == "python" and file_name(block) is None:
            run([sys.executable, "-c", block.text], tmp_path, str(block))
            ran += 1
    assert ran > 0


def prepare(block: Block, folder: Path) -> None:
    """Save what the page says to save, and install the plugins that it declares."""
    name = file_name(block)
    if name is not None:
        (folder / name).write_text(block.text, encoding="utf-8")
    install_plugins(block, folder)


def run(command: list[str], folder: Path, place: str) -> str:
    """What a command prints on standard output, at the width of the pages; it must succeed."""
    environment = {**os.environ, "COLUMNS": COLUMNS, "PYTHONPATH": str(folder), "PYTHONIOENCODING": "utf-8"}
    done = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, encoding="utf-8", check=False
    )
    assert done.returncode == 0, f"{place}: {command[-1]} ended with {done.returncode}\n{done.stderr}"
    return done.stdout


def check_shown(typed: Typed, printed: str) -> None:
    """Every line that is shown was printed, in order and without gaps where none is marked."""
    if not typed.shown:
        return
    lines = [comparable(line) for line in printed.splitlines()]
    shown = [comparable(line) for line in typed.shown]
    pattern = "".join(r"(?:.*\n)*?" if line == LEFT_OUT else f"{re.escape(line)}\n" for line in shown)
    if re.fullmatch(pattern, "".join(f"{line}\n" for line in lines)) is None:
        assert shown == lines, f"{typed.place}: {typed.line}"


def comparable(line: str) -> str:
    """A line without what differs from machine to machine: the speed, the core, trailing space."""
    line = FIGURES.sub(r"\1", line.rstrip()).rstrip()
    return re.sub(r" \(.*\)$", "", line) if line.startswith("identified by ") else line


def test_a_line_that_is_shown_and_was_not_printed_is_noticed() -> None:
    typed = Typed("a page", "screensearch verify runs/a", ("3 states", LEFT_OUT, "holds"))
    check_shown(typed, "3 states\ngraph 12\nholds\n")
    with pytest.raises(AssertionError):
        check_shown(typed, "4 states\ngraph 12\nholds\n")
    with pytest.raises(AssertionError):
        check_shown(typed, "3 states\ngraph 12\nholds\nnot quite\n")
