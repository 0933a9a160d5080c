"""The screenshots in the manual show what tfprof shows now.

After an intended change run `make screenshots`, and look at the pictures. Versions of Chromium draw
text differently, so pictures are only compared with those that the same version took.
"""

from __future__ import annotations

import sys
from functools import cache
from pathlib import Path

import pytest

import terminal_page
from report_pages import painted, settled
from screenshots import (
    FEW,
    ROOT,
    SCALE,
    SCREENSHOTS,
    Screenshot,
    browser_of,
    size_of,
    small,
    unlike,
)

sys.path.append(str(ROOT / "docs"))

import gallery

pytestmark = pytest.mark.browser

TRANSFORMER = ROOT / "examples" / "transformer"

# The policy of a report forbids other style elements.
ADD_STYLE = """style => {
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(style);
  document.adoptedStyleSheets.push(sheet);
}"""


@pytest.fixture
def take(open_report):
    """A function that takes a screenshot of a page; `style` is CSS to add to the page."""

    def picture(path, row: Screenshot, *, style: str = "", is_report: bool = False) -> bytes:
        page = open_report(
            path,
            width=row.width,
            height=row.height,
            theme=row.theme,
            state=row.state,
            device_scale_factor=SCALE,
        )
        page.evaluate(ADD_STYLE, style)
        (settled if is_report else painted)(page)
        return page.screenshot(caret="initial")  # carets are hidden already

    return picture


@pytest.fixture(scope="module")
def page_of(tmp_path_factory):
    """A function that returns the path of the page of a screenshot."""
    folder = tmp_path_factory.mktemp("gallery")
    report = cache(lambda name: gallery.write(name, folder))

    def path(row: Screenshot) -> Path:
        if row.commands:
            return terminal_page.write(row.commands, TRANSFORMER, folder / "terminal.html")
        return report(row.report)

    return path


@pytest.mark.parametrize("row", SCREENSHOTS, ids=lambda row: row.name)
def test_a_screenshot_shows_what_tfprof_shows_now(row, take, browser, page_of, request):
    installed = f"Chromium {browser.version}"

    picture = take(page_of(row), row, is_report=not row.commands)
    if request.config.getoption("--update-screenshots"):
        row.path.write_bytes(small(picture, installed))

    stored = row.path.read_bytes()
    assert size_of(picture) == size_of(stored), "another size: make screenshots"
    if browser_of(stored) != installed:
        pytest.skip(f"taken with {browser_of(stored)}: not compared with {installed}")
    assert unlike(picture, stored) <= FEW, "changed: make screenshots"


# A page with a header, text, and a panel with a picture, light or dark as the system.
PAGE = f"""<!DOCTYPE html><title>page</title>
<style>
  :root {{ color-scheme: light dark; font: 14px sans-serif; }}
  body {{ margin: 0 24px; }}
  aside {{ float: right; width: 300px; height: 240px; background: #3b6fd4; }}
</style>
<header><h1>page</h1></header><aside></aside>
{"<p>A name 12.34 ms, another name and its 56 %</p>" * 20}
"""
ROW = Screenshot("page", width=900, height=600)


@pytest.fixture
def page(tmp_path):
    path = tmp_path / "page.html"
    path.write_text(PAGE, encoding="utf-8")
    return path


@pytest.mark.parametrize(
    "style", ["", "body { font-family: serif }", "body { font-family: monospace; color: #222 }"]
)
def test_a_page_in_another_font_looks_alike(style, take, page):
    assert unlike(take(page, ROW), take(page, ROW, style=style)) <= FEW


@pytest.mark.parametrize(
    "style",
    [
        "aside { visibility: hidden }",
        "aside { float: left }",
        "header { height: 160px }",
        "p { visibility: hidden }",
        ":root { color-scheme: dark }",
    ],
)
def test_a_changed_layout_a_missing_panel_or_another_theme_is_noticed(style, take, page):
    assert unlike(take(page, ROW), take(page, ROW, style=style)) > FEW


def test_a_picture_of_another_size_is_noticed(take, page):
    larger = Screenshot("page", width=900, height=700)

    assert unlike(take(page, ROW), take(page, larger)) == 1
