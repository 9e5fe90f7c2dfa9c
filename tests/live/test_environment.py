"""The desktop environment on the project's own trouble maker, and on a real editor."""

from __future__ import annotations

import asyncio
import contextlib
import os
import re
import signal
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from screensearch.domain.action import Action, Argument
from screensearch.domain.screen import Element, Observation
from screensearch.domain.transition import Outcome
from screensearch.environments.desktop.environment import DesktopEnvironment, open_desktop
from screensearch.environments.desktop.settings import (
    AppSettings,
    DesktopSettings,
    Placement,
    SeedFile,
    StartStep,
)
from screensearch.environments.protocol import Means, Result, StartFailed
from screensearch.errors import EnvironmentFailed
from screensearch.testing import check_environment

TROUBLE = str(Path(__file__).parent / "apps" / "trouble.py")

ENDS = {
    "Crash": (Outcome.CRASH, "killed by SIGSEGV"),
    "Abort": (Outcome.CRASH, "killed by SIGABRT"),
    "Exit with 3": (Outcome.CRASH, "status 3"),
    "Quit": (Outcome.EXIT, "status 0"),
}
"""How it ends at each of these buttons, or in the same way at its start, and what is told of that."""


class Driver:
    """An environment, and actions on it by the text of an element."""

    def __init__(self, world: DesktopEnvironment, observation: Observation) -> None:
        self.world = world
        self.seen = observation

    def find(self, text: str, role: str | None = None) -> Element:
        found = [each for each in self.seen.elements if each.text == text and role in (None, each.role)]
        assert found, f"no {role or 'element'} {text!r} among {sorted({e.text for e in self.seen.elements})}"
        return found[0]

    def texts(self) -> set[str]:
        return {each.text for each in self.seen.elements}

    async def do(self, template: str, element: Element | str | None = None, **arguments: Argument) -> Result:
        target = self.find(element) if isinstance(element, str) else element
        result = await self.world.perform(Action(f"{template}@1", target, tuple(arguments.items())))
        if result.observation is not None:
            self.seen = result.observation
        return result

    async def click(self, element: Element | str) -> Result:
        return await self.do("focus_click", element)

    async def until(self, text: str, waits: int = 10) -> None:
        """Wait, by the environment's own action, until an element of that text shows."""
        for _ in range(waits):
            if text in self.texts():
                return
            await self.do("wait")
        raise AssertionError(f"{text!r} did not show among {sorted(self.texts())}")


@contextlib.asynccontextmanager
async def running(
    *command: str, desktop: DesktopSettings | None = None, app: AppSettings | None = None, seed: int = 1
) -> AsyncIterator[Driver]:
    settings = app or AppSettings(command=command)
    means = Means(app=settings, desktop=desktop or DesktopSettings())
    world = open_desktop("app", means)
    try:
        start = await world.reset(seed)
        yield Driver(world, start.observation)
    finally:
        await world.close()


# -- outcomes -------------------------------------------------------------------------------------


async def test_a_click_changes_what_is_seen() -> None:
    async with running(TROUBLE) as app:
        assert (await app.click("Press me")).outcome is Outcome.OK
        assert "Pressed" in app.texts()


@pytest.mark.parametrize("button", ENDS)
async def test_the_end_of_the_application_is_told_with_its_reason(button: str) -> None:
    outcome, told = ENDS[button]
    async with running(TROUBLE, "ends") as app:
        result = await app.click(button)
        assert (result.outcome, result.observation) == (outcome, None)
        assert told in result.note
        start = await app.world.reset(2)
        assert start.observation.window.application == app.world.application


@pytest.mark.parametrize(
    ("button", "grace", "busy"), [("Hang", 2, False), ("Hang", 0, None), ("Loop", 2, True)]
)
async def test_an_application_that_never_answers_again_hangs(
    button: str, grace: float, busy: bool | None
) -> None:
    desktop = DesktopSettings(hang_seconds=2, grace_seconds=grace)
    async with running(TROUBLE, "ends", desktop=desktop) as app:
        result = await app.click(button)
        assert (result.outcome, result.observation) == (Outcome.HANG, None)
        said = re.search(r"busy for (\d+\.\d) s", result.note)
        assert (None if said is None else float(said[1]) > 0) is busy


async def test_no_action_is_blamed_for_a_slow_start() -> None:
    app = AppSettings(command=(TROUBLE, "ends"), start=(StartStep(click="Freeze a while"),))
    desktop = DesktopSettings(hang_seconds=0.75, grace_seconds=60)
    async with running(app=app, desktop=desktop) as driver:
        assert "answered nothing" not in (await driver.click("Press me")).note


