"""The stored screenshots of the manual, and terminals in them; no test here opens a browser."""

from __future__ import annotations

import re

import terminal_page
from screenshots import IMAGES, ROOT, SCALE, SCREENSHOTS, browser_of, size_of

MANUAL = [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]
LARGEST = 250_000  # bytes


def test_every_screenshot_is_small_and_described_where_it_is_used():
    text = "\n".join(page.read_text("utf-8") for page in MANUAL)
    in_markdown = re.findall(r"!\[[^\]]+\]\([\w/.]*images/([\w-]+)\.png\)", text)
    in_html = re.findall(r'<img src="[\w/.]*images/([\w-]+)\.png"[^>]* alt="[^"]+">', text)

    assert {path.stem for path in IMAGES.glob("*")} == {row.name for row in SCREENSHOTS}
    assert {row.name for row in SCREENSHOTS} == {*in_markdown, *in_html}
    assert all(row.path.stat().st_size < LARGEST for row in SCREENSHOTS)


def test_every_screenshot_has_its_size_and_the_version_of_its_browser():
    for row in SCREENSHOTS:
        picture = row.path.read_bytes()
        assert size_of(picture) == (SCALE * row.width, SCALE * row.height), row.name
        assert re.fullmatch(r"Chromium [\d.]+", browser_of(picture)), row.name


def test_a_terminal_does_not_show_lines_that_were_erased():
    printed = "one\r\n\r\x1b[Ktfprof: reading f … 1 s\r\x1b[Ktfprof: reading f … 2 s\r\x1b[Ktwo\r\n"

    assert terminal_page.shown(printed) == "one\ntwo\n"
