"""The doctor finds each missing layer, says what helps, and goes on as far as it can."""

from __future__ import annotations

import asyncio
import json
import logging
import os
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from screensearch.cli import main
from screensearch.environments.desktop.checkup import Check, Checkup, Seen
from screensearch.environments.desktop.doctor import examine
from screensearch.environments.desktop.environment import DesktopEnvironment
from screensearch.environments.desktop.limits import ProcessBound
from screensearch.environments.desktop.programs import LAUNCHER_PACKAGE, PROGRAMS, missing_packages
from screensearch.environments.desktop.remedies import TOOLKITS, mapped_files, toolkit_of, why_no_sandbox
from screensearch.environments.desktop.settings import AppSettings, DesktopSettings, SeedFile, StartStep
from screensearch.environments.desktop.start import TreeUnavailable

LIMITS = "screensearch.environments.desktop.limits"
HASTY = DesktopSettings(start_seconds=4.0, hang_seconds=2.0)


def ask(*arguments: str) -> Result:
    return CliRunner().invoke(main, ["doctor", *arguments])


async def checked(app: AppSettings | None, settings: DesktopSettings = HASTY) -> dict[str, Check]:
    return {check.name: check for check in await examine(app, settings)}


# -- a machine on which all is well


def test_without_an_application_the_desktop_is_checked() -> None:
    result = ask()
    assert result.exit_code == 0, result.output
    assert "All is well." in result.output
    assert "nothing is left behind" in result.output


def test_an_application_is_checked_up_to_its_elements_its_input_and_its_picture() -> None:
    result = ask("mousepad", "--json")
    assert result.exit_code == 0, result.output
    answer = json.loads(result.output)
    checks = {check["name"]: check for check in answer["checks"]}
    assert answer["ok"] is True
    # How processes are counted is a matter of the kernel and the user.
    assert checks["limits"]["state"] in {"ok", "warn"}
    assert {check["state"] for name, check in checks.items() if name != "limits"} == {"ok"}
    assert "toolkit gtk 3" in checks["tree"]["seen"]
    assert {"window", "input", "screenshot", "stop"} <= checks.keys()


def test_processes_that_cannot_be_bounded_are_a_warning_told_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(f"{LIMITS}.process_bound", lambda: ProcessBound.NONE)
    monkeypatch.setattr(f"{LIMITS}._warned", set())
    # As in a program that has set up no logging: Python then prints warnings on standard error.
    monkeypatch.setattr(logging.getLogger(), "handlers", [])
    result = ask("--json")
    assert result.exit_code == 0, result.output
    checks = {check["name"]: check for check in json.loads(result.stdout)["checks"]}
    assert checks["limits"]["state"] == "warn"
    assert "any number of processes" in checks["limits"]["seen"]
    assert checks["limits"]["remedy"]
    assert result.stderr == ""


def test_a_command_without_a_profile_is_checked_too() -> None:
    result = ask("--", "galculator")
    assert result.exit_code == 0, result.output
    assert "it can be explored" in result.output


def test_an_unknown_application_is_a_message() -> None:
    result = ask("mouspad")
    assert result.exit_code == 1
    assert "did you mean 'mousepad'?" in result.output


# -- applications that do not come up


async def test_a_missing_program_is_named_with_the_line_that_installs_it_and_the_rest_is_checked() -> None:
    checks = await checked(AppSettings(command=("no-such-editor",), packages=("no-such-package",)))
    assert checks["program"].state == "fail"
    assert checks["program"].remedy.endswith("apt-get install --no-install-recommends no-such-package")
    assert checks["packages"].state == "fail"
    assert checks["display"].state == checks["accessibility bus"].state == checks["stop"].state == "ok"
    assert "window" not in checks


@pytest.mark.parametrize(
    ("name", "helps"),
    [
        ("mousepadd", "did you mean 'mousepad'?"),
        ("no-such-editor", "install the package that brings 'no-such-editor'"),
        ("/no/such/editor", "correct the path '/no/such/editor'"),
        ("/etc/passwd", "chmod +x /etc/passwd"),
    ],
)
def test_a_command_that_is_missing_is_named_with_what_helps(name: str, helps: str) -> None:
    result = ask("--", name, "an-argument")
    assert result.exit_code == 1
    assert f"there is no program {name!r}" in result.output
    assert helps in result.output
    assert "checks failed: program." in result.output


async def test_a_program_that_ends_before_it_has_a_window_is_quoted() -> None:
    checks = await checked(AppSettings(command=("sh", "-c", "echo no licence; exit 3")))
    assert checks["window"].state == "fail"
    assert "exited with status 3" in checks["window"].seen
    assert "no licence" in checks["window"].seen
    assert checks["input"].state == checks["screenshot"].state == "skipped"
    assert checks["stop"].state == "ok"


