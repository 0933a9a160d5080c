"""The timeline in the browser: moving, selecting and measuring, by mouse and by keyboard."""

from __future__ import annotations

import pytest

from build import CPU, GPU, GPU_STREAM, op, profile, run
from report_pages import settled, wait_for
from tfprof.api import Profile
from tfprof.page import timeline
from timeline_page import Timeline, timeline_of

pytestmark = pytest.mark.browser

MICRO = 1000


def recording():
    """Five steps of about 100 µs, every 200 µs; the last one takes four times as long."""
    lengths = [100, 99, 99, 101, 400]
    facts = [op("net/a", "MatMul"), op("net/b", "Add", inputs=["net/a"])]
    for step, length in enumerate(lengths):
        start = 1000 + 200 * step
        facts += [
            run("net/a", 60, step=step, start=start),
            run("net/b", length - 60, step=step, start=start + 60),
            run("net/b", 20, step=step, start=start + 30),  # beside `net/a`
            run("net/c", 5, step=step, start=start, device=GPU),
            run("net/c", 50, step=step, start=start + 10, device=GPU_STREAM),
        ]
    return profile(*facts)


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    found = tmp_path_factory.mktemp("timeline") / "report.html"
    Profile(recording()).report(title="five steps").save(found)
    return found


def timeline_at(open_report, path, **settings):
    return Timeline(settled(open_report(path, state="view=timeline", **settings)))


def wait_for_window(opened, window):
    wait_for(
        opened.page,
        f"the window {window}",
        """([start, end]) => {
            const { from, to } = document.querySelector(".timeline").dataset;
            return Math.abs(from - start) <= 2 && Math.abs(to - end) <= 2;
        }""",
        list(window),
    )


@pytest.fixture
def opened(open_report, path):
    return timeline_at(open_report, path)


def test_it_starts_with_the_median_step(opened):
    start, end = opened.window

    assert opened.name == "step 0"
    assert start < 0
    assert 100 * MICRO < end < 110 * MICRO


@pytest.mark.parametrize(("key", "is_shorter"), [("w", True), ("s", False)])
def test_keys_zoom_around_the_middle(opened, key, is_shorter):
    before = opened.window
    opened.press(key)
    after = opened.window

    assert (after[1] - after[0] < before[1] - before[0]) == is_shorter
    if is_shorter:
        assert sum(after) == pytest.approx(sum(before), abs=2)


def test_keys_move_left_and_right(opened):
    before = opened.window
    opened.press("d")
    right = opened.window
    opened.press("a")

    assert right[0] > before[0]
    assert right[1] - right[0] == pytest.approx(before[1] - before[0], abs=2)
    assert opened.window == pytest.approx(before, abs=2)


def turn_wheel(opened, x, y):
    """Turn the wheel, and wait until the page has handled it."""
    opened.page.evaluate("""() => {
        window.isTurned = false;
        addEventListener("wheel", () => (window.isTurned = true), { once: true });
    }""")
    opened.page.mouse.wheel(x, y)
    wait_for(opened.page, "the event of the wheel", "() => isTurned")


def test_the_wheel_with_ctrl_zooms_at_the_pointer(opened):
    time = 40 * MICRO
    x, y = opened.x(time), opened.y("cpu:0")
    before = opened.length
    opened.page.mouse.move(x, y)
    opened.page.keyboard.down("Control")
    turn_wheel(opened, 0, -400)
    opened.page.keyboard.up("Control")

    assert opened.length < before / 1.5
    assert opened.x(time) == pytest.approx(x, abs=1.5)


def test_the_wheel_with_shift_moves_and_alone_it_scrolls_the_page(opened):
    before = opened.window
    opened.page.mouse.move(opened.x(40 * MICRO), opened.y("cpu:0"))
    turn_wheel(opened, 0, 100)
    assert opened.window == before

    turn_wheel(opened, 100, 0)
    moved = opened.window
    assert moved[0] > before[0]
    assert moved[1] - moved[0] == pytest.approx(before[1] - before[0], abs=2)


def test_dragging_moves_the_picture_with_the_pointer(opened):
    x = opened.x(60 * MICRO)
    opened.drag(x, x - 200, opened.y("cpu:0"))

    assert opened.x(60 * MICRO) == pytest.approx(x - 200, abs=1.5)


