"""The filter bar: fields named as the options, chips, errors, notes, and the command."""

from __future__ import annotations

import json

import pytest

import tfprof
from page_server import serve
from report_pages import MODELS, ROOT, Calls, answer, settled, table_rows, wait_for
from tfprof.options import VIEW_OPTIONS

pytestmark = pytest.mark.browser

SHOWN_FIRST = ["start_name_regexes", "show_name_regexes", "hide_name_regexes", "min_micros"]


def field(page, option):
    return page.locator(f"[data-option={option}] :is(input, select)")


def error(page, option):
    return page.locator(f"[data-option={option}] .filter-error")


def wait_for_state(page, **expected):
    """Wait until the address has these options and no others; it follows ten times a second."""
    wait_for(
        page,
        f"an address with {expected}",
        """expected => {
            const found = Object.fromEntries(new URLSearchParams(location.hash.slice(1)));
            return JSON.stringify(Object.entries(found).sort()) === expected;
        }""",
        json.dumps(sorted(expected.items()), separators=(",", ":")),
    )


def command(page):
    return page.inner_text(".command-bar .command-text")


def wait_for_command(page, part):
    wait_for(
        page,
        f"a command with {part}",
        "part => document.querySelector('.command-bar .command-text')?.textContent.includes(part)",
        part,
    )


def wait_for_chips(page, count):
    script = "count => document.querySelectorAll('.chip').length === count"
    wait_for(page, f"{count} chips", script, count)


def test_the_common_options_are_visible_and_the_others_behind_a_button(open_report, report_of):
    page = open_report(report_of("resnet32"), state="view=scope")
    page.wait_for_selector(".filters-row input")

    def names(place):
        return page.locator(f"{place} .filter-field").evaluate_all(
            "fields => fields.map(field => field.dataset.option)"
        )

    first = names(".filters-row")
    assert first == [*SHOWN_FIRST, "max_depth", "order_by"]
    assert page.get_attribute("#filter-max_depth", "title") == VIEW_OPTIONS["max_depth"].help

    page.click("summary:has-text('More options')")
    assert {"trim_name_regexes", "device_regexes", "min_params"} <= {*names(".filters-others")}
    unsupported = page.inner_text(".filters-unsupported")
    assert "account_type_regexes" in unsupported
    assert "tfprof ui examples/resnet32/" in unsupported

    page.select_option(".header select", "params")
    page.wait_for_selector(".filters-row [data-option=min_params]")
    assert names(".filters-row")[3] == "min_params"


def test_a_view_chosen_on_the_first_screen_has_the_common_options(open_report, report_of):
    page = open_report(report_of("resnet32"))
    page.click("#tab-scope")

    assert page.locator(".filters-row .filter-field").count() == len(SHOWN_FIRST) + 2


def test_a_served_page_offers_all_options(open_report):
    profile = tfprof.load(*(ROOT / path for path in MODELS["keras_cnn"]))
    with serve(lambda: profile) as served:
        page = open_report.visit(served.address, state="view=scope")
        page.wait_for_selector(".filters-row input")

        offered = page.locator(".filter-field").evaluate_all(
            "fields => fields.map(field => field.dataset.option)"
        )
        assert {*VIEW_OPTIONS} - {*offered} == {"select", "output", "dump_to_file", "viz"}
        assert page.locator(".filters-unsupported").count() == 0

        page.click("summary:has-text('More options')")
        page.fill("#filter-account_type_regexes", "Conv2D")
        wait_for_command(page, "-account_type_regexes Conv2D")


def test_what_is_typed_changes_rows_command_chips_and_address(open_report, report_of):
    page = open_report(report_of("resnet32"), state="view=scope")
    page.wait_for_selector(".filters-row input")

    field(page, "show_name_regexes").fill("unit_1.*")
    wait_for_command(page, "-show_name_regexes")
    field(page, "min_micros").fill("1.5 ms")
    wait_for_command(page, "-min_micros")
    field(page, "order_by").select_option("name")
    wait_for_command(page, "-order_by name")

    assert command(page) == (
        "tfprof scope examples/resnet32/graph.pbtxt.gz examples/resnet32/run_meta.gz "
        "examples/resnet32/tfprof_log.gz -select micros,params,float_ops,peak_bytes "
        "-order_by name -show_name_regexes 'unit_1.*' -min_micros 1500"
    )
    wait_for_state(
        page, view="scope", show_name_regexes="unit_1.*", min_micros="1500", order_by="name"
    )
    assert page.locator(".chip").all_inner_texts() == [
        "show_name_regexes\nunit_1.*\n\N{MULTIPLICATION SIGN}",
        "min_micros\n1.5 ms\n\N{MULTIPLICATION SIGN}",
        "order_by\nname\n\N{MULTIPLICATION SIGN}",
    ]

    page.click(".chip:has-text('min_micros')")
    wait_for_command(page, "-show_name_regexes 'unit_1.*'")
    wait_for_chips(page, 2)
    assert field(page, "min_micros").input_value() == ""

    page.click(".filters-chips >> text=Reset")
    wait_for_chips(page, 0)
    wait_for_state(page, view="scope")


