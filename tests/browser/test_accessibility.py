"""axe-core finds nothing wrong with any view of a report."""

from __future__ import annotations

import os

import pytest

from h200 import GPT
from report_pages import MODELS, ROOT, THEMES, settled, show, tabs, write_report

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


@pytest.mark.parametrize("theme", THEMES)
def test_the_view_of_kernels_is_accessible(open_report, tmp_path, theme):
    path = write_report([GPT], tmp_path / "report.html")
    page = settled(open_report(path, theme=theme, bypass_csp=True, state="view=kernels"))
    page.add_script_tag(content=AXE.read_text("utf-8"))

    problems = problems_of(page, "all kernels")
    page.locator(".table-body .table-row").nth(1).click()
    problems += problems_of(page, "a kernel")
    page.fill(".search-field", "cutlass")
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
