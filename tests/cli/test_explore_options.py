"""`screensearch explore` with its targets, stop rules, `--fail-on` and the flags that open the sandbox."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

import screensearch as ss
from screensearch.cli import main
from screensearch.environments.desktop import profiles

HAZARDS = "synthetic:generated?states=60&hazards=1"


def run(*arguments: str) -> Result:
    return CliRunner().invoke(main, [str(argument) for argument in arguments])


class _Opened:
    """What the command line gave to the exploration, instead of an exploration."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.environment = ""
        self.settings = ss.Settings()
        self.stop: ss.StopRule | None = None
        self.options: dict[str, object] = {}
        monkeypatch.setattr("screensearch.cli.explore.start_exploration", self.take)

    def take(self, environment: str, folder: Path, **options: object) -> ss.Summary:
        self.environment = environment
        settings, stop = options["settings"], options["stop"]
        assert isinstance(settings, ss.Settings)
        assert isinstance(stop, ss.StopRule)
        self.settings, self.stop, self.options = settings, stop, options
        raise ss.ScreenSearchError("this far and no further")


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> _Opened:
    return _Opened(monkeypatch)


# -- targets --------------------------------------------------------------------------------------


def test_a_command_after_two_dashes_is_taken_whole(opened: _Opened) -> None:
    run("explore", "--steps", "9", "--", "gedit", "--steps", "3", "--", "a.txt")
    assert opened.environment == "desktop:gedit"
    assert opened.settings.app.command == ("gedit", "--steps", "3", "--", "a.txt")
    assert opened.stop == ss.StopRule(steps=9)


def test_a_profile_is_named_by_its_application_or_by_its_file(opened: _Opened, tmp_path: Path) -> None:
    run("explore", "mousepad")
    assert opened.environment == "desktop:mousepad"
    (tmp_path / "own.toml").write_text('[app]\ncommand = ["own"]\n[stop]\nstates = 40\n')
    run("explore", str(tmp_path / "own.toml"), "--set", "candidates.limit=7")
    assert opened.environment == "desktop:own"
    assert opened.settings.candidates.limit == 7
    assert opened.stop == ss.StopRule(states=40)


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["mousepd"], "did you mean 'mousepad'"),
        (["mousepd"], "screensearch explore -- mousepd"),
        (["mousepad", "--", "mousepad"], "two things to explore"),
        (["--"], "the command is empty"),
        (["missing.toml"], "missing.toml"),
        (["synthetic:notepad", "--fail-on", "crsh"], "did you mean 'crash'? (known: crash, hang, exit"),
        (["synthetic:notepad", "--fail-on", "crash,,hang"], "no outcome ''"),
        (["synthetic:notepad", "--unsandboxed"], "synthetic:notepad is none"),
        (["mousepad", "--set", "desktop.sandbox=false"], "--unsandboxed"),
        (["mousepad", "--allow-irreversible"], "goes with --unsandboxed only"),
        (["mousepad", "--unsandboxed", "--set", "guard.irreversible=allow"], "--allow-irreversible"),
    ],
)
def test_bad_input_gets_one_clear_line_and_leaves_nothing(
    arguments: list[str], told: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    result = run("explore", "--steps", "5", *arguments)
    assert result.exit_code == 1
    assert told in result.output
    assert "Traceback" not in result.output
    assert list(tmp_path.iterdir()) == []


# -- stop rules -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "rule"),
    [
        ((), ss.StopRule(steps=2000)),
        (("--minutes", "2"), ss.StopRule(seconds=120)),
        (("--minutes", "2", "--seconds", "30"), ss.StopRule(seconds=30)),
        (("--states", "50", "--plateau", "9"), ss.StopRule(states=50, plateau=9)),
        (("--set", "stop.minutes=1", "--set", "stop.plateau=5"), ss.StopRule(seconds=60, plateau=5)),
        (("--set", "stop.minutes=1", "--steps", "7"), ss.StopRule(steps=7)),
    ],
)
def test_options_say_when_it_is_enough_and_else_the_settings(
    opened: _Opened, options: tuple[str, ...], rule: ss.StopRule
) -> None:
    run("explore", "synthetic:notepad", *options)
    assert opened.stop == rule


