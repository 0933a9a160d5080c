"""The search field: what it counts, marks and selects in each view."""

from __future__ import annotations

import pytest

import tfprof
from build import op, profile
from page_server import serve
from report_pages import MODELS, ROOT, address, settled, show
from tfprof.api import Profile
from tfprof.page import merging
from tfprof.page.views import whole

pytestmark = pytest.mark.browser

FIELD = ".search-field"


def opened(open_report, report_of, state, model="resnet32", **settings):
    return settled(open_report(report_of(model), state=state, **settings))


def search(page, text):
    page.fill(FIELD, text)
    settled(page)


def count(page):
    settled(page)
    return page.locator(".search-count").inner_text()


def selected(page):
    settled(page)
    return page.locator(".details h2").inner_text()


def pixels(page):
    settled(page)
    return page.locator(".icicle-canvas").evaluate("canvas => canvas.toDataURL()")


def test_the_number_of_matches_is_shown(open_report, report_of):
    page = opened(open_report, report_of, "view=op")
    loaded = tfprof.load(*(ROOT / path for path in MODELS["resnet32"]))
    names = list(whole("op", loaded.columns).name)[1:]
    matches = [name for name in names if "conv2d" in name.lower()]

    search(page, "CONV2d")

    assert count(page) == f"{len(matches)} of {len(names)} rows"
    search(page, "no such name")
    assert count(page) == f"no match in {len(names)} rows"
    assert page.locator(".search-buttons").is_hidden()


def test_matches_are_marked_in_the_table_and_in_the_picture(open_report, report_of):
    page = opened(open_report, report_of, "view=op")
    before = pixels(page)

    search(page, "conv2d")

    marked = page.locator(".table-match .table-name").evaluate_all(
        "all => all.map(one => one.title)"
    )
    assert marked
    assert all("Conv2D" in name for name in marked)
    assert set(page.locator("mark").all_inner_texts()) == {"Conv2D"}
    assert pixels(page) != before
    search(page, "")
    assert page.locator(".table-match, mark").count() == 0
    assert pixels(page) == before


def test_enter_selects_the_next_match_and_unfolds_what_contains_it(open_report, report_of):
    page = opened(open_report, report_of, "view=scope")
    search(page, "conv1")
    total = int(count(page).split()[0])

    found = []
    for _ in range(3):
        page.keyboard.press("Enter")
        found.append(selected(page))
    assert len(set(found)) == 3
    assert all(name.endswith("/conv1") for name in found)
    assert page.locator(".table-row[aria-selected=true]").is_visible()
    assert count(page).startswith(f"match 3 of {total} in ")
    page.keyboard.press("Shift+Enter")
    assert selected(page) == found[1]
    page.keyboard.press("Shift+Enter")
    page.keyboard.press("Shift+Enter")
    assert count(page).startswith(f"match {total} of {total} in ")
    page.keyboard.press("Enter")
    assert selected(page) == found[0]


def test_a_match_outside_of_the_zoomed_row_zooms_out(open_report, report_of):
    page = opened(open_report, report_of, "view=scope&row=unit_1_4")
    page.locator(".table-grid").focus()
    page.keyboard.press("Enter")
    settled(page)
    assert page.locator(".icicle-path").inner_text().endswith("unit_1_4")

    search(page, "unit_1_3")
    page.keyboard.press("Enter")

    settled(page)
    assert not page.locator(".icicle-path").inner_text().endswith("unit_1_4")


def test_matches_that_options_hide_are_counted(open_report, report_of):
    page = opened(open_report, report_of, "view=op&hide_name_regexes=Conv2D")

    search(page, "conv2d")

    assert count(page).endswith(" rows, 1 hidden by options")
    search(page, "/^conv2d$/")
    assert count(page).startswith("1 of ")
    assert count(page).endswith("1 hidden by options")
    assert page.locator(".search-buttons").is_hidden()
    page.keyboard.press("Enter")
    assert selected(page) == "total"


def test_a_regex_is_written_in_slashes(open_report, report_of):
    page = opened(open_report, report_of, "view=op")

    search(page, "/^conv2d(back.*)?$/")

    assert count(page).startswith("3 of ")
    search(page, "/conv(/")
    assert page.get_attribute(FIELD, "aria-invalid") == "true"
    assert count(page).startswith("pattern `conv(`: ")
    assert page.locator(".table-match").count() == 0


