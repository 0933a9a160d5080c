"""The page of a comparison: numbers, selection, timelines, keys, links and hostile names."""

from __future__ import annotations

import os
import re
from itertools import product

import pytest

import hostile_model
import tfprof
from build import op, profile, run
from diff_pages import changed, compared_of, loaded, rows_of, write_page
from report_pages import (
    ROOT,
    THEMES,
    WIDTHS,
    address,
    answer,
    overflow,
    pixels,
    settled,
    show,
    tabs,
    wait_for,
)
from tfprof.comparison.diff import build_diff, is_one_sided, shown_rows
from tfprof.comparison.pair import Pair
from tfprof.comparison.summary import build_summary
from tfprof.options import Options
from tfprof.page import diff_views

pytestmark = pytest.mark.browser

PAIRS = ("attention", "resnet32", "classifier", "changed")
VIEWS = ("layers", "scope", "graph", "code", "op")
EVERY_ROW = 2**31 - 1
AXE = ROOT / "node_modules/axe-core/axe.min.js"


@pytest.fixture(scope="module")
def page_of(tmp_path_factory):
    """The path of the page of a pair, by its name."""
    folder = tmp_path_factory.mktemp("diffs")

    def path(name):
        found = folder / f"{name}.html"
        return found if found.exists() else write_page(loaded(name), found)

    return path


@pytest.mark.parametrize(("name", "width", "theme"), list(product(PAIRS, WIDTHS, THEMES)))
def test_every_view_is_shown_without_message_or_request(open_report, page_of, name, width, theme):
    page = open_report(page_of(name), width=width, theme=theme)

    assert tabs(page) == list(VIEWS)
    for view in VIEWS:
        show(page, view)
        assert page.locator("#view").inner_text().strip(), view
        assert overflow(page) <= 0, view


def test_the_first_screen_has_summary_totals_and_picture(open_report, page_of):
    page = settled(open_report(page_of("attention")))

    for part in (".diff-summary", ".diff-cards", ".icicle-canvas"):
        box = page.locator(part).bounding_box()
        assert box["y"] + box["height"] < 900, part
    sentence = build_summary(loaded("attention").view.pair)
    assert sentence.cause.name == page.locator(".diff-summary code").first.inner_text()


# Numbers.


@pytest.mark.parametrize(("name", "view"), [(n, v) for n in PAIRS for v in VIEWS])
@pytest.mark.parametrize("metric", ["micros", "params", "float_ops", "definitions"])
def test_the_table_has_the_numbers_and_the_order_of_python(
    open_report, page_of, name, view, metric
):
    pair = loaded(name).view.pair
    page = open_report(page_of(name), height=9_000, state=f"view={view}&metric={metric}")
    settled(page)
    key = {"micros": "nanos"}.get(metric, metric)
    if page.locator(".empty").count() or metric not in metrics(page):
        return
    select = "occurrence" if metric == "definitions" else metric
    expected = build_diff(pair, view, Options(max_depth=EVERY_ROW, select=(select,)))
    number = next(one for one in expected.numbers if one.key == key)
    before, after = expected.typical(number)
    table = shown_rows(expected, number)
    # Long tables are folded at first, except where the change is.
    depth = 2 if len(table.rows) > 300 else EVERY_ROW
    found = [row for row in rows_of(page) if row["level"] <= depth]
    rows = table.rows[table.tree.depths <= depth].tolist()[: max(len(found), 100)]

    shown = [(row["numbers"][0], row["numbers"][1], row["numbers"][2]) for row in found]
    assert shown == [(before[row], after[row], after[row] - before[row]) for row in rows]
    names = [row["title"].partition("\nbefore: ") for row in found]
    assert [one[0] for one in names[1:]] == [expected.name(row) for row in rows[1:]]
    assert all(
        old == expected.old_name(row)
        for (_, is_old, old), row in zip(names, rows, strict=True)
        if is_old
    )
    one_sided = is_one_sided(expected)
    assert [row["mark"] in ("added", "removed") for row in found] == [
        bool(one_sided[row]) for row in rows
    ]


def metrics(page):
    return page.eval_on_selector_all(
        "[aria-label='Number of the whole page'] option", "all => all.map(one => one.value)"
    )


