"""The doctor says whether the places of a run on many machines can be reached from here."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner
from postgres_server import postgres_server

from screensearch.cli import main
from screensearch.cli.reach import reach
from screensearch.environments.desktop.checkup import Check

NOBODY = "127.0.0.1:1"


def test_nothing_is_asked_of_places_that_were_not_named() -> None:
    assert list(reach("", "", "")) == []


def test_a_database_that_lets_us_in_is_well() -> None:
    with postgres_server() as server:
        (check,) = reach(server.url(), "", "")
    assert (check.name, check.state) == ("database", "ok")


def test_a_database_that_nobody_serves_is_named_with_the_reason() -> None:
    (check,) = reach(f"postgresql://nobody@{NOBODY}/nothing", "", "")
    assert (check.name, check.state) == ("database", "fail")
    assert NOBODY.partition(":")[0] in check.seen


def test_a_password_in_the_address_of_a_database_is_refused_and_not_shown() -> None:
    (check,) = reach(f"postgresql://nobody:sesame@{NOBODY}/nothing", "", "")
    assert check.state == "fail"
    assert "sesame" not in check.seen


def test_a_folder_for_pictures_is_tried_out(tmp_path: Path) -> None:
    (check,) = reach("", str(tmp_path / "pictures"), "")
    assert (check.name, check.state) == ("pictures", "ok")
    (tmp_path / "file").write_text("in the way")
    (check,) = reach("", str(tmp_path / "file" / "pictures"), "")
    assert check.state == "fail"


def test_a_cluster_that_is_not_there_is_named() -> None:
    (check,) = reach("", "", NOBODY)
    assert (check.name, check.state) == ("cluster", "fail")
    assert NOBODY in check.seen


def test_a_place_that_fails_fails_the_doctor(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    async def well(*arguments: object) -> list[Check]:
        return []

    monkeypatch.setattr("screensearch.cli.doctor.examine", well)
    pictures = ["--artifacts", str(tmp_path)]
    assert CliRunner().invoke(main, ["doctor", *pictures]).exit_code == 0
    result = CliRunner().invoke(main, ["doctor", *pictures, "--cluster", NOBODY, "--json"])
    assert result.exit_code == 1
    assert [check["state"] for check in json.loads(result.output)["checks"]] == ["ok", "fail"]
