"""Every number of a view, with any options: the answer to the command that the page offers."""

from __future__ import annotations

import contextlib
import shlex
from typing import Any, NamedTuple
from urllib.parse import urlencode

import numpy as np
import pytest

import tfprof
from page_server import serve
from report_pages import MODELS, ROOT, settled, table_rows, wait_for
from tfprof.commands.command import Place
from tfprof.commands.served_page import view_options
from tfprof.commands.table import available
from tfprof.metrics import BY_KEY
from tfprof.page.views import WHOLE, column_name, numbers_of
from tfprof.views.view import ROOT_NAME

pytestmark = pytest.mark.browser

MODEL = "transformer"
KINDS = ("layers", "scope", "graph", "code", "op")
FEW = 6  # largest ops are listed at first

# Options that choose rows, which reports have as well.
FILTERS = {
    "nothing": {},
    "names": {"start_name_regexes": ".*block.*", "hide_name_regexes": ".*add.*"},
    "devices": {"device_regexes": ".*cpu.*"},
    "thresholds": {"min_micros": 100, "max_depth": 4},
}
# Options that count ops again.
COUNTING = {
    "step": {"step": 3},
    "step and names": {"step": 3, "hide_name_regexes": ".*block.*"},
    "types": {"account_type_regexes": "MatMul,Einsum"},
    "a defined type": {"define_type": "m=MatMul|Mul", "account_type_regexes": "m", "step": 2},
    "shown ops": {"account_displayed_op_only": True, "show_name_regexes": ".*block.*"},
}
# The options that say what counts; the others choose rows.
COUNTS = {"step", "account_type_regexes", "define_type"}
QUESTIONS = FILTERS | COUNTING


@pytest.fixture(scope="module")
def profile():
    with contextlib.chdir(ROOT):
        return tfprof.load(*MODELS[MODEL])


@pytest.fixture(scope="module")
def address(profile):
    with serve(lambda: profile) as served:
        yield served.address


def opened(page, kind, metric, options):
    """The page with these options, once it offers the command that has them."""
    given = {name: "true" if value is True else value for name, value in options.items()}
    state = urlencode({"view": kind, "metric": metric} | given)
    page.evaluate("state => { location.hash = state }", f"#{state}")
    wait_for(
        page,
        f"the command for {state}",
        """names => {
            const text = document.querySelector(".command-bar .command-text")?.textContent ?? "";
            const [, kind, metric, ...options] = names;
            return text.startsWith(`tfprof ${kind} `) && text.includes(`-select ${metric}`)
                && options.every((name) => text.includes(` -${name} `))
                && [...text.matchAll(/ -(\\w+)/g)].every(([, name]) =>
                    ["select", "order_by", "max_depth", ...options].includes(name));
        }""",
        ["", kind, metric, *options],
    )
    return settled(page)


def details(page):
    """The numbers of the details by metric: the own one if it is shown, and the total."""
    found = page.locator(".details tr[data-metric]").evaluate_all(
        """rows => rows.map((row) => [
            row.dataset.metric,
            [...row.querySelectorAll(".amount")].map((one) => Number(one.dataset.value)),
        ])"""
    )
    return dict(found)


def largest_ops(page):
    """The names and numbers of the largest ops in the details."""
    found = page.locator(".details-section", has_text="Largest ops").locator("li")
    return dict(
        found.evaluate_all(
            """all => all.map((one) => [
                one.querySelector("button").title,
                Number(one.querySelector(".amount").dataset.value),
            ])"""
        )
    )


class Question(NamedTuple):
    """What a page is asked, and the profile that it is about."""

    profile: tfprof.Profile
    kind: str
    metric: str
    options: dict[str, Any]

    @property
    def column(self):
        return column_name(BY_KEY[self.metric])

    def counted(self):
        """The view with all rows that count."""
        if self.view(**self.options).trail.recounts:
            return self.view(**self.options)
        return self.view(**{name: self.options[name] for name in COUNTS & {*self.options}})

    def view(self, kind="", **options):
        """A view with all rows that these options do not hide."""
        return self.profile.view(kind or self.kind, WHOLE.but(**options)).view


def check(page, question):
    """Compare all numbers of a view with the answer to the offered command, and with the API."""
    page = opened(page, question.kind, question.metric, question.options)
    view = offered(page, question.profile)
    numbers = (view.own if question.kind == "op" else view.total)[question.column]
    expected = dict(zip(view.name, numbers.tolist(), strict=True))
    rows = table_rows(page)
    for row in rows[1:] if question.kind == "op" else rows:
        assert row["numbers"][1][1] == expected[row["name"]]
    for row in rows[:2]:
        page.click(f".table-row[data-row='{row['row']}'] .table-name")
        check_details(settled(page), view, row["name"])
        check_ops(page, question, row["name"])