def test_totals_are_those_of_the_summary(open_report, page_of):
    page = settled(open_report(page_of("attention")))
    cards = page.eval_on_selector_all(
        ".card",
        """cards => cards.map((card) => [...card.querySelectorAll("[data-value]")].map(
            (one) => Number(one.dataset.value)))""",
    )
    summary = build_summary(loaded("attention").view.pair)
    totals = [(float(summary.step.before[0]), float(summary.step.after[0]))]
    totals += [(total.before, total.after) for total in summary.totals]

    # A number that did not change is shown once.
    assert cards == [list(dict.fromkeys(pair)) for pair in totals]


def test_changes_that_the_steps_do_not_show_are_marked_and_grey(open_report, page_of):
    state = "view=layers&metric=micros&unchanged=true"
    page = open_report(page_of("attention"), height=3_000, state=state)
    rows = rows_of(page)
    view = build_diff(
        loaded("attention").view.pair, "layers", Options(max_depth=EVERY_ROW, select=("micros",))
    )
    times = view.times("nanos")
    shown = {view.name(row): bool(times.is_shown[row]) for row in range(1, len(view))}

    assert len(rows) == len(view)
    for row in rows[1:]:
        assert row["texts"][3].startswith("~") != shown[row["title"]] or row["numbers"][2] == 0
        assert " to " in row["texts"][6] or row["numbers"][2] == 0


def test_one_step_on_each_side_says_that_nothing_can_be_concluded(open_report, tmp_path):
    files = [ROOT / f"examples/resnet32/{name}.gz" for name in ("graph.pbtxt", "run_meta")]
    compared = tfprof.diff(files, files).scope().compared
    page = settled(open_report(write_page(compared, tmp_path / "page.html")))

    assert "nothing can be concluded" in page.inner_text(".diff-summary")
    assert "too few steps" in page.inner_text(".diff-caption")


def test_renamed_rows_have_both_names(open_report, page_of):
    state = "view=scope&metric=micros&unchanged=true"
    rows = rows_of(open_report(page_of("changed"), state=state))
    renamed = next(row for row in rows if row["mark"] == "renamed")

    assert renamed["title"] == "net/young\nbefore: net/old"
    assert "was net/old" in renamed["texts"][0]


PROBE = """(name) => {
    const probe = document.createElement("span");
    probe.style.color = `var(--change-${name})`;
    document.body.append(probe);
    const found = getComputedStyle(probe).color;
    probe.remove();
    return found;
}"""


@pytest.mark.parametrize("theme", THEMES)
def test_blocks_are_red_for_more_blue_for_less_and_grey_otherwise(open_report, tmp_path, theme):
    def side(**micros):
        names = {f"net/{name}": time for name, time in micros.items()}
        steps = range(6)
        runs = [run(one, time, n, 1000 * n + 1) for n in steps for one, time in names.items()]
        return profile(*(op(name, "Op") for name in names), *runs)

    pair = Pair(side(same=100, more=100, less=100), side(same=100, more=190, less=10))
    path = write_page(compared_of(pair), tmp_path / "page.html")
    page = settled(open_report(path, theme=theme, state="view=scope"))
    canvas = page.locator(".icicle-canvas")
    line = pixels(page, ".icicle-canvas", 44)  # above the labels
    box = canvas.bounding_box()

    colours = {}
    for x in range(5, int(box["width"]), 40):
        page.mouse.move(box["x"] + x, box["y"] + 50)
        settled(page)
        colours.setdefault(page.inner_text(".icicle-line"), set()).add(tuple(line[x]))
    for name, colour in (("same", "none"), ("more", "more-3"), ("less", "less-3")):
        wanted = tuple(map(int, re.findall(r"\d+", page.evaluate(PROBE, colour))))
        found = next(seen for line, seen in colours.items() if line.startswith(f"net/{name}"))
        assert wanted in found, name  # the pixels at the edges are mixed


# Selection.


def selected(page):
    return [row["title"] for row in rows_of(page) if row["isSelected"]]


