"""Logs as text and as JSON: one object a line, about the right step, and nothing secret in either."""

from __future__ import annotations

import io
import json
import logging
import os
import sys
import warnings
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

import screensearch as ss
from screensearch.domain.transition import EpisodeId, Outcome
from screensearch.errors import SettingsError
from screensearch.explore.budget import StopRule
from screensearch.explore.exploration import start_exploration
from screensearch.explore.logs import (
    JSON,
    LOG_FORMATS,
    TEXT,
    LogFormatter,
    Whereabouts,
    last_words,
    start_logging,
)
from screensearch.record.run import open_run_folder

SECRET = "joe.doe@example.com"

WORLD = f"""
import logging
from screensearch import Box, Element, Observation, Outcome, Result, Start, Window

class Leaky:
    application = "leaky"
    steps = 0
    def look(self):
        button = Element("button", "go", Box(10, 10, 50, 20), "leaky", clickable=True)
        return Observation((button,), Window("Leaky", "main", Box(0, 0, 200, 200), "leaky"))
    async def reset(self, seed):
        logging.getLogger("leaky").info("reset")
        return Start(self.look())
    async def perform(self, action):
        self.steps += 1
        logging.getLogger("leaky").warning("performs for %s", "{SECRET}")
        if self.steps == 5:
            raise RuntimeError("first line\\nno mailbox of {SECRET}")
        return Result(Outcome.OK, self.look())
    async def close(self):
        pass

def open_world(argument, means):
    return Leaky()
"""


@pytest.fixture
def leaky(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A third party's world that logs what it should not, and dies of what it did not foresee."""
    described = tmp_path / "plugin" / "leaky-1.0.dist-info"
    described.mkdir(parents=True)
    (tmp_path / "plugin" / "leaky.py").write_text(WORLD)
    (described / "METADATA").write_text("Metadata-Version: 2.1\nName: leaky\nVersion: 1.0\n")
    (described / "entry_points.txt").write_text("[screensearch.environments]\nleaky = leaky:open_world\n")
    monkeypatch.syspath_prepend(str(tmp_path / "plugin"))
    inherited = os.environ.get("PYTHONPATH", "")
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(filter(None, (str(tmp_path / "plugin"), inherited))))
    return "leaky:x"


@pytest.mark.parametrize("log_format", LOG_FORMATS)
def test_what_a_worker_did_not_foresee_is_told_without_its_secrets(
    leaky: str, log_format: str, tmp_path: Path
) -> None:
    folder = tmp_path / "run"
    stop = StopRule(steps=6)
    summary = start_exploration(leaky, folder, stop=stop, log_format=log_format)
    assert (summary.lost, summary.worker_failures) == (1, 1)
    with ss.open_run(folder) as run:
        (lost,) = [each for each in run.transitions() if each.outcome is Outcome.LOST]
    # The exception's last line, in either form, and where to read more.
    assert "status 1: no mailbox of [redacted:email] (see " in lost.note
    assert SECRET not in "".join(path.read_text(errors="replace") for path in folder.rglob("*.log"))
    assert "performs for [redacted:email]" in (folder / "workers" / "w0.log").read_text()


def test_every_line_of_a_workers_json_log_says_where_it_belongs(leaky: str, tmp_path: Path) -> None:
    folder = tmp_path / "run"
    start_exploration(leaky, folder, stop=StopRule(steps=6), log_format=JSON)
    lines = (folder / "workers" / "w0.log").read_text().splitlines()
    records = [json.loads(line) for line in lines]
    run = open_run_folder(folder).manifest.run
    assert {(record["run"], record["worker"]) for record in records} == {(run, 0)}
    assert all(datetime.fromisoformat(record["time"]).tzinfo == UTC for record in records)
    assert [(each["episode"], each["step"]) for each in records if each["logger"] == "leaky"] == [
        *((0, step) for step in range(6)),  # 0 is the start
        *((1, step) for step in range(3)),
    ]
    (died,) = [each for each in records if each["level"] == "CRITICAL"]
    assert "Traceback" in died["exception"]
    counts = records[-1]
    assert counts["message"].startswith("encoded 3 screens")
    assert "episode" not in counts  # it is about all of them


