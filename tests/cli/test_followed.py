"""`attach` and `stop`: a run on a cluster is followed, and left."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import SimpleNamespace

import pytest
from click.testing import CliRunner
from rich.console import Console

from screensearch.cli import cluster
from screensearch.cli.live import LiveView
from screensearch.cli.root import main
from screensearch.cluster import engine  # noqa: F401 (Ray is loaded before any test can load usearch)
from screensearch.cluster.names import ConductorView, Trouble, View, WorkerView
from screensearch.explore.progress import Figures, Meter, Summary

PROGRESS = Meter(Figures).read()
SEEN = View(
    "run", "/runs/one", "synthetic:notepad", "exploring", PROGRESS, (WorkerView(0, 1, "working"),), ()
)
NO_WAY_IN = Trouble(1.0, "no way in", "")


@dataclass
class Attached:
    """In the place of a run under way: it is interrupted while it is followed, or ends."""

    interrupted: bool
    told: list[str] = field(default_factory=list)

    def __call__(self, address: str, folder: Path) -> Attached:
        return self

    def stop(self, why: str) -> None:
        self.told.append(why)

    def give_up(self) -> None:
        self.told.append("given up")

    def follow(self, on_view: Callable[[View], None]) -> Summary:
        on_view(SEEN)
        if self.interrupted:
            raise KeyboardInterrupt
        meter = Meter(Figures)
        return meter.summarise(
            run="runs/one",
            environment="synthetic:notepad",
            digest="d",
            ended="interrupted",
            identifier="exact",
        )


@pytest.mark.parametrize(
    ("command", "told", "said"),
    [
        ("attach", [], "Left: the run goes on. To end it: screensearch stop runs/one --cluster here:1"),
        ("stop", ["interrupted"], "at once: screensearch stop runs/one --now --cluster here:1"),
        ("stop --now", ["given up"], "Left: the run ends by itself"),
    ],
)
@pytest.mark.parametrize("interrupted", [False, True])
def test_who_leaves_a_run_is_told_what_becomes_of_it(
    monkeypatch: pytest.MonkeyPatch, command: str, told: list[str], said: str, interrupted: bool
) -> None:
    attached = Attached(interrupted)
    monkeypatch.setattr(cluster.launcher(), "Attached", attached)
    result = CliRunner().invoke(main, [*command.split(), "runs/one", "--cluster", "here:1", "--json"])
    assert result.exit_code == 0
    assert attached.told == told
    assert (said in result.stderr) == interrupted
    if interrupted:
        assert not result.stdout
    else:
        assert json.loads(result.stdout)["run"] == "runs/one"


@pytest.mark.parametrize("stopping", [False, True])
def test_who_only_looks_is_not_promised_that_an_interrupt_ends_anything(stopping: bool) -> None:
    out = io.StringIO()
    screen = Console(file=out, force_terminal=True, width=200)
    hints = {"hint": cluster.LEAVES, "hint_at_end": cluster.LEAVES}
    with LiveView(screen, what="runs/one", steps=None, **hints) as view:
        view.show(replace(PROGRESS, stopping=stopping))
    assert "Ctrl-C leaves" in out.getvalue()
    assert "gives them up" not in out.getvalue()


def test_a_line_of_progress_stays_one_line_where_there_is_no_terminal() -> None:
    out = io.StringIO()
    with LiveView(Console(file=out, width=80), what="runs/one", steps=300) as view:
        view.show(PROGRESS, "12 of 64 workers, 52 wait for a slot")
    assert out.getvalue().count("\n") == 1
    assert out.getvalue().endswith(" edges  12 of 64 workers, 52 wait for a slot\n")


def test_why_no_worker_is_at_work_is_shown() -> None:
    waiting = replace(SEEN, workers=(WorkerView(0, 0, "waiting for a slot"),), troubles=(NO_WAY_IN,))
    assert cluster.places_of(waiting) == "0 of 1 workers, 1 wait for a slot; latest trouble: no way in"
    assert cluster.places_of(replace(SEEN, troubles=(NO_WAY_IN,))) == "1 of 1 workers"


def test_each_trouble_is_logged_once_with_the_part_that_it_is_about(caplog: pytest.LogCaptureFixture) -> None:
    killed = Trouble(2.0, "worker 3 failed: it was killed", "it was killed", worker=3)
    troubles = cluster.Troubles()
    for seen in ((), (NO_WAY_IN,), (NO_WAY_IN, killed), (killed,)):
        troubles.tell(replace(SEEN, troubles=seen))
    assert [each.getMessage() for each in caplog.records] == ["no way in", killed.what]
    assert vars(caplog.records[1]).items() >= {"worker": 3, "figures": {"why": "it was killed"}}.items()


@pytest.mark.parametrize("as_json", [False, True])
def test_whoever_leads_a_run_logs_its_troubles_where_logs_are_json(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, as_json: bool
) -> None:
    def follow(on_view: Callable[[View], None]) -> Summary:
        on_view(replace(SEEN, troubles=(NO_WAY_IN,)))
        return Attached(interrupted=False).follow(on_view)

    monkeypatch.setattr(cluster.launcher(), "Attached", lambda *where: SimpleNamespace(follow=follow))
    monkeypatch.setattr(cluster, "logs_json", lambda: as_json)
    shown: list[str] = []
    cluster.lead("here:1", Path("runs/one"), lambda hold: None, lambda progress, places: shown.append(places))
    assert len(shown) == 2
    assert [each.getMessage() for each in caplog.records] == ["no way in"] * as_json


def test_the_status_of_a_run_says_where_its_conductor_serves_metrics(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = replace(SEEN, conductor=ConductorView("lab1", 77, "http://lab1:9100/metrics"))
    monkeypatch.setattr(cluster.launcher(), "Attached", lambda *where: SimpleNamespace(view=lambda: seen))
    told = CliRunner().invoke(main, ["status", "runs/one"], env={"COLUMNS": "160"}).stdout
    (line,) = [line for line in told.splitlines() if line.startswith("conductor")]
    assert line.split() == ["conductor", "exploring", "lab1", "77", "http://lab1:9100/metrics"]
    told = CliRunner().invoke(main, ["status", "runs/one", "--json"]).stdout
    assert json.loads(told)["conductor"]["metrics"] == "http://lab1:9100/metrics"