def test_the_frame_of_the_map_moves_and_resizes_the_window(opened):
    length = opened.length
    frame = opened.page.locator(".timeline-frame").bounding_box()
    y = frame["y"] + frame["height"] / 2
    opened.drag(frame["x"] + frame["width"] / 2, frame["x"] + frame["width"] / 2 + 300, y)
    start, _ = opened.window
    assert start > 100 * MICRO
    assert opened.length == pytest.approx(length, rel=0.3)

    before = opened.window
    frame = opened.page.locator(".timeline-frame").bounding_box()
    opened.drag(frame["x"] + frame["width"], frame["x"] + frame["width"] + 200, y)
    assert opened.window[0] == pytest.approx(before[0], abs=MICRO)
    assert opened.window[1] > before[1] + 50 * MICRO


def test_dragging_on_the_map_shows_that_part(opened):
    box = opened.page.locator(".timeline-map").bounding_box()
    opened.drag(box["x"] + 0.5 * box["width"], box["x"] + 0.9 * box["width"], box["y"] + 30)

    start, end = opened.window
    assert 300 * MICRO < start < 800 * MICRO < end


def test_an_animated_jump_ends_where_a_sudden_one_does(opened, open_report, path):
    animated = timeline_at(open_report, path, reduced_motion="no-preference")
    opened.press("0")
    animated.press("0")

    wait_for_window(animated, opened.window)


def test_a_key_moves_the_window_as_long_as_it_is_pressed(open_report, path):
    opened = timeline_at(open_report, path, reduced_motion="no-preference")
    _, end = opened.window
    opened.page.keyboard.down("d")
    wait_for(
        opened.page,
        f"a window that ends after {2 * end}",
        "end => Number(document.querySelector('.timeline').dataset.to) > end",
        2 * end,
    )
    opened.page.keyboard.up("d")
    after = opened.window

    assert opened.window == after


def test_a_key_fits_everything(opened):
    opened.press("0")
    start, end = opened.window

    assert start < 0
    assert end > 1200 * MICRO


def test_a_click_selects_a_run_and_shows_its_numbers(opened):
    opened.click(20 * MICRO, "ops")

    assert opened.name == "net/a"
    assert opened.shown("duration") == 60 * MICRO
    assert opened.shown("start") == 0
    assert opened.shown("runs") == 5
    assert opened.shown("total") == 300 * MICRO
    assert "MatMul" in opened.details.inner_text()


def test_the_runs_of_the_same_op_have_a_spread(opened):
    opened.click(80 * MICRO, "ops")

    assert opened.name == "net/b"
    assert [opened.shown(field) for field in ("runs", "min", "median", "max")] == [
        10,
        20 * MICRO,
        20 * MICRO,  # five of them
        340 * MICRO,
    ]


def test_keys_select_the_other_runs_of_an_op(opened):
    opened.click(20 * MICRO, "ops")
    opened.press(".", ".")
    assert opened.details.inner_text().count("3 of 5") == 1
    start, end = opened.window
    assert start <= 400 * MICRO <= end

    opened.press(",")
    assert "2 of 5" in opened.details.inner_text()


def test_arrow_keys_move_along_lanes_and_between_them(opened):
    opened.canvas.focus()
    opened.press("ArrowRight")
    assert (opened.name, opened.shown("start")) == ("net/a", 0)

    opened.press("ArrowRight")
    assert (opened.name, opened.shown("start")) == ("net/b", 60 * MICRO)

    opened.press("ArrowDown")
    assert (opened.name, opened.shown("duration")) == ("net/b", 20 * MICRO)

    opened.press("ArrowDown", "ArrowDown")
    assert (opened.name, opened.shown("duration")) == ("net/c", 50 * MICRO)

    opened.press("ArrowUp")
    assert (opened.name, opened.shown("duration")) == ("net/c", 5 * MICRO)

    opened.press("Escape")
    assert opened.details.locator("h2").count() == 0


def test_the_selected_run_is_announced(opened):
    opened.click(20 * MICRO, "ops")

    announced = opened.page.locator(".timeline-live[aria-live]").inner_text()
    assert announced == "net/a, 60.00\N{NO-BREAK SPACE}µs, 60.0\N{NO-BREAK SPACE}% of step 0"


