"""The page that `tfprof ui` serves: any option, changed files, and errors."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
import threading
from contextlib import contextmanager

import pytest

import model_files
import tfprof
from page_server import SECONDS, serve, watched
from report_pages import (
    MODELS,
    ROOT,
    painted,
    table_rows,
    wait_until,
)
from tfprof.page import merging

pytestmark = pytest.mark.browser

LARGE = 2**31 - 1
WRONG = "[data-option=order_by] .filter-error:not(:empty)"


@pytest.fixture
def run_folder(tmp_path):
    """A folder of a training run with one recorded step."""
    model_files.write(tmp_path)
    (tmp_path / "run_meta_1").unlink()
    return tmp_path


@pytest.fixture(scope="module")
def resnet32():
    """The profile of the example, and the address where it is served."""
    profile = tfprof.load(*(ROOT / path for path in MODELS["resnet32"]))
    with serve(lambda: profile) as served:
        yield profile, served.address


def write_step(folder, name, micros):
    """Write the file of a recorded step at once: an unfinished one could be read."""
    draft = folder.with_name(f"{folder.name}-{name}")
    draft.write_bytes(model_files.run(micros))
    draft.replace(folder / name)


def wait_for_update(page):
    page.wait_for_selector(".live:has-text('updated')")
    painted(page)


def shown(page):
    """The totals that the table of a view shows, by the names of its rows."""
    return {row["name"]: row["numbers"][1][1] for row in table_rows(page)}


def totals(answer, column, names):
    """The totals of some rows of an answer of the Python API, by their names."""
    view = answer.view
    found = dict(zip(view.name, view.total[column].tolist(), strict=True))
    return {name: found[name] for name in names}


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"account_type_regexes": "_trainable_variables"},
        {"start_name_regexes": "unit_1.*", "max_depth": 3},
        {"min_micros": 1000, "order_by": "micros"},
        {"define_type": "conv=.*conv.*", "account_type_regexes": "conv"},
        {"account_displayed_op_only": True, "show_name_regexes": "unit_.*"},
    ],
)
@pytest.mark.parametrize("metric", ["micros", "params"])
def test_numbers_equal_the_python_api_with_any_option(options, metric, open_report, resnet32):
    profile, address = resnet32
    words = "".join(f"&{name}={str(value).lower()}" for name, value in options.items())
    page = open_report.visit(address, state=f"view=scope&metric={metric}{words}")
    page.wait_for_selector(".workbench .amount")
    found = shown(page)

    asked = {"max_depth": LARGE} | options
    answer = profile.scope(**{"order_by": "name"} | asked)
    column = {"micros": "nanos"}.get(metric, metric)
    assert found == totals(answer, column, found)


def test_the_last_line_of_a_table_is_about_the_rows_of_the_answer(
    open_report, run_folder, monkeypatch
):
    monkeypatch.setattr(merging, "MOST_ROWS", 5)
    with watched(str(run_folder)) as served:
        state = "view=scope&metric=micros"
        page = open_report.visit(served.address, state=state)
        page.wait_for_selector(".table-foot:has-text('the smallest are merged')")
        every = page.inner_text(".table-foot").partition(" of ")[2].partition(" rows")[0]
        page.evaluate("state => { location.hash = state }", f"#{state}&show_name_regexes=net/mul")
        page.wait_for_selector(".table-foot:not(:has-text('the smallest are merged'))")

        assert page.inner_text(".table-foot") == f"1 of {every} rows"
        assert int(every) == len(tfprof.load(run_folder).scope().view) - 1


def test_an_option_can_be_changed_while_the_page_is_open(open_report, run_folder):
    with watched(str(run_folder)) as served:
        page = open_report.visit(served.address, state="view=op&metric=micros")
        page.wait_for_selector(".workbench .amount")
        before = shown(page)
        page.evaluate("location.hash = '#view=op&metric=micros&show_name_regexes=MatMul'")
        page.wait_for_selector(".table-name[title='Relu']", state="detached")

        assert "Relu" in before
        assert list(shown(page))[1:] == ["MatMul"]


def test_the_page_follows_its_files_and_keeps_its_state(open_report, run_folder):
    with watched(str(run_folder)) as served:
        state = "view=scope&metric=micros&show_name_regexes=net.*"
        page = open_report.visit(served.address, state=state)
        page.wait_for_selector(".workbench .amount")
        before = shown(page)
        write_step(run_folder, "run_meta_1", {"act": 4, "mul": 500, "w": 2})
        wait_for_update(page)
        after = shown(page)

    assert re.fullmatch(r"Updated at \d\d:\d\d:\d\d", page.inner_text(".live"))
    assert page.evaluate("location.hash") == f"#{state}"
    assert before["net/mul"] == 10_000
    answer = tfprof.load(run_folder).scope(show_name_regexes="net.*", order_by="name")
    assert after == totals(answer, "nanos", after)


def test_the_graph_is_drawn_and_follows_the_files(open_report, run_folder):
    with watched(str(run_folder)) as served:
        page = open_report.visit(served.address, state="view=graph&metric=micros")
        page.wait_for_selector(".graph-node")
        number = ".graph-node:has-text('net')"
        before = page.get_attribute(number, "data-value")
        write_step(run_folder, "run_meta_1", {"act": 4, "mul": 500, "w": 2})
        wait_for_update(page)
        page.wait_for_selector(f"{number}[data-value='260500']")  # the mean of two steps

        assert before == "15000"


def test_an_update_keeps_unfolded_rows_and_the_selection(open_report, run_folder):
    with watched(str(run_folder)) as served:
        page = open_report.visit(served.address, state="view=scope&metric=micros")
        page.click(".table-row:has-text('net') .table-fold")  # the view is small: this folds it
        page.click(".table-row:has-text('prob')")
        before = shown(page)
        write_step(run_folder, "run_meta_1", {"mul": 500, "prob": 100})
        wait_for_update(page)
        after = shown(page)
        selected = page.inner_text(".details h2")

    answer = tfprof.load(run_folder).scope()
    assert "net/mul" not in before
    assert before["prob"] == 1_500_000
    assert sorted(after) == sorted(before)
    assert after == totals(answer, "nanos", after)
    assert selected == "prob"


def test_the_selection_follows_when_an_option_changes_the_rows_themselves(open_report, resnet32):
    profile, address = resnet32
    page = open_report.visit(address, state="view=code&metric=params")
    rows = table_rows(page)
    own = profile.code(max_depth=LARGE, my_code=True, order_by="params").view
    name = next(row["name"] for row in rows[1:] if row["name"] in set(own.name))
    page.click(f".table-name[title={json.dumps(name)}]")
    page.evaluate("location.hash = location.hash + '&my_code=true'")
    page.wait_for_selector(".command-bar .command-text:has-text('-my_code')")
    rows = table_rows(page)

    assert page.inner_text(".details h2") == name
    assert [row["name"] for row in rows] == [own.name[row["row"]] for row in rows]
    assert [row["numbers"][1][1] for row in rows] == [
        own.total["params"][row["row"]] for row in rows
    ]


def test_an_update_does_not_take_the_focus_from_the_header(open_report, run_folder):
    with watched(str(run_folder)) as served:
        page = open_report.visit(served.address, state="view=scope")
        page.wait_for_selector(".workbench .amount")
        menu = page.get_by_label("Metric of all views")
        menu.focus()
        write_step(run_folder, "run_meta_1", {"mul": 500})
        wait_for_update(page)

        assert menu.evaluate("(menu) => menu === document.activeElement")
        assert "1 step" in page.inner_text(".header-facts")
        page.evaluate("() => document.activeElement.blur()")
        page.wait_for_selector(".header-facts:has-text('2 steps')")


def test_a_file_that_cannot_be_read_is_reported_until_it_can(open_report, run_folder):
    with watched(str(run_folder / "graph.pb"), str(run_folder / "run_meta_0")) as served:
        page = open_report.visit(served.address, state="view=scope")
        page.wait_for_selector(".workbench .amount")
        before = shown(page)
        (run_folder / "run_meta_0").rename(run_folder / "away")
        page.wait_for_selector(".live-failed")

        assert page.inner_text(".live").endswith("run_meta_0: no such file; check the path.")
        assert shown(page) == before

        (run_folder / "away").rename(run_folder / "run_meta_0")
        wait_for_update(page)
        assert page.locator(".live-failed").count() == 0


def test_a_mistake_in_an_option_is_reported_as_on_the_command_line(open_report, run_folder):
    open_report.allow("status of 400")  # the message of Chromium about the refused question
    with watched(str(run_folder)) as served:
        page = open_report.visit(served.address, state="view=scope&max_depth=2")
        page.wait_for_selector(".workbench .amount")
        before = shown(page)
        page.evaluate("location.hash = '#view=scope&order_by=micro'")
        page.wait_for_selector(WRONG)

        assert page.inner_text(WRONG) == "cannot be `micro`. Did you mean `micros`?"
        assert shown(page) == before

        page.evaluate("location.hash = '#view=scope&order_by=micros'")
        page.wait_for_selector(WRONG, state="detached")


def test_names_in_an_error_are_shown_as_text(open_report, run_folder):
    open_report.allow("status of 400")
    with watched(str(run_folder)) as served:
        page = open_report.visit(
            served.address, state="view=scope&order_by=%3Cimg%20src=x%20onerror=alert(1)%3E"
        )
        page.wait_for_selector(WRONG)

        assert page.inner_text(WRONG).startswith("cannot be `<img src=x onerror=")
        assert page.locator("img").count() == 0


NOTE_SOURCES = """
window.sources = [];
window.EventSource = class extends EventSource {
  constructor(...words) {
    super(...words);
    window.sources.push(this);
  }
};
"""
STATES = "sources.map((source) => ['connecting', 'open', 'closed'][source.readyState])"


def test_a_hidden_page_holds_no_connection_and_catches_up(open_report, run_folder):
    with watched(str(run_folder)) as served:
        page = open_report.visit(served.address, state="view=scope&metric=micros")
        page.add_init_script(NOTE_SOURCES)
        page.reload()
        page.wait_for_selector(".workbench .amount")
        wait_until(page, "a connection", lambda: page.evaluate(STATES) == ["open"])
        set_visibility(page, "hidden")
        assert page.evaluate(STATES) == ["closed"]
        write_step(run_folder, "run_meta_1", {"mul": 500})
        assert served.live.wait(1, SECONDS).generation.number == 2
        assert page.inner_text(".live") == ""
        set_visibility(page, "visible")
        wait_for_update(page)
        assert page.evaluate(STATES) == ["closed", "open"]


def set_visibility(page, state):
    """Tell a page that it is visible or not, as a browser does when its tab is chosen."""
    page.evaluate(
        """(hidden) => {
          Object.defineProperty(document, "hidden", { value: hidden, configurable: true });
          document.dispatchEvent(new Event("visibilitychange"));
        }""",
        state == "hidden",
    )


def test_another_page_cannot_read_or_show_the_profile(open_report, run_folder, tmp_path):
    open_report.allow("")  # Chromium notices the attempts
    with watched(str(run_folder)) as served:
        other = tmp_path / "other.html"
        other.write_text(f'<title>other</title><iframe src="{served.address}"></iframe>')
        page = open_report(other)
        page.wait_for_load_state()
        tried = page.evaluate(
            """async (address) => {
              try {
                return (await fetch(address)).status;
              } catch (error) {
                return error.name;
              }
            }""",
            f"{served.address}data",
        )

        assert tried == "TypeError"
        # Not `url`, which is empty in some versions of Playwright.
        assert page.frames[1].evaluate("location.href").startswith("chrome-error:")


@contextmanager
def ui_command(folder, log):
    """A running `tfprof ui`, and the address that it prints; it is killed if a test fails."""
    program = [sys.executable, "-m", "tfprof", "ui", str(folder), "--no_browser"]
    with (
        log.open("w") as errors,
        subprocess.Popen(program, stdout=subprocess.PIPE, stderr=errors, text=True) as process,
    ):
        late = threading.Timer(SECONDS, process.kill)
        late.start()
        try:
            address = process.stdout.readline().strip()
            late.cancel()
            assert address, f"no address within {SECONDS} s:\n{log.read_text()}"
            yield process, address
        finally:
            late.cancel()
            late.join()
            process.kill()


def test_the_command_serves_the_page(open_report, run_folder, tmp_path_factory):
    open_report.allow("net::ERR")  # the message of Chromium that it cannot connect
    log = tmp_path_factory.mktemp("log") / "errors"
    with ui_command(run_folder, log) as (process, address):
        page = open_report.visit(address, state="view=scope&metric=params")
        page.wait_for_selector(".workbench .amount")

        assert shown(page)["net/w"] == 12
        process.send_signal(signal.SIGTERM)
        assert process.wait(SECONDS) == 0, log.read_text()
        page.wait_for_selector(".live-failed")
        assert page.inner_text(".live") == "tfprof has stopped; start it again."