def test_a_resumed_run_without_options_follows_its_own_settings(tmp_path: Path) -> None:
    folder = str(tmp_path / "run")
    options = ("--no-screenshots", "--json", "--out", folder)
    started = run("explore", HAZARDS, "--steps", "10", "--set", "stop.steps=25", *options)
    assert json.loads(started.stdout)["steps"] == 10
    resumed = json.loads(run("explore", "--resume", "--out", folder, "--json").stdout)
    assert (resumed["steps"], resumed["ended"]) == (25, "steps")


# -- --fail-on ------------------------------------------------------------------------------------


def test_fail_on_ends_the_run_as_usual_and_then_with_a_status_of_its_own(tmp_path: Path) -> None:
    folder = str(tmp_path / "run")
    options = ("--steps", "150", "--no-screenshots", "--json", "--out", folder)
    result = run("explore", HAZARDS, "--fail-on", "hang,crash", *options)
    summary = json.loads(result.stdout)
    assert (result.exit_code, summary["ended"], summary["steps"]) == (3, "steps", 150)
    assert f"{summary['crashes']} crash" in result.stderr
    assert f"screensearch findings {folder}" in result.stderr


def test_fail_on_passes_over_what_it_does_not_name_and_what_came_before(tmp_path: Path) -> None:
    folder = str(tmp_path / "run")
    options = ("--steps", "150", "--no-screenshots", "--json", "--out", folder)
    assert run("explore", HAZARDS, "--fail-on", "lost,exit", *options).exit_code == 0
    # Nothing is left to do, so nothing happens in this exploration, whatever the run has met before.
    resumed = run("explore", "--resume", "--out", folder, "--steps", "150", "--fail-on", "crash,hang,capture")
    assert resumed.exit_code == 0


# -- without a sandbox ----------------------------------------------------------------------------


def test_running_without_a_sandbox_is_told_on_standard_error(opened: _Opened) -> None:
    result = run("explore", "--unsandboxed", "--", "editor")
    assert "runs without a sandbox: as you, with your files, your network and your devices" in result.stderr
    assert not opened.settings.desktop.sandbox
    assert opened.settings.guard.irreversible == "auto"
    assert (opened.options["unsandboxed"], opened.options["allow_irreversible"]) == (True, False)


def test_allowing_irreversible_actions_is_told_too(opened: _Opened) -> None:
    result = run("explore", "--unsandboxed", "--allow-irreversible", "--", "editor")
    assert "may delete, send, buy" in result.stderr
    assert opened.settings.guard.irreversible == "allow"


def test_the_help_says_what_leaving_the_sandbox_means() -> None:
    text = " ".join(run("explore", "--help").output.split())
    assert "as you, with your files, your network and your devices" in text
    assert "Irreversible actions stay denied unless --allow-irreversible is given as well" in text


