"""What commands that explore say beside their result: for people, or as JSON, a line for each thing said."""

from __future__ import annotations

import contextlib
import logging
import sys
from collections.abc import Iterator

import click

from screensearch.explore.logs import JSON, LOG_FORMATS, TEXT, LogFormatter, Whereabouts, start_logging

logger = logging.getLogger("screensearch.cli")

_AS_JSON = "screensearch.json_logs"

log_format_option = click.option(
    "--log-format",
    type=click.Choice(LOG_FORMATS),
    default=TEXT,
    show_default=True,
    envvar="SCREENSEARCH_LOG_FORMAT",
    help="How progress, warnings and errors are written to standard error, and if a run is begun the logs of "
    "its workers, or on a cluster of all its parts: json is one JSON object a line. Also read from "
    "SCREENSEARCH_LOG_FORMAT.",
)


def log_as(context: click.Context, log_format: str) -> Whereabouts:
    """Log in this form until the whole command has ended; returns what says which run it is about."""
    where = Whereabouts()
    if log_format == JSON:
        context.meta[_AS_JSON] = True
        context.find_root().with_resource(_logging(where))
    return where


@contextlib.contextmanager
def _logging(where: Whereabouts) -> Iterator[None]:
    formatter = LogFormatter(JSON, where)
    stop_logging = start_logging(sys.stderr, formatter, details_of="screensearch")  # libraries tell too much
    try:
        yield
    finally:
        stop_logging()


def logs_json() -> bool:
    """Whether nothing but JSON may go to standard error."""
    context = click.get_current_context(silent=True)
    return context is not None and bool(context.meta.get(_AS_JSON))


def tell(line: str, *, level: int = logging.INFO) -> None:
    """Say something on standard error, in the form that was asked for."""
    if logs_json():
        logger.log(level, "%s", line)
    else:
        click.echo(line, err=True)


def warn(line: str) -> None:
    """Say what may go wrong now."""
    tell(line if logs_json() else f"Warning: {line}", level=logging.WARNING)