async def test_an_application_that_is_only_slow_is_waited_for_and_said_to_be() -> None:
    desktop = DesktopSettings(hang_seconds=0.75, grace_seconds=60)
    async with running(TROUBLE, "ends", desktop=desktop) as app:
        assert "answered nothing" not in (await app.click("Press me")).note
        result = await app.click("Freeze a while")
        assert result.outcome is Outcome.OK
        assert "it answered nothing for " in result.note
        assert "Thawed" in app.texts()
        assert "answered nothing" not in (await app.click("Press me")).note


async def test_another_programs_window_is_a_capture() -> None:
    async with running(TROUBLE, "windows") as app:
        result = await app.click("Open another program")
        for _ in range(10):  # it is another process: its window may come after the screen was quiet
            if result.outcome is Outcome.CAPTURE:
                break
            result = await app.do("wait")
        assert result.outcome is Outcome.CAPTURE
        assert result.observation is not None
        assert result.observation.window.application != app.world.application
        assert result.observation.screenshot is not None


# -- windows, menus, dialogs ----------------------------------------------------------------------


async def test_a_modal_dialog_takes_the_input_and_gives_it_back() -> None:
    async with running(TROUBLE, "windows") as app:
        await app.click("Modal dialog")
        assert app.seen.window.kind == "dialog"
        assert "Answer me first" in app.texts()
        assert "Press me" not in app.texts()
        await app.click("OK")
        assert app.seen.window.kind == "main"


async def test_a_file_picker_opens_and_closes() -> None:
    async with running(TROUBLE, "windows") as app:
        await app.click("File chooser")
        assert (app.seen.window.kind, app.seen.window.title) == ("dialog", "Open a file")
        await app.click("Cancel")
        assert "Cancelled" in app.texts()


async def test_a_combo_box_opens_and_an_item_is_chosen() -> None:
    async with running(TROUBLE, "inputs") as app:
        box = next(each for each in app.seen.elements if each.role == "combobox")
        await app.click(box)
        assert app.seen.window.kind in ("menu", "popup")
        await app.click(app.find("Green", "menuitem"))
        assert "Chose Green" in app.texts()


async def test_a_context_menu_opens_with_a_right_click_and_a_dialog_with_a_double_click() -> None:
    async with running(TROUBLE, "list") as app:
        await app.do("right_click", "Banana")
        assert app.seen.window.kind == "menu"
        await app.do("key", key="Escape")
        assert app.seen.window.kind == "main"
        await app.do("double_click", "Banana")
        assert app.seen.window.kind == "dialog"


async def test_a_tree_that_comes_late_is_seen_when_it_is_there() -> None:
    async with running(TROUBLE, "windows") as app:
        await app.click("Late tree")
        await app.until("Here I am")


async def test_text_is_typed_into_the_field_that_was_named() -> None:
    async with running(TROUBLE, "inputs") as app:
        entry = next(each for each in app.seen.elements if each.editable and not each.secret)
        await app.do("focus_type", entry, text="Grüße, 世界")
        assert any(each.value == "Grüße, 世界" for each in app.seen.elements)


async def test_the_content_of_a_password_field_is_never_read() -> None:
    async with running(TROUBLE, "inputs") as app:
        secret = next(each for each in app.seen.elements if each.secret)
        await app.do("focus_type", secret, text="hunter2")
        assert not any("hunter2" in each.text + each.value for each in app.seen.elements)


# -- targets --------------------------------------------------------------------------------------


async def test_a_button_that_vanished_is_missed_and_nothing_else_is_clicked() -> None:
    async with running(TROUBLE, "elusive") as app:
        vanishing = app.find("Vanish")
        await app.do("scroll", vanishing, direction="up", amount=1)  # the pointer over it makes it go
        for _ in range(5):
            if "Vanish" not in app.texts():
                break
            await app.do("wait")
        result = await app.click(vanishing)
        assert result.outcome is Outcome.MISSED
        assert "gone" in result.note
        assert "Nothing has happened" in app.texts()


async def test_a_button_that_runs_is_hit_or_missed_but_never_another_one_in_its_place() -> None:
    async with running(TROUBLE, "elusive") as app:
        await app.click("Run")
        outcomes = set()
        for _ in range(8):
            outcomes.add((await app.click("Runaway")).outcome)
            assert "Decoy hit" not in app.texts()
        assert outcomes <= {Outcome.OK, Outcome.MISSED}


