"""One browser for the tests of a module, and runs that several of them look at."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from browsing import Surfer, launch
from hostile_run import make_hostile_run
from playwright.sync_api import Browser, sync_playwright
from serving_view import Viewer, serve_runs

from view_run import make_run


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    """While it is there, its event loop runs in this thread, and no other test could have one."""
    with sync_playwright() as engine:
        browser = launch(engine)
        yield browser
        browser.close()


@pytest.fixture
def surfer(chromium: Browser) -> Iterator[Surfer]:
    """A browser window of its own, which ends the test if a page misbehaved in it."""
    with Surfer(chromium) as surfer:
        yield surfer


@pytest.fixture(scope="session")
def generated_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Forty states with pictures, some of them ambiguous."""
    folder = tmp_path_factory.mktemp("generated") / "ledger"
    make_run(folder, states=40, edges=130)
    return folder


@pytest.fixture(scope="session")
def hostile_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("hostile") / "hostile"
    make_hostile_run(folder)
    return folder


@pytest.fixture(scope="session")
def ledger(generated_run: Path) -> Iterator[Viewer]:
    """The viewer of the generated run."""
    with serve_runs(generated_run) as viewer:
        yield viewer


@pytest.fixture(scope="session")
def library_runs(
    generated_run: Path, hostile_run: Path, tmp_path_factory: pytest.TempPathFactory
) -> dict[str, Path]:
    """Runs by their names: one to look at, one of the same application, a hostile one, some to be broken."""
    folder = tmp_path_factory.mktemp("library")
    other = folder / "other"
    make_run(other, states=20, edges=60, seed=8)
    copies = [shutil.copytree(generated_run, folder / name) for name in ("removed", "damaged", "newer")]
    return {run.name: run for run in (generated_run, other, hostile_run, *copies)}


@pytest.fixture(scope="session")
def library(library_runs: dict[str, Path]) -> Iterator[Viewer]:
    """One viewer of several runs."""
    with serve_runs(*library_runs.values()) as viewer:
        yield viewer