def test_the_picture_and_the_table_share_the_selection(open_report, page_of):
    page = settled(open_report(page_of("attention"), state="view=layers"))
    page.click(".icicle-canvas", position={"x": 400, "y": 31})

    assert selected(page) == ["model"]
    assert address(page)["row"] == "model"
    assert page.inner_text(".icicle-line .icicle-name") == "model"

    page.click(".table-body .table-row >> nth=2")
    assert selected(page) == [page.inner_text(".icicle-line .icicle-name")]
    page.reload()
    assert len(selected(page)) == 1


def test_a_row_without_a_change_is_listed_when_it_is_selected(open_report, page_of):
    page = settled(
        open_report(page_of("attention"), state="view=layers&metric=params&row=model/up")
    )

    assert selected(page) == ["model/up"]


def test_the_selection_follows_to_other_views_and_back(open_report, page_of):
    page = settled(open_report(page_of("changed"), state="view=scope&row=net/mul/MatMul"))
    show(page, "graph")
    assert selected(page) == ["net/mul/MatMul"]
    show(page, "op")
    assert selected(page) == []
    page.go_back()
    assert selected(page) == ["net/mul/MatMul"]


def test_keys_move_in_picture_and_table(open_report, page_of):
    page = settled(open_report(page_of("attention"), state="view=layers"))
    page.focus(".icicle-canvas")
    page.keyboard.press("ArrowDown")
    assert selected(page) == ["model"]
    page.focus(".table-grid")
    page.keyboard.press("Home")
    assert selected(page) == ["total"]
    page.keyboard.press("ArrowDown")
    assert selected(page) == ["model"]


def test_digits_choose_views_and_help_explains(open_report, page_of):
    page = settled(open_report(page_of("attention")))
    page.keyboard.press("4")
    settled(page)
    assert address(page)["view"] == "code"
    page.keyboard.press("?")
    assert "95 %" in page.inner_text("dialog")
    page.keyboard.press("Escape")
    page.keyboard.press("t")
    assert page.inner_text(".theme-button") == "Theme: light"


def test_tab_leads_to_every_part(open_report, page_of):
    page = settled(open_report(page_of("attention")))
    reached = []
    for _ in range(40):
        page.keyboard.press("Tab")
        reached.append(page.evaluate("document.activeElement.className"))

    for part in ("icicle-canvas", "table-grid", "timeline-overlay", "command-text"):
        assert part in reached
    assert reached.count("timeline-overlay") >= 2


def test_a_long_table_is_unfolded_where_the_change_is(open_report, tmp_path):
    names = [f"net/part_{place % 20}/op_{place}" for place in range(400)]

    def side(more, sizes):
        return profile(
            *(
                op(name, "VariableV2", shape=(5 + place + more + sizes.get(place, 0),))
                for place, name in enumerate(names)
            )
        )

    path = write_page(compared_of(Pair(side(0, {}), side(1, {7: 10**6}))), tmp_path / "page.html")
    page = open_report(path, state="view=scope&metric=params")

    expected = ["total", "net", "net/part_7", "net/part_7/op_7"]
    assert [row["title"] for row in rows_of(page)[:4]] == expected


# Timelines.


def test_timelines_start_at_the_chosen_steps(open_report, page_of):
    page = settled(open_report(page_of("attention")))
    menus = page.locator(".diff-side select")
    assert menus.count() == 2
    walls = page.eval_on_selector_all(
        ".diff-side select", "menus => menus.map(menu => menu.selectedOptions[0].textContent)"
    )
    # The longer one of both steps is visible as a whole.
    section = page.locator(".diff-timelines")
    longest = max(float(wall.split("·")[1].split()[0]) for wall in walls)
    assert float(section.get_attribute("data-from")) < 0
    assert float(section.get_attribute("data-to")) == pytest.approx(longest * 1e6, rel=0.03)

    menus.nth(1).select_option("3")
    wait_for(
        page,
        "the step in the address",
        """() => {
            const timeline = new URLSearchParams(location.hash.slice(1)).get("timeline");
            return timeline?.split(",")[1] === "3";
        }""",
    )
    words = address(page)
    page.reload()
    settled(page)
    assert page.locator(".diff-side select").nth(1).input_value() == "3"
    assert address(page) == words


