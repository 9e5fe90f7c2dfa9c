"""Takes the pictures of the viewer that the README and the docs show, of a real run, in Debian's Chromium.

python scripts/take_screenshots.py RUN [--out docs/images]
"""

from __future__ import annotations

import argparse
import io
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from PIL import Image
from playwright.sync_api import Browser, Page, expect, sync_playwright

ROOT = Path(__file__).resolve().parent.parent
SIZE = (1280, 800)
MOST_BYTES = 250_000
COLOURS = 256
SECONDS = 60.0

Place = tuple[str, str]  # the file's name, and the page's address


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("run", type=Path, help="a run with screenshots, such as one of mousepad")
    parser.add_argument("--out", type=Path, default=ROOT / "docs" / "images")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    arguments = ["--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--ignore-gpu-blocklist"]
    if os.geteuid() == 0:
        arguments.append("--no-sandbox")  # root has none
    with served(options.run) as address, sync_playwright() as engine:
        browser = engine.chromium.launch(executable_path="/usr/bin/chromium", args=arguments)
        page = opened(browser, address, "light")
        places = worth_seeing(page)
        for name, place in places:
            take(page, place, options.out / f"viewer-{name}.png")
        dark = opened(browser, address, "dark")
        take(dark, dict(places)["map"], options.out / "viewer-map-dark.png")
        browser.close()
    return 0


@contextmanager
def served(run: Path) -> Iterator[str]:
    """The address of `screensearch view`, for as long as the body lasts."""
    command = [sys.executable, "-m", "screensearch", "view", "--json", str(run)]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)  # noqa: S603  # our own
    assert server.stdout is not None
    try:
        told = ""
        for line in server.stdout:
            told += line
            if line == "}\n":
                break
        if not told:
            raise SystemExit(f"screensearch view does not show {run}")
        yield json.loads(told)["address"]
    finally:
        server.send_signal(signal.SIGINT)
        server.wait(timeout=SECONDS)


def opened(browser: Browser, address: str, scheme: Any) -> Page:
    width, height = SIZE
    page = browser.new_page(viewport={"width": width, "height": height}, color_scheme=scheme)
    page.set_default_timeout(SECONDS * 1000)
    page.goto(address)
    return page


def worth_seeing(page: Page) -> list[Place]:
    """The pages to show; where they are about a state, about the most ambiguous action of the run."""
    run = answer(page, "api/runs")["runs"][0]["run"]
    ambiguous = answer(page, f"api/runs/{run}/ambiguities")["actions"]
    state, first, second = 0, 0, 1
    if ambiguous:
        state = ambiguous[0]["state"]
        first, second = (each["state"] for each in ambiguous[0]["successors"][:2])
    return [
        ("map", f"#/map/{run}?state={state}"),
        ("state", f"#/state/{run}/{state}"),
        ("edge", f"#/edge/{run}/{state}/{first}"),
        ("explain", f"#/explain/{run}/{first}/{second}"),
        ("figures", f"#/figures/{run}"),
        ("summary", f"#/summary/{run}"),
    ]


def answer(page: Page, address: str) -> Any:
    return page.evaluate("(address) => fetch(address).then((answer) => answer.json())", address)


def take(page: Page, place: str, file: Path) -> None:
    """Open a place, wait until it is drawn, and write it with few colours: the docs need no more."""
    page.evaluate("(place) => { location.hash = place; }", place)
    expect(page.locator("main h1, main canvas").first).to_be_visible()
    expect(page.locator(".spinner, [aria-busy=true]")).to_have_count(0, timeout=SECONDS * 1000)
    if place.startswith("#/map"):
        await_true(page, "performance.getEntriesByName('screensearch:map-drawn').length > 0")
    await_true(page, "[...document.images].every((each) => each.complete || each.loading === 'lazy')")
    page.wait_for_load_state("networkidle")
    page.wait_for_timeout(1_500)  # small pictures of a map are drawn one after the other
    with Image.open(io.BytesIO(page.screenshot())) as picture:
        plain = picture.convert("RGB").quantize(COLOURS, dither=Image.Dither.NONE)
    plain.save(file, "PNG", optimize=True)
    size = file.stat().st_size
    print(f"{file}  {size / 1000:.0f} kB")
    if size > MOST_BYTES:
        raise SystemExit(f"{file} is larger than {MOST_BYTES / 1000:.0f} kB: show less on it")


def await_true(page: Page, condition: str) -> None:
    """Wait for an expression to hold: the page's policy forbids what Playwright has for this."""
    deadline = time.monotonic() + SECONDS
    while not page.evaluate(condition):
        if time.monotonic() > deadline:
            raise SystemExit(f"{condition} did not come to hold")
        page.wait_for_timeout(50)


if __name__ == "__main__":
    sys.exit(main())
