"""The screenshots in the manual show what tfprof shows now.

After an intended change run `make screenshots`, and look at the pictures.
"""

from __future__ import annotations

import re
import sys
from functools import cache

import pytest

import terminal_page
from screenshots import FEW, IMAGES, ROOT, SCALE, SCREENSHOTS, Screenshot, small, unlike

sys.path.append(str(ROOT / "docs"))

import gallery

TRANSFORMER = ROOT / "examples" / "transformer"
MANUAL = [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]
LARGEST = 250_000  # bytes

# The policy of a report forbids other style elements.
ADD_STYLE = """style => {
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(style);
  document.adoptedStyleSheets = [sheet];
}"""


@pytest.fixture
def take(open_report):
    """A function that takes a screenshot of a page; `style` is CSS to add to the page."""

    def picture(path, row: Screenshot, style: str = "") -> bytes:
        page = open_report(
            path,
            width=row.width,
            height=row.height,
            theme=row.theme,
            state=row.state,
            device_scale_factor=SCALE,
        )
        page.wait_for_load_state("networkidle")
        page.evaluate(ADD_STYLE, style)
        return page.screenshot()

    return picture


@pytest.fixture(scope="module")
def gallery_report(tmp_path_factory):
    """A function that returns the path of a report of the gallery."""
    folder = tmp_path_factory.mktemp("gallery")
    return cache(lambda name: gallery.write(name, folder))


@pytest.mark.parametrize("row", SCREENSHOTS, ids=lambda row: row.name)
def test_a_screenshot_shows_what_tfprof_shows_now(row, take, gallery_report, tmp_path, request):
    if row.commands:
        path = terminal_page.write(row.commands, TRANSFORMER, tmp_path / "terminal.html")
    else:
        path = gallery_report(row.report)

    picture = take(path, row)
    if request.config.getoption("--update-screenshots"):
        row.path.write_bytes(small(picture))

    assert unlike(picture, row.path.read_bytes()) <= FEW, "changed: make screenshots"


def test_every_screenshot_is_small_and_described_where_it_is_used():
    text = "\n".join(page.read_text("utf-8") for page in MANUAL)
    in_markdown = re.findall(r"!\[[^\]]+\]\([\w/.]*images/([\w-]+)\.png\)", text)
    in_html = re.findall(r'<img src="[\w/.]*images/([\w-]+)\.png"[^>]* alt="[^"]+">', text)

    assert {path.stem for path in IMAGES.glob("*")} == {row.name for row in SCREENSHOTS}
    assert {row.name for row in SCREENSHOTS} == {*in_markdown, *in_html}
    assert all(row.path.stat().st_size < LARGEST for row in SCREENSHOTS)


def test_a_terminal_does_not_show_lines_that_were_erased():
    printed = "one\r\n\r\x1b[Ktfprof: reading f … 1 s\r\x1b[Ktfprof: reading f … 2 s\r\x1b[Ktwo\r\n"

    assert terminal_page.shown(printed) == "one\ntwo\n"


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
    assert unlike(take(page, ROW), take(page, ROW, style)) <= FEW


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
    assert unlike(take(page, ROW), take(page, ROW, style)) > FEW


def test_a_picture_of_another_size_is_noticed(take, page):
    larger = Screenshot("page", width=900, height=700)

    assert unlike(take(page, ROW), take(page, larger)) == 1
