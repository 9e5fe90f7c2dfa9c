"""How far a study is: a bar in a terminal, a line now and then elsewhere. Always on standard error."""

from __future__ import annotations

import time
from typing import Self

from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

LINE_EVERY_SECONDS = 5.0


class Counting:
    """Shows how many of how many are done until it is left."""

    def __init__(self, console: Console, what: str) -> None:
        self._console = console
        self._what = what
        self._last_line = time.monotonic()
        self._bar: Progress | None = None
        if console.is_terminal:
            columns = (TextColumn("[bold]{task.description}[/]"), BarColumn(), MofNCompleteColumn())
            note = TextColumn("{task.fields[note]}")
            self._bar = Progress(*columns, TimeRemainingColumn(), note, console=console, transient=True)
            self._task = self._bar.add_task(escape(what), total=None, note="")

    def __enter__(self) -> Self:
        if self._bar is not None:
            self._bar.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._bar is not None:
            self._bar.stop()

    def show(self, done: int, total: int, note: str) -> None:
        if self._bar is not None:
            self._bar.update(self._task, completed=done, total=total, note=escape(note))
        elif time.monotonic() - self._last_line >= LINE_EVERY_SECONDS:
            self._last_line = time.monotonic()
            self._console.print(f"{escape(self._what)}: {done} of {total}  {escape(note)}", soft_wrap=True)