def test_an_unknown_form_is_refused_before_there_is_a_run(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="log_format is 'xml'; it must be one of text, json"):
        start_exploration("synthetic:notepad", tmp_path / "run", stop=StopRule(steps=1), log_format="xml")
    assert not (tmp_path / "run").exists()


# -- one record -----------------------------------------------------------------------------------


@pytest.fixture
def written() -> Iterator[io.StringIO]:
    stream = io.StringIO()
    where = Whereabouts(run="r1")
    where.move(EpisodeId(2, 7), 3)
    stop_logging = start_logging(stream, LogFormatter(JSON, where, lambda text: text.replace("x@y.z", "***")))
    yield stream
    stop_logging()


def last(stream: io.StringIO) -> dict[str, object]:
    record = json.loads(stream.getvalue().splitlines()[-1])
    assert isinstance(record, dict)
    return record


def test_a_record_says_where_it_belongs_and_one_that_says_so_itself_is_believed(written: io.StringIO) -> None:
    logger = logging.getLogger("some.where")
    logger.info("a %s", "b")
    place = {"run": "r1", "worker": 2, "episode": 7, "step": 3}
    assert (
        last(written).items() >= {"level": "INFO", "logger": "some.where", "message": "a b", **place}.items()
    )
    logger.info("c", extra={"worker": 0, "figures": {"states": 4}})
    assert last(written).items() >= {"worker": 0, "run": "r1", "states": 4}.items()
    assert "shard" not in last(written)
    logger.info("d", extra={"shard": 1, "figures": {"why": "no mailbox of x@y.z"}})
    assert last(written).items() >= {"shard": 1, "why": "no mailbox of ***"}.items()


def test_anything_that_is_logged_stays_one_line_of_json(written: io.StringIO) -> None:
    logging.getLogger("some.where").info('quote " newline \n é')
    assert last(written)["message"] == 'quote " newline \n é'
    problem = ValueError("x@y.z\nis secret")
    logging.getLogger("some.where").error("failed", exc_info=problem, stack_info=True)
    record = last(written)
    assert str(record["exception"]).endswith("ValueError: ***\nis secret")
    assert "stack" in record
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        warnings.warn("beware", stacklevel=1)
    assert last(written)["logger"] == "py.warnings"
    assert len(written.getvalue().splitlines()) == 3


@pytest.mark.parametrize("log_format", LOG_FORMATS)
def test_a_record_can_be_written_whatever_an_application_is_called(log_format: str) -> None:
    record = logging.makeLogRecord({"msg": "half \ud800", "levelname": "INFO"})
    line = LogFormatter(log_format, Whereabouts()).format(record)
    assert "half \N{REPLACEMENT CHARACTER}" in line
    assert line.encode()


def test_logging_ends_as_it_was(capsys: pytest.CaptureFixture[str]) -> None:
    before = list(logging.getLogger().handlers), logging.getLogger().level
    stop_logging = start_logging(sys.stderr, LogFormatter(TEXT, Whereabouts()))
    logging.getLogger("some.where").info("during")
    stop_logging()
    assert (logging.getLogger().handlers, logging.getLogger().level) == before
    logging.getLogger("some.where").info("after")
    assert capsys.readouterr().err.endswith(" INFO during\n")


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("ValueError: plain", "ValueError: plain"),
        ('{"message": "it ended", "level": "INFO"}', "it ended"),
        ('{"message": "m", "exception": "Traceback\\n  File\\nValueError: told\\n"}', "ValueError: told"),
        ('{"message": "cut', '{"message": "cut'),
        ('{"other": 1}', '{"other": 1}'),
        ("[1]", "[1]"),
        ("12", "12"),
    ],
)
def test_the_last_words_of_a_worker_are_found_in_either_form(line: str, words: str) -> None:
    assert last_words(line) == words
