"""The views of rows: every number equals the Python API's, and the panels share the selection."""

from __future__ import annotations

import contextlib
from functools import cache

import numpy as np
import pytest

import tfprof
from build import op
from build import profile as profile_of
from report_pages import MODELS, ROOT, address, settled, show, table_rows, wait_until
from tfprof.api import Profile
from tfprof.metrics import BY_KEY
from tfprof.options import VIEW_OPTIONS, find
from tfprof.page import merging
from tfprof.page.units import NAMES, formatted
from tfprof.page.views import column_name, numbers_of, whole
from tfprof.patterns import Patterns
from tfprof.units import Unit

pytestmark = pytest.mark.browser

KINDS = ("layers", "scope", "graph", "code", "op")
VIEWS = [
    (model, kind)
    for model in MODELS
    for kind in KINDS
    if (model, kind) != ("keras_cnn", "code")  # its files have no code lines
]


@cache
def profile(model):
    with contextlib.chdir(ROOT):
        return tfprof.load(*MODELS[model])


@cache
def asked(model, kind):
    """The view with all rows, as in the data of the page."""
    return whole(kind, profile(model).columns)


def metrics_of(model):
    """The metrics of a page that are not parts of others."""
    return [metric for metric in numbers_of(profile(model).columns) if not metric.part_of]


def total_of(view, metric, row):
    """A total as the page shows it: in a flat list, the row's own number."""
    table = view.own if view.kind == "op" and row else view.total
    return int(table[column_name(metric)][row])


def unit_of(metric):
    return NAMES[metric.unit or Unit.COUNT]


def opened(open_report, report_of, model, state, **settings):
    return settled(open_report(report_of(model), state=state, **settings))


@pytest.mark.parametrize(("model", "kind"), VIEWS)
def test_numbers_of_rows_equal_the_python_api(open_report, report_of, model, kind):
    view = asked(model, kind)
    page = opened(open_report, report_of, model, f"view={kind}")
    page.locator(".table-grid").focus()

    for metric in metrics_of(model):
        page.locator("select[aria-label='Metric of all views']").select_option(metric.key)
        page.keyboard.press("End")
        rows = table_rows(page)
        page.keyboard.press("Home")
        rows += table_rows(page)

        assert len(rows) > 2
        for row in rows:
            place = row["row"]
            assert row["name"] == view.name[place]
            total = total_of(view, metric, place)
            assert row["numbers"][1] == ("total" if kind != "op" else "own", total)
            assert row["texts"][1][1] == formatted(total, unit_of(metric))
            if kind != "op":
                own = view.own[column_name(metric)][place] if view.is_accounted[place] else None
                assert row["numbers"][2] == ("own", own)
            whole = total_of(view, metric, 0)
            if whole > 0:
                share = next(text for heading, text in row["texts"] if heading == "share")
                assert abs(float(share.removesuffix("\xa0%")) - 100 * total / whole) <= 0.05


@pytest.mark.parametrize(("model", "kind"), VIEWS)
def test_other_columns_equal_the_python_api(open_report, report_of, model, kind):
    view = asked(model, kind)
    page = opened(open_report, report_of, model, f"view={kind}")
    keys = page.eval_on_selector_all(
        ".table-headings [data-column]", "cells => cells.map(cell => cell.dataset.column)"
    )
    held = view.held().tolist() if view.held else []

    for row in table_rows(page):
        values = [value for _, value in row["numbers"]][-len(keys) :]
        for key, value in zip(keys, values, strict=True):
            metric = BY_KEY[key]
            if key == "held_bytes":
                expected = held[row["row"]] if held[row["row"]] >= 0 else None
                assert value == expected
            elif metric.is_number:
                assert value == total_of(view, metric, row["row"])


@pytest.mark.parametrize(("model", "kind"), VIEWS)
def test_details_equal_the_python_api(open_report, report_of, model, kind):
    view, metrics = asked(model, kind), metrics_of(model)
    busiest = int(view.own[column_name(metrics[0])][1:].argmax()) + 1
    page = opened(open_report, report_of, model, f"view={kind}")

    for place in (0, 1, busiest, len(view) - 1):
        page.evaluate("state => { location.hash = state }", f"view={kind}&row={place}")
        settled(page)
        name = "total" if place == 0 else view.name[place]
        assert page.locator(".details h2").inner_text() == name
        for metric in metrics:
            cells = details_line(page, metric.key)
            expected = [total_of(view, metric, place)]
            if view.is_accounted[place] and len(cells) == 2:
                expected.insert(0, int(view.own[column_name(metric)][place]))
            assert cells == expected or (cells == [] and expected[-1] == 0)
        (ops, *_) = reversed(details_line(page, "ops"))
        assert ops == view.members.lengths[place : view.tree.end[place]].sum()


