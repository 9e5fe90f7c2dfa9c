"""What the doctor looks at of an application: its program, its window, what it tells of it, its input."""

from __future__ import annotations

import asyncio
import difflib
import math
import os
import shlex
import shutil

import numpy as np

from screensearch.domain.screen import Image, crop
from screensearch.environments.desktop.checkup import Ailment, Seen, without_advice
from screensearch.environments.desktop.desktop_checks import Bench
from screensearch.environments.desktop.display import Display, XWindow
from screensearch.environments.desktop.framebuffer import Framebuffer
from screensearch.environments.desktop.mute import MuteWatch
from screensearch.environments.desktop.packages import apt_line, installed_packages
from screensearch.environments.desktop.remedies import mapped_files, processes_in, toolkit_of
from screensearch.environments.desktop.sandbox import PATH, SessionFailed, find_program
from screensearch.environments.desktop.settings import AppSettings
from screensearch.environments.desktop.start import LAUNCHED_SECONDS
from screensearch.environments.desktop.tree import Tree

GROW_SECONDS = 5.0  # so long a tree is watched while more of it comes
_REST_SECONDS = 0.3  # a tree that did not change for so long is counted before that
_WINDOWS = frozenset({"normal", "dialog", "utility"})


async def see_program(app: AppSettings) -> Seen[bool]:
    """Look for the program where a session looks for it."""
    try:
        path = find_program(app.command[0])
    except SessionFailed as problem:
        remedy = apt_line(app.packages) or _how_to_find(app.command[0])
        raise Ailment(without_advice(problem), remedy) from problem
    return Seen(path, True)


def _how_to_find(name: str) -> str:
    """What helps against a program that no profile knows the package of."""
    if "/" in name:
        return f"chmod +x {shlex.quote(name)}" if os.path.isfile(name) else f"correct the path {name!r}"
    elsewhere = shutil.which(name)  # by the search path of whoever asks, which a sandbox does not have
    if elsewhere is not None:
        return f"give {name!r} by its path: {elsewhere}"
    folders = filter(os.path.isdir, PATH.split(":"))
    near = difflib.get_close_matches(name, {each for folder in folders for each in os.listdir(folder)}, n=1)
    hint = f"did you mean {near[0]!r}? Else " if near else ""
    which = f"apt-file search bin/{shlex.quote(name)}"
    return f"{hint}install the package that brings {name!r} ({which} tells which)"


async def see_packages(app: AppSettings, *, startable: bool) -> Seen[bool]:
    """Look for the packages of the profile; a program that is there may have come in another way."""
    there = await asyncio.to_thread(installed_packages, app.packages)
    if there is None:
        return Seen("there is no dpkg to ask", True, "warn")
    missing = [package for package in app.packages if package not in there]
    if not missing:
        return Seen(", ".join(app.packages), True)
    text = f"not installed: {', '.join(missing)}"
    if not startable:
        raise Ailment(text, apt_line(missing))
    return Seen(f"{text}; the program is there all the same", True, "warn", apt_line(missing))


async def launch(bench: Bench, display: Display, app: AppSettings, *, seconds: float) -> Seen[XWindow]:
    """Start the application, and wait for its first window."""
    session = bench.session
    await session.launch()
    loop = asyncio.get_running_loop()
    deadline = loop.time() + seconds
    ended = math.inf  # when its process was first seen to have ended
    while True:
        bench.changed.clear()
        shown = windows_of(display)
        if shown:
            return Seen(f"{shown[-1].title!r}", shown[-1])
        if session.broken.done():
            raise Ailment(session.broken.result())
        said = " | ".join(session.output().split("\n")[-4:]).strip(" |")
        now = loop.time()
        if session.app_end.done():
            ended = min(ended, now)
        # A launcher may end well and leave its program to come up; but not for long.
        if now - ended > LAUNCHED_SECONDS or (ended <= now and not session.app_end.result().clean):
            how = session.app_end.result().describe()
            raise Ailment(f"{app.command[0]} {how} without a window; it said: {said or 'nothing'}")
        if loop.time() > deadline:
            text = f"none within {seconds:g} s; it said: {said or 'nothing'}"
            raise Ailment(text, "raise desktop.start_seconds if it needs longer")
        await bench.any_change(min(0.5, max(0.0, deadline - loop.time())))