def test_a_key_fits_the_selected_run(opened):
    opened.click(80 * MICRO, "ops")
    opened.press("f")
    start, end = opened.window

    assert 0 <= start < 60 * MICRO
    assert 100 * MICRO < end < 200 * MICRO


def test_buttons_and_keys_go_from_step_to_step(opened):
    opened.page.click("[aria-label^='Next step']")
    assert opened.name == "step 1"
    opened.press("]")
    assert opened.name == "step 2"
    opened.press("[")
    assert opened.name == "step 1"
    start, end = opened.window
    assert start < 200 * MICRO < 300 * MICRO < end
    assert opened.page.locator("[aria-label='Step']").input_value() == "1"

    opened.page.select_option("[aria-label='Step']", "4")
    assert opened.name == "step 4"
    opened.page.click("text=Median step")
    assert opened.name == "step 0"


def test_a_row_of_the_table_shows_its_step(opened):
    opened.page.click("[data-step='3'] td >> nth=0")

    assert opened.name == "step 3"
    start, end = opened.window
    assert start < 600 * MICRO < 700 * MICRO < end
    chosen = opened.page.locator(".timeline-table [aria-current]")
    assert chosen.get_attribute("data-step") == "3"

    opened.page.locator("[data-step='3'] button").focus()
    opened.press("ArrowDown")
    assert opened.name == "step 4"
    assert opened.page.evaluate("document.activeElement.closest('tr').dataset.step") == "4"


def test_unusual_steps_are_marked_with_their_causes(opened):
    (summary,) = Profile(recording()).step_times().summaries
    (unusual,) = summary.unusual

    row = opened.page.locator("[data-step='4']")
    assert "longer" in row.inner_text()
    assert "; ".join(unusual.causes) in row.inner_text()
    opened.page.click("[data-step='4']")
    assert "; ".join(unusual.causes) in opened.details.inner_text()


def test_shift_and_drag_measure_a_range(opened):
    opened.page.keyboard.down("Shift")
    opened.drag(opened.x(30 * MICRO), opened.x(70 * MICRO), opened.y("cpu:0"))
    opened.page.keyboard.up("Shift")

    pixel = opened.length / opened.canvas.bounding_box()["width"]
    assert opened.shown("range") == pytest.approx(40 * MICRO, abs=2 * pixel)
    assert opened.shown("runs") == 4  # both lanes of the CPU, and the kernel
    assert opened.shown("device 0") == opened.shown("range")
    assert opened.shown("device 1") == pytest.approx(30 * MICRO, abs=2 * pixel)


def test_dragging_on_the_ruler_measures_as_well(opened):
    ruler = opened.page.locator(".timeline-ruler-canvas").bounding_box()
    opened.drag(opened.x(30 * MICRO), opened.x(70 * MICRO), ruler["y"] + 10)

    assert opened.shown("runs") == 4


def test_an_op_of_a_range_is_selected_by_its_name(opened):
    opened.press("m")
    opened.details.locator(".timeline-top button", has_text="net/c").click()

    assert opened.name == "net/c"


def test_arrows_are_listed_as_links(opened):
    opened.click(20 * MICRO, "ops")
    opened.press("e")
    used_by = opened.details.locator("div", has_text="Used by").last
    used_by.locator("button").click()

    assert opened.name == "net/b"
    inputs = opened.details.locator("div", has_text="Inputs from").last
    assert inputs.locator("button").inner_text() == "net/a"


def test_the_pointer_shows_what_is_below_it(opened):
    tip = opened.page.locator(".timeline-tip")
    opened.page.mouse.move(opened.x(20 * MICRO), opened.y("ops"))
    assert "net/a" in tip.inner_text()
    assert "60.00" in tip.inner_text()

    opened.page.mouse.move(opened.x(20 * MICRO), opened.y("steps"))
    assert "step 0" in tip.inner_text()
    opened.page.mouse.move(5, 5)
    assert tip.is_hidden()