@pytest.mark.parametrize(
    "words",
    [
        "view=scope&metric=micros&start_name_regexes=unit_1.*&min_micros=500&max_depth=5",
        "view=graph&metric=float_ops&hide_name_regexes=gradients.*&order_by=name",
        "view=code&metric=peak_bytes&trim_name_regexes=.*conv.*",
        "view=op&metric=micros&show_name_regexes=.*(Conv|Mul).*",
        "view=layers&metric=params&max_depth=3",
    ],
)
def test_the_command_prints_every_number_of_the_table(words, open_report, report_of):
    page = open_report(report_of("resnet32"), state=words)
    wait_for_command(page, words.split("&")[2].split("=")[0])
    metric = words.split("&")[1].removeprefix("metric=")
    expected = {row["name"]: row for row in answer(command(page))["rows"]}
    scale = 1000 if metric == "micros" else 1

    shown = table_rows(page)

    assert len(shown) > 2
    for row in shown:
        asked = expected[row["name"]]
        # The columns of the chosen metric come first; a flat list has no totals.
        for heading, number in row["numbers"][1:3]:
            column = {"total": f"total_{metric}", "own": metric}.get(heading)
            if column and asked[column] is not None:
                assert number == pytest.approx(asked[column] * scale)


def test_an_address_restores_fields_rows_and_command(open_report, report_of):
    words = "view=op&metric=float_ops&min_float_ops=25000000&max_depth=3&order_by=occurrence"
    page = open_report(report_of("resnet32"), state=words)
    wait_for_command(page, "-min_float_ops 25000000")

    assert field(page, "min_float_ops").input_value() == "25 M"
    assert field(page, "max_depth").input_value() == "3"
    assert field(page, "order_by").input_value() == "occurrence"
    assert "-order_by occurrence -max_depth 3" in command(page)


@pytest.mark.parametrize(
    ("option", "text", "message"),
    [
        ("show_name_regexes", "unit(", "`(` is not closed; add `)`, or write `\\(`"),
        ("hide_name_regexes", "(?!a)b", "look-ahead is not supported"),
        ("max_depth", "deep", "takes a whole number, not `deep`."),
        ("min_micros", "soon", "takes a number such as 1 ms, not `soon`."),
    ],
)
def test_a_mistake_is_shown_at_its_field_and_the_rows_stay(
    option, text, message, open_report, report_of
):
    page = open_report(report_of("resnet32"), state="view=scope&start_name_regexes=unit_2_0")
    wait_for_command(page, "unit_2_0")
    before = command(page)
    rows = page.inner_text(".workbench")

    field(page, option).fill(text)
    page.wait_for_selector(f"[data-option={option}] [aria-invalid=true]")

    assert message in error(page, option).inner_text()
    assert command(page) == before
    assert page.inner_text(".workbench") == rows

    field(page, option).fill("")
    page.wait_for_selector(f"[data-option={option}] [aria-invalid=false]")
    assert error(page, option).inner_text() == ""


def test_a_wrong_option_in_an_address_is_shown_at_its_field(open_report, report_of):
    page = open_report(report_of("resnet32"), state="view=scope&show_name_regexes=%3Cb%3E(")
    page.wait_for_selector(".chip-wrong")

    assert "pattern `<b>(`" in error(page, "show_name_regexes").inner_text()
    assert field(page, "show_name_regexes").input_value() == "<b>("
    assert page.locator("b").count() == 0


def test_an_option_that_needs_a_server_is_named(open_report, report_of):
    page = open_report(report_of("resnet32"), state="view=scope&step=3")
    page.wait_for_selector(".filters-problem")

    assert page.inner_text(".filters-problem") == "step needs tfprof ui."


def test_no_rows_are_explained(open_report, report_of):
    page = open_report(report_of("resnet32"), state="view=scope&show_name_regexes=unit_1")
    page.wait_for_selector(".filters-notes p")

    assert page.inner_text(".filters-notes").startswith(
        "-show_name_regexes: no row matches `unit_1`. "
        "A regex must match the whole name: `unit_1.*` matches "
    )


def test_a_link_cannot_stop_the_page(open_report, report_of):
    hostile = "(((a%7Cb%7C.)*)*)*a(a%7Cb%7C.)%7B400%7D(.*a)%7B30%7Db"
    page = settled(open_report(report_of("resnet32"), state="view=scope"))

    state = f"view=scope&show_name_regexes={hostile}"
    with Calls(page) as calls:
        page.evaluate("state => { location.hash = state }", state)
        page.wait_for_selector(".filters-notes p, .filter-error:not(:empty)")

    assert calls.count < 3_000_000  # measured: 600,000


@pytest.mark.parametrize("view", ["overview", "memory", "advice"])
def test_views_without_rows_have_no_filters(view, open_report, report_of):
    page = open_report(report_of("resnet32"), state=f"view={view}")
    page.wait_for_selector(f"[data-view={view}][aria-selected=true]")

    assert not page.is_visible(".filters")
    assert not page.is_visible(".command-bar")


def test_the_fields_are_folded_where_the_page_is_narrow(open_report, report_of):
    page = open_report(report_of("resnet32"), width=800, state="view=scope&max_depth=4")
    page.wait_for_selector(".filters-toggle")

    assert page.inner_text(".filters-toggle") == "Filters (1)"
    assert not page.is_visible("#filter-max_depth")

    page.click(".filters-toggle")
    assert page.is_visible("#filter-max_depth")
    assert page.get_attribute(".filters-toggle", "aria-expanded") == "true"


def test_a_note_on_hidden_rows_is_a_sentence(open_report, report_of):
    page = open_report(report_of("resnet32"), state="view=scope&min_micros=999999999")
    note = page.locator(".filters-notes p").first
    note.wait_for()

    assert note.inner_text().startswith("No row reaches -min_micros 999999999: ")
