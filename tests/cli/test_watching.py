"""`screensearch explore --metrics` and `--log-format`: what a machine that looks after a run gets."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
import urllib.request
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from screensearch import MetricsServer
from screensearch.cli import main
from screensearch.cli.status import FOUND_STATUS
from screensearch.record.run import open_run_folder

NOTEPAD = ("explore", "synthetic:notepad", "--no-screenshots")


def run(*arguments: str, **variables: str) -> Result:
    return CliRunner().invoke(main, arguments, env=variables)


def lines(text: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in text.splitlines()]


def test_with_json_logs_every_line_on_standard_error_is_an_object(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    result = run(*NOTEPAD, "--steps", "30", "--out", str(folder), "--log-format", "json", "--json")
    assert json.loads(result.stdout)["steps"] == 30
    records = lines(result.stderr)
    progress = next(record for record in records if record["message"] == "progress")
    assert (
        progress.items() >= {"run": open_run_folder(folder).manifest.run, "steps": 0, "level": "INFO"}.items()
    )
    assert records[-1]["message"] == "ended (steps) after 30 steps of the run"
    assert lines((folder / "workers" / "w0.log").read_text())


def test_the_form_may_be_given_by_the_environment_and_holds_for_errors(tmp_path: Path) -> None:
    result = run("explore", "synthetik:notepad", SCREENSEARCH_LOG_FORMAT="json")
    assert result.exit_code == 1
    (record,) = lines(result.stderr)
    assert record["level"] == "ERROR"
    assert "did you mean 'synthetic'" in record["message"]
    result = run("explore", "synthetik:notepad")
    assert result.stderr.startswith("Error: ")  # nothing of it is left behind


def test_what_was_met_is_told_as_json_too(tmp_path: Path) -> None:
    hazards = ("explore", "synthetic:generated?states=60&hazards=1", "--no-screenshots", "--steps", "60")
    options = ("--fail-on", "crash,hang,exit,capture", "--log-format", "json")
    result = run(*hazards, *options, "--out", str(tmp_path / "run"))
    assert result.exit_code == FOUND_STATUS
    assert lines(result.stderr)[-1]["message"].startswith("This exploration met ")
    assert lines(result.stderr)[-1]["level"] == "WARNING"


def test_an_occupied_port_is_an_error_before_there_is_a_run(tmp_path: Path) -> None:
    with MetricsServer() as server:
        port = re.findall(r":(\d+)/", server.url)[0]
        result = run(*NOTEPAD, "--steps", "5", "--out", str(tmp_path / "run"), "--metrics", port)
    assert result.exit_code == 1
    assert f"127.0.0.1 port {port}: Address already in use" in result.stderr
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(("target", "status"), [("notepad", 0), ("notpad", 1)])
def test_the_port_is_free_again_when_the_command_has_ended(target: str, status: int, tmp_path: Path) -> None:
    with MetricsServer() as server:
        port = re.findall(r":(\d+)/", server.url)[0]
    where = ("--out", str(tmp_path / "run"), "--metrics", port)
    result = run("explore", f"synthetic:{target}", "--steps", "3", *where)
    assert result.exit_code == status
    assert f"Metrics: http://127.0.0.1:{port}/metrics" in result.stderr
    MetricsServer(port).close()


def test_metrics_are_there_until_an_interrupt_ends_the_run(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "screensearch", *NOTEPAD, "--minutes", "5", "--workers", "2"]
    process = subprocess.Popen(
        [*command, "--out", str(tmp_path / "run"), "--metrics", "0", "--log-format", "json"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=dict(os.environ),
        text=True,
    )
    try:
        assert process.stderr is not None
        url = json.loads(process.stderr.readline())["message"].removeprefix("Metrics: ")
        deadline = time.monotonic() + 60
        while not re.search(rb'steps_total\{outcome="ok",[^}]+\} [1-9]', read(url)):
            assert time.monotonic() < deadline, "no step was counted"
            assert process.poll() is None
        process.send_signal(signal.SIGINT)
        printed, told = process.communicate(timeout=60)
    finally:
        process.kill()
        process.communicate()
    assert process.returncode == 130
    assert "--metrics 0 --log-format json" in printed  # the command that goes on with it
    assert lines(told)[-1]["message"].startswith("ended (interrupted)")


def read(url: str) -> bytes:
    with urllib.request.urlopen(url, timeout=30) as reply:
        body: bytes = reply.read()
    return body
