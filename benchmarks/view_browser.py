"""What is seen of the viewer in a real headless Chromium: the first picture, and how fluently it moves."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Literal

from playwright.sync_api import Browser, CDPSession, Page, sync_playwright

DRAWN = "performance.getEntriesByName('screensearch:map-drawn')[0]?.startTime ?? null"
SECONDS = 120.0
MOVES = 40
STALL_MILLISECONDS = 55.0
"""A frame that takes longer, more than three of a screen that shows sixty a second, is seen as a stall."""
REST_MILLISECONDS = 1_000
"""Long enough for the map to come to rest: what it left out while it moved is drawn again."""

Composed = Literal["in memory", "by GL"]
ARGUMENTS: dict[Composed, Sequence[str]] = {
    # As Chromium does by itself without a graphics card: WebGL is computed, the page put together in memory.
    "in memory": ["--enable-unsafe-swiftshader"],
    # The page is put together by the computed GL too, which takes several times as long.
    "by GL": ["--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--ignore-gpu-blocklist"],
}

_WATCH = """() => {
  globalThis.phase = "before";
  globalThis.frames_seen = [];
  globalThis.scripts_seen = [];
  let last = performance.now();
  const note = (now) => {
    globalThis.frames_seen.push([globalThis.phase, now - last]);
    last = now;
    globalThis.frames_asked = requestAnimationFrame(note);
  };
  globalThis.frames_asked = requestAnimationFrame(note);
  globalThis.observer = new PerformanceObserver((list) => {
    for (const {scripts} of list.getEntries())
      globalThis.scripts_seen.push(scripts.reduce((total, {duration}) => total + duration, 0));
  });
  globalThis.observer.observe({type: "long-animation-frame"});
}"""
_TELL = """() => {
  cancelAnimationFrame(globalThis.frames_asked);
  globalThis.observer.disconnect();
  return [globalThis.frames_seen, globalThis.scripts_seen];
}"""

Frame = tuple[str, float]  # the phase it ended in, and its milliseconds


@contextmanager
def opened(address: str, name: str, composed: Composed) -> Iterator[tuple[Browser, Page]]:
    """The map in a browser that has never seen it; as root it has no sandbox to be in."""
    arguments = [*ARGUMENTS[composed], *(["--no-sandbox"] if os.geteuid() == 0 else [])]
    with sync_playwright() as engine:
        browser = engine.chromium.launch(executable_path="/usr/bin/chromium", args=arguments)
        page = browser.new_page(viewport={"width": 1600, "height": 900})
        page.goto(f"{address}#/map/{name}", wait_until="commit", timeout=SECONDS * 1000)
        yield browser, page
        browser.close()


def measure_first_picture(address: str, name: str) -> float:
    """Seconds from the beginning of the navigation until the first frame that shows the states."""
    with opened(address, name, "by GL") as (_browser, page):
        return round(_await_picture(page) / 1000, 2)


def measure_moves(address: str, name: str, composed: Composed) -> dict[str, Any]:
    """Do what a user does with a map, one after the other, and note every frame."""
    with opened(address, name, composed) as (browser, page):
        _await_picture(page)
        page.wait_for_timeout(REST_MILLISECONDS)
        return {kind: _watch(browser, page, act) for kind, act in ACTS.items()}


def _await_picture(page: Page) -> float:
    return float(_await(page, DRAWN, "the map was not drawn"))


def _await(page: Page, asked: str, otherwise: str) -> Any:
    """Ask the page until it has an answer: its policy lets no text of ours wait in it."""
    deadline = time.monotonic() + SECONDS
    while (answer := page.evaluate(asked)) in (None, False):
        if time.monotonic() > deadline:
            raise RuntimeError(f"{otherwise} within {SECONDS:.0f} s")
        page.wait_for_timeout(20)
    return answer


# -- what a user does -------------------------------------------------------------------------------


def _pan(page: Page) -> None:
    x, y = _middle(page, ".sigma-mouse")
    _phase(page, "press")
    page.mouse.down()
    _phase(page, "move")
    for place in range(MOVES):
        page.mouse.move(x + 6 * place, y + 3 * place)
    _phase(page, "release")
    page.mouse.up()
    _await_address(page, "x=", there=True)
    _phase(page, "rest")


def _zoom(page: Page) -> None:
    _phase(page, "move")
    for place in range(MOVES):
        page.mouse.wheel(0, -120 if place < MOVES // 2 else 120)
    _await_address(page, "z=", there=True)
    _phase(page, "rest")


def _hover(page: Page) -> None:
    x, y = _middle(page, ".sigma-mouse")
    _phase(page, "move")
    cards = 0
    for place in range(MOVES):
        page.mouse.move(x - 4 * place, y - 2 * place)
        cards += page.locator(".hover-card").count()
    if not cards:
        raise RuntimeError("the pointer met no state")
    page.mouse.move(0, 0)
    _phase(page, "rest")


def _keys(page: Page) -> None:
    _phase(page, "move")
    for key in ("ArrowLeft", "ArrowUp", "+", "-"):
        for _ in range(MOVES // 8):
            page.keyboard.press(key)
            page.wait_for_timeout(60)
    _await_address(page, "x=", there=True)
    _phase(page, "fit")
    page.keyboard.press("0")
    _await_address(page, "z=", there=False)
    _phase(page, "rest")


def _select(page: Page) -> None:
    _phase(page, "select")
    page.keyboard.press("n")
    _await_address(page, "state=", there=True)
    page.wait_for_timeout(REST_MILLISECONDS)
    _phase(page, "leave")
    page.keyboard.press("Escape")
    _await_address(page, "state=", there=False)
    page.keyboard.press("0")
    _phase(page, "rest")


def _filter(page: Page) -> None:
    box = page.locator(".filter-bar input[type=checkbox]")
    _phase(page, "switch on")
    box.check()
    _await_address(page, "failed=", there=True)
    page.wait_for_timeout(REST_MILLISECONDS)
    _phase(page, "switch off")
    box.uncheck()
    _await_address(page, "failed=", there=False)
    page.wait_for_timeout(REST_MILLISECONDS)
    handle = page.locator(".timeline-track input").last
    handle.focus()
    _phase(page, "timeline")
    for _ in range(MOVES):
        page.keyboard.press("PageDown")
    _await_address(page, "to=", there=True)
    _phase(page, "rest")


ACTS: dict[str, Callable[[Page], None]] = {
    "pan": _pan,
    "zoom": _zoom,
    "hover": _hover,
    "keys": _keys,
    "select": _select,
    "filter": _filter,
}


def _middle(page: Page, selector: str) -> tuple[float, float]:
    box = page.locator(selector).bounding_box()
    assert box is not None
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


def _phase(page: Page, name: str) -> None:
    page.evaluate("(name) => { globalThis.phase = name; }", name)


def _await_address(page: Page, part: str, *, there: bool) -> None:
    """The address tells that the map did as it was asked: frames of one that stands still tell nothing."""
    _await(page, f"location.hash.includes({part!r}) === {str(there).lower()}", f"{part} stayed as it was")


# -- what comes of it -------------------------------------------------------------------------------


def _watch(browser: Browser, page: Page, act: Callable[[Page], None]) -> dict[str, Any]:
    page.keyboard.press("0")
    _await_address(page, "z=", there=False)
    page.mouse.move(*_middle(page, ".sigma-mouse"))
    page.wait_for_timeout(REST_MILLISECONDS)
    processes = browser.new_browser_cdp_session()
    page.evaluate(_WATCH)
    before = _cpu_seconds(processes)
    act(page)
    page.wait_for_timeout(REST_MILLISECONDS)
    after = _cpu_seconds(processes)
    frames, scripts = page.evaluate(_TELL)
    processes.detach()
    return {
        **_figures([(phase, took) for phase, took in frames if phase != "before"]),
        "longest_scripts_milliseconds": round(max(scripts, default=0.0), 1),
        "cpu_seconds": {kind: round(after[kind] - before.get(kind, 0.0), 2) for kind in after},
    }


def _cpu_seconds(processes: CDPSession) -> dict[str, float]:
    """What the page and its drawing have used of the processor: that depends less on what else is at work."""
    used = {"page": 0.0, "drawing": 0.0}
    for process in processes.send("SystemInfo.getProcessInfo")["processInfo"]:
        kind = {"renderer": "page", "GPU": "drawing"}.get(process["type"])
        if kind is not None:
            used[kind] += process["cpuTime"]
    return used


def _figures(frames: Sequence[Frame]) -> dict[str, Any]:
    took = sorted(milliseconds for _, milliseconds in frames)
    stalls: dict[str, list[float]] = {}
    for phase, milliseconds in frames:
        if milliseconds > STALL_MILLISECONDS:
            stalls.setdefault(phase, []).append(round(milliseconds, 1))
    return {
        "frames": len(took),
        "median_milliseconds": round(took[len(took) // 2], 1),
        "p99_milliseconds": round(took[int(len(took) * 0.99)], 1),
        "longest_milliseconds": round(took[-1], 1),
        f"over_{STALL_MILLISECONDS:.0f}_milliseconds": stalls,
    }
