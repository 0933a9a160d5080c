"""The view of kernels shows what `tfprof kernels` prints."""

import pytest

import tfprof
from h200 import GPT
from page_server import serve
from report_pages import (
    THEMES,
    address,
    answer,
    overflow,
    settled,
    table_rows,
    tabs,
    wait_for,
    wait_for_text,
    write_report,
)

pytestmark = pytest.mark.browser

VIEW = "view=kernels"
FOOT = ".table-foot"
SORTS = {"launches": "launches", "mean": "mean_ns", "min": "min_ns", "max": "max_ns"}


@pytest.fixture
def report(tmp_path, open_report):
    """Opens the report of the trace."""

    def opened(state=VIEW, **settings):
        path = write_report([GPT], tmp_path / "report.html")
        return settled(open_report(path, state=state, **settings))

    return opened


def offered(page):
    return answer(page.inner_text(".command-text"))


def listed(page):
    """The names and numbers of the rows that are in the document, without that of all kernels."""
    rows = table_rows(page)
    return [(row["name"], int(dict(row["numbers"])["total"])) for row in rows if row["row"] > 0]


def printed(found):
    return [(one["name"], one["total_ns"]) for one in found["kernels"]]


def test_the_table_has_the_numbers_of_the_offered_command(report):
    page = report(height=1600)
    found = offered(page)
    rows = table_rows(page)
    every = dict(rows[0]["numbers"])

    assert tabs(page)[-1] == "kernels"
    assert listed(page) == printed(found)
    assert (every["launches"], every["total"]) == (found["launches"], found["total_ns"])
    for row, kernel in zip(rows[1:], found["kernels"], strict=True):
        numbers = dict(row["numbers"])
        assert [numbers[heading] for heading in SORTS] == [kernel[key] for key in SORTS.values()]
        assert numbers["occupancy"] == pytest.approx(kernel["occupancy"] / 100, abs=1e-6)
        texts = dict(row["texts"])
        assert texts["registers"].split(" +")[0] == str(kernel["registers"][0])
        assert texts["op"].split(" +")[0] == kernel["ops"][0]
    assert page.inner_text(FOOT) == "40 kernels"


@pytest.mark.parametrize("heading", ["kernel", *SORTS, "occupancy"])
def test_a_heading_sorts_as_the_command_line_does(report, heading):
    page = report(height=1600)
    page.get_by_role("button", name=heading, exact=True).click()
    settled(page)

    assert address(page)["sort_by"] == ("name" if heading == "kernel" else heading)
    assert listed(page) == printed(offered(page))
    page.get_by_role("button", name=heading).click()
    assert "sort_by" not in address(page)


def test_the_fields_choose_kernels_by_name(report):
    page = report(height=1600)
    page.fill("[data-option=show_name_regexes] input", ".*cutlass.*")
    page.fill("[data-option=hide_name_regexes] input", "fmha.*")
    page.keyboard.press("Enter")
    wait_for(page, "few kernels", "() => document.querySelectorAll('.table-row').length < 10")
    found = offered(page)

    assert listed(page) == printed(found)
    assert len(found["kernels"]) == 4
    assert page.inner_text(FOOT).startswith("4 of 40 kernels, with ")
    page.fill("[data-option=show_name_regexes] input", "(")
    wait_for(page, "an error", "() => document.querySelector('.filter-error').textContent")
    assert page.get_attribute(".filters-chips .chip-wrong", "title") == "Remove show_name_regexes"


def test_the_keyboard_leads_to_a_kernel_and_its_whole_name(report):
    page = report("view=overview")
    page.keyboard.press("k")
    assert page.get_attribute("#tab-kernels", "aria-selected") == "true"
    page.locator(".table-grid").focus()
    for key in ("ArrowDown", "ArrowDown", "PageDown", "Home", "ArrowDown"):
        page.keyboard.press(key)
    settled(page)
    (first, *_) = tfprof.load(GPT).kernels()

    assert address(page)["kernel"] == first.short_name
    assert page.inner_text(".details h2") == first.short_name
    assert page.text_content(".kernel-whole") == first.name
    page.reload()
    assert page.inner_text(".details h2") == first.short_name
    page.locator(".details").get_by_role("button", name="aten::mm").click()
    assert (address(page)["view"], address(page)["row"]) == ("op", "aten::mm")


def test_names_that_start_alike_show_what_tells_them_apart(report):
    page = report(height=1600)
    names = page.locator(".table-body .kernel-name")
    shown = page.locator(".table-body .kernel-name .name:last-child").all_inner_texts()

    assert names.all_text_contents()[1:] == [one.short_name for one in tfprof.load(GPT).kernels()]
    assert len(set(shown)) == 41
    assert "tilesize64x128x8_stage3_warpsize1x4x1_ffma_aligna4_" in "\n".join(shown)


def test_search_finds_short_and_whole_names(report):
    page = report(height=1600)
    page.fill(".search-field", "c10::Half")
    wait_for_text(page, ".search-count", "no match in 40 kernels")
    page.fill(".search-field", "Params)")
    wait_for(page, "matches", "() => document.querySelector('.table-match')")
    matches = page.locator(".table-match").count()
    page.keyboard.press("Enter")
    settled(page)

    assert page.inner_text(".search-count") == f"match 1 of {matches} in 40 kernels"
    assert "Params)" in page.inner_text(".kernel-whole")


@pytest.mark.parametrize("theme", THEMES)
def test_names_stay_when_a_narrow_table_is_scrolled(report, theme):
    page = report(width=390, height=844, theme=theme)
    page.evaluate("document.querySelector('.table-grid').scrollLeft = 10000")
    settled(page)
    places = page.eval_on_selector_all(
        ".table-row > .table-name", "all => all.map((one) => one.getBoundingClientRect().x)"
    )

    assert len(places) > 10
    assert set(places) == {0}
    assert overflow(page) <= 0


def test_a_page_without_kernels_has_no_such_view(open_report, report_of):
    page = settled(open_report(report_of("keras_cnn"), state=VIEW))

    assert "kernels" not in tabs(page)
    assert "require a recording of a run" in page.inner_text(".empty")
    page.keyboard.press("1")
    page.keyboard.press("k")
    assert page.get_attribute("#tab-overview", "aria-selected") == "true"


def test_a_served_page_keeps_the_kernel_when_files_change(open_report):
    with serve(lambda: tfprof.load(GPT)) as served:
        page = open_report.visit(served.address, state=VIEW)
        page.locator(".table-body .table-row").nth(3).click()
        name = page.inner_text(".details h2")
        served.live.reload()
        wait_for(page, "an update", "() => document.querySelector('.live')?.textContent")

        assert page.inner_text(".details h2") == name
        assert len(table_rows(page)) > 10