def test_a_run_selects_its_row(open_report, page_of):
    page = settled(open_report(page_of("changed"), state="view=graph"))
    side = page.locator(".diff-side[data-side=new] .timeline-overlay")
    side.scroll_into_view_if_needed()
    box = side.bounding_box()
    for x in range(20, int(box["width"]), 40):
        page.mouse.click(box["x"] + x, box["y"] + 75)
        if selected(page):
            break

    assert selected(page)[0] in ("net/mul/MatMul", "net/young/Add", "net/added")


def test_both_timelines_move_together(open_report, page_of):
    page = settled(open_report(page_of("attention")))
    before = page.locator(".diff-timelines").get_attribute("data-from")
    page.keyboard.press("d")
    settled(page)

    assert page.locator(".diff-timelines").get_attribute("data-from") != before


# Limits, commands, hostile names, accessibility.


def test_rows_beyond_the_limit_are_counted_and_weighed(open_report, tmp_path, monkeypatch):
    monkeypatch.setattr(diff_views, "MOST_ROWS", 4)
    path = write_page(compared_of(changed()), tmp_path / "page.html")
    page = settled(open_report(path, state="view=scope&metric=params"))

    foot = page.inner_text(".table-foot")
    assert int(page.get_attribute("[data-left-out]", "data-left-out")) > 0
    assert "are not in this page" in foot
    assert "of the parameters before" in foot


@pytest.mark.parametrize("view", ["scope", "op"])
def test_the_command_prints_the_rows_of_the_table(open_report, page_of, view):
    state = f"view={view}&metric=float_ops"
    page = settled(open_report(page_of("classifier"), height=3_000, state=state))
    command = page.inner_text(".command-text")
    printed = answer(" ".join(command.split()))

    assert command.split()[:2] == ["tfprof", "diff"]
    names = [row["name"] for row in printed["rows"]]
    assert [row["title"] for row in rows_of(page)[1:]] == names[1:]


def test_hostile_names_are_text(open_report, tmp_path):
    folder = tmp_path / "hostile"
    folder.mkdir()
    paths = [str(path) for path in hostile_model.write(folder)]
    compared = tfprof.diff(paths[:3], paths).scope().compared
    page = open_report(write_page(compared, tmp_path / "page.html"), height=4_000)

    for view in tabs(page):
        show(page, view)
        if page.locator(".empty").count():
            continue
        page.check(".diff-bar-above input")
        assert page.locator("#view img, #view b, [onerror], [onload], textarea").count() == 0, view
        assert overflow(page) <= 0, view
    assert page.evaluate("Object.keys(Object.prototype).length") == 0


@pytest.mark.parametrize(
    "state",
    ["view=<b>&metric=__proto__", "view=scope&row=-5&timeline=9e9,x,1", "%00%ff&&==&unchanged=x"],
)
def test_any_state_in_the_address_is_harmless(open_report, page_of, state):
    page = settled(open_report(page_of("attention"), state=state))

    assert page.locator("main").inner_text().strip()


def test_the_plain_part_needs_no_script(open_report, page_of):
    page = open_report(page_of("attention"), java_script_enabled=False)

    assert "model/attention" in page.inner_text("body")
    assert overflow(page) <= 0


@pytest.mark.skipif(
    not AXE.exists() and not os.environ.get("TFPROF_REQUIRE_BROWSER"),
    reason="axe-core is not installed: run make check",
)
@pytest.mark.parametrize(("name", "theme"), list(product(PAIRS, THEMES)))
def test_the_page_is_accessible(open_report, page_of, name, theme):
    page = open_report(page_of(name), theme=theme, bypass_csp=True)
    tabs(page)
    page.add_script_tag(content=AXE.read_text("utf-8"))

    problems = []
    for view in VIEWS:
        show(page, view)
        found = page.evaluate("axe.run({ resultTypes: ['violations'] })")["violations"]
        problems += [
            f"{view}: {one['impact']}: {one['help']}: {node['html'][:200]}"
            for one in found
            for node in one["nodes"]
            if one["id"] != "region"  # the page is one application
        ]
    assert not problems, "\n".join(problems)
