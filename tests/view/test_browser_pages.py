"""What a person does in the viewer, in a real browser, against a real `screensearch view`."""

from __future__ import annotations

import re
from pathlib import Path

from browsing import Surfer, accessibility_faults
from playwright.sync_api import Browser, expect
from serving_view import Viewer

from screensearch import open_run

pytest_plugins = ["browser_fixtures"]

RUN = "ledger"
PAGES = (
    *("#/", "#/nowhere", "#/search", "#/search?q=invoice", "#/findings/hostile"),
    *(f"#/map/{RUN}", f"#/map/{RUN}?state=3&path=1", f"#/map/{RUN},other", f"#/map/{RUN}?webgl=0"),
    *(f"#/states/{RUN}", f"#/state/{RUN}/1?show=all", f"#/similar/{RUN}/1", f"#/path/{RUN}/5"),
    *(f"#/figures/{RUN}", f"#/findings/{RUN}", f"#/ambiguous/{RUN}", f"#/summary/{RUN}"),
    *(f"#/explain/{RUN}/3", f"#/explain/{RUN}/0/1", f"#/difference/{RUN}/other", "#/difference/other"),
)


def test_the_address_that_is_printed_shows_the_run_and_loses_its_token(
    surfer: Surfer, ledger: Viewer
) -> None:
    page = surfer.go(ledger.address)
    expect(page.get_by_text(RUN, exact=True).first).to_be_visible()
    expect(page.locator(".header")).to_contain_text("40 states")
    expect(page.locator(".header")).to_contain_text("130 edges")
    assert "token" not in page.url


def test_from_a_search_a_click_leads_to_a_state_then_to_an_edge_then_to_its_explanation(
    surfer: Surfer, ledger: Viewer
) -> None:
    page = surfer.go(ledger.address)
    page.keyboard.press("/")
    page.keyboard.type("customers")
    page.keyboard.press("Enter")
    results = page.locator("main a[href*='#/state/']")
    expect(results.first).to_be_visible()
    results.first.click()
    expect(page.locator("h1")).to_contain_text(re.compile(r"State \d+"))
    page.goto(ledger.at(f"#/state/{RUN}/0"))
    expect(page.locator("h1")).to_contain_text("State 0")
    page.locator("main a[href*='#/edge/']").first.click()
    expect(page.locator("h1")).to_contain_text(re.compile(r"Edge 0 → \d+"))
    page.get_by_role("link", name="Why these are two states").click()
    expect(page.locator("main")).to_contain_text("0.93")
    assert "#/explain/" in page.url


def test_an_element_of_a_screen_tells_what_it_is(surfer: Surfer, ledger: Viewer) -> None:
    page = surfer.go(ledger.at(f"#/state/{RUN}/0?show=all"))
    expect(page.get_by_role("img", name="Screenshot of state 0")).to_be_visible()
    page.get_by_role("option", name="menuitem “file”").hover()
    details = page.locator(".element-details")
    expect(details).to_contain_text("menuitem")
    expect(details).to_contain_text("r0_c1|file")


def test_a_link_reopened_in_another_browser_shows_the_same(
    surfer: Surfer, chromium: Browser, ledger: Viewer
) -> None:
    page = surfer.go(ledger.at(f"#/state/{RUN}/2"))
    page.get_by_role("radio", name="Clickable").check()
    link = page.evaluate("location.hash")
    text = page.locator("main").inner_text()
    with Surfer(chromium) as colleague:
        reopened = colleague.go(ledger.at(link))
        expect(reopened.locator("h1")).to_contain_text("State 2")
        assert reopened.locator("main").inner_text() == text


def test_back_and_forward_go_through_the_pages(surfer: Surfer, ledger: Viewer) -> None:
    page = surfer.go(ledger.at(f"#/state/{RUN}/1"))
    page.get_by_role("link", name="Figures").click()
    expect(page.locator("h1")).not_to_contain_text("State")
    page.go_back()
    expect(page.locator("h1")).to_contain_text("State 1")
    page.go_forward()
    expect(page.locator("h1")).not_to_contain_text("State")


def test_a_state_that_is_not_there_is_said_to_be_missing(surfer: Surfer, ledger: Viewer) -> None:
    surfer.expected.append("404")
    page = surfer.go(ledger.at(f"#/state/{RUN}/4000"))
    expect(page.get_by_role("alert")).to_contain_text("no state 4000")
    expect(page.get_by_role("link", name="To the start")).to_be_visible()


def test_a_run_that_is_not_shown_is_said_to_be_missing(surfer: Surfer, ledger: Viewer) -> None:
    surfer.expected.append("404")
    page = surfer.go(ledger.at("#/figures/elsewhere"))
    expect(page.locator("main")).to_contain_text("elsewhere")


