"""A tour of reports with the keyboard alone: everything can be reached, selected and seen."""

from __future__ import annotations

import pytest

import tfprof
from report_pages import MODELS, ROOT, painted, settled, tabs, wait_until

pytestmark = pytest.mark.browser

ROWS = ("layers", "scope", "graph", "code", "op")
MOST_STOPS = 150

# The element with the focus: where it is, and a name for elements of its kind.
STOP = """() => {
    const one = document.activeElement;
    const box = one.getBoundingClientRect();
    const kind = one.className.baseVal ?? one.className;
    const isInside = box.bottom > 0 && box.top < innerHeight
        && box.right > 0 && box.left < innerWidth;
    return {
        kind: `${one.tagName}.${kind}`,
        isPage: one === document.body,
        isVisible: one.checkVisibility({ visibilityProperty: true }) && box.width > 0 && isInside,
        role: one.getAttribute("role") ?? "",
    };
}"""


def press(page, *keys):
    for key in keys:
        page.keyboard.press(key)
    settled(page)


def stops(page):
    """The elements that Tab leads to, from the tab of the view to the end of the page."""
    for _ in range(MOST_STOPS):
        page.keyboard.press("Tab")
        stop = page.evaluate(STOP)
        if stop["isPage"]:
            return
        yield stop


def tab_to(page, selector):
    """Press Tab until an element has the focus."""
    for _ in stops(page):
        if page.evaluate("selector => document.activeElement.matches(selector)", selector):
            return
    pytest.fail(f"Tab does not lead to {selector}")


def digit(page, view):
    return str(tabs(page).index(view) + 1)


def details(page):
    settled(page)
    return page.locator(".details h2").inner_text()


@pytest.mark.parametrize("model", MODELS)
def test_tab_leads_through_every_view_to_what_can_be_seen(open_report, report_of, model):
    page = open_report(report_of(model))

    for view in tabs(page):
        press(page, digit(page, view))
        found = list(stops(page))
        assert found, view
        assert len(found) < MOST_STOPS, view
        assert [stop["kind"] for stop in found if not stop["isVisible"]] == [], view


@pytest.mark.parametrize(("model", "view"), [(m, v) for m in MODELS for v in ROWS])
def test_rows_are_selected_in_tables_and_pictures(open_report, report_of, model, view):
    page = settled(open_report(report_of(model)))
    press(page, digit(page, view))
    if page.locator(".empty").count():
        return
    tab_to(page, ".table-grid")
    assert details(page) == "total"

    press(page, "ArrowDown", "ArrowDown", "ArrowUp")
    row = page.locator(".table-row[aria-selected=true]")
    first = row.locator(".table-name").get_attribute("title")
    assert details(page) == first
    press(page, "Home")
    assert details(page) == "total"

    press(page, digit(page, view))
    tab_to(page, ".icicle-canvas, .graph-node")
    press(page, *(["ArrowDown"] if view != "graph" else [" "]))
    if view != "graph":
        name = details(page)
        assert name != "total"
        assert page.locator(".icicle-line .icicle-name").inner_text() == name
        assert row.locator(".table-name").get_attribute("title") == name
    else:
        assert page.locator(".graph-node[aria-selected=true]").count() == 1


def busiest(model):
    """The op that took most of the time, or has most parameters."""
    view = tfprof.load(*(ROOT / word for word in MODELS[model])).graph(max_depth=2**31 - 1).view
    numbers = view.own["nanos"] if view.own["nanos"].any() else view.own["params"]
    return view.name[int(numbers.argmax())]


@pytest.mark.parametrize("model", MODELS)
def test_the_selection_follows_through_all_views(open_report, report_of, model):
    name = busiest(model)
    page = settled(open_report(report_of(model)))
    press(page, "/")
    page.keyboard.type(f"/^{name}$/")
    press(page, "Enter")
    assert details(page) == name
    press(page, "Escape", "Escape")

    for view in [view for view in tabs(page) if view in (*ROWS, "timeline")] * 2:
        press(page, digit(page, view))
        if page.locator(".empty").count():
            continue
        if view == "timeline":
            assert page.inner_text(".timeline-details h2") == name
        elif view in ("scope", "graph"):
            assert details(page) == name
            row = page.locator(".table-row[aria-selected=true] .table-name")
            assert row.get_attribute("title") == name
        else:
            # The row that contains the op.
            assert page.locator(".table-row[aria-selected=true]").count() == 1
            assert details(page) != "total"
        if view == "graph":
            assert page.locator(".graph-node[aria-selected=true]").count() == 1


# A rectangle around the element with the focus, with room for a ring outside of it.
AROUND = """() => {
    const box = document.activeElement.getBoundingClientRect();
    const [x, y] = [Math.max(box.left - 8, 0), Math.max(box.top - 8, 0)];
    const [right, bottom] = [box.right + 8, box.bottom + 8];
    const [width, height] = [Math.min(right, innerWidth) - x, Math.min(bottom, innerHeight) - y];
    return { x, y, width, height };
}"""


def shows_focus(page):
    """Whether the page looks different without the focus."""
    # Carets are hidden already; to hide them again, Playwright would add a style element.
    painted(page)
    clip = page.evaluate(AROUND)
    focused = page.screenshot(caret="initial", clip=clip)
    page.evaluate("window.last = document.activeElement; last.blur()")
    painted(page)
    blurred = page.screenshot(caret="initial", clip=clip)
    page.evaluate("last.focus({ preventScroll: true })")
    return focused != blurred


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_focus_is_always_visible(open_report, report_of, theme):
    page = open_report(report_of("transformer"), theme=theme)
    views = tabs(page)

    seen = set()
    for view in views:
        press(page, digit(page, view))
        for stop in stops(page):
            if (view, stop["kind"]) in seen:
                continue
            seen.add((view, stop["kind"]))
            what = f"a visible focus on {stop['kind']} of the view {view}"
            # A screenshot may show the frame before the one that was painted last.
            wait_until(page, what, lambda: shows_focus(page))
    assert len(seen) > len(views)