def test_a_pixel_with_several_runs_says_how_many(open_report, tmp_path):
    runs = [run(f"a{place}", 1, start=1000 + 2 * place) for place in range(5000)]
    opened = timeline_of(open_report, tmp_path, *runs)
    opened.page.mouse.move(opened.x(5000 * MICRO), opened.y("ops"))

    text = opened.page.locator(".timeline-tip").inner_text()
    assert "runs here, busy 5" in text  # about half of the time


def test_a_device_is_folded_by_its_name(opened):
    lanes = opened.page.locator(".timeline-label-lane")
    before = lanes.count()
    device = opened.page.locator(".timeline-label-group", has_text="cpu:0")
    device.click()
    assert device.get_attribute("aria-expanded") == "false"
    assert lanes.count() == before - 2

    device.press("Enter")
    assert device.get_attribute("aria-expanded") == "true"
    assert lanes.count() == before


def test_the_legend_follows_the_colours(opened):
    legend = opened.page.locator(".timeline-legend")
    menu = opened.page.get_by_label("colour by")
    menu.select_option("kind")
    assert set(legend.locator("li").all_inner_texts()) == {"MatMul", "Add", "net/c"}
    menu.select_option("share")
    assert set(legend.locator("li").all_inner_texts()) == {"over 20 %"}
    menu.select_option("phase")
    assert legend.locator("li").all_inner_texts() == ["forward"]


def test_the_device_pixels_of_the_screen_are_used(open_report, path):
    page = settled(open_report(path, state="view=timeline", device_scale_factor=2))

    canvas = page.locator("canvas.timeline-lanes")
    assert canvas.evaluate("canvas => canvas.width / canvas.clientWidth") == pytest.approx(2, 0.01)


def test_the_selection_follows_to_other_views_and_back(opened):
    page = opened.page
    opened.click(20 * MICRO, "ops")
    opened.details.get_by_role("button", name="scope").click()
    selected = settled(page).locator(".table-body [aria-selected='true'] .table-name")
    assert selected.get_attribute("title").startswith("net/a")

    page.locator(".table-body .table-name[title^='net/c']").click()
    page.click("#tab-timeline")
    assert opened.name == "net/c"
    assert opened.shown("duration") in (5 * MICRO, 50 * MICRO)


def test_a_link_shows_the_same_window_and_run(opened, open_report, path):
    opened.click(80 * MICRO, "ops")
    opened.press("f")
    window = opened.window
    wait_for(
        opened.page,
        f"the window {window} in the address",
        "window => new URLSearchParams(location.hash.slice(1)).get('timeline')?.startsWith(window)",
        "{},{},".format(*window),
    )
    state = opened.page.evaluate("location.hash").removeprefix("#")
    other = Timeline(open_report(path, state=state))

    assert other.window == pytest.approx(window, abs=2)
    assert other.name == "net/b"
    assert other.shown("start") == 60 * MICRO


def test_runs_that_are_left_out_are_stated(open_report, tmp_path, monkeypatch):
    monkeypatch.setattr(timeline, "MOST_RUNS", 10)
    Profile(recording()).report().save(tmp_path / "report.html")
    page = settled(open_report(tmp_path / "report.html", state="view=timeline"))

    note = page.locator("[data-left-out]")
    assert note.get_attribute("data-left-out") == "15"
    assert note.inner_text().startswith("15 of 25 runs, in 3 steps, are not in this page.")


def test_several_recordings_are_below_each_other(open_report, tmp_path):
    facts = [run("a", 10, start=100 * place, recording=f"w{place}") for place in (1, 2)]
    page = timeline_of(open_report, tmp_path, *facts).page

    labels = page.locator(".timeline-label-recording").all_inner_texts()
    assert labels == ["w1", "w2"]
    assert CPU in page.locator(".timeline-label-group").first.get_attribute("title")


def test_a_thousand_steps_are_a_table_of_few_elements(open_report, tmp_path):
    runs = [run("a", 10, step=step, start=100 * step + 100) for step in range(1000)]
    opened = timeline_of(open_report, tmp_path, *runs)
    page = opened.page
    rows = page.locator(".timeline-table tbody tr[data-step]")
    assert rows.count() < 50

    page.select_option("[aria-label='Step']", "800")
    assert opened.name == "step 800"
    assert page.locator("[data-step='800'][aria-current]").is_visible()
    assert rows.count() < 50
