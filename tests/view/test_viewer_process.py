"""`screensearch view` as a person starts it: it prints its address, follows a run, and ends quietly."""

from __future__ import annotations

import contextlib
import http.client
import json
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from click.testing import CliRunner
from damage import damage_index
from viewed import explore, explore_further

import screensearch as ss
from screensearch.cli import main

PATIENCE_SECONDS = 60


@contextlib.contextmanager
def viewing(*runs: Path) -> Iterator[tuple[subprocess.Popen[str], dict[str, Any]]]:
    """A viewer at work, and what it printed."""
    command = [sys.executable, "-m", "screensearch", "view", *map(str, runs), "--json"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            lines = []
            for line in process.stdout:
                lines.append(line)
                if line == "}\n":
                    break
            assert lines, process.stderr.read() if process.stderr else ""
            yield process, json.loads("".join(lines))
        finally:
            process.kill()


@contextlib.contextmanager
def asked(printed: dict[str, Any], path: str) -> Iterator[http.client.HTTPResponse]:
    connection = http.client.HTTPConnection(printed["host"], printed["port"], timeout=PATIENCE_SECONDS)
    token = printed["address"].partition("token=")[2]
    with contextlib.closing(connection):
        connection.request("GET", path, headers={"Authorization": f"Bearer {token}"})
        with connection.getresponse() as answer:
            yield answer


def ask(printed: dict[str, Any], path: str) -> Any:
    with asked(printed, path) as answer:
        return json.loads(answer.read())


def events(answer: http.client.HTTPResponse) -> Iterator[dict[str, Any]]:
    for line in iter(answer.readline, b""):
        if line.startswith(b"data: "):
            yield json.loads(line.removeprefix(b"data: "))


def test_a_run_that_grows_is_followed_and_an_interrupt_ends_the_viewer_quietly(tmp_path: Path) -> None:
    explore(tmp_path / "run", steps=4)
    with viewing(tmp_path / "run") as (process, printed), asked(printed, "/api/live") as live:
        assert printed["runs"] == ["run"]
        assert printed["address"].startswith(f"http://127.0.0.1:{printed['port']}/?token=")
        told = events(live)
        before = next(told)
        assert before["run"] == "run"
        explore_further(tmp_path / "run", 40)
        with ss.open_run(tmp_path / "run") as run:
            last, states = run.log.last_sequence, run.graph.states
        grown = next(event for event in told if event["sequence"] == last)
        assert grown["states"] == states
        assert before["sequence"] < last
        drawn = ask(printed, "/api/runs/run/map")
        assert (drawn["sequence"], len(drawn["states"]["id"])) == (last, states)
        process.send_signal(signal.SIGINT)  # somebody still listens
        out, err = process.communicate(timeout=PATIENCE_SECONDS)
        assert (process.returncode, out, err) == (0, "", "")


def refused(*arguments: object) -> str:
    """What the command says when it does not even begin to serve."""
    result = CliRunner().invoke(main, ["view", *map(str, arguments)])
    assert result.exit_code == 1
    return result.stderr


def test_a_missing_run_is_told_before_anything_is_served(tmp_path: Path) -> None:
    assert f"there is no run at {tmp_path / 'none'}" in refused(tmp_path / "none")
    assert "nor in it" in refused(tmp_path)


def test_a_run_that_cannot_be_read_is_told_before_anything_is_served(tmp_path: Path) -> None:
    folder = explore(tmp_path / "run", steps=2)
    manifest = (folder / "run.json").read_text()
    (folder / "run.json").write_text(manifest.replace('"format": 1', '"format": 7'))
    assert "format 7" in refused(folder)
    (folder / "run.json").write_text(manifest)
    log = (folder / "log.sqlite").read_bytes()
    damage_index(folder / "log.sqlite")
    assert "log.sqlite is damaged" in refused(folder)
    (folder / "log.sqlite").write_bytes(log)
    (folder / "log.sqlite").write_bytes(log[: len(log) // 2])
    assert "truncated" in refused(folder)


def test_no_command_answers_from_a_damaged_log_without_a_word(tmp_path: Path) -> None:
    folder = explore(tmp_path / "run", steps=2)
    damage_index(folder / "log.sqlite")
    for command in (
        ["path", folder, 0],
        ["show", folder],
        ["export", folder, "--format", "json", "--out", tmp_path / "out"],
    ):
        result = CliRunner().invoke(main, [str(each) for each in command])
        assert result.exit_code == 1
        assert "log.sqlite is damaged" in result.stderr
    assert not (tmp_path / "out").exists()


def test_an_address_of_another_kind_is_refused(tmp_path: Path) -> None:
    folder = explore(tmp_path / "run", steps=2)
    assert "--allow-remote" in refused(folder, "--host", "0.0.0.0")
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        assert f"cannot serve at 127.0.0.1 port {port}" in refused(folder, "--port", port)


def test_a_folder_of_runs_stands_for_all_of_them(tmp_path: Path) -> None:
    for name in ("one", "two"):
        explore(tmp_path / "campaign" / name, steps=2)
    with viewing(tmp_path / "campaign") as (_, printed):
        assert printed["runs"] == ["one", "two"]
        runs = ask(printed, "/api/runs")["runs"]
        assert [each["run"] for each in runs] == ["one", "two"]
