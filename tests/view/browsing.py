"""Debian's Chromium, and a window of it that notes all that a page must not do."""

from __future__ import annotations

import os
import time
from pathlib import Path
from types import TracebackType

from hostile_run import MARK
from playwright.sync_api import Browser, ConsoleMessage, Dialog, Error, Page, Playwright, expect

ROOT = Path(__file__).parent.parent.parent
AXE = ROOT / "web" / "node_modules" / "axe-core" / "axe.min.js"
ARGUMENTS = ["--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--ignore-gpu-blocklist"]
SECONDS = 20.0
NETWORK = "ERR_NETWORK_CHANGED"
"""What Chromium drops its connections with when a sandbox beside it gets a network: the page asks again."""
expect.set_options(timeout=SECONDS * 1000)

_WATCH = """
globalThis.violations = [];
addEventListener("securitypolicyviolation", (event) => globalThis.violations.push(
  `${event.effectiveDirective} ${event.blockedURI} ${event.sourceFile}:${event.lineNumber}`));
"""

_GO = """(place) => new Promise((drawn) => {
  const later = () => requestAnimationFrame(() => requestAnimationFrame(drawn));
  if (location.hash === place) later();
  addEventListener("hashchange", later, {once: true});
  location.hash = place;
})"""

_AXE = """async (rules) => {
  const options = {resultTypes: ["violations"], preload: false, ...(rules ? {runOnly: rules} : {})};
  const {violations} = await axe.run(document, options);
  return violations.map(({id, help, nodes}) =>
    `${id}: ${help}: ${nodes.slice(0, 3).map((node) => node.target.join(" "))}`);
}"""


def launch(engine: Playwright) -> Browser:
    """A browser that draws WebGL without a graphics card; as root it has no sandbox to be in."""
    arguments = [*ARGUMENTS, *(["--no-sandbox"] if os.geteuid() == 0 else [])]
    return engine.chromium.launch(executable_path="/usr/bin/chromium", args=arguments)


class Surfer:
    """A window, and what went wrong in it. Left without a failure, it has nothing to tell."""

    def __init__(self, browser: Browser, *, bypass_policy: bool = False) -> None:
        self._context = browser.new_context(
            viewport={"width": 1280, "height": 800}, color_scheme="light", bypass_csp=bypass_policy
        )
        self._context.set_default_timeout(SECONDS * 1000)
        self._context.add_init_script(_WATCH)
        self.misdeeds: list[str] = []
        self.expected: list[str] = []  # parts of console messages that belong to the test
        self.page: Page = self._context.new_page()
        self.page.on("console", self._said)
        self.page.on("pageerror", lambda problem: self.misdeeds.append(f"an error in the page: {problem}"))
        self.page.on("dialog", self._asked)

    def __enter__(self) -> Surfer:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            if kind is None:
                self.check()
        finally:
            self._context.close()

    def check(self) -> None:
        """Raise if the page did what it must not: an error, a dialog, a breach of its policy."""
        self.misdeeds += self.page.evaluate("globalThis.violations ?? []")
        if (ran := self.page.evaluate(f"globalThis[{MARK!r}] ?? null")) is not None:
            self.misdeeds.append(f"text {ran} of the application was run as a script")
        assert self.misdeeds == [], self.misdeeds

    def go(self, address: str) -> Page:
        """Open an address and wait until the page has drawn something of its own."""
        try:
            self.page.goto(address)
        except Error as problem:
            if NETWORK not in problem.message:
                raise
            self.page.goto(address)
        self.settle()
        return self.page

    def visit(self, place: str) -> Page:
        """Go to another place of the page that is open, as a link does: ``#/map/ledger``."""
        self.page.evaluate(_GO, place)
        self.settle()
        return self.page

    def settle(self) -> None:
        """Wait until nothing is on its way any more."""
        expect(self.page.locator("main *").first).to_be_attached()
        expect(self.page.locator(".spinner, [aria-busy=true]")).to_have_count(0)

    def until(self, condition: str) -> None:
        """Wait until an expression holds. The page's own policy forbids what Playwright has for this."""
        deadline = time.monotonic() + SECONDS
        while not self.page.evaluate(condition):
            assert time.monotonic() < deadline, f"{condition} did not come to hold"
            self.page.wait_for_timeout(20)

    def _said(self, message: ConsoleMessage) -> None:
        if message.type == "error" and not any(part in message.text for part in (NETWORK, *self.expected)):
            self.misdeeds.append(f"the console said: {message.text} ({message.location.get('url')})")

    def _asked(self, dialog: Dialog) -> None:
        self.misdeeds.append(f"a dialog: {dialog.message}")
        dialog.dismiss()


def accessibility_faults(page: Page) -> list[str]:
    """What axe finds in a page as it is, a line each, in light and, as far as colours matter, in dark.

    The page must have been opened with `bypass_policy`.
    """
    if not page.evaluate("'axe' in globalThis"):
        page.add_script_tag(path=AXE)
    faults = [f"light: {each}" for each in page.evaluate(_AXE, None)]
    page.emulate_media(color_scheme="dark")
    faults += [f"dark: {each}" for each in page.evaluate(_AXE, ["color-contrast", "link-in-text-block"])]
    page.emulate_media(color_scheme="light")
    return faults