async def see_elements(bench: Bench, display: Display, tree: Tree, *, seconds: float) -> Seen[bool]:
    """Wait for elements, then until no more of them come. Where none ever will, that is told at once."""
    app_end, mute = bench.session.app_end, MuteWatch(bench.session, display, tree)
    loop = asyncio.get_running_loop()
    begun = loop.time()
    deadline = begun + seconds
    while True:
        bench.changed.clear()
        refreshed = await tree.refresh()
        shown = [(sum(1 for _ in tree.showing(each)), each) for each in tree.windows()]
        if any(number > 1 for number, _ in shown):
            break
        ended = app_end.done() and not app_end.result().clean
        if loop.time() > deadline or ended or mute.verdict() is not None:
            raise _no_tree(bench, tree, loop.time() - begun)
        await bench.any_change(min(0.5, max(0.0, deadline - loop.time())))
    deadline = loop.time() + GROW_SECONDS
    while await bench.any_change(_REST_SECONDS) and loop.time() < deadline:
        bench.changed.clear()
        refreshed = await tree.refresh()
    number, node = max(
        ((sum(1 for _ in tree.showing(each)), each) for each in tree.windows()),
        key=lambda each: each[0],
        default=shown[0],
    )
    owner = next((each for each in tree.applications if each.bus_name == node.bus_name), None)
    toolkit = f"{owner.toolkit} {owner.version}".strip() if owner else ""
    text = f"{number} elements show, toolkit {toolkit or 'unknown'}"
    if refreshed.partial:
        remedy = "raise desktop.node_limit, depth_limit or walk_seconds if something is missing"
        return Seen(f"{text}, partial", True, "warn", remedy)
    return Seen(text, True)


def _no_tree(bench: Bench, tree: Tree, seconds: float) -> Ailment:
    names = ", ".join(each.name or each.bus_name for each in tree.applications) or "nobody"
    mapped = {file for process in processes_in(bench.namespace) for file in mapped_files(process)}
    toolkit = toolkit_of(mapped)
    text = f"no window with elements within {seconds:.0f} s; on the bus: {names}"
    if toolkit is None:
        return Ailment(
            f"{text}; its toolkit is not one that is known to publish a tree",
            "explore programs of GTK, Qt, LibreOffice or Java; see docs/explanation/toolkits.md",
        )
    return Ailment(f"{text}; {toolkit.name}: {toolkit.reason}", toolkit.remedy)


async def try_input(display: Display, window: XWindow, *, seconds: float) -> Seen[bool]:
    """Move the pointer over the window and press Shift, which does nothing anywhere."""
    box = window.box
    display.move_pointer(box.x + box.width / 2, box.y + box.height / 2)
    display.press("Shift_L")
    if not await display.answers(window.id, seconds=seconds):
        raise Ailment(f"it handled no X event for {seconds:g} s: it hangs")
    if display.focus() is None:
        raise Ailment("no window has the keyboard: what is typed goes nowhere")
    return Seen("the pointer moved over it, a key was pressed, and it handled both", True)


async def see_screenshot(display: Display, framebuffer: Framebuffer) -> Seen[bool]:
    """Look whether anything is painted in the window in front."""
    shown = windows_of(display)
    image = crop(framebuffer.image(), shown[-1].box) if shown else framebuffer.image()
    colours = _colours_of(image)
    if colours < 2:
        raise Ailment("the window is all of one colour: the application paints nothing")
    return Seen(f"{image.width}×{image.height}, {colours} colours", True)


def windows_of(display: Display) -> list[XWindow]:
    """The windows that a person would call so, the topmost last."""
    return [each for each in display.windows() if each.kind in _WINDOWS]


def _colours_of(image: Image) -> int:
    """How many colours a picture has."""
    pixels = np.frombuffer(image.pixels, np.uint8).reshape(-1, 3).astype(np.uint32)
    return int(np.unique(pixels[:, 0] << 16 | pixels[:, 1] << 8 | pixels[:, 2]).size)