async def test_a_program_that_ends_well_and_leaves_nothing_behind_is_told_so() -> None:
    checks = await checked(AppSettings(command=("true",)))
    assert "exited with status 0 without a window" in checks["window"].seen
    assert checks["tree"].state == checks["input"].state == "skipped"


async def test_a_program_that_never_shows_anything_is_given_up_on() -> None:
    settings = DesktopSettings(start_seconds=1.5)
    checks = await checked(AppSettings(command=("sleep", "1000")), settings)
    assert checks["window"].state == "fail"
    assert "desktop.start_seconds" in checks["window"].remedy
    assert checks["stop"].state == "ok"


async def test_a_window_without_a_tree_is_told_from_no_window_and_the_toolkit_is_named() -> None:
    app = AppSettings(command=("mousepad",), environment=("NO_AT_BRIDGE=1",))
    checks = await checked(app)
    assert checks["window"].state == "ok"
    assert checks["tree"].state == "fail"
    assert "GTK 3" in checks["tree"].seen
    assert checks["input"].state == checks["screenshot"].state == checks["stop"].state == "ok"


LIBRARY = next(file for file in mapped_files(os.getpid()) if "/libm.so" in file)
MUTE = AppSettings(
    command=("mousepad",),
    # What Wine is recognised by, in a program that publishes no tree, as nothing in Wine does.
    environment=("NO_AT_BRIDGE=1", "LD_PRELOAD=/home/user/wine/any.so"),
    files=(SeedFile(path="wine/any.so", source=LIBRARY),),
)
PATIENT = DesktopSettings(start_seconds=300.0)


async def test_a_toolkit_that_never_publishes_a_tree_is_not_waited_for() -> None:
    checks = await checked(MUTE, PATIENT)
    assert checks["window"].state == "ok"
    assert checks["tree"].state == "fail"
    assert "Wine draws the controls of Windows by itself" in checks["tree"].seen
    assert checks["tree"].seconds < PATIENT.start_seconds
    assert checks["stop"].state == "ok"


async def test_an_exploration_does_not_wait_for_it_either() -> None:
    world = DesktopEnvironment("mousepad", MUTE, PATIENT, screenshots=False)
    try:
        with pytest.raises(TreeUnavailable, match="shows a window, but publishes no tree: Wine"):
            await world.reset(0)
    finally:
        await world.close()


# -- what is done before an episode begins


async def test_the_start_script_is_followed_and_what_comes_after_it_is_looked_at() -> None:
    steps = (StartStep(click="Help"), StartStep(click="About"), StartStep(wait_for="Credits"))
    checks = await checked(AppSettings(command=("mousepad",), start=steps))
    assert {check.state for check in checks.values()} <= {"ok", "warn"}
    assert "About Mousepad" in checks["start script"].seen
    width = int(checks["screenshot"].seen.partition("×")[0])
    assert width < 600  # the dialog, not the window that was there first
    order = list(checks)
    assert order.index("tree") < order.index("start script") < order.index("input")


async def test_a_step_of_the_start_script_that_waits_in_vain_is_named_with_what_showed() -> None:
    steps = (StartStep(press="ctrl+n"), StartStep(click="No such button"))
    checks = await checked(AppSettings(command=("mousepad",), start=steps))
    failed = checks["start script"]
    assert failed.state == "fail"
    assert "app.start[1] waited 4 s for 'No such button'" in failed.seen
    assert "'Edit'" in failed.seen
    assert "desktop.start_seconds" in failed.remedy
    assert checks["input"].state == checks["screenshot"].state == "skipped"
    assert checks["stop"].state == "ok"


def test_a_step_that_waits_in_vain_is_named_with_file_and_line(tmp_path: Path) -> None:
    profile = tmp_path / "mine.toml"
    profile.write_text(
        "[app]\ncommand = ['mousepad']\nstart = [\n  { press = 'Escape' },\n  { click = 'Nowhere' },\n]\n"
        "[desktop]\nstart_seconds = 8.0\n"
    )
    place = f"app.start[1] (profile '{profile}', line 5) waited 8 s for 'Nowhere'"
    assert place in ask(str(profile)).output


async def test_an_application_that_ends_at_a_step_of_its_start_script_is_told() -> None:
    steps = (StartStep(wait_for="File"), StartStep(press="ctrl+q"), StartStep(click="Edit"))
    checks = await checked(AppSettings(command=("mousepad",), start=steps))
    assert checks["start script"].state == "fail"
    assert "exited with status 0 at app.start[1]" in checks["start script"].seen


async def test_a_start_script_needs_a_tree() -> None:
    app = AppSettings(
        command=("mousepad",), environment=("NO_AT_BRIDGE=1",), start=(StartStep(press="Escape"),)
    )
    checks = await checked(app)
    assert checks["tree"].state == "fail"
    assert checks["start script"].state == "skipped"


