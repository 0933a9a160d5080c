"""Each view of a report, of a comparison and of a served page shows its numbers.

All other tests of pages are in the tier `browser`.
"""

from __future__ import annotations

import re
from contextlib import chdir

import pytest

import tfprof
from diff_pages import loaded, rows_of, write_page
from page_server import serve
from report_pages import MODELS, ROOT, settled, show, table_rows, tabs
from tfprof.comparison.diff import build_diff
from tfprof.options import Options
from tfprof.page.views import whole

MODEL = "transformer"
EVERY_ROW = 2**31 - 1
VIEWS = re.findall(
    r'^  \{ key: "(\w+)"',
    (ROOT / "src/tfprof/page/static/views.js").read_text("utf-8"),
    re.MULTILINE,
)

# The model ran on a CPU; see `test_kernels_page.py`.
VIEWS_WITHOUT_KERNELS = VIEWS[:-1]


@pytest.fixture(scope="module")
def profile():
    with chdir(ROOT):
        return tfprof.load(*MODELS[MODEL])


@pytest.fixture(scope="module")
def shared_page(shared_opener, report_of):
    return settled(shared_opener(report_of(MODEL)))


@pytest.fixture
def page(shared_opener, shared_page):
    """The report, which is opened once; the test fails if it does anything that is not allowed."""
    yield shared_page
    noticed, shared_opener.noticed = shared_opener.noticed, []
    assert noticed == []


def values(page, selector):
    """The exact numbers of the elements that match."""
    return [
        int(value)
        for value in page.locator(selector).evaluate_all("all => all.map(one => one.dataset.value)")
    ]


def check_overview(page, profile):
    (times,) = profile.step_times().summaries
    total = profile.scope(select="params,float_ops").view.total
    peak = profile.memory().allocators[0].peak_bytes

    assert values(page, ".card .amount") == [
        *(total["params"][0], total["float_ops"][0], times.median_ns, peak)
    ]


def check_rows(page, profile):
    kind = page.locator("[role=tab][aria-selected=true]").get_attribute("data-view")
    view = whole(kind, profile.columns)
    rows = table_rows(page)

    assert len(rows) > 2
    for row in rows:
        table = view.own if kind == "op" and row["row"] else view.total
        assert row["name"] == view.name[row["row"]]
        assert row["numbers"][1][1] == table["nanos"][row["row"]]
    assert page.locator(".icicle-canvas").is_visible()


def check_graph(page, profile):
    view = whole("layers", profile.columns)
    layers = page.locator(".graph-node[data-row]:not([data-row^='-'])").evaluate_all(
        "all => all.map((one) => [Number(one.dataset.row), Number(one.dataset.value)])"
    )

    assert len(layers) > 3
    for row, value in layers:
        if view.name[row] != "other ops":  # its scopes are next to it
            assert value == view.total["nanos"][row]


def check_timeline(page, profile):
    steps = profile.step_times().times.steps

    assert values(page, ".timeline-table [data-field=wall]") == [step.wall_ns for step in steps]
    assert page.locator(".timeline-details h2").inner_text().startswith("step ")


def check_memory(page, profile):
    allocator = profile.memory().allocators[0]

    assert values(page, ".memory-moment h2 .amount") == [allocator.peak_bytes]
    assert page.locator(".memory-curve canvas").is_visible()


def check_advice(page, profile):
    sentences = [one.sentence.replace("`", "") for one in profile.advise()]

    assert sentences
    assert sorted(page.locator(".advice-card h2").all_inner_texts()) == sorted(sentences)


CHECKS = {
    "overview": check_overview,
    "layers": check_rows,
    "scope": check_rows,
    "graph": check_graph,
    "code": check_rows,
    "op": check_rows,
    "timeline": check_timeline,
    "memory": check_memory,
    "advice": check_advice,
}


def test_the_report_has_the_views_of_the_table(page):
    assert tabs(page) == VIEWS_WITHOUT_KERNELS
    assert [*CHECKS, "kernels"] == VIEWS


@pytest.mark.parametrize("view", VIEWS_WITHOUT_KERNELS)
def test_a_view_of_a_report_shows_its_numbers(view, page, profile):
    show(page, view)

    CHECKS[view](page, profile)


@pytest.mark.parametrize("view", ["layers", "scope", "graph", "code", "op"])
def test_a_view_of_a_comparison_shows_the_numbers_of_both_sides(view, open_report, tmp_path):
    state = f"view={view}&metric=params&unchanged=true"
    compared = loaded("changed")
    page = open_report(write_page(compared, tmp_path / "page.html"), state=state)
    options = Options(max_depth=EVERY_ROW, select=("params",))
    expected = build_diff(compared.view.pair, view, options)
    number = next(one for one in expected.numbers if one.key == "params")
    before, after = expected.typical(number)
    rows = rows_of(page)

    assert len(rows) > 2
    for row in rows:
        assert row["numbers"][:2] == [before[row["row"]], after[row["row"]]]


def test_a_served_page_shows_the_answer_to_an_option_that_a_report_lacks(open_report, profile):
    with serve(lambda: profile) as served:
        page = open_report.visit(served.address, state="view=scope&step=3")
        rows = table_rows(page)

    view = profile.scope(step=3, max_depth=EVERY_ROW).view
    expected = dict(zip(view.name, view.total["nanos"].tolist(), strict=True))
    assert len(rows) > 2
    assert all(row["numbers"][1][1] == expected[row["name"]] for row in rows)
