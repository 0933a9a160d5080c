"""Fixtures that open report pages in Chromium and allow no message, error or request."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

import report_pages
from page_script import node
from report_pages import SECONDS

__all__ = ["node"]

# The headless shell is Chromium without the windows around pages, and takes half the time.
BROWSERS = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
CHROMIUM = next(filter(None, map(shutil.which, BROWSERS)), "")
# Nothing but the page itself may cause requests.
SWITCHES = [
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-gpu",
    "--disable-quic",
    "--disable-sync",
    "--no-first-run",
]
LOCAL = ("data:", "blob:")
# The policy of a report forbids other style elements.
NO_CARET = """{
  const sheet = new CSSStyleSheet();
  sheet.replaceSync("* { caret-color: transparent !important }");
  document.adoptedStyleSheets.push(sheet);
}"""


# Not for the whole session: while Playwright runs, no other test of the process can use asyncio.
@pytest.fixture(scope="module")
def browser():
    """Chromium, or a skipped test if it is not installed."""
    if not CHROMIUM:
        missing = pytest.fail if os.environ.get("TFPROF_REQUIRE_BROWSER") else pytest.skip
        missing("Chromium is not installed")
    from playwright.sync_api import sync_playwright  # noqa: PLC0415

    # Chromium's sandbox does not work for root.
    switches = [*SWITCHES, "--no-sandbox"] if os.geteuid() == 0 else SWITCHES
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(
            executable_path=CHROMIUM, args=switches, timeout=1000 * SECONDS
        )
        yield chromium
        chromium.close()


class Opener:
    """Opens reports, each in a context of its own, and notes what they must not do.

    Animations and carets are off, and the pointer is outside of the page until a test moves it.
    """

    def __init__(self, browser):
        self.browser = browser
        self.noticed: list[str] = []
        self.allowed: list[str] = []
        self.contexts = []

    def __call__(self, path: Path, **settings):
        """The page of a report; `state` is the part of its URL after the `#`."""
        return self.visit(path.as_uri(), **settings)

    def visit(self, address, *, width=1440, height=900, theme="light", state="", **settings):
        """The page at an address; a page of a server may ask for what is below its address."""
        context = self.browser.new_context(
            viewport={"width": width, "height": height},
            color_scheme=theme,
            **{"reduced_motion": "reduce"} | settings,
        )
        self.contexts.append(context)
        context.set_default_timeout(1000 * SECONDS)
        context.add_init_script(NO_CARET)
        page = context.new_page()
        self.watch(page, address)
        page.goto(address + (f"#{state}" if state else ""))
        page.evaluate("document.fonts.ready.then(() => null)")
        return page

    def allow(self, text):
        """From now on, allow messages and requests that contain this text."""
        self.allowed.append(text)

    def note(self, text):
        if not any(allowed in text for allowed in self.allowed):
            self.noticed.append(text)

    def watch(self, page, address):
        """Note console messages, errors, dialogs and requests other than for the page itself."""
        note = self.note
        page.on("console", lambda message: note(f"console: {message.text}"))
        page.on("pageerror", lambda error: note(f"error: {error}"))
        page.on("dialog", lambda dialog: (note(f"dialog: {dialog.message}"), dialog.dismiss()))
        page.on("popup", lambda popup: note(f"popup: {popup.url}"))
        page.on(
            "request",
            lambda request: (
                None
                if request.url.partition("#")[0] == address
                or request.url.startswith((*LOCAL, *([address] * address.endswith("/"))))
                else note(f"request: {request.url}")
            ),
        )

    def close(self):
        for context in self.contexts:
            context.close()


@pytest.fixture
def open_report(browser):
    """Opens a report from disk; the test fails if the page does anything that is not allowed."""
    opener = Opener(browser)
    yield opener
    opener.close()
    assert opener.noticed == []


@pytest.fixture(scope="module")
def shared_opener(browser):
    """Opens pages that several tests of a module look at; each of them checks what was noticed."""
    opener = Opener(browser)
    yield opener
    opener.close()


@pytest.fixture(scope="session")
def report_of(tmp_path_factory):
    """The report of an example model, by its name; written once for all test processes."""
    folder = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        folder = folder.parent

    def path(model: str) -> Path:
        return report_pages.write_report(report_pages.MODELS[model], folder / f"{model}.html")

    return path
