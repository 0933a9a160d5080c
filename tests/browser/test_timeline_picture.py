"""The picture of the timeline: what is drawn, coloured and written beside it."""

from __future__ import annotations

import pytest

from build import CPU, GPU_STREAM, layer, op, run
from report_pages import pixels, wait_for
from tfprof.page import timeline
from timeline_page import timeline_of

pytestmark = pytest.mark.browser

MICRO = 1000


def steps(count):
    """Steps of 80 µs, every 100 µs, on two devices."""
    return [
        run("net/a", 80, step=step, start=1000 + 100 * step, device=device)
        for step in range(count)
        for device in (CPU, GPU_STREAM)
    ]


@pytest.fixture
def opened(open_report, tmp_path):
    return timeline_of(open_report, tmp_path, *steps(5))


def colour_of(page, variable):
    """A colour of the theme as red, green and blue."""
    return page.evaluate(
        """(variable) => {
          const context = document.createElement("canvas").getContext("2d");
          const probe = document.body.appendChild(document.createElement("i"));
          probe.style.color = `var(${variable})`;
          context.fillStyle = getComputedStyle(probe).color;
          probe.remove();
          context.fillRect(0, 0, 1, 1);
          return [...context.getImageData(0, 0, 1, 1).data.slice(0, 3)];
        }""",
        variable,
    )


@pytest.mark.parametrize(("label", "is_shorter"), [("Zoom in", True), ("Zoom out", False)])
def test_buttons_zoom(opened, label, is_shorter):
    before = opened.window
    opened.page.click(f"[aria-label^='{label}']")
    after = opened.window

    assert (after[1] - after[0] < before[1] - before[0]) == is_shorter


def wait_for_shares(page, *expected):
    """Wait for the first shares beside devices: they are written with the next picture."""
    wait_for(
        page,
        f"the shares {expected}",
        """expected => expected.every((text, place) =>
            document.querySelectorAll(".timeline-share")[place]?.textContent === text)""",
        expected,
    )


def test_the_share_beside_a_device_is_that_of_the_visible_time(opened):
    for key in ("0", "w", "w"):
        opened.press(key, "m")
        shares = [opened.shown(f"device {group}") / opened.shown("range") for group in (0, 1)]

        wait_for_shares(opened.page, *(f"{100 * share:.0f}\N{NO-BREAK SPACE}%" for share in shares))


def test_steps_without_their_runs_are_grey_and_have_no_shares(open_report, tmp_path, monkeypatch):
    monkeypatch.setattr(timeline, "MOST_RUNS", 6)
    opened = timeline_of(open_report, tmp_path, *steps(5))
    opened.press("0", "m")
    page = opened.page
    grey = colour_of(page, "--idle")
    left = opened.canvas.bounding_box()["x"]
    y = opened.y("cpu:0") - opened.canvas.bounding_box()["y"]
    line = pixels(page, ".timeline-lanes", round(y) + 8)
    middles = [opened.x((100 * step + 40) * MICRO) - left for step in range(5)]
    is_grey = [line[round(middle)] == grey for middle in middles]

    assert sum(is_grey) == 2
    wait_for_shares(page, "", "")
    assert "Some runs of this range are not in this page." in opened.details.inner_text()
    assert grey in pixels(page, ".timeline-map canvas", 30)
    page.click(f"[data-step='{is_grey.index(False)}']")
    opened.press("w")
    wait_for_shares(page, "100\N{NO-BREAK SPACE}%")


def test_the_map_marks_the_starts_of_steps_that_are_wide_enough(open_report, tmp_path):
    few, many = (timeline_of(open_report, tmp_path, *steps(count)).page for count in (5, 1000))
    marks = [
        [colour for colour in pixels(page, ".timeline-map canvas", 1) if any(colour)]
        for page in (few, many)
    ]

    assert [len(found) for found in marks] == [5, 0]


def test_colours_by_layer_are_those_of_the_largest_layers(open_report, tmp_path):
    layers = ["model", "model/block", "model/block/a", "model/block/b", "model/head"]
    times = {"x": ("model/block/a", 50), "y": ("model/block/b", 40), "z": ("model/head", 10)}
    opened = timeline_of(
        open_report,
        tmp_path,
        *(layer(path) for path in layers),
        *(op(name, layer=path) for name, (path, _) in times.items()),
        *(run(name, micros) for name, (_, micros) in times.items()),
        run("outside", 20),
    )
    opened.page.get_by_label("colour by").select_option("layer")

    legend = opened.page.locator(".timeline-legend li").all_inner_texts()
    assert legend == ["a", "b", "other ops", "head"]


def test_a_page_of_unknown_files_offers_no_command(opened):
    opened.page.click(".timeline-hints summary")

    assert opened.name == "step 2"
    assert opened.page.locator(".timeline-details .command-text").all_inner_texts() == [
        'profile.write_timeline("timeline.json")'
    ]


def test_the_column_of_unusual_steps_is_shown_only_if_there_are_any(open_report, tmp_path):
    usual = timeline_of(open_report, tmp_path, *steps(5)).page
    assert "unusual" not in usual.locator(".timeline-table thead").inner_text()

    slow = run("net/a", 500, step=5, start=1500)
    unusual = timeline_of(open_report, tmp_path, *steps(5), slow).page
    assert "unusual" in unusual.locator(".timeline-table thead").inner_text()


def test_a_run_without_a_duration_can_be_seen_and_selected(open_report, tmp_path):
    opened = timeline_of(open_report, tmp_path, run("net/a", 0))
    opened.page.mouse.move(opened.x(0), opened.y("ops"))
    assert "net/a" in opened.page.locator(".timeline-tip").inner_text()
    opened.click(0, "ops")

    assert opened.name == "net/a"
    assert opened.shown("duration") == 0
    assert opened.page.locator(".timeline-map").get_attribute("title") == ""


def test_the_table_shows_the_median_step_at_first(open_report, tmp_path):
    page = timeline_of(open_report, tmp_path, *steps(100)).page

    row = page.locator(".timeline-table [aria-current]")
    assert "median" in row.inner_text()
    box, table = row.bounding_box(), page.locator(".timeline-table").bounding_box()
    assert table["y"] < box["y"] < table["y"] + table["height"] - box["height"]


def test_runs_of_recordings_with_different_clocks_have_exact_times(open_report, tmp_path):
    opened = timeline_of(
        open_report,
        tmp_path,
        run("a", 0.011, start=1000, recording="w0"),
        run("a", 0.013, start=1_700_000_000_000_000, recording="w1"),
        run("b", 0.017, start=1_700_000_000_000_001, recording="w1"),
    )
    opened.press("0")
    opened.canvas.focus()
    opened.press("ArrowRight")
    assert (opened.name, opened.shown("duration")) == ("a", 11)
    opened.press("ArrowDown")
    assert (opened.name, opened.shown("duration"), opened.shown("start")) == ("a", 13, 0)
