"""`screensearch campaign`: several runs by one command, which goes on where it stopped."""

from __future__ import annotations

import contextlib
import io
import json
import os
import signal
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from click.testing import CliRunner, Result
from postgres_server import postgres_server
from rich.console import Console

import screensearch as ss
from screensearch.cli import main
from screensearch.cli.campaign_view import CampaignView
from screensearch.domain.transition import Outcome
from screensearch.explore.campaign.file import read_campaign
from screensearch.explore.campaign.record import CampaignRecord, Figures, RunState, Standing, conducted
from screensearch.explore.metrics_server import NEXT_PORTS
from screensearch.record.run import read_manifest

HEAD = 'stop.steps = 60\nexplore.screenshots = "none"\n'
NOTEPAD = '[[run]]\nname = "notepad"\ntarget = "synthetic:notepad"\n'
FILES = '[[run]]\nname = "files"\ntarget = "synthetic:files"\n'
WORLD = """
import asyncio
from pathlib import Path
from screensearch import Box, Element, Observation, Outcome, Start, StartFailed, Window

class World:
    def __init__(self, name):
        self.application = name
    async def reset(self, seed):
        if self.application == "stumbling":
            raise StartFailed(Outcome.CRASH, "it said goodbye")
        button = Element("button", "go", Box(10, 10, 50, 20), self.application, clickable=True)
        return Start(Observation((button,), Window("World", "main", Box(0, 0, 200, 200), self.application)))
    async def perform(self, action):
        Path(__file__).with_name("at-a-step").touch()
        await asyncio.sleep(600)
    async def close(self):
        pass

def open_stumbling(argument, means):
    return World("stumbling")

def open_patient(argument, means):
    return World("patient")
"""


