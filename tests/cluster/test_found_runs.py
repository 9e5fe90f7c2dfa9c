"""Runs that are joined from a machine that does not have their folder."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

import screensearch as ss
from screensearch.cli import main
from screensearch.cluster import launch
from screensearch.cluster.engine import NoCluster
from screensearch.cluster.launch import Attached
from screensearch.cluster.names import Trouble, View, conductor_name
from screensearch.errors import RunNotFound
from screensearch.explore.beginning import new_manifest
from screensearch.explore.progress import Progress, Summary
from screensearch.record.run import create_run

ELSEWHERE = "/srv/elsewhere/runs/mine"
FIGURES = dict.fromkeys(
    (
        "steps",
        "states",
        "edges",
        "captures",
        "crashes",
        "hangs",
        "exits",
        "missed",
        "lost",
        "worker_failures",
    ),
    0,
)
CAME_TO = Summary(
    **FIGURES,
    run="",
    environment="synthetic:notepad",
    failed_starts=0,
    seconds=1.0,
    steps_per_second=0.0,
    digest="",
    ended="interrupted",
    identifier="exact",
    new_outcomes={},
)
PROGRESS = Progress(
    **FIGURES, seconds=1.0, steps_per_second=0.0, revisit_rate=0.0, ambiguity=0.0, stopping=True
)

TROUBLE = Trouble(1.0, "worker 0 failed: it fell", "it fell", worker=0)


def view_of(run: str, folder: str) -> View:
    return View(run, folder, "synthetic:notepad", "ended", PROGRESS, (), (), (TROUBLE,), CAME_TO)


class Method:
    """Of a conductor: it answers with this, if with anything."""

    def __init__(self, says: object) -> None:
        self._says = says

    def remote(self, *arguments: object) -> object:
        return self._says


class Conductor:
    """In the place of one: it shows this view, or says nothing."""

    def __init__(self, view: View | None) -> None:
        self.view, self.stop, self.collect = Method(view), Method(()), Method(())


class Conductors:
    """In the place of a cluster: the conductors that are there."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self._there: dict[str, Conductor] = {}
        monkeypatch.setattr(launch, "connect", lambda address: None)
        monkeypatch.setattr(launch, "conductors", lambda: sorted(self._there))
        monkeypatch.setattr(launch, "find_actor", self._there.get)
        monkeypatch.setattr(launch, "answer", self._answer)
        monkeypatch.setattr(launch, "AWAY_SECONDS", 0.0)
        monkeypatch.setattr(launch, "LOOK_SECONDS", 0.0)

    def add(self, run: str, folder: str, *, silent: bool = False) -> None:
        self._there[conductor_name(run)] = Conductor(None if silent else view_of(run, folder))

    def _answer(self, said: Any, *, seconds: float) -> Any:
        if said is None:
            raise TimeoutError
        return said


@pytest.fixture
def there(monkeypatch: pytest.MonkeyPatch) -> Conductors:
    return Conductors(monkeypatch)


def run_command(*words: str) -> Result:
    return CliRunner().invoke(main, [*words, "--cluster", "lab1:6379"])


@pytest.mark.parametrize("given", ["one", ELSEWHERE, "relative"])
def test_a_run_whose_folder_is_elsewhere_is_found_by_its_id_or_its_folder(
    given: str, there: Conductors, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    there.add("one", str(tmp_path / "relative") if given == "relative" else ELSEWHERE)
    there.add("two", "/srv/elsewhere/runs/other")
    attached = Attached("lab1:6379", Path(given))
    assert attached.view().run == "one"
    assert not attached.is_here


def test_a_run_in_the_folder_that_was_given_comes_before_one_that_has_this_folder_elsewhere(
    there: Conductors, tmp_path: Path
) -> None:
    folder = tmp_path / "run"
    manifest = new_manifest("synthetic:notepad", ss.Settings(), seed=0, store="", artifacts="")
    create_run(folder, manifest)
    there.add("another", str(folder))
    with pytest.raises(RunNotFound, match="is not under way"):
        Attached("lab1:6379", folder)
    there.add(manifest.run, "/anywhere")
    attached = Attached("lab1:6379", folder)
    assert attached.view().run == manifest.run
    assert attached.is_here


def test_of_two_runs_with_the_same_folder_on_their_machines_the_id_is_asked_for(there: Conductors) -> None:
    there.add("one", ELSEWHERE)
    there.add("two", ELSEWHERE)
    with pytest.raises(RunNotFound, match=r"runs one, two .* give the id"):
        Attached("lab1:6379", Path(ELSEWHERE))
    assert Attached("lab1:6379", Path("two")).view().run == "two"


def test_a_run_that_is_nowhere_is_told_with_the_conductors_that_were_silent(there: Conductors) -> None:
    there.add("one", "/srv/elsewhere/runs/other")
    with pytest.raises(
        RunNotFound, match=r"no such folder\. Nor is .*status --cluster lab1:6379` lists .*are$"
    ):
        Attached("lab1:6379", Path(ELSEWHERE))
    there.add("mute", ELSEWHERE, silent=True)
    with pytest.raises(RunNotFound, match="mute did not answer: wait, or give that id"):
        Attached("lab1:6379", Path(ELSEWHERE))
    with pytest.raises(NoCluster, match="the conductor of the run at mute does not answer: it was silent"):
        Attached("lab1:6379", Path("mute")).view()


def test_status_shows_what_to_give_elsewhere(there: Conductors) -> None:
    there.add("5f" * 16, ELSEWHERE)
    shown = run_command("status")
    assert f"{ELSEWHERE} has the id {'5f' * 16}\n" in shown.output


def test_a_run_that_is_stopped_from_elsewhere_is_named_by_its_folder(there: Conductors) -> None:
    there.add("one", ELSEWHERE)
    stopped = run_command("stop", "one")
    assert stopped.exit_code == 0, stopped.output
    assert f"explore --resume --out {ELSEWHERE}" in stopped.output
    assert "Its folder is on the machine that it was begun on" in stopped.output


@pytest.mark.parametrize("command", ["attach", "stop"])
def test_who_follows_a_run_may_have_everything_as_json(command: str, there: Conductors) -> None:
    there.add("one", ELSEWHERE)
    followed = run_command(command, "one", "--log-format", "json")
    assert followed.exit_code == 0, followed.output
    progress, trouble = [json.loads(line) for line in followed.stderr.splitlines()]
    assert progress["message"].startswith("progress: 0 of 0 workers")
    assert (progress["run"], progress["steps"]) == ("one", 0)
    assert (trouble["message"], trouble["worker"], trouble["why"]) == (TROUBLE.what, 0, "it fell")
    assert run_command(command, "one").stderr.count(TROUBLE.what) == 1  # beside the figures