def offered(page, profile):
    """The answer to the command that the page offers."""
    program, kind, *words = shlex.split(page.inner_text(".command-bar .command-text"))
    given = words[len(MODELS[MODEL]) :]
    assert [program, *words[: len(MODELS[MODEL])]] == ["tfprof", *MODELS[MODEL]]
    names = [name.removeprefix("-") for name in given[::2]]
    pairs = list(zip(names, given[1::2], strict=True))
    return profile.view(kind, view_options(available(Place.COMMAND_LINE), kind, pairs)).view


def place_of(view, name):
    return 0 if name == ROOT_NAME else list(view.name).index(name)


def check_details(page, view, name):
    place, found = place_of(view, name), details(page)
    for metric in numbers_of(view.profile):
        key = column_name(metric)
        own, total = int(view.own[key][place]), int(view.total[key][place])
        if view.kind == "op" and place > 0:
            total = own  # there, totals cover all later rows
        if metric.key in found:
            assert found[metric.key] in ([own, total], [total]), metric.key
        elif not metric.part_of:
            assert total == 0


def check_ops(page, question, name):
    """The ops of a row: those that count, with their own numbers."""
    whole = question.counted()
    place = place_of(whole, name)
    end = len(whole) if place == 0 else whole.tree.end[place]
    ops = [op for row in range(place, end) for op in whole.members[row].tolist()]
    assert details(page)["ops"][-1] == len(ops)

    steps = {"step": question.options.get("step", -1)}
    numbers = question.view("scope", **steps).op_numbers(question.column)
    values = {whole.profile.ops.name[op]: int(numbers[op]) for op in ops if numbers[op] > 0}
    found = largest_ops(page)
    assert len(found) == (min(len(values), FEW) if place > 0 and len(ops) > 1 else 0)
    assert found == {name: values[name] for name in found}
    assert list(found.values()) == sorted(values.values(), reverse=True)[: len(found)]


@pytest.mark.parametrize("kind", KINDS)
def test_a_served_page_shows_the_numbers_of_its_command(kind, profile, address, open_report):
    page = settled(open_report.visit(address, state="view=scope"))

    for options in QUESTIONS.values():
        check(page, Question(profile, kind, "micros", options))
    check(page, Question(profile, kind, "float_ops", COUNTING["types"]))


@pytest.mark.parametrize("kind", KINDS)
def test_a_report_shows_the_numbers_of_its_command(kind, profile, open_report, report_of):
    page = settled(open_report(report_of(MODEL), state="view=scope"))

    for options in FILTERS.values():
        check(page, Question(profile, kind, "micros", options))


def test_a_view_in_a_notebook_lists_ops_with_the_numbers_of_its_step(
    profile, open_report, tmp_path
):
    shown = profile.scope(step=3, max_depth=20)
    notebook = tmp_path / "notebook.html"
    notebook.write_text(f"<!DOCTYPE html><meta charset=utf-8>{shown._repr_html_()}", "utf-8")
    frame = open_report(notebook).frame_locator("iframe")
    frame.locator(".table-row[data-row='1'] .table-name").click()

    found = largest_ops(frame)
    assert len(found) == FEW
    for name, value in found.items():
        assert value == shown.view.own["nanos"][list(shown.view.name).index(name)]


def test_the_drawn_graph_has_the_numbers_of_the_question(profile, address, open_report):
    page = settled(open_report.visit(address, state="view=scope"))
    layers = profile.view("layers", WHOLE).view

    for options in COUNTING.values():
        opened(page, "graph", "micros", options)
        nodes = page.locator(".graph-node[data-row]:not([data-row^='-'])").evaluate_all(
            "all => all.map((one) => [Number(one.dataset.row), Number(one.dataset.value)])"
        )
        view = profile.view("graph", WHOLE.but(**options)).view
        counted = set(view.counted().op.tolist())
        numbers = view.op_numbers("nanos")
        assert len(nodes) > 3
        for row, value in nodes:
            ops = layers.members.take(np.arange(row, layers.tree.end[row])).values.tolist()
            assert value == sum(int(numbers[op]) for op in ops if op in counted)


def test_the_drawn_graph_says_that_filters_do_not_change_it(open_report, report_of):
    page = settled(open_report(report_of(MODEL), state="view=graph"))
    note = page.locator(".graph-note")
    assert "filters" not in note.inner_text()

    opened(page, "graph", "micros", FILTERS["names"])
    assert note.inner_text().endswith("; filters apply only to the table")
