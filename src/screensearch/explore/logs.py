"""How log records are written: lines for people, or one JSON object a line for machines.

What quotes an application is redacted where it is logged; here everything that a worker writes is redacted
once more, since an exception that nobody foresaw may quote anything.
"""

from __future__ import annotations

import json
import logging
import sys
import threading
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from types import TracebackType
from typing import Any, Final, TextIO

from screensearch.domain.text import storable
from screensearch.domain.transition import EpisodeId
from screensearch.errors import SettingsError

TEXT: Final = "text"
JSON: Final = "json"
LOG_FORMATS = (TEXT, JSON)

_TEXT_LINE = "%(asctime)s %(levelname)s %(message)s"
_PLACE = ("run", "shard", "worker", "episode", "step")

logger = logging.getLogger(__name__)


def check_log_format(name: str) -> None:
    if name not in LOG_FORMATS:
        raise SettingsError(f"log_format is {name!r}; it must be one of {', '.join(LOG_FORMATS)}")


@dataclass(slots=True)
class Whereabouts:
    """What the process that logs is working on; a record that says otherwise is believed.

    One for the process, not one for each task: a worker does one step at a time, and what runs beside it
    in tasks of its own belongs to that step, too.
    """

    run: str | None = None
    shard: int | None = None
    worker: int | None = None
    episode: int | None = None
    step: int | None = None

    def move(self, episode: EpisodeId, step: int) -> None:
        """From now on, what is logged is about this step; 0 is the start of the episode."""
        self.worker, self.episode, self.step = episode.worker, episode.number, step

    def leave(self) -> None:
        """From now on, it is about no episode."""
        self.episode = self.step = None


def _unchanged(text: str) -> str:
    return text


class LogFormatter(logging.Formatter):
    """A record as text or as JSON; all texts in it go through `redact` first."""

    def __init__(
        self, log_format: str, where: Whereabouts, redact: Callable[[str], str] = _unchanged
    ) -> None:
        super().__init__(_TEXT_LINE)
        self._json = log_format == JSON
        self._where = where
        self._redact = redact

    def format(self, record: logging.LogRecord) -> str:
        if not self._json:
            record.exc_text = None  # what another handler has made of it is not redacted
            return super().format(record)
        return json.dumps(self._fields(record), ensure_ascii=False)

    def formatMessage(self, record: logging.LogRecord) -> str:  # noqa: N802 (the name that it overrides)
        record.message = self._clean(record.message)
        return super().formatMessage(record)

    def formatException(self, ei: Any) -> str:  # noqa: N802
        return self._clean(super().formatException(ei))

    def formatStack(self, stack_info: str) -> str:  # noqa: N802
        return self._clean(super().formatStack(stack_info))

    def _fields(self, record: logging.LogRecord) -> dict[str, Any]:
        fields: dict[str, Any] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname,
            "logger": record.name,
            "message": self._clean(record.getMessage()),
        }
        for name in _PLACE:
            value = getattr(record, name, None)
            value = getattr(self._where, name) if value is None else value
            if value is not None:
                fields[name] = value
        for name, value in getattr(record, "figures", {}).items():
            fields[name] = self._clean(value) if isinstance(value, str) else value
        if record.exc_info:
            fields["exception"] = self.formatException(record.exc_info)
        if record.stack_info:
            fields["stack"] = self.formatStack(record.stack_info)
        return fields

    def _clean(self, text: str) -> str:
        # Line by line first: a text of several lines that is redacted as a whole may lose them.
        by_line = "\n".join(map(self._redact, text.split("\n")))
        return storable(self._redact(by_line))


def start_logging(
    stream: TextIO, formatter: logging.Formatter, *, details_of: str | None = None
) -> Callable[[], None]:
    """Write what is logged to a stream, warnings of Python too; returns how to end that.

    Of `details_of` and what is below it, all that is not for debugging is written; by default of everything.
    """
    root, detailed = logging.getLogger(), logging.getLogger(details_of)
    before = detailed.level
    handler = logging.StreamHandler(stream)
    handler.setFormatter(formatter)
    root.addHandler(handler)
    detailed.setLevel(logging.INFO)
    logging.captureWarnings(True)

    def stop_logging() -> None:
        logging.captureWarnings(False)
        detailed.setLevel(before)
        root.removeHandler(handler)

    return stop_logging


def log_uncaught() -> None:
    """Have what nobody catches logged like everything else: as one record, redacted."""

    def in_main(kind: type[BaseException], problem: BaseException, trace: TracebackType | None) -> None:
        logger.critical("the process ends: nobody caught this", exc_info=(kind, problem, trace))

    def in_thread(given: threading.ExceptHookArgs) -> None:
        if given.exc_value is not None:
            logger.error("a thread ended: nobody caught this", exc_info=given.exc_value)

    def unraisable(given: sys.UnraisableHookArgs) -> None:
        logger.error("%s", given.err_msg or "an exception was ignored", exc_info=given.exc_value)

    sys.excepthook = in_main
    threading.excepthook = in_thread
    sys.unraisablehook = unraisable


def last_words(line: str) -> str:
    """What the last line of a worker's output says, whichever way it was written: of an exception, itself."""
    try:
        record = json.loads(line)
    except ValueError:
        return line
    if not isinstance(record, dict):
        return line
    said = record.get("exception") or record.get("message")
    return said.rstrip().rpartition("\n")[2] if isinstance(said, str) and said.strip() else line
