"""What the controls leave behind: raw trials, figures as numbers, tables, in their folder."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import msgspec

from screensearch.study.controls.figures import ControlSummary, summarise
from screensearch.study.controls.plan import ControlPlan, Trial
from screensearch.study.controls.tables import tables_latex, tables_page
from screensearch.study.plan import RESULTS, write_whole
from screensearch.study.report import LATEX, SUMMARY, TABLES


def write_report(
    plan: ControlPlan, trials: Sequence[Trial], folder: Path
) -> tuple[ControlSummary, list[Path]]:
    """Write tables and numbers of finished controls; the figures, and what was written."""
    summary = summarise(plan, trials)
    files = {
        TABLES: tables_page(summary),
        LATEX: tables_latex(summary),
        SUMMARY: msgspec.json.format(msgspec.json.encode(summary), indent=1).decode() + "\n",
    }
    for name, content in files.items():
        write_whole(folder / name, content.encode())
    return summary, [folder / RESULTS, *(folder / name for name in files)]