def test_every_page_is_accessible_as_far_as_axe_can_tell(
    chromium: Browser, library: Viewer, generated_run: Path
) -> None:
    with open_run(generated_run) as run:
        source, target = next((edge[0], edge[2]) for edge in run.graph.iter_edges() if edge[0] != edge[2])
    faults = {}
    with Surfer(chromium, bypass_policy=True) as surfer:
        page = surfer.go(library.address)
        for place in (*PAGES, f"#/edge/{RUN}/{source}/{target}"):
            surfer.visit(place)
            if found := accessibility_faults(page):
                faults[place] = found
        page.keyboard.press("?")
        expect(page.get_by_role("dialog", name="Keys")).to_be_visible()
        if found := accessibility_faults(page):
            faults["the list of keys"] = found
    assert faults == {}


def test_the_map_draws_its_states_and_its_keys_work_at_once(surfer: Surfer, ledger: Viewer) -> None:
    page = surfer.go(ledger.at(f"#/map/{RUN}"))
    surfer.until("performance.getEntriesByName('screensearch:map-drawn').length > 0")
    expect(page.get_by_role("application", name="Map of 40 states")).to_be_visible()
    page.keyboard.press("n")
    expect(page).to_have_url(re.compile(r"[?&]state=0\b"))
    page.keyboard.press("Enter")
    expect(page.locator("h1")).to_contain_text("State 0")


def test_a_map_that_was_moved_lets_one_go(surfer: Surfer, ledger: Viewer) -> None:
    page = surfer.go(ledger.at(f"#/map/{RUN}"))
    surfer.until("performance.getEntriesByName('screensearch:map-drawn').length > 0")
    page.keyboard.press("+")
    expect(page).to_have_url(re.compile(r"[?&]z="))
    page.get_by_role("link", name="Figures").click()
    expect(page).to_have_url(re.compile("#/figures/"))
    page.wait_for_timeout(1000)  # there is no sign of a camera that does not come to rest any more
    expect(page).to_have_url(re.compile("#/figures/"))


def test_a_drag_moves_the_map_and_no_sheet_without_anything_on_it_is_drawn(
    surfer: Surfer, ledger: Viewer
) -> None:
    page = surfer.go(ledger.at(f"#/map/{RUN}"))
    surfer.until("performance.getEntriesByName('screensearch:map-drawn').length > 0")
    shown = """[...document.querySelectorAll('.map-stage canvas')]
        .filter((sheet) => sheet.checkVisibility({visibilityProperty: true}))
        .map((sheet) => sheet.className.replace('sigma-', ''))"""
    assert {"near", "mouse"} <= set(page.evaluate(shown)) <= {"edges", "nodes", "near", "mouse"}
    page.locator(".sigma-mouse").drag_to(page.locator(".sigma-mouse"), target_position={"x": 30, "y": 30})
    expect(page).to_have_url(re.compile(r"[?&]x="))
    surfer.until("!document.querySelector('.map-stage').classList.contains('moving')")
    page.keyboard.press("n")
    surfer.until(f"{shown}.includes('focus')")
    page.keyboard.press("Escape")
    surfer.until(f"!{shown}.includes('focus')")


def test_keys_pressed_quickly_all_move_the_map_and_the_whole_of_it_needs_no_place_in_the_address(
    surfer: Surfer, ledger: Viewer
) -> None:
    page = surfer.go(ledger.at(f"#/map/{RUN}"))
    surfer.until("performance.getEntriesByName('screensearch:map-drawn').length > 0")
    zoom = "Number(new URLSearchParams(location.hash.split('?')[1]).get('z'))"
    page.keyboard.press("+")
    surfer.until(f"{zoom} > 0")
    once = page.evaluate(zoom)
    for _ in range(3):
        page.keyboard.press("+")
    surfer.until(f"Math.abs({once} / {zoom} / 1.5 ** 3 - 1) < 0.01")
    page.keyboard.press("0")
    surfer.until("!location.hash.includes('z=')")
    page.wait_for_timeout(600)  # longer than the map takes to note where it came to rest
    assert "z=" not in page.evaluate("location.hash")


TIMES = re.compile(r"([\d,]+) times?$")


def test_the_pages_agree_with_the_run(surfer: Surfer, ledger: Viewer, generated_run: Path) -> None:
    with open_run(generated_run) as run:
        times = sum(finding.count for finding in run.findings())
        visits = run.state(0).visits
    page = surfer.go(ledger.at(f"#/state/{RUN}/0"))
    row = page.locator(".fact-list > div").filter(has=page.locator("dt", has_text=re.compile("^visits$")))
    expect(row.locator("dd")).to_have_text(f"{visits:,}")
    surfer.go(ledger.at(f"#/findings/{RUN}"))
    expect(page.locator("h2[id^=findings-], .notice-title").first).to_be_visible()
    told = page.locator("h2[id^=findings-]").all_inner_texts()
    assert sum(int(each.replace(",", "")) for text in told for each in TIMES.findall(text)) == times
