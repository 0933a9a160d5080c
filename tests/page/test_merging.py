"""Rows that are merged keep their sums, and so does every row above them."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from build import op, profile, run
from page_data import own_numbers, total_numbers, unpacked
from profile_strategies import often, profiles
from tfprof.page import container, merging
from tfprof.page.answer import answer
from tfprof.page.content import content
from tfprof.page.merging import MERGED, merged
from tfprof.page.subject import Subject
from tfprof.page.views import column_name, numbers_of, whole
from tfprof.views.registry import VIEWS

NESTED = ["scope", "graph"]


def keys_of(columns):
    return [column_name(metric) for metric in numbers_of(columns)]


def outline(view):
    return [
        f"{'  ' * (depth - 1)}{name}"
        for depth, name in zip(view.tree.depths.tolist(), view.name, strict=True)
    ]


@pytest.fixture
def model():
    """Two scopes, each with a large op and small ones."""
    sizes = {"a/big": 100, "a/s1": 3, "a/s2": 2, "b/big": 50, "b/in/s3": 1, "b/s4": 1, "z": 0}
    ops = [op(name, shape=(size,) if size else None) for name, size in sizes.items()]
    return profile(*ops)


def test_the_smallest_rows_below_each_row_are_merged(model):
    view = merged(whole("scope", model), ["params"], most=8)

    assert outline(view) == [
        "_TFProfRoot",
        "  a",
        "    a/big",
        "    2 smaller rows",
        "  b",
        "    b/big",
        "    3 smaller rows",
        "  z",
    ]
    assert view.total["params"].tolist() == [157, 105, 100, 5, 52, 50, 2, 0]
    assert view.own["params"].tolist() == [0, 0, 100, 5, 0, 50, 2, 0]


def test_merged_rows_have_the_ops_of_the_rows_that_they_stand_for(model):
    view = merged(whole("scope", model), ["params"], most=8)

    names = [{*model.ops.name.take(view.members[row])} for row in range(len(view))]
    assert names[3] == {"a/s1", "a/s2"}
    assert names[6] == {"b/in/s3", "b/s4"}


def test_a_row_that_would_be_merged_alone_is_kept(model):
    view = merged(whole("scope", model), ["params"], most=8)

    assert "z" in list(view.name)


def test_a_row_that_is_large_in_any_number_is_kept():
    columns = profile(
        *(op(f"w{size}", shape=(size,)) for size in range(1, 30)), op("slow"), run("slow", micros=9)
    )

    view = merged(whole("scope", columns), keys_of(columns), most=10)

    assert {"slow", "w29", "w28", "w27"} <= {*view.name}


def test_a_view_with_few_rows_stays_the_same(model):
    view = whole("scope", model)

    assert merged(view, ["params"], merging.MOST_ROWS) is view


@often
@given(profiles(), st.sampled_from(NESTED), st.integers(2, 12))
def test_merging_keeps_the_sums_and_the_numbers_of_all_other_rows(columns, kind, most):
    before, keys = whole(kind, columns), keys_of(columns)
    assume(keys)
    view = merged(before, keys, most)
    assume(len(view) < len(before))

    assert len(view) <= most
    kept = view.arranged != MERGED
    rows = np.searchsorted(before.arranged, view.arranged[kept])
    assert before.name.take(rows) == view.name.take(np.flatnonzero(kept))
    for key in keys:
        assert view.own[key][kept].tolist() == before.own[key][rows].tolist()
        assert view.total[key][kept].tolist() == before.total[key][rows].tolist()
        assert view.own[key].sum() == before.own[key].sum()
        assert view.tree.sums_below(view.own[key]).tolist() == view.total[key].tolist()
    assert sorted(view.members.values) == sorted(before.members.values)
    assert view.merged == len(before) - kept.sum()


@pytest.fixture
def few_rows(monkeypatch):
    """Pages may have only a few rows."""
    monkeypatch.setattr(merging, "MOST_ROWS", 8)


@pytest.mark.usefixtures("few_rows")
def test_the_page_says_how_many_rows_are_merged_and_their_sums(model):
    found = unpacked(container.pack(content(Subject(model))))
    section = found["views"]["scope"]

    ops = [[found["ops"]["name"][op] for op in section["merged"]["ops"]["op"]]]
    assert section["merged"] == {
        "rows": 5,
        "at": [3, 6],
        "numbers": {"params": 7},
        "ops": {"counts": [2, 2], "op": section["merged"]["ops"]["op"]},
    }
    assert ops == [["a/s1", "a/s2", "b/in/s3", "b/s4"]]
    assert section["name"][3] == "2 smaller rows"
    assert section["op"][3] == -1
    assert own_numbers(section, found["ops"], "params") == [0, 0, 100, 5, 0, 50, 2, 0]
    assert total_numbers(section, found["ops"], "params") == [157, 105, 100, 5, 52, 50, 2, 0]


@pytest.mark.usefixtures("few_rows")
def test_an_answer_with_merged_rows_is_a_view_of_its_own(model):
    view = whole("scope", model)

    assert answer(view, model)["row"] is None


def test_views_whose_rows_cannot_be_added_up_are_not_merged():
    kinds = [kind for kind in VIEWS if kind not in ("code", "layers")]
    columns = profile(*(op(f"a/{number}", f"Kind{number}", shape=(3,)) for number in range(30)))

    assert [len(merged(whole(kind, columns), ["params"], 8)) <= 8 for kind in kinds] == [True] * 3
    layers = whole("layers", columns)
    assert merged(layers, ["params"], 1) is layers
