"""What a campaign notes of its runs, and when there is something left to do."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from screensearch import StopRule
from screensearch.errors import FormatError, NewerFormat, RunBusy
from screensearch.explore.campaign.conduct import rest_of
from screensearch.explore.campaign.file import Above, PlannedRun, parse_campaign
from screensearch.explore.campaign.ready import is_due
from screensearch.explore.campaign.record import (
    FILE,
    CampaignRecord,
    Failure,
    Figures,
    RunState,
    Standing,
    at_work,
    conducted,
    is_conducted,
)


def planned(stop: str) -> PlannedRun:
    text = f'[[run]]\ntarget = "synthetic:notepad"\n{stop}\n'
    (run,) = parse_campaign("a text", text, name="a", folder=Path(), above=Above()).runs
    return run


def test_what_was_saved_is_read_again(tmp_path: Path) -> None:
    standings = {
        "one": Standing(
            state=RunState.FINISHED,
            figures=Figures(steps=5, states=2, edges=3, crashes=1),
            seconds=1.5,
            stop=StopRule(steps=5, seconds=60.0),
            ended="steps",
            digest="ab",
        ),
        "two": Standing(state=RunState.FAILED, failure=Failure("NeverStarted", "it said goodbye")),
    }
    CampaignRecord(tmp_path, standings).save()
    record = CampaignRecord.read(tmp_path)
    assert {name: record[name] for name in standings} == standings
    assert "three" not in record
    assert record["three"] == Standing()


def test_a_run_that_nobody_conducts_was_interrupted(tmp_path: Path) -> None:
    record = CampaignRecord(tmp_path, {"one": Standing(state=RunState.RUNNING, seconds=3.0)})
    record.nobody_conducts()
    assert record["one"] == Standing(state=RunState.INTERRUPTED, seconds=3.0)


@pytest.mark.parametrize(
    "content", ["", "{}", '{"format": 1, "runs": {"a": {"state": "lost"}}}', '{"format": 1']
)
def test_a_record_that_is_not_whole_is_refused(content: str, tmp_path: Path) -> None:
    (tmp_path / FILE).write_text(content)
    with pytest.raises(FormatError, match="is malformed"):
        CampaignRecord.read(tmp_path)


def test_a_newer_record_is_refused_by_its_number(tmp_path: Path) -> None:
    (tmp_path / FILE).write_text(json.dumps({"format": 99, "what": "is this"}))
    with pytest.raises(NewerFormat, match="format 99"):
        CampaignRecord.read(tmp_path)


def test_a_campaign_has_one_conductor_at_a_time(tmp_path: Path) -> None:
    folder = tmp_path / "out"
    assert not is_conducted(folder)
    with conducted(folder):
        assert is_conducted(folder)
        with pytest.raises(RunBusy, match="conducted by another process"), conducted(folder):
            pass
    assert not is_conducted(folder)


def test_a_campaign_begins_when_the_processes_of_an_earlier_one_have_ended(tmp_path: Path) -> None:
    told: list[str] = []
    with at_work(tmp_path, lambda: told.append("first")) as handle:
        inherited = os.dup(handle)  # as a process of a run does
    refused = at_work(tmp_path, lambda: told.append("second"), seconds=0)
    with pytest.raises(RunBusy, match="did not end within 0 s"), refused:
        pass
    with at_work(tmp_path, lambda: os.close(inherited)):
        told.append("third")
    assert told == ["second", "third"]


def test_a_finished_run_is_due_again_only_under_another_rule() -> None:
    run = planned("stop.steps = 10")
    assert is_due(run, Standing())
    assert is_due(run, Standing(state=RunState.INTERRUPTED, stop=run.stop))
    assert is_due(run, Standing(state=RunState.FAILED, stop=run.stop))
    assert not is_due(run, Standing(state=RunState.FINISHED, stop=run.stop))
    assert is_due(planned("stop.steps = 11"), Standing(state=RunState.FINISHED, stop=run.stop))


def test_time_that_a_run_has_had_counts_unless_it_saw_nothing() -> None:
    rule = StopRule(seconds=60.0, plateau=5)
    seen = Figures(states=1)
    assert rest_of(rule, Standing()) == rule
    assert rest_of(rule, Standing(figures=seen, seconds=45.0)) == StopRule(seconds=15.0, plateau=5)
    assert rest_of(rule, Standing(figures=seen, seconds=60.0)) is None
    assert rest_of(rule, Standing(seconds=60.0)) == rule
    assert rest_of(StopRule(steps=9), Standing(figures=seen, seconds=60.0)) == StopRule(steps=9)