def test_a_run_without_a_sandbox_is_resumed_only_with_the_flag(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    settings = ss.resolve(overrides=["explore.screenshots=none", "desktop.sandbox=false"])
    stop = ss.StopRule(steps=5)
    ss.start_exploration(HAZARDS, folder, stop=stop, settings=settings, unsandboxed=True)
    refused = run("explore", "--resume", "--out", str(folder), "--steps", "8")
    assert refused.exit_code == 1
    assert "--unsandboxed" in refused.output
    resumed = run("explore", "--resume", "--out", str(folder), "--steps", "8", "--unsandboxed", "--json")
    assert json.loads(resumed.stdout)["steps"] == 8
    assert "without a sandbox" in resumed.stderr


def test_a_sandboxed_run_cannot_be_resumed_outside(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    settings = ss.resolve(overrides=["explore.screenshots=none"])
    ss.start_exploration(HAZARDS, folder, stop=ss.StopRule(steps=5), settings=settings)
    refused = run("explore", "--resume", "--out", str(folder), "--steps", "8", "--unsandboxed")
    assert refused.exit_code == 1
    assert "goes on in it" in refused.output


# -- apps -----------------------------------------------------------------------------------------


@pytest.fixture
def shipped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "base.toml").write_text("")
    (tmp_path / "there.toml").write_text('[app]\ntitle = "A shell"\ncommand = ["sh"]\npackages = ["dash"]\n')
    (tmp_path / "gone.toml").write_text(
        '[app]\ntitle = "Not here"\ncommand = ["no-such-program"]\npackages = ["no-such-package", "dash"]\n'
    )
    monkeypatch.setattr(profiles, "PROFILE_FOLDER", tmp_path)


@pytest.mark.usefixtures("shipped")
@pytest.mark.parametrize("dpkg", [True, False])
def test_apps_says_what_is_installed_and_how_to_get_the_rest(
    dpkg: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not dpkg:
        monkeypatch.setattr("screensearch.cli.apps.installed_packages", lambda packages: None)
    listed = json.loads(run("apps", "--json").stdout)
    gone, there = listed["apps"]
    assert (there["name"], there["installed"], there["missing"]) == ("there", True, [])
    assert (gone["name"], gone["installed"]) == ("gone", False)
    assert "no-such-package" in gone["missing"]
    assert "apt-get install" in listed["install"]
    assert "no-such-package" in listed["install"]
    text = run("apps").output
    assert "A shell" in text
    assert listed["install"] in text


# -- findings and skipped -------------------------------------------------------------------------


@pytest.fixture(scope="module")
def risky(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = str(tmp_path_factory.mktemp("risky") / "run")
    rule = 'guard.rules=[{name="deny_labels", patterns=["^save"]}]'
    options = ("--steps", "200", "--no-screenshots", "--set", rule, "--out", folder)
    assert run("explore", "synthetic:files", *options, "--seed", "1").exit_code == 0
    return folder


def test_findings_are_listed_and_told_one_by_one(risky: str) -> None:
    listed = json.loads(run("findings", risky, "--json").stdout)["findings"]
    described = json.loads(run("show", risky, "--json").stdout)
    kinds = ("crash", "hang", "exit", "capture")
    assert sum(each["count"] for each in listed) == sum(described["outcomes"].get(kind, 0) for kind in kinds)
    assert listed[0]["actions"][-1] == listed[0]["signature"]
    assert listed[0]["outcome"] in run("findings", risky).output
    told = run("findings", risky, "--number", "1")
    assert f"The way there, actions: {len(listed[0]['actions'])}" in told.output
    one = json.loads(run("findings", risky, "--number", "1", "--json").stdout)["findings"]
    assert one == listed[:1]
    assert "has no finding 999" in run("findings", risky, "--number", "999").output
    assert f"screensearch findings {risky}" in run("show", risky).output


def test_skipped_is_listed_with_the_reason(tmp_path: Path) -> None:
    folder = str(tmp_path / "run")
    rule = 'guard.rules=[{name="deny_labels", patterns=["^save"]}]'
    options = ("--steps", "60", "--no-screenshots", "--set", rule, "--out", folder)
    assert run("explore", "synthetic:notepad", *options).exit_code == 0
    listed = json.loads(run("skipped", folder, "--json").stdout)["skipped"]
    assert any(each["label"].startswith("save") and "matches '^save'" in each["reason"] for each in listed)
    assert "choices" in run("skipped", folder).output


def test_a_run_without_findings_says_so(tmp_path: Path) -> None:
    folder = str(tmp_path / "run")
    options = ("--steps", "3", "--no-screenshots", "--set", "guard.credentials=allow", "--out", folder)
    assert run("explore", "synthetic:generated?hazards=0", *options).exit_code == 0
    assert "no crash, no hang" in run("findings", folder).output
    assert "nothing was skipped" in run("skipped", folder).output
