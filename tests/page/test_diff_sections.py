"""The sections of a diff page have the numbers of the comparison, and say what they lack."""

from __future__ import annotations

import numpy as np
import pytest

from build import op, profile
from diff_pages import changed, compared_of, loaded, model
from page_data import unpacked
from tfprof.comparison.diff import build_diff, shown_rows
from tfprof.comparison.pair import Pair
from tfprof.options import Options
from tfprof.page import container, diff_plain, diff_views
from tfprof.page.diff_content import content
from tfprof.page.diff_report import DiffReport

EVERY_ROW = 2**31 - 1
MARKS = ["", "added", "removed", "renamed", "moved"]


@pytest.fixture(scope="module")
def sections():
    return content(loaded("changed"))


def by_name(view, key="nanos"):
    """Mark, before and after of each row."""
    number = view["numbers"][key]
    marks = [MARKS[mark] for mark in view["mark"]]
    rows = zip(marks, number["before"].tolist(), number["after"].tolist(), strict=True)
    return dict(zip(view["name"], rows, strict=True))


def test_rows_have_both_numbers_and_what_happened_to_them(sections):
    rows = by_name(sections["views"]["scope"], "params")

    assert rows["net/mul"] == ("", 12, 12)
    assert rows["net/young"] == ("renamed", 35, 35)
    assert rows["net/added"][0] == "added"
    assert rows["net/gone"][0] == "removed"


def test_renamed_rows_have_their_old_names(sections):
    renamed = sections["views"]["scope"]["renamed"]
    names = list(sections["views"]["scope"]["name"])

    assert [names[row] for row in renamed["row"]] == ["net/young"]
    assert list(renamed["name"]) == ["net/old"]


@pytest.mark.parametrize("kind", ["scope", "graph", "code", "op", "layers"])
def test_numbers_are_those_of_the_comparison(sections, kind):
    view = sections["views"][kind]

    for metric in sections["metrics"]:
        options = Options(max_depth=EVERY_ROW, select=(metric["select"],))
        expected = build_diff(changed(), kind, options)
        number = next(one for one in expected.numbers if one.key == metric["column"])
        before, after = expected.typical(number)
        names = [expected.name(row) for row in range(len(expected))]
        found = by_name(view, metric["column"])

        assert {name: found[name][1:] for name in names} == dict(
            zip(names, zip(before.tolist(), after.tolist(), strict=True), strict=True)
        )


def test_listed_rows_are_those_of_the_table_of_changes(sections):
    expected = build_diff(changed(), "scope", Options(max_depth=EVERY_ROW, select=("params",)))
    shown = shown_rows(expected, expected.numbers[0])
    view = sections["views"]["scope"]
    listed = np.flatnonzero(view["numbers"]["params"]["listed"]).tolist()

    assert {view["name"][row] for row in listed} == {expected.name(row) for row in shown.rows}


def test_times_come_first_with_their_intervals(sections):
    times = sections["views"]["scope"]["numbers"]["nanos"]["times"]

    assert sections["metrics"][0]["key"] == "micros"
    assert times["is_conclusive"]
    assert (times["low"] <= times["high"]).all()


def test_one_step_on_a_side_concludes_nothing_about_times():
    pair = Pair(model(steps=1), model(steps=1, slow=3))
    found = content(compared_of(pair))

    assert found["views"]["scope"]["numbers"]["nanos"]["times"] == {"is_conclusive": False}


def test_a_profile_compared_with_itself_lists_only_the_root():
    pair = Pair(model(), model())
    found = content(compared_of(pair))

    for view in found["views"].values():
        for number in view["numbers"].values():
            assert np.flatnonzero(number["listed"]).tolist() == [0]
            assert np.array_equal(number["before"], number["after"])


def test_measured_numbers_are_compared_only_if_both_sides_ran():
    pair = Pair(model(), profile(op("net/mul/w", "VariableV2", shape=(3, 4))))
    found = content(compared_of(pair))

    assert {metric["key"] for metric in found["metrics"]} == {
        *("params", "float_ops", "definitions")
    }
    assert found["timelines"] is None
    assert found["missing"]["timeline"].startswith("No timelines: the new profile lacks them.")


def test_a_view_that_a_side_cannot_answer_says_why():
    pair = Pair(model(), profile(op("net/mul/w", "VariableV2", shape=(3, 4))))
    found = content(compared_of(pair))

    assert "code" not in found["views"]
    assert "code lines" in found["missing"]["code"]


@pytest.mark.parametrize(("side", "place"), [("base", 0), ("new", 1)])
def test_runs_refer_to_the_rows_that_have_their_ops(sections, side, place):
    timeline = sections["timelines"][place]
    ops, runs = timeline["ops"], timeline["data"]["runs"]["op"]

    assert runs.max() == ops["count"] - 1
    names = sections["views"]["graph"]["name"]
    for op_row, name in zip(timeline["row"]["graph"].tolist(), ops["name"], strict=True):
        # The added and the removed op correspond, and so do those in the renamed scope.
        expected = name.replace("net/old", "net/young")
        assert names[op_row] == expected, side


def test_rows_beyond_the_limit_are_counted_and_weighed(monkeypatch):
    whole = content(loaded("changed"))["views"]["scope"]
    monkeypatch.setattr(diff_views, "MOST_ROWS", 4)
    found = content(loaded("changed"))
    view = found["views"]["scope"]

    assert len(view["end"]) <= 4
    assert view["left_out"]["rows"] == len(whole["end"]) - len(view["end"])
    kept = by_name(view, "params")
    assert kept == {name: row for name, row in by_name(whole, "params").items() if name in kept}
    # Totals stay exact, so what is left out is the difference between a row and those below it.
    assert view["left_out"]["before"]["params"] <= kept["_TFProfRoot"][1]
    for timeline in found["timelines"]:
        assert (timeline["row"]["scope"] >= 0).all()
        assert (timeline["row"]["scope"] < len(view["end"])).all()


def test_commands_name_the_files_of_both_sides(sections):
    assert sections["words"] == "'runs/a b' runs/c"
    assert content(loaded("resnet32"))["words"] == (
        "examples/compare/resnet32_inference.pbtxt.gz vs "
        "examples/resnet32/graph.pbtxt.gz examples/resnet32/run_meta.gz"
    )


def test_options_that_choose_and_count_rows_apply_to_the_page():
    found = content(compared_of(changed(), step=3, hide_name_regexes="net/mul"))
    rows = by_name(found["views"]["scope"])

    assert "net/mul" not in rows
    assert rows["net/mul/MatMul"] == ("", 100_000, 180_000)
    assert found["words"] == "'runs/a b' runs/c -step 3 -hide_name_regexes net/mul"


def test_the_data_can_be_packed(sections):
    found = unpacked(container.pack(sections))

    assert found["title"] == "a b → c"
    assert found["views"]["scope"]["name"] == list(sections["views"]["scope"]["name"])


def test_the_plain_part_has_the_summary_and_the_largest_changes(sections):
    html = diff_plain.part(sections)

    assert all(sentence.partition("`")[0] in html for sentence in sections["sentences"])
    assert "<noscript>" in html
    assert "net/mul" in html


def test_the_page_says_what_it_is_about():
    report = DiffReport(loaded("changed"))

    assert repr(report) == "<tfprof diff of a b → c>"
    assert report.to_html().startswith("<!DOCTYPE html>")
    assert report._repr_html_().startswith("<iframe")
