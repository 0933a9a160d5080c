"""The address of a page: what it names, the history of the browser, and links to other reports."""

from __future__ import annotations

from urllib.parse import urlencode, urlsplit

import pytest

from build import op, profile
from page_server import serve
from report_pages import address, settled, show, table_rows, wait_for, wait_for_text
from tfprof.api import Profile

pytestmark = pytest.mark.browser

DEEP = "unit_1_0/sub1/conv1/Conv2D"
WINDOW = "({ ...document.querySelector('.timeline').dataset })"  # that the timeline shows


def selected(page):
    settled(page)
    return page.locator(".details h2").inner_text()


def shown_view(page):
    settled(page)
    return page.evaluate("document.querySelector('[role=tab][aria-selected=true]').dataset.view")


@pytest.fixture
def written(tmp_path):
    """A function that writes the report of some ops, given as names and numbers of parameters."""

    def write(name, **sizes):
        model = profile(*(op(one, shape=(size,)) for one, size in sizes.items()))
        path = tmp_path / f"{name}.html"
        Profile(model).report().save(path)
        return path

    return write


def test_the_selected_row_is_in_the_address_by_its_name(open_report, report_of):
    page = settled(open_report(report_of("resnet32"), state="view=scope"))
    page.click(".table-row:has-text('unit_1_4')")
    page.wait_for_url("**row=unit_1_4")

    assert address(page) == {"view": "scope", "row": "unit_1_4"}


def test_a_link_selects_the_row_of_that_name_in_another_report(open_report, written):
    older = written("older", a=1, b=2, c=3)
    newer = written("newer", added=9, b=1, a=4, c=5)
    page = settled(open_report(older, state="view=scope"))
    page.click(".table-row:has-text('b')")
    page.wait_for_url("**row=b")
    state = urlsplit(page.url).fragment

    page = open_report(newer, state=state)

    assert selected(page) == "b"


def test_of_several_rows_with_the_same_name_the_same_one_is_selected(open_report, tmp_path):
    callers = [f"train.py:{number}:main" for number in (1, 2, 3)]
    model = profile(*(op(f"op{one}", shape=(3,), code=[one, "model.py:3:loss"]) for one in callers))
    Profile(model).report().save(tmp_path / "report.html")
    page = settled(open_report(tmp_path / "report.html", state="view=code"))
    same = [row["row"] for row in table_rows(page) if "model.py" in row["name"]]
    assert len(same) == 3

    page.click(f"[data-row='{same[1]}']")
    page.wait_for_url("**nth=2")
    page.reload()

    settled(page)
    assert page.get_attribute("[aria-selected=true][data-row]", "data-row") == str(same[1])


@pytest.mark.parametrize("name", ["3", "a b&c=d#e", "ünï/çode", "%41", "x" * 5000, "+"])
def test_any_name_survives_a_reload(open_report, written, name):
    page = settled(open_report(written("odd", first=1, **{name: 3}, last=2), state="view=scope"))
    page.locator(".table-grid").focus()
    for _ in range(4):
        page.keyboard.press("ArrowDown")
        if page.get_attribute("[aria-selected=true] .table-name", "title") == name:
            break
    assert selected(page) == name
    page.reload()

    assert selected(page) == name


def test_an_op_is_in_the_address_where_there_are_no_rows(open_report, report_of):
    page = settled(
        open_report(report_of("resnet32"), state=urlencode({"view": "scope", "row": DEEP}))
    )
    show(page, "memory")
    page.wait_for_url("**op=unit**")
    assert address(page)["op"] == DEEP
    page.reload()

    show(page, "graph")

    assert selected(page) == DEEP


def test_the_back_button_shows_the_view_before(open_report, report_of):
    page = settled(open_report(report_of("resnet32")))
    for view in ("scope", "op", "advice"):
        show(page, view)

    found = []
    for _ in range(3):
        page.go_back()
        found.append(shown_view(page))
    page.go_forward()

    assert found == ["op", "scope", "overview"]
    assert shown_view(page) == "scope"


def test_the_back_button_returns_from_the_row_that_a_link_led_to(open_report, report_of):
    page = settled(
        open_report(report_of("resnet32"), state=urlencode({"view": "scope", "row": DEEP}))
    )
    links = page.locator(".details-section", has_text="Inputs").locator(".link")
    name = links.first.get_attribute("title")
    links.first.click()
    assert selected(page) == name

    page.go_back()
    assert selected(page) == DEEP
    page.go_forward()
    assert selected(page) == name


def test_keys_and_options_replace_the_entry_of_the_history(open_report, report_of):
    page = settled(open_report(report_of("resnet32"), state="view=scope"))
    before = page.evaluate("history.length")

    page.locator(".table-grid").focus()
    for _ in range(5):
        page.keyboard.press("ArrowDown")
    page.get_by_label("Metric of all views").select_option("params")
    page.get_by_label("show_name_regexes").fill("unit.*")
    page.keyboard.press("Enter")
    page.wait_for_url("**show_name_regexes**")

    assert page.evaluate("history.length") == before


def test_the_entry_that_is_left_has_the_latest_state(open_report, report_of):
    page = settled(open_report(report_of("resnet32"), state="view=scope"))
    page.locator(".table-grid").focus()
    # Faster than the address may change.
    page.evaluate("""() => {
        const grid = document.querySelector(".table-grid");
        for (let time = 0; time < 12; time += 1) {
            grid.dispatchEvent(new KeyboardEvent("keydown", { key: "ArrowDown", bubbles: true }));
        }
        document.querySelector("#tab-op").click();
    }""")
    settled(page)
    page.go_back()

    assert selected(page) == table_rows(page)[12]["name"]


def test_the_state_is_written_when_the_page_is_left(open_report, report_of):
    page = settled(open_report(report_of("resnet32"), state="view=scope"))
    page.evaluate("""() => {
        const grid = document.querySelector(".table-grid");
        for (let time = 0; time < 12; time += 1) {
            grid.dispatchEvent(new KeyboardEvent("keydown", { key: "ArrowDown", bubbles: true }));
        }
        location.href = "about:blank";
    }""")
    page.wait_for_url("about:blank")
    page.go_back()

    assert selected(page) == table_rows(page)[12]["name"]


def test_the_window_of_the_timeline_is_kept_when_another_view_is_shown(open_report, report_of):
    page = settled(open_report(report_of("transformer"), state="view=timeline"))
    page.locator("[role=application]").focus()
    before = page.evaluate(WINDOW)
    page.keyboard.press("+")
    changed = f"before => JSON.stringify({WINDOW}) !== JSON.stringify(before)"
    wait_for(page, "another window of the timeline", changed, before)
    window = page.evaluate(WINDOW)
    page.keyboard.press("Shift+Tab")
    page.click("#tab-op")
    settled(page)
    page.go_back()
    settled(page)

    assert address(page)["timeline"].startswith(f"{window['from']},{window['to']}")
    assert page.evaluate(WINDOW) == window


def test_a_served_page_finds_a_row_that_only_the_answer_to_an_option_has(open_report):
    code = ["train.py:7:main", "/usr/lib/python3/site-packages/keras/layer.py:3:call"]
    loaded = Profile(profile(op("a", shape=(3,), code=code), op("b", shape=(2,), code=code[:1])))
    with serve(lambda: loaded) as served:
        page = open_report.visit(served.address, state="view=code&my_code=true")
        rows = table_rows(page)
        page.click(f"[data-row='{rows[-1]['row']}']")
        name = selected(page)
        page.wait_for_url("**row=**")
        page.reload()

        wait_for_text(page, ".details h2", name)
