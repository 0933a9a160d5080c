"""axe-core finds nothing wrong with any view of a report."""

from __future__ import annotations

import os

import pytest

from report_pages import MODELS, ROOT, THEMES, show, tabs

AXE = ROOT / "node_modules/axe-core/axe.min.js"
# Best practices that do not fit a page that is one application.
LEFT_OUT = {"region"}

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(
        not AXE.exists() and not os.environ.get("TFPROF_REQUIRE_BROWSER"),
        reason="axe-core is not installed: run make check",
    ),
]


@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize("model", MODELS)
def test_views_are_accessible(open_report, report_of, model, theme):
    # The policy of the page forbids other scripts.
    page = open_report(report_of(model), theme=theme, bypass_csp=True)
    views = tabs(page)
    page.add_script_tag(content=AXE.read_text("utf-8"))

    problems = []
    for view in views:
        show(page, view)
        problems += problems_of(page, view)
    page.keyboard.press("?")
    problems += problems_of(page, "help")
    page.keyboard.press("Escape")
    page.fill(".search-field", "a")
    problems += problems_of(page, "search")
    assert not problems, "\n".join(problems)


def problems_of(page, where):
    found = page.evaluate("axe.run({ resultTypes: ['violations'] })")["violations"]
    return [
        f"{where}: {one['impact']}: {one['help']}: {node['html'][:200]}"
        for one in found
        for node in one["nodes"]
        if one["id"] not in LEFT_OUT
    ]
