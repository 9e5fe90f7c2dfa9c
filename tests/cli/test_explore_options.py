"""`screensearch explore` with its targets, stop rules, `--fail-on` and the flags that open the sandbox."""

from __future__ import annotations

import json
import shlex
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

import screensearch as ss
from screensearch.cli import main
from screensearch.cli.live import LiveView
from screensearch.config import settings_document
from screensearch.environments.desktop import profiles
from screensearch.record.run import Manifest, create_run, own

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


@pytest.mark.parametrize(
    ("target", "patient"),
    [
        (["mousepad"], "mousepad"),
        (["--", "mousepad", "a b.txt"], "-- mousepad 'a b.txt'"),
    ],
)
def test_who_is_sent_to_the_doctor_is_told_what_to_ask_about(
    monkeypatch: pytest.MonkeyPatch, target: list[str], patient: str
) -> None:
    def fail(*arguments: object, **options: object) -> ss.Summary:
        raise ss.EnvironmentFailed("no window; run `screensearch doctor` to see which layer is missing")

    monkeypatch.setattr("screensearch.cli.explore.start_exploration", fail)
    result = run("explore", *target)
    assert result.exit_code == 1
    assert f"no window; run `screensearch doctor {patient}` to see" in result.output


def test_a_step_of_the_start_script_that_failed_is_told_with_file_and_line(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def fail(*arguments: object, **options: object) -> ss.Summary:
        raise ss.EnvironmentFailed("worker 0 failed: app.start[1] waited 30 s for 'Skip'")

    monkeypatch.setattr("screensearch.cli.explore.start_exploration", fail)
    profile = tmp_path / "mine.toml"
    profile.write_text("[app]\ncommand = ['mousepad']\nstart = [\n{ click = 'a' },\n{ click = 'Skip' },\n]\n")
    place = f"app.start[1] (profile '{profile}', line 5) waited 30 s for 'Skip'"
    assert place in run("explore", str(profile)).output


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


# -- interrupts, and what is left behind ---------------------------------------------------------


@pytest.fixture
def interrupted(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> str:
    """A run that every exploration turns out to have been interrupted in."""
    folder = str(tmp_path / "my run")
    summary = ss.start_exploration("synthetic:notepad", folder, stop=ss.StopRule(steps=2))
    for name in ("start_exploration", "resume_exploration"):
        monkeypatch.setattr(
            f"screensearch.cli.explore.{name}", lambda *a, **o: replace(summary, ended="interrupted")
        )
    return folder


@pytest.mark.parametrize(
    "options",
    [
        (),
        ("--steps", "500", "--workers", "3"),
        ("--minutes", "1.5", "--states", "7", "--plateau", "20", "--fail-on", "crash,hang"),
        ("--seconds", "90.0"),
    ],
)
def test_an_interrupted_exploration_has_its_own_status_and_a_command_that_can_be_pasted(
    interrupted: str, options: tuple[str, ...]
) -> None:
    result = run("explore", "synthetic:notepad", "--seed", "3", "--no-screenshots", *options)
    assert result.exit_code == 130
    (line,) = (line for line in result.stdout.splitlines() if line.startswith("Go on with: "))
    program, *arguments = shlex.split(line.removeprefix("Go on with: "))
    assert program == "screensearch"
    assert arguments[:4] == ["explore", "--resume", "--out", interrupted]
    assert sorted(arguments[4:]) == sorted(options)
    assert run(*arguments).exit_code == 130  # it is taken: nothing in it is refused


def test_an_interrupted_exploration_prints_its_summary_as_json_all_the_same(interrupted: str) -> None:
    result = run("explore", "synthetic:notepad", "--json")
    assert result.exit_code == 130
    assert json.loads(result.stdout)["ended"] == "interrupted"


def test_an_interrupt_before_anything_is_explored_is_no_error_and_no_success(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def interrupt(*arguments: object, **options: object) -> ss.Summary:
        raise KeyboardInterrupt

    monkeypatch.setattr("screensearch.cli.explore.start_exploration", interrupt)
    result = run("explore", "synthetic:notepad", "--out", str(tmp_path / "run"))
    assert result.exit_code == 130
    assert "Interrupted." in result.stderr


@pytest.mark.parametrize(("name", "more"), [("steps", 2000), ("states", 100)])
def test_a_run_that_had_enough_before_says_so_and_how_to_get_more(
    name: str, more: int, tmp_path: Path
) -> None:
    folder = str(tmp_path / "run")
    settings = ss.resolve(overrides=['explore.screenshots="none"'])
    first = ss.start_exploration("synthetic:notepad", folder, stop=ss.StopRule(steps=3), settings=settings)
    had = getattr(first, name)
    resume = ("explore", "--resume", "--out", folder, f"--{name}", str(had))
    result = run(*resume)
    assert result.exit_code == 0
    assert f"The run had {had} {name} before" in result.stdout
    (line,) = (line for line in result.stdout.splitlines() if line.startswith("Go on with: "))
    assert shlex.split(line)[-2:] == [f"--{name}", str(had + more)]
    told = json.loads(run(*resume, "--json").stdout)
    assert (told["ended"], told["steps"]) == (f"{name} already", 3)


def empty_run(folder: Path) -> Path:
    """What a first start that failed leaves behind."""
    create_run(
        folder,
        Manifest(
            run="x",
            created="2026-01-02T03:04:05Z",
            environment="synthetic:files",
            seed=7,
            settings=settings_document(ss.Settings()),
            version="0.1.0",
        ),
    )
    (folder / "workers").mkdir()
    (folder / "workers" / "w0.log").write_text("it did not start\n")
    return folder


def test_a_run_without_an_entry_says_so_and_how_to_fill_it(tmp_path: Path) -> None:
    folder = str(empty_run(tmp_path / "a run"))
    told = run("show", folder).output
    assert "Nothing is recorded in this run yet" in told
    assert f"screensearch explore --resume --out '{folder}' --steps" in told
    assert "0 states" not in told
    assert json.loads(run("show", folder, "--json").stdout)["entries"] == 0
    assert "No state: no screen was seen" in run("states", folder).output


def test_the_same_command_can_be_given_again_after_a_first_start_that_failed(tmp_path: Path) -> None:
    folder = empty_run(tmp_path / "run")
    options = ("--steps", "5", "--no-screenshots", "--out", str(folder))
    result = run("explore", "synthetic:notepad", *options)
    assert result.exit_code == 0, result.output
    assert "was a run without an entry: it is begun anew" in result.stderr
    assert json.loads(run("show", str(folder), "--json").stdout)["environment"] == "synthetic:notepad"


@pytest.mark.parametrize("target", ["synthetic:notpad", "desktop:nothing"])
def test_what_a_failed_start_left_stays_if_the_next_command_is_refused(target: str, tmp_path: Path) -> None:
    folder = empty_run(tmp_path / "run")
    before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    result = run("explore", target, "--steps", "5", "--out", str(folder))
    assert result.exit_code == 1
    assert "begun anew" not in result.stderr
    assert {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()} == before
    assert list(tmp_path.iterdir()) == [folder]


def test_what_a_failed_start_left_is_gone_once_the_next_run_is_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = empty_run(tmp_path / "run")
    found: list[list[Path]] = []
    monkeypatch.setattr(LiveView, "show", lambda *seen: found.append(list(tmp_path.iterdir())))
    result = run("explore", "synthetic:notepad", "--steps", "5", "--no-screenshots", "--out", str(folder))
    assert result.exit_code == 0, result.output
    assert found[0] == [folder]
    assert result.stderr.count("begun anew") == 1


@pytest.mark.parametrize("refused", ["iterdir", "rename"])
def test_a_folder_that_the_system_refuses_is_a_message(
    refused: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = empty_run(tmp_path / "run")
    original = getattr(Path, refused)

    def refuse(self: Path, *arguments: object) -> object:
        if self == folder:
            raise PermissionError(13, "Permission denied", str(self))
        return original(self, *arguments)

    monkeypatch.setattr(Path, refused, refuse)
    result = run("explore", "synthetic:notepad", "--steps", "5", "--out", str(folder))
    assert isinstance(result.exception, SystemExit)
    assert result.exit_code == 1
    assert "Permission denied" in result.stderr
    assert (folder / "workers" / "w0.log").exists()


def test_leftovers_that_cannot_be_removed_are_named_and_the_new_run_is_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(path: Path) -> None:
        raise PermissionError(13, "Permission denied", str(path))

    folder = empty_run(tmp_path / "run")
    monkeypatch.setattr("screensearch.cli.folders._remove", refuse)
    result = run("explore", "synthetic:notepad", "--steps", "5", "--no-screenshots", "--out", str(folder))
    assert result.exit_code == 0, result.output
    (left,) = set(tmp_path.iterdir()) - {folder}
    assert f"{left} cannot be removed" in result.stderr.replace("\n", "")


def test_a_run_with_an_entry_is_never_touched(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    options = ("--steps", "1", "--no-screenshots", "--out", str(folder))
    assert run("explore", "synthetic:notepad", *options).exit_code == 0
    before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    result = run("explore", "synthetic:notepad", *options)
    assert result.exit_code == 1
    assert "is not empty" in result.output
    assert {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()} == before


def test_an_empty_run_that_is_owned_or_holds_something_else_is_left_alone(tmp_path: Path) -> None:
    owned, shared = empty_run(tmp_path / "owned"), empty_run(tmp_path / "shared")
    (shared / "notes.txt").write_text("mine")
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "run.json").write_text("{}")
    (tmp_path / "link").symlink_to(empty_run(tmp_path / "other"))
    with own(owned):
        for name in ("owned", "shared", "mine", "link"):
            result = run("explore", "synthetic:notepad", "--steps", "1", "--out", str(tmp_path / name))
            assert result.exit_code == 1, name
            assert "is not empty" in result.output
    assert (shared / "notes.txt").read_text() == "mine"
    assert all((tmp_path / name / "run.json").exists() for name in ("owned", "shared", "mine", "other"))


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
    assert '"open" (button)' in " ".join(run("findings", risky).output.split())
    assert "focus_click@1" not in run("findings", risky).output
    causes = json.loads(run("findings", risky, "--json").stdout)["causes"]
    assert sorted(place for each in causes for place in each["findings"]) == list(range(len(listed)))
    places = causes[0]["findings"]
    assert causes[0]["count"] == sum(listed[place]["count"] for place in places)
    oldest = min((listed[place] for place in places), key=lambda each: each["first"])
    told = run("findings", risky, "--number", "1")
    assert f"The way there, actions: {len(oldest['actions'])}" in told.output
    one = json.loads(run("findings", risky, "--number", "1", "--json").stdout)
    assert one["findings"] == [each for place, each in enumerate(listed) if place in places]
    assert [each["outcome"] for each in one["causes"]] == [causes[0]["outcome"]]
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