# -- settling and size ----------------------------------------------------------------------------


async def test_a_label_that_ticks_and_a_spinner_do_not_stall_a_step() -> None:
    slow = DesktopSettings(settle_seconds=60)  # waiting for the end of this would end in the deadline below
    async with running(TROUBLE, "restless", desktop=slow) as app, asyncio.timeout(40):
        await app.click("Tick")
        await app.click("Spin")
        for _ in range(5):
            await app.click("Press me")
        assert "Pressed" in app.texts()


async def test_a_huge_table_is_seen_by_its_visible_rows() -> None:
    async with running(TROUBLE, "table") as app:
        cells = [each for each in app.seen.elements if each.role == "dataitem"]
        assert 0 < len(cells) < 200
        assert not app.seen.partial


async def test_a_flood_of_elements_is_cut_and_marked_partial() -> None:
    async with running(TROUBLE, "flood", desktop=DesktopSettings(node_limit=150)) as app:
        assert app.seen.partial
        assert len(app.seen.elements) <= 150


async def test_a_deep_tree_is_cut_and_marked_partial() -> None:
    async with running(TROUBLE, "deep", desktop=DesktopSettings(depth_limit=20)) as app:
        assert app.seen.partial


# -- the profile ----------------------------------------------------------------------------------


async def test_an_episode_begins_after_the_start_script() -> None:
    app = AppSettings(
        command=(TROUBLE, "windows"), start=(StartStep(click="Modal dialog"), StartStep(wait_for="OK"))
    )
    async with running(app=app) as driver:
        assert driver.seen.window.kind == "dialog"


async def test_a_start_script_that_waits_in_vain_says_for_what() -> None:
    app = AppSettings(command=(TROUBLE,), start=(StartStep(click="No such button"),))
    world = open_desktop("app", Means(app=app, desktop=DesktopSettings(start_seconds=4)))
    with pytest.raises(EnvironmentFailed, match="No such button"):
        await world.reset(1)
    await world.close()


async def test_seeded_files_placement_and_looks_vary_with_the_seed_and_are_told() -> None:
    app = AppSettings(
        command=("mousepad",),
        files=(SeedFile(path="notes/one.txt", text="first note"), SeedFile(path="two.txt", text="second")),
        documents=("notes/one.txt", "two.txt"),
        display_modes=("light", "dark"),
        placements=(Placement(width=600, height=400, x=20, y=30),),
    )
    world = open_desktop("mousepad", Means(app=app))
    try:
        first = await world.reset(1)
        again = await world.reset(1)
        assert dict(first.configuration) == dict(again.configuration)
        content = {"notes/one.txt": "first note", "two.txt": "second"}[first.configuration["document"]]
        assert any(content in each.value for each in first.observation.elements)
        box = first.observation.window.box
        assert (box.width, box.height) == (600, 400)
        modes = {(await world.reset(seed)).observation.display_mode for seed in range(6)}
        assert modes == {"light", "dark"}
    finally:
        await world.close()


async def test_what_an_episode_did_to_its_home_is_gone_in_the_next() -> None:
    app = AppSettings(
        command=("mousepad",), files=(SeedFile(path="note.txt", text="as seeded"),), documents=("note.txt",)
    )
    async with running(app=app) as driver:
        editor = next(each for each in driver.seen.elements if each.editable)
        await driver.do("focus_type", editor, text="changed ")
        assert driver.seen.window.title.startswith("*")
        await driver.do("key", key="ctrl+s")
        assert not driver.seen.window.title.startswith("*")  # it was saved
        driver.seen = (await driver.world.reset(1)).observation
        editor = next(each for each in driver.seen.elements if each.editable)
        assert editor.value == "as seeded"


def test_a_command_that_does_not_exist_is_named() -> None:
    with pytest.raises(EnvironmentFailed, match="no-such-program-here"):
        open_desktop("x", Means(app=AppSettings(command=("no-such-program-here",))))


# -- starts ---------------------------------------------------------------------------------------

IMPATIENT = DesktopSettings(start_seconds=6, hang_seconds=2, grace_seconds=0)


async def failed_start(app: AppSettings, desktop: DesktopSettings = IMPATIENT) -> StartFailed:
    world = open_desktop("app", Means(app=app, desktop=desktop))
    with pytest.raises(StartFailed) as caught:
        await world.reset(1)
    assert world.session_pid is None  # nothing of it is left
    await world.close()
    assert caught.value.configuration == {"display_mode": "light", "text_scale": "1"}
    return caught.value


