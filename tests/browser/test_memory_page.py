"""The view of memory shows what `tfprof memory` prints, and more times than the peak."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tfprof
from build import profile as profile_of
from build import run
from page_server import serve
from profile_strategies import allocating_profiles, often
from report_pages import (
    MODELS,
    ROOT,
    THEMES,
    WIDTHS,
    address,
    answer,
    overflow,
    settled,
    wait_for,
)
from tfprof.api import Profile
from tfprof.columns import Strings
from tfprof.measures.memory import allocator_traces
from tfprof.options import MemoryOptions
from tfprof.page import assets, memory
from tfprof.views.memory import build, of_trace

pytestmark = pytest.mark.browser

VIEW = "view=memory"


def shown_tables(page):
    """The rows of each table: name, depth, bytes and ops."""
    page.wait_for_selector(".memory-table")
    return page.evaluate(
        """() => Object.fromEntries([...document.querySelectorAll(".memory-table")].map(
          (table) => [table.dataset.by, [...table.querySelectorAll("tr[data-name]")].map((row) => {
            const [bytes, ops] = [...row.querySelectorAll(".amount")].map(
              (cell) => Number(cell.dataset.value));
            return { name: row.dataset.name, depth: Number(row.dataset.depth), bytes, ops };
          })]))"""
    )


def values(page, selector):
    page.wait_for_selector(selector)
    return page.eval_on_selector_all(
        selector, "(found) => found.map((one) => Number(one.dataset.value))"
    )


def offered(page):
    return answer(page.inner_text(".memory .command-text"))


@pytest.mark.parametrize("model", ["resnet32", "transformer"])
@pytest.mark.parametrize("is_whole", [False, True])
def test_the_peak_and_its_tables_are_those_of_the_offered_command(
    open_report, report_of, model, is_whole
):
    page = open_report(report_of(model), state=VIEW)
    if is_whole:
        page.click("text=Show all rows")
    expected = offered(page)["allocators"][0]

    assert shown_tables(page) == {
        by: found["rows"] for by, found in expected["held_at_peak"].items()
    }
    assert values(page, ".memory-moment h2 .amount") == [expected["peak_bytes"]]
    peak, *others = values(page, ".memory-facts .amount")
    assert peak == expected["peak_bytes"]
    assert expected["left_bytes"] in others
    assert max(expected["allocator_level"]["bytes"]) in others


def test_every_step_has_its_own_peak(open_report, report_of):
    page = open_report(report_of("transformer"), state=VIEW)
    menu = page.locator(".memory-controls select").nth(1)
    menu.wait_for()
    count = menu.locator("option").count()

    assert count == len(tfprof.load(ROOT / MODELS["transformer"][0]).steps)
    for place in range(count):
        menu.select_option(index=place)
        expected = offered(page)["allocators"][0]

        assert values(page, ".memory-moment h2 .amount") == [expected["peak_bytes"]]
        assert shown_tables(page)["scope"] == expected["held_at_peak"]["scope"]["rows"]


@pytest.mark.parametrize("by", ["scope", "kind of op", "line of code"])
def test_the_bands_add_up_to_the_curve_at_every_change(open_report, report_of, by):
    page = open_report(report_of("transformer"), state=VIEW)
    page.locator(".memory-controls select").nth(2).select_option(by)
    page.focus(".memory-curve")
    for key in ("Home", "ArrowRight", "Shift+ArrowRight", "Shift+ArrowRight", "End", "ArrowLeft"):
        page.keyboard.press(key)
        (whole,) = values(page, ".memory-moment h2 .amount")

        assert sum(values(page, ".memory-legend li:has(.name) .amount")) == whole


def test_arrow_keys_walk_along_the_curve_of_the_api(open_report, report_of):
    page = open_report(report_of("resnet32"), state=VIEW)
    loaded = tfprof.load(*(ROOT / name for name in MODELS["resnet32"]))
    curve = loaded.memory().allocators[0].curve
    page.focus(".memory-curve")
    page.keyboard.press("End")
    slider = page.locator(".memory-curve")

    assert int(slider.get_attribute("aria-valuenow")) == curve.time_ns[-1]
    found = []
    for _ in range(40):
        page.keyboard.press("ArrowLeft")
        time, (level,) = slider.get_attribute("aria-valuenow"), values(page, "h2 .amount")
        found.append((level, curve.at(int(time))))
    assert all(one == other for one, other in found)
    assert len({one for one, _ in found}) > 10


def test_a_click_chooses_a_time_and_a_button_leads_back_to_the_peak(open_report, report_of):
    page = open_report(report_of("resnet32"), state=VIEW)
    before = page.inner_text(".memory-moment h2")
    page.click(".memory-curve .u-over", position={"x": 200, "y": 100})

    assert page.inner_text(".memory-moment h2") != before
    assert page.is_hidden(".memory .command-text")  # the command only knows the peak
    page.click("text=Back to the peak")
    assert page.inner_text(".memory-moment h2") == before


def test_the_url_keeps_what_is_shown(open_report, report_of):
    page = open_report(report_of("transformer"), state=f"{VIEW}&memory=0,5,30000000,op")
    title, words = page.inner_text(".memory-moment h2"), address(page)
    page.reload()

    assert "30.00" in title
    assert page.inner_text(".memory-moment h2") == title
    assert address(page) == words
    assert page.locator(".memory-controls select").nth(2).input_value() == "kind of op"


def test_the_address_follows_a_held_key_without_being_written_each_time(open_report, report_of):
    page = open_report(report_of("resnet32"), state=VIEW)
    page.wait_for_selector(".memory-curve canvas")
    page.evaluate(
        """() => {
          window.written = 0;
          const replace = history.replaceState.bind(history);
          history.replaceState = (...words) => { window.written += 1; replace(...words); };
          const curve = document.querySelector(".memory-curve");
          for (let press = 0; press < 300; press += 1) {
            curve.dispatchEvent(new KeyboardEvent("keydown", { key: "ArrowLeft" }));
          }
        }"""
    )
    time = page.get_attribute(".memory-curve", "aria-valuenow")
    wait_for(
        page,
        f"the time {time} in the address",
        "time => new URLSearchParams(location.hash.slice(1)).get('memory')?.includes(`,${time},`)",
        time,
    )

    # At most five at once, and the last one after a pause.
    assert 1 < page.evaluate("written") <= 6


@pytest.mark.parametrize("wrong", ["9,x,y,z", ",,,", "-1", "0,5,1e9,scope"])
def test_a_wrong_address_shows_a_peak(open_report, report_of, wrong):
    page = open_report(report_of("transformer"), state=f"{VIEW}&memory={wrong}")

    assert "at the peak" in page.inner_text(".memory-moment h2")


@pytest.mark.parametrize(("by", "view"), [("scope", "scope"), ("op", "op"), ("code", "code")])
def test_a_name_leads_to_its_row(open_report, report_of, by, view):
    page = open_report(report_of("transformer"), state=VIEW)
    name = page.get_attribute(f"[data-by={by}] tr[data-name]", "data-name")
    page.click(f"[data-by={by}] tr[data-name] .link")
    loaded = tfprof.load(ROOT / MODELS["transformer"][0])

    assert address(page)["view"] == view
    assert "row" in address(page)
    assert name in getattr(loaded, view)(max_depth=100).report


def test_a_model_that_never_ran_explains_how_to_record_memory(open_report, report_of):
    page = open_report(report_of("keras_cnn"), state=VIEW)

    assert "requires a recorded run" in page.inner_text(".empty")
    assert "tfprof run PROGRAM" in page.inner_text(".empty")


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("theme", THEMES)
def test_the_curve_is_drawn_at_each_width_and_in_both_themes(open_report, report_of, width, theme):
    page = open_report(report_of("resnet32"), state=VIEW, width=width, theme=theme)
    page.wait_for_selector(".memory-curve canvas")
    settled(page)
    shares = page.evaluate(
        """() => {
          const canvas = document.querySelector(".memory-curve canvas");
          const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
          const swatches = [...document.querySelectorAll(".memory-legend li:has(.name) .swatch")];
          return swatches.map((swatch) => {
            const [red, green, blue] = getComputedStyle(swatch).backgroundColor.match(/\\d+/g);
            let count = 0;
            for (let i = 0; i < data.length; i += 4) {
              count += data[i] == red && data[i + 1] == green && data[i + 2] == blue;
            }
            return count / (canvas.width * canvas.height);
          });
        }"""
    )

    assert len(shares) == 8
    assert all(share > 0.01 for share in shares)  # each band is larger than the text of a label
    assert 0.8 * width < page.locator(".memory-curve canvas").bounding_box()["width"] < width
    assert overflow(page) <= 0


# The same numbers as in Python, for any profile.

_OPTIONS = [MemoryOptions(max_rows=rows, max_depth=depth) for rows, depth in ((3, 3), (-1, 10))]


@pytest.fixture(scope="module")
def tables(browser):
    """Computes the tables of a section in the browser, for each of its steps at the peak."""
    page = browser.new_page()
    page.evaluate(f"{assets.script('memory_tables.js')}; window.tables = $memory_tables")

    def computed(section, options):
        section = plain(section) | {"most_depth": options.max_depth}
        return page.evaluate(
            """([memory, most]) => {
              const texts = (rows) => ({ length: rows.length, get: (row) => rows[row] });
              const { kind, line, scopes } = memory.holders;
              for (const one of [kind, line]) if (one) one.values = texts(one.values);
              scopes.name = texts(scopes.name);
              const rows = ({ name, depth, bytes, ops, hiddenRows, hiddenBytes }) =>
                [name, [...depth], [...bytes], [...ops], hiddenRows, hiddenBytes];
              return memory.allocators.flatMap(({ steps }) => steps).map((step) =>
                Object.fromEntries(tables.heldInGroups(memory, step, step.peak_ns, most).map(
                  ([by, held]) => [by, rows(held)])));
            }""",
            [section, options.max_rows],
        )

    yield computed
    page.close()


@often
@given(allocating_profiles(), st.sampled_from(_OPTIONS))
def test_the_tables_of_any_peak_are_those_of_python(tables, p, options):
    expected = [tables_in_python(p, trace, options) for trace in allocator_traces(p)]
    found = tables(memory.section(p, build(p, MemoryOptions())), options)

    assert sorted(map(json.dumps, found)) == sorted(map(json.dumps, expected))


def tables_in_python(p, trace, options):
    return {
        by: [
            list(found.name),
            *(column.tolist() for column in (found.depth, found.bytes, found.ops)),
            *(found.hidden_rows, found.hidden_bytes),
        ]
        for by, found in of_trace(p, trace, options).breakdowns.items()
    }


def plain(value):
    """A section with lists for columns and texts."""
    if isinstance(value, dict):
        return {key: plain(one) for key, one in value.items()}
    if isinstance(value, Strings | list | tuple):
        return [plain(one) for one in value]
    return value.tolist() if isinstance(value, np.ndarray) else value


def with_memory():
    """A profile of a single op that holds memory for a while."""
    return Profile(profile_of(run("a", 10, allocations=[(1_000_000, 100), (1_005_000, -100)])))


def test_a_page_of_unknown_files_offers_no_command(open_report, tmp_path):
    with_memory().report().save(tmp_path / "report.html")
    page = settled(open_report(tmp_path / "report.html", state="view=memory"))

    assert "at the peak" in page.inner_text(".memory-moment h2")
    assert page.locator(".memory .command-text").count() == 0


COUNT_CHARTS = """
window.charts = 0; // that have listened to the theme, and those of them that still do
window.listening = 0;
const original = window.addEventListener;
window.addEventListener = (type, listener, options) => {
  if (type === "themechange" && options?.signal) {
    charts += 1;
    listening += 1;
    options.signal.addEventListener("abort", () => (listening -= 1));
  }
  original.call(window, type, listener, options);
};
"""


def test_a_view_that_was_replaced_no_longer_follows_the_theme(open_report):
    with serve(with_memory) as served:
        page = open_report.visit(served.address, state="view=memory")
        page.add_init_script(COUNT_CHARTS)
        page.reload()
        page.wait_for_selector(".memory canvas")
        for charts in range(2, 5):
            served.live.reload()
            wait_for(page, f"{charts} charts", "count => charts === count", charts)

        assert page.evaluate("listening") == 1
        assert page.locator(".memory canvas").count() == 1
