"""Runs that a viewer has trouble with: hostile, growing, missing, damaged, of a newer format."""

from __future__ import annotations

import json
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest
from browsing import Surfer
from playwright.sync_api import expect
from serving_view import Viewer, refuse_runs, serve_runs

from screensearch import ScreenSearchError, open_run

pytest_plugins = ["browser_fixtures"]


def test_nothing_that_a_hostile_application_says_is_run_or_breaks_a_page(
    surfer: Surfer, library: Viewer
) -> None:
    page = surfer.go(library.address)
    whole = ("map", "states", "figures", "findings", "ambiguous", "summary")
    places = [f"#/{kind}/hostile" for kind in whole]
    places += [f"#/state/hostile/{state}" for state in range(12)]
    places += ["#/path/hostile/5", "#/similar/hostile/5", "#/map/hostile,other"]
    places += ["#/", "#/difference/ledger/hostile"]
    places += [f"#/edge/hostile/{state}/{state + 1}" for state in range(11)]
    places += ["#/explain/hostile/0/1", "#/search?q=%3Cscript%3E", "#/search?q=window", "#/map/%3Cscript%3E"]
    surfer.expected.append("404")  # there is no run of the last name
    for place in places:
        surfer.visit(place)
        assert page.locator(".header").count() == 1, place
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), f"{place} is too wide"
    surfer.check()


def test_the_page_follows_a_run_that_goes_on(surfer: Surfer, tmp_path: Path) -> None:
    run = tmp_path / "growing"
    command = [sys.executable, "-m", "screensearch", "explore", "synthetic:generated?states=2000"]
    explorer = subprocess.Popen(
        [*command, "--seconds", "120", "--seed", "7", "--out", str(run)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        _await_run(run, explorer)
        explorer.send_signal(signal.SIGSTOP)  # until somebody looks, so that there is not much to look at
        with serve_runs(run) as viewer:
            page = surfer.go(viewer.at("#/figures/growing"))
            expect(page.locator(".header")).to_contain_text("live")
            header, facts = page.locator(".run-figures"), page.locator("main .fact-list")
            before = [(each, each.text_content() or "") for each in (header, facts)]
            explorer.send_signal(signal.SIGCONT)
            for moving, text in before:
                expect(moving).not_to_have_text(text)
            explorer.terminate()
            explorer.wait(timeout=60)
            expect(page.locator(".header .live")).to_have_count(0)
            with open_run(run) as ended:
                states, edges = f"{ended.graph.states:,}", f"{ended.graph.edges:,}"
            expect(header.get_by_title(f"{edges} edges", exact=True)).to_be_visible()
            expect(facts).to_contain_text(f"states{states}edges{edges}steps")
            surfer.check()
            page.goto("about:blank")  # a page that still listens would complain of the end of its server
    finally:
        if explorer.poll() is None:
            explorer.kill()
            explorer.wait()


def _await_run(run: Path, explorer: subprocess.Popen[bytes]) -> None:
    """Until it has entries, or its process has ended: then something is wrong."""
    while explorer.poll() is None:
        with suppress(ScreenSearchError), open_run(run) as begun:
            if begun.log.last_sequence > 20:
                return
        time.sleep(0.1)
    raise AssertionError("the exploration ended before it had begun")


@pytest.fixture
def copied(generated_run: Path, tmp_path: Path) -> Path:
    """A run of one's own, to be damaged."""
    return shutil.copytree(generated_run, tmp_path / "copied")


def _newer(run: Path) -> None:
    manifest = json.loads((run / "run.json").read_text())
    (run / "run.json").write_text(json.dumps({**manifest, "format": 99, "version": "9.9"}))


def _damage(run: Path) -> None:
    with (run / "log.sqlite").open("r+b") as log:
        log.write(b"not a database at all" * 200)


def test_a_run_that_cannot_be_read_is_refused_in_words_before_anything_is_served(
    copied: Path, tmp_path: Path
) -> None:
    assert "there is no run at" in refuse_runs(tmp_path / "nothing")
    _newer(copied)
    assert "has format 99, written by screensearch 9.9" in refuse_runs(copied)


def test_a_damaged_run_is_refused_in_words(copied: Path) -> None:
    _damage(copied)
    assert "log.sqlite" in refuse_runs(copied)


@pytest.mark.parametrize(
    ("name", "trouble"), [("removed", shutil.rmtree), ("damaged", _damage), ("newer", _newer)]
)
def test_a_run_that_breaks_while_it_is_shown_is_told_and_the_viewer_lives(
    name: str,
    trouble: Callable[[Path], None],
    surfer: Surfer,
    library: Viewer,
    library_runs: dict[str, Path],
) -> None:
    surfer.expected += ["404", "409", "500"]
    page = surfer.go(library.at(f"#/figures/{name}"))
    trouble(library_runs[name])
    surfer.visit(f"#/findings/{name}")
    expect(page.get_by_role("alert")).to_contain_text(name)
    surfer.visit("#/figures/ledger")
    expect(page.locator("main")).to_contain_text("states")
