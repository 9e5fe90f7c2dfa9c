"""A report in a real browser, from disk, with no network."""

from __future__ import annotations

from pathlib import Path

import pytest
from browsing import Surfer, accessibility_faults
from playwright.sync_api import Browser, expect

from screensearch.view.report import write_report
from screensearch.view.report_contents import ReportLimits

pytest_plugins = ["browser_fixtures"]

PAGES = (
    *("map/RUN", "states/RUN", "state/RUN/0", "edge/RUN/0/1", "path/RUN/3", "explain/RUN/0/1"),
    *("figures/RUN", "findings/RUN", "ambiguous/RUN", "search?q=window"),
)


@pytest.fixture(scope="module", params=["file", "folder"])
def report(
    request: pytest.FixtureRequest, generated_run: Path, tmp_path_factory: pytest.TempPathFactory
) -> Path:
    limits = ReportLimits() if request.param == "file" else ReportLimits(file_bytes=1_000)
    out = tmp_path_factory.mktemp("report") / "ours"
    written = write_report(generated_run, out, limits=limits)
    assert (written.folder is None) == (request.param == "file")
    return written.path


def test_a_report_opens_from_disk_and_asks_nobody(surfer: Surfer, report: Path) -> None:
    asked: list[str] = []
    surfer.page.on("request", lambda request: asked.append(request.url))
    page = surfer.go(report.as_uri())
    expect(page.locator("h1")).to_contain_text("ledger")
    expect(page.locator("main")).to_contain_text("40")
    for place in PAGES:
        surfer.visit(f"#/{place.replace('RUN', 'ledger')}")
    assert [url for url in asked if not url.startswith(("file:", "data:", "blob:"))] == []


def test_a_report_shows_a_state_with_its_picture_and_finds_words(surfer: Surfer, report: Path) -> None:
    page = surfer.go(f"{report.as_uri()}#/state/ledger/0")
    picture = page.get_by_role("img", name="Screenshot of state 0")
    expect(picture).to_be_visible()
    surfer.until("document.querySelector('img[alt^=Screenshot]').naturalWidth === 640")
    surfer.visit("#/search?q=customers")
    expect(page.locator("main a[href*='#/state/']").first).to_be_visible()
    surfer.visit("#/explain/ledger/0/1")
    expect(page.get_by_role("alert")).to_contain_text("left out of the report")


def test_a_report_says_what_it_lacks(surfer: Surfer, generated_run: Path, tmp_path: Path) -> None:
    written = write_report(generated_run, tmp_path / "small", limits=ReportLimits(states=5, edges=3))
    assert any("5 of 40 states" in sentence for sentence in written.lacks)
    page = surfer.go(written.path.as_uri())
    expect(page.locator("main")).to_contain_text("5 of 40 states have a page")


def test_nothing_that_a_hostile_application_says_is_run_in_its_report(
    surfer: Surfer, hostile_run: Path, tmp_path: Path
) -> None:
    page = surfer.go(write_report(hostile_run, tmp_path / "hostile").path.as_uri())
    for place in (*PAGES, *(f"state/RUN/{state}" for state in range(12))):
        surfer.visit(f"#/{place.replace('RUN', 'hostile')}")
        assert page.locator(".header").count() == 1, place
    surfer.check()


def test_the_summary_is_accessible_as_far_as_axe_can_tell(chromium: Browser, report: Path) -> None:
    with Surfer(chromium, bypass_policy=True) as surfer:
        assert accessibility_faults(surfer.go(report.as_uri())) == []
