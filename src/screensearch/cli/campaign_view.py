"""How a campaign is shown: a table of all runs in a terminal, else a line now and then, or in the log."""

from __future__ import annotations

import logging
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from types import TracebackType

from rich.console import Console, Group
from rich.live import Live
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from screensearch.cli.live import LINE_EVERY_SECONDS
from screensearch.cli.logs import logger
from screensearch.cli.output import console, say, table
from screensearch.config import DESKTOP
from screensearch.explore.campaign.file import Campaign, PlannedRun
from screensearch.explore.campaign.record import CampaignRecord, Figures, RunState, Standing

_REFRESH_SECONDS = 0.25
_BESIDE_ROWS = 4  # lines of the live view that are not runs

_WAITING = "Waiting for the runs of an earlier command to record their last steps."
_STOPPING = "Stopping: finishing steps under way; Ctrl-C again gives them up"

_STYLES = {
    RunState.RUNNING: "bold",
    RunState.FAILED: "red",
    RunState.INTERRUPTED: "yellow",
    RunState.WAITING: "dim",
    RunState.SKIPPED: "dim",
}


class _Pace:
    """When a run is worth another line: if its state is another one, and now and then."""

    def __init__(self) -> None:
        self._last: dict[str, tuple[float, RunState]] = {}

    def is_due(self, name: str, state: RunState) -> bool:
        now = time.monotonic()
        last, before = self._last.get(name, (0.0, RunState.WAITING))
        due = state is not before or now - last >= LINE_EVERY_SECONDS
        if due:
            self._last[name] = now, state
        return due


class CampaignLog:
    """Logs where the runs stand, with their figures under their own names."""

    def __init__(self) -> None:
        self._pace = _Pace()

    def __enter__(self) -> CampaignLog:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None
    ) -> None:
        pass

    def waiting(self) -> None:
        """Processes of a campaign that was killed have to end first."""
        logger.info(_WAITING)

    def stopping(self) -> None:
        """It was interrupted: steps under way are finished, and no more are taken."""
        logger.info(_STOPPING)

    def show(self, name: str, standing: Standing) -> None:
        """A run stands there now."""
        if self._pace.is_due(name, standing.state):
            why = f": {standing.failure.message}" if standing.failure else ""
            level = logging.ERROR if standing.state is RunState.FAILED else logging.INFO
            figures = {"name": name, "state": standing.state.value, **asdict(standing.figures)}
            logger.log(level, "%s: %s%s", name, _state(standing), why, extra={"figures": figures})


class CampaignView:
    """Shows where the runs stand, on standard error, until it is left."""

    def __init__(self, console: Console, runs: Sequence[PlannedRun], record: CampaignRecord) -> None:
        self._console = console
        self._runs = {run.name: run for run in runs}
        self._record = record
        self._live = (
            Live(console=console, auto_refresh=False, transient=True) if console.is_terminal else None
        )
        self._last_drawn = 0.0
        self._hint = "Ctrl-C stops; the same command goes on"
        self._pace = _Pace()

    def __enter__(self) -> CampaignView:
        if self._live is not None:
            self._live.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._live is not None:
            self._live.stop()

    def waiting(self) -> None:
        """Processes of a campaign that was killed have to end first."""
        say(self._console, _WAITING)

    def stopping(self) -> None:
        """It was interrupted: steps under way are finished, and no more are taken."""
        self._hint = _STOPPING
        if self._live is None:
            say(self._console, self._hint)

    def show(self, name: str, standing: Standing) -> None:
        """A run stands there now."""
        now = time.monotonic()
        if self._live is None:
            if self._pace.is_due(name, standing.state):
                self._console.print(_line(self._runs[name], standing), soft_wrap=True)
        elif now - self._last_drawn >= _REFRESH_SECONDS or standing.state is not RunState.RUNNING:
            self._last_drawn = now
            self._live.update(self._table(), refresh=True)

    def _table(self) -> Group:
        """All runs; if they are too many for the screen, those that are running."""
        runs = list(self._runs.values())
        if len(runs) > self._console.height - _BESIDE_ROWS:
            runs = [run for run in runs if self._record[run.name].state is RunState.RUNNING]
        states = Counter(self._record[name].state for name in self._runs)
        counts = ", ".join(f"{states[state]} {state}" for state in RunState if states[state])
        return Group(_rows(runs, self._record), Text(f"{counts}. {self._hint}", style="dim"))


def print_campaign(planned: Campaign, folder: Path, record: CampaignRecord) -> None:
    """Where every run stands, and what became of those that did not go well."""
    out = console()
    say(out, f"[bold]{escape(planned.name)}[/]  {escape(str(folder))}")
    out.print(_rows(planned.runs, record))
    troubled = [run for run in planned.runs if record[run.name].failure is not None]
    if troubled:
        say(out, "\n[bold]Not explored to the end[/]")
    for run in troubled:
        failure = record[run.name].failure
        assert failure is not None  # that is what they were chosen by
        say(out, escape(f"{run.name}  {failure.kind}: {failure.message}"))


def _rows(runs: Sequence[PlannedRun], record: CampaignRecord) -> Table:
    rows = table(
        "run", "explores", "state", "steps", "states", "edges", "findings", right=("steps", "states", "edges")
    )
    name, explores, state, *_, found = rows.columns
    name.no_wrap = state.no_wrap = True  # where the screen is narrow, the others give way
    explores.overflow = "ellipsis"
    found.min_width = len("findings")
    for run in runs:
        standing = record[run.name]
        figures = standing.figures
        rows.add_row(
            escape(run.name),
            escape(run.environment.removeprefix(f"{DESKTOP}:")),
            _state(standing),
            _steps(run, standing),
            f"{figures.states:,}",
            f"{figures.edges:,}",
            findings(figures),
            style=_STYLES.get(standing.state, ""),
        )
    return rows


def _line(run: PlannedRun, standing: Standing) -> str:
    """A run on a line, for where there is no terminal."""
    figures = standing.figures
    found = findings(figures)
    return escape(
        f"{run.name}: {_state(standing)}, {_steps(run, standing)} steps, {figures.states:,} states, "
        f"{figures.edges:,} edges{f', {found}' if found else ''}"
        f"{f': {standing.failure.message}' if standing.failure else ''}"
    )


def _state(standing: Standing) -> str:
    ended = standing.state is RunState.FINISHED and standing.ended
    return f"{standing.state} ({standing.ended})" if ended else str(standing.state)


def _steps(run: PlannedRun, standing: Standing) -> str:
    taken, wanted = standing.figures.steps, run.stop.steps
    done = wanted is None or standing.state is RunState.FINISHED
    return f"{taken:,}" if done else f"{taken:,} of {wanted:,}"


def findings(figures: Figures) -> str:
    """How often each kind of failure of the application came up; empty when none did."""
    counts = {
        "crashes": figures.crashes,
        "hangs": figures.hangs,
        "exits": figures.exits,
        "captures": figures.captures,
    }
    return ", ".join(f"{count:,} {what}" for what, count in counts.items() if count)
