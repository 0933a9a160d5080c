"""Light and dark: the system's choice or the reader's, from the first paint on."""

from __future__ import annotations

import json

import pytest

import tfprof
from page_server import serve
from report_pages import MODELS, ROOT, THEMES, settled

pytestmark = pytest.mark.browser


def brightness(page):
    """The brightest part of the background colour."""
    background = page.evaluate("getComputedStyle(document.body).backgroundColor")
    return max(int(value) for value in background[4:-1].split(","))


@pytest.fixture
def unstarted(report_of, tmp_path):
    """A report whose main script never starts, as if it were still being read."""
    path = tmp_path / "report.html"
    html = report_of("keras_cnn").read_text("utf-8")
    assert html.count('<script type="module">') == 1
    path.write_text(html.replace('<script type="module">', '<script type="text/plain">'), "utf-8")
    return path


def model_of(name):
    """The profile of an example model."""
    return tfprof.load(*(ROOT / word for word in MODELS[name]))


@pytest.mark.parametrize("theme", THEMES)
def test_the_theme_of_the_system_is_set_before_the_first_paint(open_report, unstarted, theme):
    page = open_report(unstarted, theme=theme, java_script_enabled=False)

    assert (brightness(page) < 60) == (theme == "dark")


@pytest.mark.parametrize(("system", "chosen"), [("light", "dark"), ("dark", "light")])
def test_a_chosen_theme_is_set_before_the_first_paint(open_report, unstarted, system, chosen):
    page = open_report(unstarted, theme=system)
    page.add_init_script(f"localStorage.setItem('tfprof', '{{\"theme\": \"{chosen}\"}}')")
    page.reload()

    assert page.get_attribute("html", "data-theme") == chosen
    assert (brightness(page) < 60) == (chosen == "dark")


@pytest.mark.parametrize("stored", ["", "null", "[]", '"dark"', '{"theme": "<img>"}', "{"])
def test_an_unusable_stored_choice_is_ignored(open_report, report_of, stored):
    page = settled(open_report(report_of("keras_cnn"), theme="light"))
    page.add_init_script(f"localStorage.setItem('tfprof', {json.dumps(stored)})")
    page.reload()

    assert brightness(settled(page)) > 200
    page.click("text=Theme: system")
    assert page.evaluate("localStorage.tfprof") == '{"theme":"light"}'


def test_the_choice_is_remembered(open_report):
    # Chromium sometimes forgets the storage of a file when it is read again.
    with serve(lambda: model_of("keras_cnn")) as served:
        page = settled(open_report.visit(served.address, theme="light"))

        page.click("text=Theme: system")
        page.click("text=Theme: light")
        assert brightness(page) < 60
        page.reload()

        assert brightness(settled(page)) < 60
        page.click("text=Theme: dark")
        assert brightness(page) > 200


def test_the_theme_can_be_chosen_in_a_notebook_which_has_no_storage(open_report, tmp_path):
    report = model_of("keras_cnn").report()
    notebook = tmp_path / "notebook.html"
    notebook.write_text(f"<!DOCTYPE html><meta charset=utf-8>{report._repr_html_()}", "utf-8")
    page = open_report(notebook, theme="light")
    frame = page.frame_locator("iframe")

    found = []
    for chosen in ("system", "light", "dark", "system"):
        button = frame.locator(f"text=Theme: {chosen}")
        found.append(frame.locator("html").get_attribute("data-theme"))
        button.click()
    assert found == [None, "light", "dark", None]
