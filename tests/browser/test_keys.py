"""The keys of the whole page."""

from __future__ import annotations

import pytest

from report_pages import MODELS, note_texts, settled, tabs, wait_for, wait_for_noted_text

pytestmark = pytest.mark.browser

CHOSEN = "document.querySelector('[role=tab][aria-selected=true]').dataset.view"


@pytest.fixture
def page(open_report, report_of):
    return settled(open_report(report_of("resnet32"), state="view=scope"))


def press(page, *keys):
    for key in keys:
        page.keyboard.press(key)
        settled(page)


def focused(page):
    return page.evaluate("document.activeElement.id || document.activeElement.className")


@pytest.mark.parametrize("model", MODELS)
def test_digits_show_the_views_in_order(open_report, report_of, model):
    page = open_report(report_of(model))

    for digit, view in enumerate(tabs(page), start=1):
        press(page, str(digit))
        assert page.evaluate(CHOSEN) == view
        assert focused(page) == f"tab-{view}"


def test_a_slash_leads_to_the_search_field(page):
    press(page, "/")
    assert focused(page) == "search-field"

    page.keyboard.type("unit_1_4/n3?")
    assert page.input_value(".search-field") == "unit_1_4/n3?"
    assert page.evaluate(CHOSEN) == "scope"


def test_n_and_shift_n_select_matches_from_anywhere(page):
    page.fill(".search-field", "unit_1")
    page.locator(".table-grid").focus()
    heading = page.locator(".details h2")

    press(page, "n")
    first = heading.inner_text()
    press(page, "n")
    assert heading.inner_text() != first
    press(page, "N")
    assert heading.inner_text() == first


@pytest.mark.parametrize("modifier", ["Control", "Alt", "Meta"])
def test_keys_with_modifiers_are_left_to_the_browser(page, modifier):
    page.evaluate("""() => {
        window.prevented = [];
        addEventListener("keydown", (event) => window.prevented.push(event.defaultPrevented));
    }""")
    for key in "5/nct":
        page.evaluate(
            """([key, modifier]) => document.body.dispatchEvent(new KeyboardEvent("keydown", {
                key, bubbles: true, cancelable: true,
                ctrlKey: modifier === "Control", altKey: modifier === "Alt",
                metaKey: modifier === "Meta",
            }))""",
            [key, modifier],
        )

    assert page.evaluate("window.prevented") == [False] * 5
    assert page.evaluate(CHOSEN) == "scope"


@pytest.mark.parametrize(
    "field", ["#filter-show_name_regexes", "#filter-order_by", "header select"]
)
def test_keys_do_not_act_in_fields(page, field):
    page.focus(field)

    press(page, "5", "t")

    assert page.evaluate(CHOSEN) == "scope"
    assert page.get_attribute("html", "data-theme") is None


def test_t_chooses_the_next_theme(page):
    found = []
    for _ in range(3):
        press(page, "t")
        found.append(page.inner_text(".theme-button"))

    assert found == ["Theme: light", "Theme: dark", "Theme: system"]


@pytest.mark.parametrize("view", ["scope", "memory"])
def test_c_copies_the_command(open_report, report_of, view):
    page = settled(
        open_report(
            report_of("transformer"),
            state=f"view={view}",
            permissions=["clipboard-read", "clipboard-write"],
        )
    )

    note_texts(page, ".command-bar:not([hidden]) button, #view .command button")
    press(page, "c")

    wait_for_noted_text(page, "Copied")
    copied = page.evaluate("navigator.clipboard.readText()")
    assert copied.startswith(f"tfprof {view} examples/transformer/transformer.tfprof")


def test_escape_clears_the_search_before_the_selection_of_the_timeline(open_report, report_of):
    page = settled(open_report(report_of("transformer"), state="view=timeline&search=matmul"))
    press(page, "n")
    page.locator("[role=application]").focus()
    name = page.inner_text(".timeline-details h2")

    press(page, "Escape")
    assert page.input_value(".search-field") == ""
    assert page.inner_text(".timeline-details h2") == name
    press(page, "Escape")
    assert name not in page.locator(".timeline-details").inner_text()


def test_keys_of_the_timeline_still_act(open_report, report_of):
    page = settled(open_report(report_of("transformer"), state="view=timeline"))
    window = "({ ...document.querySelector('.timeline').dataset })"
    before = page.evaluate(window)

    press(page, "0")

    changed = f"before => JSON.stringify({window}) !== JSON.stringify(before)"
    wait_for(page, "another window of the timeline", changed, before)
    assert page.evaluate(CHOSEN) == "timeline"