def test_escape_clears_the_search(open_report, report_of):
    page = opened(open_report, report_of, "view=op")
    search(page, "conv2d")

    page.keyboard.press("Escape")

    assert page.input_value(FIELD) == ""
    assert count(page) == ""
    assert "search" not in address(page)
    page.keyboard.press("Escape")
    assert page.evaluate("document.activeElement.tagName") == "BODY"


def test_the_search_stays_when_the_view_changes_and_after_a_reload(open_report, report_of):
    page = opened(open_report, report_of, "view=op")
    search(page, "conv2d")
    show(page, "scope")
    page.wait_for_url("**search=conv2d**")

    page.reload()

    settled(page)
    assert page.input_value(FIELD) == "conv2d"
    assert " rows" in count(page)


def test_boxes_of_the_drawn_graph_that_contain_matches_are_marked(open_report, report_of):
    page = opened(open_report, report_of, "view=graph")
    search(page, "/^unit_3_2/sub2/conv2/Conv2D$/")
    assert page.locator(".graph-match").count() == 1

    page.keyboard.press("Enter")

    assert selected(page) == "unit_3_2/sub2/conv2/Conv2D"
    assert page.locator(".graph-node[aria-selected=true].graph-match").count() == 1


def test_runs_of_the_timeline_are_counted_and_selected_in_order_of_time(open_report, report_of):
    page = opened(open_report, report_of, "view=timeline", model="transformer")
    search(page, "matmul")
    matches, of, every, unit = count(page).split()
    assert (of, unit) == ("of", "runs")
    assert 0 < int(matches.replace(",", "")) < int(every.replace(",", ""))

    page.keyboard.press("Enter")
    settled(page)
    first = count(page)
    page.keyboard.press("Enter")
    settled(page)
    second = count(page)
    assert "matmul" in page.locator(".timeline-details h2").inner_text().lower()
    place = int(first.split()[1].replace(",", ""))
    assert second.startswith(f"match {place + 1:,} of {matches} in ")
    page.keyboard.press("Shift+Enter")
    assert count(page) == first


@pytest.mark.parametrize("view", ["overview", "memory", "advice"])
def test_a_view_without_names_leads_to_the_scopes(open_report, report_of, view):
    page = opened(open_report, report_of, f"view={view}")

    search(page, "unit_1_4")

    assert count(page).endswith(" rows in Scope")
    page.keyboard.press("Enter")
    assert selected(page).endswith("unit_1_4")
    assert page.get_attribute("#tab-scope", "aria-selected") == "true"
    assert page.evaluate("document.activeElement.className") == "search-field"


def test_merged_rows_are_named_as_not_searched(open_report, tmp_path, monkeypatch):
    monkeypatch.setattr(merging, "MOST_ROWS", 5)
    model = profile(*(op(f"w{size}", shape=(size,)) for size in (100, 50, 3, 2, 1, 4)))
    Profile(model).report().save(tmp_path / "report.html")
    page = settled(open_report(tmp_path / "report.html", state="view=scope"))

    search(page, "w2")

    assert count(page) == "no match in 4 rows, 3 smaller ones not searched"


def test_hostile_texts_are_searched_as_texts(open_report, report_of):
    page = opened(open_report, report_of, "view=scope")

    for text in ("<img src=x onerror=alert(1)>", "\\", "(?P<", "/(?i)[/", "\u202e", "x" * 10_000):
        search(page, text)
        assert page.locator("img").count() == 0


def test_a_served_page_searches_the_answers_of_the_server(open_report):
    loaded = tfprof.load(*(ROOT / path for path in MODELS["resnet32"]))
    with serve(lambda: loaded) as served:
        page = open_report.visit(
            served.address, state="view=scope&account_type_regexes=_trainable_variables"
        )
        page.wait_for_selector(".workbench .amount")
        search(page, "unit_1_4")
        page.keyboard.press("Enter")

        assert selected(page) == "unit_1_4"
        assert count(page).startswith("match 1 of ")