def details_line(page, key):
    """The numbers of a line of the details; those that are not shown are left out."""
    cells = page.locator(f".details tr[data-metric={key}] .amount")
    return [int(value) for value in cells.evaluate_all("all => all.map(one => one.dataset.value)")]


def selected(page):
    """The names of the selected row in the table, the line below the picture and the details."""
    settled(page)
    row = page.locator(".table-row[aria-selected=true] .table-name")
    line = page.locator(".icicle-line .icicle-name").inner_text()
    return [row.get_attribute("title"), line, page.locator(".details h2").inner_text()]


def test_selecting_in_a_panel_selects_in_all(open_report, report_of):
    page = opened(open_report, report_of, "resnet32", "view=scope")

    page.click(".table-row:has-text('unit_1_4')")
    assert selected(page) == ["unit_1_4"] * 3
    assert address(page)["row"] == "unit_1_4"

    page.locator(".icicle-canvas").click(position={"x": 300, "y": 30})
    assert selected(page) == ["gradients"] * 3


def test_the_selection_follows_when_the_view_changes(open_report, report_of):
    page = opened(open_report, report_of, "resnet32", "view=graph")
    page.get_by_role("radio", name="Icicle").check()
    page.locator(".table-grid").focus()
    for _ in range(3):
        page.keyboard.press("ArrowDown")
    name = selected(page)[0]

    for view in ("scope", "graph"):
        show(page, view)
        assert selected(page) == [name] * 3


def test_a_scope_is_selected_as_a_layer_of_the_same_name(open_report, report_of):
    page = opened(open_report, report_of, "resnet32", "view=scope")

    page.click(".table-row:has-text('unit_1_4')")
    show(page, "layers")

    assert selected(page) == ["unit_1_4"] * 3


def test_a_reload_shows_the_same_row(open_report, report_of):
    page = opened(open_report, report_of, "transformer", "view=scope")
    page.locator(".table-grid").focus()
    page.keyboard.press("End")
    before = selected(page)

    page.reload()

    assert selected(page) == before


def test_keys_move_in_the_picture_and_zoom(open_report, report_of):
    page = opened(open_report, report_of, "resnet32", "view=scope")
    page.locator(".icicle-canvas").focus()
    path = page.locator(".icicle-path")

    page.keyboard.press("ArrowDown")
    assert selected(page)[0] == "gradients"
    page.keyboard.press("ArrowDown")
    inner = selected(page)[0]
    assert inner.startswith("gradients/")
    page.keyboard.press("Enter")
    settled(page)
    assert path.inner_text().endswith(inner.removeprefix("gradients/"))
    page.keyboard.press("ArrowUp")
    assert selected(page)[0] == "gradients"
    page.keyboard.press("Escape")
    settled(page)
    assert path.inner_text() == "total"


def test_keys_fold_and_unfold_rows(open_report, report_of):
    page = opened(open_report, report_of, "resnet32", "view=scope")
    page.locator(".table-grid").focus()
    count = len(table_rows(page))

    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowRight")
    assert page.locator(".table-row[aria-selected=true]").get_attribute("aria-expanded") == "true"
    page.keyboard.press("ArrowRight")
    assert selected(page)[0].startswith("gradients/")
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("ArrowLeft")
    assert page.locator(".table-row[aria-selected=true]").get_attribute("aria-expanded") == "false"
    page.keyboard.press("Home")
    page.keyboard.press("ArrowLeft")
    assert len(table_rows(page)) == count


def test_an_only_child_is_unfolded_with_its_parent(open_report, report_of):
    page = opened(open_report, report_of, "resnet32", "view=code")
    page.locator(".table-grid").focus()

    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowRight")

    # The module calls main() and nothing else.
    names = [row["name"].partition(" ")[0] for row in table_rows(page)]
    assert names[1:3] == ["gen_resnet32.py:141:<module>", "gen_resnet32.py:101:main"]
    assert names[3].startswith("gen_resnet32.py:")
    assert names[3].endswith(":build")


@pytest.mark.parametrize(
    ("heading", "key"), [("own", "micros"), ("FLOPs", "float_ops"), ("kind", "name")]
)
def test_a_heading_sorts_siblings(open_report, report_of, heading, key):
    answer = profile("resnet32").op(order_by=key, max_depth=2**31 - 1)
    page = opened(open_report, report_of, "resnet32", "view=op")

    page.click(f".table-sort:has-text('{heading}')")

    rows = table_rows(page)
    assert [row["name"] for row in rows] == list(answer.view.name)[: len(rows)]
    page.wait_for_url(f"**order_by={key}")


def test_only_visible_rows_are_in_the_document(open_report, report_of):
    page = opened(open_report, report_of, "resnet32", "view=scope")

    page.locator(".table-grid").focus()
    for _ in range(3):
        page.keyboard.press("PageDown")
        page.keyboard.press("ArrowRight")

    assert page.locator(".table-row").count() < 80


