"""What is seen of the viewer in a real headless Chromium: the first picture, and how fluently it moves."""

from __future__ import annotations

import os
import time
from typing import Any

from playwright.sync_api import Page, sync_playwright

DRAWN = "performance.getEntriesByName('screensearch:map-drawn')[0]?.startTime ?? null"
SECONDS = 120.0
MOVES = 40

_FRAMES = """() => {
  globalThis.frames_seen = [];
  let last = performance.now();
  const note = (now) => {
    globalThis.frames_seen.push(now - last);
    last = now;
    globalThis.frames_asked = requestAnimationFrame(note);
  };
  globalThis.frames_asked = requestAnimationFrame(note);
}"""


def measure_browser(address: str, name: str, *, moves: bool) -> dict[str, Any]:
    """Open the map in a browser that has never seen it; with `moves`, pan and zoom and note every frame."""
    arguments = ["--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--ignore-gpu-blocklist"]
    if os.geteuid() == 0:
        arguments.append("--no-sandbox")
    with sync_playwright() as engine:
        browser = engine.chromium.launch(executable_path="/usr/bin/chromium", args=arguments)
        page = browser.new_page(viewport={"width": 1600, "height": 900})
        page.goto(f"{address}#/map/{name}", wait_until="commit", timeout=SECONDS * 1000)
        drawn = _await_picture(page)
        result: dict[str, Any] = {"first_picture_seconds": round(drawn / 1000, 2)}
        if moves:
            result["frames"] = _move(page)
        browser.close()
    return result


def _await_picture(page: Page) -> float:
    """Milliseconds from the beginning of the navigation until the first frame that shows the states."""
    deadline = time.monotonic() + SECONDS
    while (drawn := page.evaluate(DRAWN)) is None:
        if time.monotonic() > deadline:
            raise RuntimeError(f"the map was not drawn within {SECONDS:.0f} s")
        page.wait_for_timeout(20)
    return float(drawn)


def _move(page: Page) -> dict[str, Any]:
    """Drag and turn the wheel; the page's own frames tell how it kept up."""
    box = page.locator("main canvas").last.bounding_box()
    assert box is not None
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    told = {}
    for kind in ("pan", "zoom"):
        page.mouse.move(x, y)
        page.evaluate(_FRAMES)
        if kind == "pan":
            page.mouse.down()
            for place in range(MOVES):
                page.mouse.move(x + 6 * place, y + 3 * place)
            page.mouse.up()
        else:
            for place in range(MOVES):
                page.mouse.wheel(0, -120 if place < MOVES // 2 else 120)
        page.wait_for_timeout(500)
        frames = sorted(
            page.evaluate("(cancelAnimationFrame(globalThis.frames_asked), globalThis.frames_seen)")
        )
        told[kind] = {
            "frames": len(frames),
            "median_milliseconds": round(frames[len(frames) // 2], 1),
            "p99_milliseconds": round(frames[int(len(frames) * 0.99)], 1),
            "longest_milliseconds": round(frames[-1], 1),
        }
    return told
