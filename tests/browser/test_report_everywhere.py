"""Reports of three models at two widths in both themes: every view works, quietly."""

from __future__ import annotations

from itertools import product

import pytest

from report_pages import MODELS, THEMES, WIDTHS, overflow, settled, show, tabs

pytestmark = pytest.mark.browser


@pytest.mark.parametrize(("model", "width", "theme"), list(product(MODELS, WIDTHS, THEMES)))
def test_every_view_is_shown_without_message_or_request(
    open_report, report_of, model, width, theme
):
    page = open_report(report_of(model), width=width, theme=theme)

    for view in tabs(page):
        show(page, view)
        assert page.locator("main").inner_text().strip(), view
        assert overflow(page) <= 0, view


@pytest.mark.parametrize("model", MODELS)
def test_every_view_is_reached_with_the_keyboard_alone(open_report, report_of, model):
    page = settled(open_report(report_of(model)))
    for _ in range(20):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.role === 'tab'"):
            break

    views = tabs(page)
    reached = []
    for _ in views:
        settled(page)
        chosen = page.evaluate(
            "document.querySelector('[role=tab][aria-selected=true]').dataset.view"
        )
        assert page.evaluate("document.activeElement.dataset.view") == chosen
        assert page.locator("[role=tabpanel]").get_attribute("aria-labelledby") == f"tab-{chosen}"
        reached.append(chosen)
        page.keyboard.press("ArrowRight")
    assert reached == views