@pytest.fixture
def plugin(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two environments of a third party: one fails every start, one never comes to the end of a step."""
    folder = tmp_path / "plugin"
    described = folder / "worlds-1.dist-info"
    described.mkdir(parents=True)
    (folder / "campaign_worlds.py").write_text(WORLD)
    (described / "METADATA").write_text("Metadata-Version: 2.1\nName: worlds\nVersion: 1\n")
    lines = [f"{name} = campaign_worlds:open_{name}" for name in ("stumbling", "patient")]
    (described / "entry_points.txt").write_text("\n".join(["[screensearch.environments]", *lines]))
    monkeypatch.syspath_prepend(str(folder))
    monkeypatch.setenv("PYTHONPATH", f"{folder}:{os.environ.get('PYTHONPATH', '')}")
    return folder


def run(*arguments: str | Path) -> Result:
    return CliRunner().invoke(main, [str(argument) for argument in arguments])


def written(folder: Path, text: str) -> Path:
    path = folder / "mine.toml"
    path.write_text(text, encoding="utf-8")
    return path


def described(result: Result) -> dict[str, dict[str, Any]]:
    return {each["name"]: each for each in json.loads(result.stdout)["runs"]}


def check(folder: Path, steps: int) -> None:
    """The run holds together and has exactly so many steps."""
    with ss.open_run(folder) as opened:
        assert opened.verify().problems == ()
        assert sum(each.outcome is not Outcome.LOST for each in opened.transitions()) == steps


@contextlib.contextmanager
def conducting(
    file: Path, out: Path, options: tuple[str, ...] = ("--json",)
) -> Iterator[subprocess.Popen[bytes]]:
    """The command in a process of its own; killed if the test leaves it running."""
    command = [sys.executable, "-m", "screensearch", "campaign", str(file), "--out", str(out), *options]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def wait_until(holds: Callable[[], bool], seconds: float = 90.0) -> None:
    deadline = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < deadline, "the condition did not come about"
        time.sleep(0.01)


def acknowledged(folder: Path) -> int:
    return sum(path.read_bytes().count(b"\n") for path in folder.glob("truth/w*.jsonl"))


def of_the_campaign(out: Path) -> set[int]:
    """The processes that have the lock of the campaign's runs open."""
    found = set()
    for process in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if any(
                os.readlink(each) == str(out / "campaign.runs.lock") for each in (process / "fd").iterdir()
            ):
                found.add(int(process.name))
    return found


# -- a campaign that goes well --------------------------------------------------------------------


def test_every_run_is_an_ordinary_run_and_the_same_command_runs_nothing_again(tmp_path: Path) -> None:
    file = written(tmp_path, f"at_once = 2\n{HEAD}{NOTEPAD}seeds = [3, 4]\n{FILES}stop.steps = 30\n")
    out = tmp_path / "out"
    result = run("campaign", file, "--out", out, "--json")
    assert result.exit_code == 0, result.output
    runs = described(result)
    assert {name: (each["state"], each["steps"], each["ended"]) for name, each in runs.items()} == {
        "notepad-3": ("finished", 60, "steps"),
        "notepad-4": ("finished", 60, "steps"),
        "files": ("finished", 30, "steps"),
    }
    for name, each in runs.items():
        check(out / name, each["steps"])
    settings = ss.resolve(overrides=["explore.screenshots=none"])
    stop = ss.StopRule(steps=60)
    alone = ss.start_exploration(
        "synthetic:notepad", tmp_path / "alone", stop=stop, settings=settings, seed=4
    )
    assert runs["notepad-4"]["digest"] == alone.digest  # as `explore` would have made it
    logs = {name: (out / name / "log.sqlite").read_bytes() for name in runs}
    again = run("campaign", file, "--out", out, "--json")
    assert described(again) == runs
    assert {name: (out / name / "log.sqlite").read_bytes() for name in runs} == logs
    shown = run("campaign", file, "--out", out, "--status")
    assert "finished (steps)" in shown.stdout


def test_a_higher_stop_rule_goes_on_with_a_finished_run(tmp_path: Path) -> None:
    out = tmp_path / "out"
    assert run("campaign", written(tmp_path, HEAD + NOTEPAD), "--out", out).exit_code == 0
    more = HEAD.replace("60", "90")
    result = run("campaign", written(tmp_path, more + NOTEPAD), "--out", out, "--json")
    assert described(result)["notepad"]["steps"] == 90
    check(out / "notepad", 90)


def test_status_runs_nothing_and_makes_nothing(tmp_path: Path) -> None:
    file = written(tmp_path, HEAD + NOTEPAD + FILES)
    result = run("campaign", file, "--out", tmp_path / "out", "--status", "--json")
    assert result.exit_code == 0
    assert [each["state"] for each in described(result).values()] == ["waiting", "waiting"]
    assert not (tmp_path / "out").exists()


def test_the_log_of_every_run_may_be_in_one_database(tmp_path: Path) -> None:
    with postgres_server() as server:
        file = written(tmp_path, f'store = "{server.url()}"\n{HEAD}{NOTEPAD}{FILES}')
        assert run("campaign", file, "--out", tmp_path / "out").exit_code == 0
        for name in ("notepad", "files"):
            assert not (tmp_path / "out" / name / "log.sqlite").exists()
            check(tmp_path / "out" / name, 60)


def test_pictures_of_each_run_may_be_kept_elsewhere_below_its_name(tmp_path: Path) -> None:
    text = f'artifacts = "pictures"\nstop.steps = 5\n{NOTEPAD}{FILES}'
    out = tmp_path / "out"
    assert run("campaign", written(tmp_path, text), "--out", out).exit_code == 0
    for name in ("notepad", "files"):
        assert list((tmp_path / "pictures" / name).rglob("*.png"))
        assert not (out / name / "artifacts").exists()
        check(out / name, 5)
    other = text.replace("pictures", "others").replace("= 5", "= 6")
    refused(written(tmp_path, other), out, "made with another artifacts than the file says now")
    assert not (tmp_path / "others").exists()


# -- what is refused before anything runs ---------------------------------------------------------


def refused(file: Path, out: Path, told: str) -> str:
    before = sorted(out.rglob("*")) if out.exists() else None
    result = run("campaign", file, "--out", out)
    assert result.exit_code == 1
    assert told in result.output
    assert "Traceback" not in result.output
    assert (sorted(out.rglob("*")) if out.exists() else None) == before
    return result.output


@pytest.mark.parametrize(
    ("last", "told"),
    [
        (
            '[[run]]\ntarget = "synthetic:notepod"\n',
            "line 6: run 'synthetic-notepod': synthetic: no application",
        ),
        (
            '[[run]]\ntarget = "synthetic:files"\nembed.name = "openai"\nidentify.identifier = "hybrid"\n',
            "OPENAI",
        ),
        ('[[run]]\ntarget = "mousepad"\ndesktop.sandbox = false\n', "a campaign runs unattended"),
        (f'{FILES}store = "mysql://host/x"\n', "the store mysql://… is of no known kind"),
        (f'{FILES}store = "postgresql://me:secret@host/x"\n', "holds a password"),
        (f'{FILES}store = "postgresql://me@/x?host=/nowhere"\n', "cannot connect to postgresql://me@/x"),
    ],
)
def test_what_is_wrong_with_the_last_run_is_told_before_the_first_one_starts(
    last: str, told: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    output = refused(written(tmp_path, HEAD + NOTEPAD + last), tmp_path / "out", told)
    assert "secret" not in output


def test_a_place_for_pictures_that_cannot_be_used_is_told_before_the_first_run_starts(tmp_path: Path) -> None:
    (tmp_path / "letter.txt").touch()
    text = f'artifacts = "letter.txt"\n{HEAD}{NOTEPAD}'
    refused(written(tmp_path, text), tmp_path / "out", "run 'notepad': cannot keep artifacts in")


def test_everything_that_is_wrong_is_told_at_once(tmp_path: Path) -> None:
    worse = '[[run]]\ntarget = "synthetic:generated?states=x"\n'
    bad = '[[run]]\ntarget = "synthetic:notepod"\n'
    output = refused(written(tmp_path, HEAD + bad + worse), tmp_path / "out", "notepod")
    assert "states='x' is not a whole number" in output


def test_a_program_that_is_not_there_is_told_with_what_brings_it_or_left_out(tmp_path: Path) -> None:
    missing = '[[run]]\ncommand = ["no-such-program"]\napp.packages = ["no-such-package"]\n'
    file, out = written(tmp_path, HEAD + missing + NOTEPAD), tmp_path / "out"
    output = refused(file, out, "no-such-program: there is no program 'no-such-program' (campaign file")
    assert "sudo apt-get install --no-install-recommends no-such-package" in output
    assert "--skip-missing" in output
    assert "screensearch doctor" in output
    result = run("campaign", file, "--out", out, "--skip-missing", "--json")
    assert result.exit_code == 0
    assert "Left out: no-such-program: there is no program" in result.stderr
    runs = described(result)
    assert (runs["no-such-program"]["state"], runs["notepad"]["state"]) == ("skipped", "finished")
    assert runs["no-such-program"]["failure"]["kind"] == "NotInstalled"
    assert not (out / "no-such-program").exists()


def test_a_package_that_is_not_installed_counts_as_missing(tmp_path: Path) -> None:
    half = '[[run]]\ncommand = ["true"]\napp.packages = ["no-such-package"]\n'
    refused(written(tmp_path, HEAD + half), tmp_path / "out", "true: not installed: no-such-package")


def test_a_run_that_is_there_must_be_the_one_that_the_file_describes(tmp_path: Path) -> None:
    out = tmp_path / "out"
    assert run("campaign", written(tmp_path, HEAD + NOTEPAD), "--out", out).exit_code == 0
    other = HEAD.replace("60", "70") + f"seed = 9\nselect.c_puct = 3\n{NOTEPAD}"
    refused(written(tmp_path, other), out, "made with another seed and another select.c_puct")


def test_what_the_campaign_did_not_make_is_left_alone(tmp_path: Path) -> None:
    out = tmp_path / "out"
    (out / "notepad").mkdir(parents=True)
    (out / "notepad" / "letter.txt").touch()
    refused(written(tmp_path, HEAD + NOTEPAD), out, "is there and is no run")
    ss.start_exploration("synthetic:files", out / "files", stop=ss.StopRule(steps=3))
    refused(written(tmp_path, HEAD + FILES), out, "is a run that this campaign did not make")


def test_a_second_command_at_the_same_time_is_refused(tmp_path: Path) -> None:
    file, out = written(tmp_path, HEAD + NOTEPAD), tmp_path / "out"
    with conducted(out):
        refused(file, out, "is conducted by another process")


# -- runs that fail -------------------------------------------------------------------------------


@pytest.mark.usefixtures("plugin")
def test_a_run_that_fails_is_told_as_what_it_is_and_the_others_are_explored(tmp_path: Path) -> None:
    bad = '[[run]]\nname = "bad"\ntarget = "stumbling:"\n'
    file, out = written(tmp_path, HEAD + bad + NOTEPAD), tmp_path / "out"
    result = run("campaign", file, "--out", out)
    assert result.exit_code == 1
    assert "Not explored to the end" in result.stdout
    assert "it said goodbye" in result.stdout
    runs = described(run("campaign", file, "--out", out, "--status", "--json"))
    assert (runs["bad"]["state"], runs["notepad"]["state"]) == ("failed", "finished")
    assert runs["bad"]["failure"]["kind"] == "NeverStarted"
    assert runs["bad"]["crashes"] == 3
    again = run("campaign", file, "--out", out, "--json")  # what failed is tried again
    assert again.exit_code == 1
    assert described(again)["bad"]["crashes"] == 6


def test_a_run_whose_process_dies_is_failed_and_the_campaign_goes_on(tmp_path: Path) -> None:
    file = written(tmp_path, f"{HEAD}{NOTEPAD}stop.steps = 100000\n{FILES}")
    out = tmp_path / "out"
    with conducting(file, out) as conductor:
        wait_until(lambda: acknowledged(out / "notepad") > 20)
        (process,) = of_the_campaign(out) - {conductor.pid}
        os.kill(process, signal.SIGKILL)
        output, errors = conductor.communicate(timeout=120)
    assert conductor.returncode == 1, errors.decode()
    runs = {each["name"]: each for each in json.loads(output)["runs"]}
    assert (runs["notepad"]["state"], runs["files"]["state"]) == ("failed", "finished")
    assert "its process ended with signal SIGKILL" in runs["notepad"]["failure"]["message"]


# -- metrics and logs -----------------------------------------------------------------------------


def served(out: Path, name: str) -> str:
    """Where a run says, in JSON, that it serves its metrics."""
    records = [json.loads(line) for line in (out / "campaign.logs" / f"{name}.log").read_text().splitlines()]
    told = "metrics are served at "
    (message,) = [each["message"] for each in records if each["message"].startswith(told)]
    return str(message.removeprefix(told))


def test_runs_at_once_serve_metrics_side_by_side_and_everything_is_logged_as_json(tmp_path: Path) -> None:
    names = ("notepad", "files")
    file = written(tmp_path, f"at_once = 2\n{HEAD.replace('60', '100000')}{NOTEPAD}{FILES}")
    out = tmp_path / "out"
    with ss.MetricsServer() as free:
        port = urlsplit(free.url).port
        assert port is not None
    options = ("--metrics", str(port), "--log-format", "json")
    with conducting(file, out, options) as conductor:
        wait_until(lambda: all(acknowledged(out / name) for name in names))
        urls = {name: served(out, name) for name in names}
        for name, url in urls.items():
            with urllib.request.urlopen(url, timeout=30) as reply:
                assert f'screensearch_states{{run="{read_manifest(out / name).run}"' in reply.read().decode()
        conductor.send_signal(signal.SIGINT)
        output, errors = conductor.communicate(timeout=120)
    assert len({*urls.values()}) == 2
    assert all(port <= (urlsplit(url).port or 0) <= port + NEXT_PORTS for url in urls.values())
    records = [json.loads(line) for line in errors.splitlines()]
    last = {each["name"]: each["state"] for each in records if "state" in each}
    assert last == dict.fromkeys(names, "interrupted")
    assert any(each["message"].startswith("Stopping") for each in records)
    assert f"--metrics {port} --log-format json\n" in output.decode()


def test_an_address_for_metrics_that_is_not_ours_is_told_before_the_first_run_starts(tmp_path: Path) -> None:
    file, out = written(tmp_path, HEAD + NOTEPAD), tmp_path / "out"
    result = run("campaign", file, "--out", out, "--metrics", "192.0.2.1:9464")
    assert result.exit_code == 1
    assert "metrics cannot be served at 192.0.2.1" in result.output
    assert not out.exists()


# -- interrupts -----------------------------------------------------------------------------------


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_whatever_stops_a_campaign_leaves_no_process_and_the_same_command_goes_on(
    number: signal.Signals, tmp_path: Path
) -> None:
    steps = 100
    text = f"at_once = 2\n{HEAD.replace('60', str(steps))}{FILES}stop.steps = 20\n{NOTEPAD}seeds = [1, 2]\n"
    file, out = written(tmp_path, text), tmp_path / "out"
    with conducting(file, out) as conductor:
        wait_until(lambda: acknowledged(out / "notepad-1") > 10)
        conductor.send_signal(number)
        output, errors = conductor.communicate(timeout=120)
    wait_until(lambda: not of_the_campaign(out))
    stopped = described(run("campaign", file, "--out", out, "--status", "--json"))
    assert stopped["notepad-1"]["state"] == "interrupted"
    assert stopped["notepad-1"]["steps"] < steps
    if number is not signal.SIGKILL:
        assert conductor.returncode == 130, errors.decode()
        told = json.loads(output)
        assert told["interrupted"] is True
        assert {each["lost"] for each in told["runs"]} == {0}
    result = run("campaign", file, "--out", out, "--json")
    assert result.exit_code == 0, result.output
    assert {name: each["steps"] for name, each in described(result).items()} == {
        "files": 20,
        "notepad-1": steps,
        "notepad-2": steps,
    }
    check(out / "files", 20)
    check(out / "notepad-1", steps)
    check(out / "notepad-2", steps)


def test_a_campaign_that_is_interrupted_while_its_first_run_begins_leaves_no_process(tmp_path: Path) -> None:
    file, out = written(tmp_path, HEAD.replace("60", "100000") + NOTEPAD), tmp_path / "out"
    with conducting(file, out) as conductor:
        wait_until(lambda: bool(of_the_campaign(out) - {conductor.pid}))
        conductor.send_signal(signal.SIGINT)
        output, errors = conductor.communicate(timeout=120)
    assert conductor.returncode == 130, errors.decode()
    assert [each["state"] for each in json.loads(output)["runs"]] == ["interrupted"]
    assert not of_the_campaign(out)


def test_a_second_interrupt_does_not_wait_for_the_steps_under_way(tmp_path: Path, plugin: Path) -> None:
    file, out = written(tmp_path, HEAD + '[[run]]\nname = "patient"\ntarget = "patient:"\n'), tmp_path / "out"
    with conducting(file, out) as conductor:
        wait_until(lambda: (plugin / "at-a-step").exists())
        conductor.send_signal(signal.SIGINT)
        errors_so_far = conductor.stderr
        assert errors_so_far is not None
        wait_until(lambda: b"Stopping" in errors_so_far.readline())
        conductor.send_signal(signal.SIGINT)
        output, errors = conductor.communicate(timeout=60)
    assert conductor.returncode == 130, errors.decode()
    assert [(each["state"], each["lost"]) for each in json.loads(output)["runs"]] == [("interrupted", 1)]
    wait_until(lambda: not of_the_campaign(out))


# -- the live view --------------------------------------------------------------------------------


@pytest.mark.parametrize("height", [30, 6])
def test_a_terminal_shows_all_runs_or_those_that_run_if_there_is_no_room(height: int, tmp_path: Path) -> None:
    runs = read_campaign(written(tmp_path, f"{HEAD}{NOTEPAD}seeds = [1, 2, 3]\n{FILES}")).runs
    running = Standing(state=RunState.RUNNING, figures=Figures(steps=12, states=3, edges=7, crashes=2))
    record = CampaignRecord(tmp_path, {"notepad-2": running})
    terminal = Console(file=io.StringIO(), force_terminal=True, width=100, height=height)
    with CampaignView(terminal, runs, record) as view, terminal.capture() as captured:
        view.show("notepad-2", running)
    shown = captured.get()
    assert "12 of 60" in shown
    assert "2 crashes" in shown
    assert "3 waiting, 1 running" in shown
    assert ("notepad-1" in shown) == (height == 30)
