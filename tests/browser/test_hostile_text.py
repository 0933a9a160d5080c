"""Names, code lines, devices and layers are shown as text, whatever they contain."""

from __future__ import annotations

import os

import pytest

import hostile_model
import model_files
import tfprof
from report_pages import overflow, settled, show, tabs, write_report
from tfprof.model.layers import Layer
from tfprof.sources.layers_file import RecordedLayers, encoded

pytestmark = pytest.mark.browser

# What the page would contain if a text had become markup.
MARKUP = (
    "img, svg style, [onerror], [onload], [onmouseover], a[href^='javascript:'], body b, textarea"
)


@pytest.fixture(scope="module")
def paths(tmp_path_factory):
    return hostile_model.write(tmp_path_factory.mktemp("hostile"))


@pytest.fixture(scope="module")
def report(paths):
    return write_report([str(path) for path in paths], paths[0].with_name("report.html"))


def no_markup(page) -> bool:
    """Whether the page has no element that came from a text."""
    # One in the head; the data and the main script, if it has not replaced the body yet.
    scripts = page.locator("script").count()
    return page.locator(MARKUP).count() == 0 and scripts <= 3


@pytest.mark.parametrize("width", [1440, 800])
def test_every_view_shows_hostile_names_as_text(open_report, report, width):
    page = open_report(report, width=width)

    for view in tabs(page):
        show(page, view)
        assert no_markup(page), view
        assert overflow(page) <= 0, view


@pytest.mark.parametrize("view", ["scope", "layers", "code", "op"])
def test_tables_contain_the_texts(open_report, report, view):
    page = settled(open_report(report, height=20_000, state=f"view={view}"))
    shown = page.locator("main").inner_text()

    # Names are cut at slashes; the code view shows the last part of the name of a file.
    for name in ("comment", "prototype", "entity", "link"):
        assert hostile_model.TEXTS[name] in shown
    assert "bell\u2407 escape\u241b[31m tab\u2409 line\u240areturn\u240d delete\u2421" in shown


def test_prototypes_are_not_changed(open_report, report):
    page = open_report(report)
    for view in tabs(page):
        show(page, view)

    assert page.evaluate("Object.keys(Object.prototype).length + Object.keys({}).length") == 0


def test_the_title_of_the_page_is_text(open_report, tmp_path, paths):
    title = "</title><script>alert('title')</script>"
    path = tmp_path / "report.html"
    tfprof.load(*paths).report(title=title).save(path)

    page = settled(open_report(path))

    assert title in page.title()
    assert title in page.locator("h1").inner_text()
    assert no_markup(page)


def test_names_of_files_and_layers_that_are_not_unicode_are_shown(open_report, tmp_path):
    folder = tmp_path / os.fsdecode(b"model\xff")
    folder.mkdir()
    graph = folder / "graph.pb"
    graph.write_bytes(model_files.graph().SerializeToString())
    layers = folder / "layers.json"
    layers.write_bytes(encoded(RecordedLayers([Layer("net\ud800")], {"net/w": 0})))

    report = write_report([str(graph), str(layers)], tmp_path / "report.html")
    page = settled(open_report(report, state="view=layers"))

    assert "model" in page.title()
    assert "net\\ud800" in page.locator("main").inner_text()


def test_the_part_that_needs_no_script_shows_text(open_report, report):
    page = open_report(report, java_script_enabled=False)

    assert no_markup(page)
    assert hostile_model.TEXTS["script"] in page.locator("body").inner_text()
    assert overflow(page) <= 0


@pytest.mark.parametrize(
    "state",
    [
        "view=<script>alert(1)</script>",
        "view=__proto__&metric=constructor",
        "view=scope&row=-5",
        "view=scope&row=1e99&search=%3Cimg%20src=x%20onerror=alert(1)%3E",
        "view=scope&show_name_regexes=([&max_depth=-1&__proto__=1",
        "%00%ff&&==&view=op&row=NaN",
    ],
)
def test_any_state_in_the_address_is_harmless(open_report, report, state):
    page = settled(open_report(report, state=state))

    assert no_markup(page)
    assert page.locator("main").inner_text().strip()


@pytest.mark.parametrize("what", ["report", "scope", "layers", "code", "op", "graph"])
def test_a_notebook_shows_the_texts_in_a_frame_that_cannot_reach_it(
    open_report, paths, tmp_path, what
):
    shown = getattr(tfprof.load(*paths), what)()._repr_html_()
    notebook = tmp_path / "notebook.html"
    notebook.write_text(f"<!DOCTYPE html><meta charset=utf-8><body>{shown}", "utf-8")

    page = open_report(notebook)
    frame = page.frame_locator("iframe")
    if what == "report":
        frame.locator("#tab-scope").click()
    frame.locator("main [data-value]").first.wait_for()

    assert page.locator("script").count() == 0
    assert page.locator(MARKUP).count() == 0
    assert frame.locator(MARKUP).count() == 0
    assert page.get_attribute("iframe", "sandbox") == "allow-scripts"
