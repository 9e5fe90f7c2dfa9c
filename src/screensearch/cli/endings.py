"""When an exploration has enough, and which outcomes make its end a failure."""

from __future__ import annotations

import difflib
import logging
import shlex

import click

from screensearch import Outcome, Settings, StopRule, Summary
from screensearch.cli.logs import tell
from screensearch.cli.status import FOUND_STATUS
from screensearch.errors import SettingsError

DEFAULT_STEPS = 2000

FAILURES = (Outcome.CRASH, Outcome.HANG, Outcome.EXIT, Outcome.CAPTURE, Outcome.LOST)
"""What ``--fail-on`` knows."""


def stop_rule(
    steps: int | None, minutes: float | None, seconds: float | None, states: int | None, plateau: int | None
) -> StopRule | None:
    """The rule that the options give, if they give one."""
    times = [*([] if seconds is None else [seconds]), *([] if minutes is None else [60 * minutes])]
    if not times and steps is None and states is None and plateau is None:
        return None
    return StopRule(steps=steps, seconds=min(times, default=None), states=states, plateau=plateau)


def default_rule(settings: Settings) -> StopRule:
    """The rule of the settings; without one, a number of steps that soon comes to an end."""
    given = settings.stop
    if (given.steps, given.minutes, given.states, given.plateau) == (None, None, None, None):
        return StopRule(steps=DEFAULT_STEPS)
    return StopRule.of(given)


def failing_outcomes(names: str | None) -> tuple[str, ...]:
    """The outcomes of ``--fail-on``; a name that is none of them gets help."""
    named = tuple(name.strip() for name in (names or "").split(",")) if names is not None else ()
    for name in named:
        if name not in FAILURES:
            near = difflib.get_close_matches(name, map(str, FAILURES), n=1)
            hint = f"; did you mean {near[0]!r}?" if near else ""
            raise SettingsError(f"--fail-on knows no outcome {name!r}{hint} (known: {', '.join(FAILURES)})")
    return named


def fail_if_found(context: click.Context, summary: Summary, failing: tuple[str, ...]) -> None:
    """Say what was found that was not to be, and end with a status of its own."""
    found = [f"{count} {name}" for name in failing if (count := summary.new_outcomes.get(name, 0))]
    if found:
        folder = shlex.quote(summary.run)
        shows = "show" if found[0].endswith(Outcome.LOST) and len(found) == 1 else "findings"
        line = f"This exploration met {', '.join(found)}: screensearch {shows} {folder}"
        tell(line, level=logging.WARNING)
        context.exit(FOUND_STATUS)