@pytest.mark.parametrize(
    ("way", "outcome", "told"),
    [
        ("crash", *ENDS["Crash"]),
        ("exit", *ENDS["Exit with 3"]),
        ("quit", *ENDS["Quit"]),
        ("hang", Outcome.HANG, "no window"),
        ("mute", Outcome.HANG, "no X event for 2 s"),
    ],
)
async def test_an_application_that_fails_before_its_first_screen_did_so_itself(
    way: str, outcome: Outcome, told: str
) -> None:
    failure = await failed_start(AppSettings(command=(TROUBLE, f"--at-start={way}")))
    assert failure.outcome is outcome
    assert (told if outcome is Outcome.HANG else f"{told} before it showed a window") in failure.note
    assert f"told to {way} at the start" in failure.note  # its own words
    assert (failure.observation is not None) == (way == "mute")  # there was a window to be seen
    if failure.observation is not None:
        assert failure.observation.screenshot is not None
        assert failure.observation.window.title == "Mute"


@pytest.mark.parametrize(
    ("button", "outcome", "told"),
    [
        ("Abort", *ENDS["Abort"]),
        ("Quit", *ENDS["Quit"]),
        ("Hang", Outcome.HANG, "for 2 s at app.start[0]"),
    ],
)
async def test_an_application_that_does_not_come_through_its_start_script_failed_at_its_start(
    button: str, outcome: Outcome, told: str
) -> None:
    app = AppSettings(command=(TROUBLE, "ends"), start=(StartStep(click=button),))
    failure = await failed_start(app, DesktopSettings(hang_seconds=2, grace_seconds=0))
    assert failure.outcome is outcome
    assert told in failure.note


@pytest.mark.parametrize(
    ("app", "told"),
    [
        (AppSettings(command=("sh", "-c", "no-such-program-here")), "no-such-program-here: not found"),
        (AppSettings(command=(TROUBLE,), environment=("NO_AT_BRIDGE=1",)), "no accessible window"),
    ],
    ids=["no program", "no tree"],
)
async def test_what_cannot_be_run_or_read_here_is_no_failure_of_the_application(
    app: AppSettings, told: str
) -> None:
    world = open_desktop("app", Means(app=app, desktop=IMPATIENT))
    with pytest.raises(EnvironmentFailed, match=told):
        await world.reset(1)
    await world.close()


# -- infrastructure -------------------------------------------------------------------------------


@pytest.mark.parametrize("victim", ["Xvfb", "dbus-daemon"])
async def test_the_death_of_the_desktop_is_no_outcome_of_the_application(victim: str) -> None:
    async with running(TROUBLE) as app:
        assert app.world.session_pid is not None
        kill_inside(app.world.session_pid, victim)
        with pytest.raises(EnvironmentFailed):
            await several(app, "Press me")
        await app.world.reset(2)


async def test_the_application_killed_from_outside_is_a_crash() -> None:
    async with running(TROUBLE) as app:
        assert app.world.session_pid is not None
        kill_inside(app.world.session_pid, "trouble.py")
        result = await app.do("wait")
        assert result.outcome is Outcome.CRASH
        assert "SIGKILL" in result.note


async def test_the_environment_keeps_the_contract() -> None:
    app = AppSettings(command=(TROUBLE, "inputs", "list"))
    await check_environment(lambda: open_desktop("trouble", Means(app=app)), steps=25)


async def several(app: Driver, text: str) -> None:
    """Click again and again: the first click may still find everything in place."""
    for _ in range(5):
        await app.click(text)


def kill_inside(root: int, name: str) -> None:
    """Kill the processes below `root` whose command line has `name` in its first two words."""
    killed = 0
    for process in Path("/proc").iterdir():
        if not process.name.isdigit():
            continue
        with contextlib.suppress(OSError):
            words = (process / "cmdline").read_bytes().split(b"\0")[:2]
            if any(Path(word.decode()).name == name for word in words) and _below(int(process.name), root):
                os.kill(int(process.name), signal.SIGKILL)
                killed += 1
    assert killed, f"no {name} runs below process {root}"


def _below(process: int, root: int) -> bool:
    while process > 1:
        if process == root:
            return True
        with contextlib.suppress(OSError, ValueError):
            process = int(Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[1])
            continue
        return False
    return False