def test_details_list_what_feeds_an_op_and_what_it_feeds(open_report, report_of):
    columns = profile("resnet32").columns
    name = "unit_1_0/sub1/conv1/Conv2D"
    op = columns.ops.name.row_of(name)
    sources = {
        columns.ops.name[source]
        for source in columns.ops.inputs.source[columns.ops.inputs.of(op)].tolist()
        if source >= 0
    }
    row = asked("resnet32", "scope").name.row_of(name)

    page = opened(open_report, report_of, "resnet32", f"view=scope&row={row}")

    links = page.locator(".details-section", has_text="Inputs").locator(".link")
    assert {*links.evaluate_all("all => all.map(one => one.title)")} == sources
    first = links.first.get_attribute("title")
    links.first.click()
    assert selected(page) == [first] * 3


def test_the_rate_is_float_operations_per_second(open_report, report_of):
    view = asked("resnet32", "op")
    row = view.name.row_of("Conv2D")
    page = opened(open_report, report_of, "resnet32", f"view=op&row={row}")

    (found,) = page.locator("tr[data-metric=rate] .amount").evaluate_all(
        "all => all.map(one => Number(one.dataset.value))"
    )

    assert found == pytest.approx(1e9 * view.own["float_ops"][row] / view.own["nanos"][row])


def test_the_last_line_of_a_table_says_what_is_merged(open_report, tmp_path, monkeypatch):
    monkeypatch.setattr(merging, "MOST_ROWS", 5)
    sizes = (100, 50, 3, 2, 1, 4)
    model = profile_of(*(op(f"w{size}", shape=(size,)) for size in sizes))
    Profile(model).report().save(tmp_path / "report.html")

    page = settled(open_report(tmp_path / "report.html", state="view=scope"))

    assert page.locator(".table-foot").inner_text() == (
        "3 of 6 rows; the smallest are merged, together 3.8\xa0% of the parameters"
    )
    row = next(row for row in table_rows(page) if row["name"] == "3 smaller rows")
    assert row["numbers"][1] == ("total", 6)
    page.click(".table-row:has-text('3 smaller rows')")
    links = page.locator(".details-section", has_text="Largest ops").locator(".link")
    assert links.evaluate_all("all => all.map(one => one.title)") == ["w3", "w2", "w1"]
    assert page.locator(".details-actions").count() == 0


ODD_NAMES = ["plain", "a+b(c)[d].*", 'x,"y"', "back\\slash|or", "ünïcode/-^$", "{2}?'", "tab\there"]


@pytest.mark.parametrize("name", ODD_NAMES)
def test_an_action_on_a_row_sets_an_option_that_matches_only_its_name(open_report, tmp_path, name):
    model = profile_of(*(op(one, shape=(3,)) for one in (*ODD_NAMES, "a", "b", "xy")))
    Profile(model).report().save(tmp_path / "report.html")
    view = whole("scope", model)
    row = view.name.row_of(name)
    page = settled(open_report(tmp_path / "report.html", state=f"view=scope&row={row}"))

    page.click(".details-actions button:has-text('Hide')")
    page.wait_for_url("**hide_name_regexes=**")

    given = address(page)["hide_name_regexes"]
    regexes = find("hide_name_regexes", VIEW_OPTIONS).parse(given)
    assert np.flatnonzero(Patterns(regexes).match_column(view.name)).tolist() == [row]
    assert name not in [one["name"] for one in table_rows(page)]


def test_a_row_can_become_the_start_of_the_view(open_report, report_of):
    page = opened(open_report, report_of, "resnet32", "view=scope")

    page.click(".table-row:has-text('unit_1_4')")
    page.click(".details-actions button:has-text('Show only from here')")

    names = [row["name"] for row in table_rows(page)]
    answer = profile("resnet32").scope(start_name_regexes="unit_1_4", max_depth=3)
    assert names == list(answer.view.name)[: len(names)]


def test_the_colours_of_the_picture_can_show_kinds_devices_and_phases(open_report, report_of):
    page = opened(open_report, report_of, "resnet32", "view=scope")
    legend = page.locator(".icicle-legend")

    for colouring, label in [("kind", "Conv2D"), ("device", "cpu:0"), ("phase", "backward")]:
        page.locator(".icicle select").select_option(colouring)
        assert label in legend.inner_text()
    page.click(".table-row:has-text('gradients')")
    settled(page)
    assert page.locator(".icicle-line").inner_text().endswith("backward")


def test_pictures_are_drawn_again_with_the_colours_of_another_theme(open_report, report_of):
    page = opened(open_report, report_of, "keras_cnn", "view=layers")

    def picture():
        settled(page)
        return page.locator(".icicle-canvas").evaluate("canvas => canvas.toDataURL()")

    light = picture()
    page.emulate_media(color_scheme="dark")

    wait_until(page, "another picture", lambda: picture() != light)
