"""The help dialog: what each view means, and all keys."""

from __future__ import annotations

import pytest

from page_script import ask, needs_node
from report_pages import settled, tabs, wait_for

pytestmark = pytest.mark.browser


@pytest.fixture
def page(open_report, report_of):
    return settled(open_report(report_of("resnet32"), state="view=scope"))


def is_open(page):
    settled(page)
    return page.locator("dialog[open]").count() == 1


def test_help_starts_with_the_view_that_is_shown_and_has_all_others(page):
    views = tabs(page)

    page.keyboard.press("?")

    found = page.locator("dialog [data-view]").evaluate_all(
        "all => all.map(one => [one.dataset.view, one.textContent.length > 100])"
    )
    assert found[0] == ["scope", True]
    assert sorted(found) == sorted([view, True] for view in views)


@needs_node
def test_help_lists_all_keys_those_of_the_view_first(page):
    page.keyboard.press("5")
    page.keyboard.press("?")

    rows = page.locator(".help-keys tr").evaluate_all(
        "all => all.map(row => [...row.cells].map(cell => cell.textContent))"
    )
    every = [[row["label"], row["meaning"]] for part in ask("keys") for row in part["keys"]]
    assert sorted(rows) == sorted(every)
    titles = page.locator(".help-keys caption").all_inner_texts()
    assert titles[:3] == ["Keys everywhere", "Keys in the picture", "Keys in the table"]


@pytest.mark.parametrize("close", ["Escape", "Close", "outside"])
def test_help_keeps_the_focus_and_returns_it(page, close):
    page.locator(".table-grid").focus()
    page.keyboard.press("?")
    assert is_open(page)
    for _ in range(6):
        page.keyboard.press("Tab")
        # Between the last and the first element, the focus is in the window of the browser.
        assert page.evaluate("document.activeElement.closest('dialog, body')?.tagName")
        assert page.evaluate("!document.activeElement.closest('header, main')")

    if close == "Escape":
        page.keyboard.press("Escape")
    elif close == "Close":
        page.get_by_role("button", name="Close").click()
    else:
        page.mouse.click(5, 400)

    assert not is_open(page)
    assert page.evaluate("document.activeElement.className") == "table-grid"


def test_the_button_opens_help(page):
    page.get_by_role("button", name="Help").click()

    assert is_open(page)


def test_keys_of_the_page_rest_while_help_is_open(page):
    page.keyboard.press("?")
    for key in ("5", "t", "/"):
        page.keyboard.press(key)

    assert is_open(page)
    assert page.get_attribute("#tab-scope", "aria-selected") == "true"
    assert page.get_attribute("html", "data-theme") is None


def test_arrow_keys_scroll_help(page):
    page.keyboard.press("?")
    page.keyboard.press("End")

    wait_for(
        page,
        "the end of the help",
        """() => {
            const help = document.querySelector(".help-content");
            const end = help.scrollHeight - help.clientHeight;
            return help.scrollTop > 100 && help.scrollTop >= end - 1;
        }""",
    )


@pytest.mark.parametrize("width", [800, 400])
def test_help_fits_into_a_narrow_window(open_report, report_of, width):
    page = settled(open_report(report_of("keras_cnn"), width=width, height=600))
    page.keyboard.press("?")

    box = page.locator("dialog").bounding_box()
    assert box["x"] >= 0
    assert box["x"] + box["width"] <= width
    assert box["y"] + box["height"] <= 600
    inside = page.locator(".help-content")
    assert inside.evaluate("one => one.scrollWidth - one.clientWidth") <= 0
