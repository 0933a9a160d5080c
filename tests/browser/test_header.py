"""The header of a report fits into windows of any width."""

from __future__ import annotations

from itertools import combinations

import pytest

from report_pages import THEMES, overflow, settled, show, tabs

pytestmark = pytest.mark.browser

PARTS = ".header h1, .search-field, .search-count, .header button, .header select"


def boxes(page):
    """The parts of the header that are visible, by their texts or classes, with their edges."""
    return page.eval_on_selector_all(
        PARTS,
        """all => all.filter((one) => one.offsetWidth > 0).map((one) => {
            const { left, right, top, bottom } = one.getBoundingClientRect();
            const row = one.closest(".tabs")?.getBoundingClientRect();
            const [first, last] = row ? [row.left, row.right] : [left, right];
            const edges = [Math.max(left, first), Math.min(right, last), top, bottom];
            return [one.textContent + one.className, ...edges];
        }).filter(([, left, right]) => left < right)""",
    )


def overlaps(one, other):
    _, left, right, top, bottom = one
    _, other_left, other_right, other_top, other_bottom = other
    beside = right <= other_left + 1 or other_right <= left + 1
    above = bottom <= other_top + 1 or other_bottom <= top + 1
    return not beside and not above


@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize("width", [1440, 800, 400])
@pytest.mark.parametrize("search", ["", "conv1"])
def test_no_part_of_the_header_is_cut_off_or_covers_another(
    open_report, report_of, width, theme, search
):
    state = f"view=scope&search={search}"
    page = settled(open_report(report_of("resnet32"), width=width, theme=theme, state=state))

    found = boxes(page)
    assert all(left >= 0 and right <= width for _, left, right, _, _ in found), found
    assert [pair for pair in combinations(found, 2) if overlaps(*pair)] == []


@pytest.mark.parametrize("model", ["resnet32", "transformer"])
def test_no_view_is_wider_than_a_narrow_window(open_report, report_of, model):
    page = open_report(report_of(model), width=400)

    for view in tabs(page):
        page.keyboard.press(str(tabs(page).index(view) + 1))
        settled(page)
        assert overflow(page) <= 0, view


def test_the_chosen_tab_is_scrolled_into_view(open_report, report_of):
    page = settled(open_report(report_of("keras_cnn"), width=400))

    for view in ("advice", "overview"):
        show(page, view)
        box = page.locator(f"#tab-{view}").bounding_box()
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= 400


def test_a_long_title_is_cut_off(open_report, report_of):
    page = settled(open_report(report_of("keras_cnn"), width=800))
    page.locator("h1 bdi").evaluate("one => (one.textContent = 'long '.repeat(100))")

    found = boxes(page)
    assert all(right <= 800 for _, _, right, _, _ in found)
    assert [pair for pair in combinations(found, 2) if overlaps(*pair)] == []
