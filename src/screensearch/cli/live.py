"""The live view of an exploration: a panel in a terminal, a line now and then elsewhere, or in the log."""

from __future__ import annotations

import time
from dataclasses import asdict
from types import TracebackType

from rich.console import Console
from rich.live import Live
from rich.markup import escape
from rich.table import Table

from screensearch import Progress
from screensearch.cli.logs import logger
from screensearch.cli.output import say

LINE_EVERY_SECONDS = 5.0


class LogView:
    """Logs progress now and then, its figures under their own names."""

    def __init__(self) -> None:
        self._last = 0.0

    def __enter__(self) -> LogView:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None
    ) -> None:
        pass

    def show(self, progress: Progress, places: str = "") -> None:
        """`places` says where the workers are, if they are not all here."""
        if time.monotonic() - self._last >= LINE_EVERY_SECONDS:
            self._last = time.monotonic()
            logger.info("progress" + (f": {places}" if places else ""), extra={"figures": asdict(progress)})


class LiveView:
    """Shows progress on standard error until it is left."""

    def __init__(
        self,
        console: Console,
        *,
        what: str,
        steps: int | None,
        hint: str = "Ctrl-C stops",
        hint_at_end: str = "Ctrl-C again gives them up",  # the steps under way
    ) -> None:
        self._console = console
        self._what = what
        self._hint, self._hint_at_end = hint, hint_at_end
        self._of = "" if steps is None else f" of {steps:,}"
        self._live = (
            Live(console=console, auto_refresh=False, transient=True) if console.is_terminal else None
        )
        self._last_line = 0.0

    def __enter__(self) -> LiveView:
        if self._live is not None:
            self._live.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._live is not None:
            self._live.stop()

    def show(self, progress: Progress, places: str = "") -> None:
        """`places` says where the workers are, if they are not all here."""
        if self._live is not None:
            self._live.update(self._panel(progress, places), refresh=True)
        elif time.monotonic() - self._last_line >= LINE_EVERY_SECONDS:
            self._last_line = time.monotonic()
            say(
                self._console,
                f"{progress.seconds:7.1f} s  {progress.steps:>8,}{self._of} steps  "
                f"{progress.steps_per_second:7.0f}/s  {progress.states:>7,} states  "
                f"{progress.edges:>8,} edges" + (f"  {escape(places)}" if places else ""),
            )

    def _panel(self, progress: Progress, places: str) -> Table:
        panel = Table.grid(padding=(0, 2))
        hint = f"[dim]{self._hint}[/]"
        doing = "exploring" if progress.steps or progress.states else "starting workers for"
        if progress.stopping:
            doing, hint = "stopping", f"[dim]finishing steps under way; {self._hint_at_end}[/]"
        panel.add_row(f"[bold]{doing}[/] {escape(self._what)}", f"{progress.seconds:.0f} s", hint)
        panel.add_row(
            f"steps [bold]{progress.steps:,}[/]{self._of}",
            f"{progress.steps_per_second:,.0f} steps/s",
            f"worker failures {progress.worker_failures}" if progress.worker_failures else "",
        )
        panel.add_row(
            f"states [bold]{progress.states:,}[/]",
            f"edges [bold]{progress.edges:,}[/]",
            f"revisits {progress.revisit_rate:.1%}",
        )
        panel.add_row(
            f"ambiguity {progress.ambiguity:.3f}",
            f"captures {progress.captures}  crashes {progress.crashes}  hangs {progress.hangs}",
            f"exits {progress.exits}  missed {progress.missed}  lost {progress.lost}"
            + (f"  undecided {progress.undecided}" if progress.undecided else ""),
        )
        if places:
            panel.add_row(escape(places), "", "")
        return panel