async def test_a_document_that_nobody_seeded_is_pointed_out() -> None:
    files = (SeedFile(path="notes.txt", text="hello"), SeedFile(path="letters/one.txt", text="dear"))
    there = ("notes.txt", "letters", "letters/one.txt", "/usr/share", "--new", "file:///x", "env")
    app = AppSettings(command=("mousepad",), files=files, documents=there)
    assert (await checked(app))["documents"].state == "ok"
    pointed_out = (await checked(replace(app, documents=("notes.txt", "note.txt", "/home/user/x"))))[
        "documents"
    ]
    assert pointed_out.state == "warn"
    assert "'note.txt', '/home/user/x'; did you mean 'notes.txt'?" in pointed_out.seen
    assert "[[app.files]]" in pointed_out.remedy


# -- a machine on which something is missing


async def test_each_missing_tool_is_named_with_its_package(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr("screensearch.environments.desktop.programs._LAUNCHERS", ())
    checks = await checked(None)
    failed = {name: check for name, check in checks.items() if check.state == "fail"}
    needed = missing_packages()
    assert set(needed) == {program.package for program in PROGRAMS.values()} | {LAUNCHER_PACKAGE}
    for package in needed:
        assert any(check.remedy.endswith(f" {package}") for check in failed.values()), package
    assert checks["desktop"].state == "skipped"


async def test_a_sandbox_that_the_kernel_refuses_is_explained(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    refuses = tmp_path / "bwrap"
    refuses.write_text("#!/bin/sh\necho 'bwrap: No permissions to create new namespace' >&2\nexit 1\n")
    refuses.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    checks = await checked(None)
    assert checks["sandbox"].state == "fail"
    assert "No permissions to create new namespace" in checks["sandbox"].seen
    assert checks["sandbox"].remedy
    assert checks["desktop"].state == "skipped"


async def test_a_bubblewrap_without_our_walls_is_too_old(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    old = tmp_path / "bwrap"
    old.write_text(
        "#!/bin/sh\n"
        "option=--disable-userns; real=$(PATH=/usr/bin:/bin command -v bwrap)\n"
        'if [ "$1" = --args ] && tr "\\0" "\\n" <"/proc/self/fd/$2" | grep -qxe "$option"; then\n'
        '    echo "bwrap: Unknown option $option" >&2; exit 1\n'
        "fi\n"
        'exec "$real" "$@"\n'
    )
    old.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    checks = await checked(None)
    assert checks["sandbox"].state == "fail"
    assert "too old" in checks["sandbox"].seen
    assert "install --no-install-recommends bubblewrap" in checks["sandbox"].remedy
    assert checks["desktop"].state == "skipped"


@pytest.mark.parametrize(
    ("file", "value", "remedy"),
    [
        ("proc/sys/kernel/unprivileged_userns_clone", "0\n", "kernel.unprivileged_userns_clone=1"),
        ("proc/sys/user/max_user_namespaces", "0\n", "user.max_user_namespaces="),
        ("proc/sys/kernel/apparmor_restrict_unprivileged_userns", "1\n", "restrict_unprivileged_userns=0"),
        (".dockerenv", "", "seccomp=unconfined"),
    ],
)
def test_what_forbids_a_sandbox_is_found_with_what_allows_it(
    tmp_path: Path, file: str, value: str, remedy: str
) -> None:
    path = tmp_path / file
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(value)
    assert remedy in why_no_sandbox(root=tmp_path)[1]


def test_a_toolkit_that_is_built_on_another_is_recognised_as_itself() -> None:
    def name(*files: str) -> str | None:
        found = toolkit_of(files)
        return None if found is None else found.name

    assert name("/usr/lib/libgtk-3.so.0", "/usr/lib/libreoffice/program/libvcllo.so") == "LibreOffice"
    assert name("/usr/lib/libgtk-3.so.0", "/usr/lib/jvm/lib/server/libjvm.so") == "Java"
    assert name("/usr/lib/libQt5Gui.so.5") == "Qt 5"
    assert name("/usr/bin/cat") is None
    assert all(toolkit.reason for toolkit in TOOLKITS)


# -- a check that would never end


async def test_a_check_has_a_deadline_and_the_next_one_is_done() -> None:
    async def stuck() -> Seen[int]:
        await asyncio.Event().wait()
        return Seen("", 1)

    async def well() -> Seen[int]:
        return Seen("here", 2)

    heard: list[Check] = []
    checkup = Checkup(heard.append)
    assert await checkup.check("stuck", stuck(), 0.05) is None
    assert await checkup.check("well", well(), 5.0) == 2
    assert [(check.name, check.state) for check in heard] == [("stuck", "fail"), ("well", "ok")]
    assert "within 0.05 s" in heard[0].seen
