"""One view of two profiles."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from build import op, profile, run
from profile_strategies import accounts, filters, often, profiles
from tfprof.comparison.diff import build_diff, is_one_sided, is_renamed, shown_rows
from tfprof.comparison.pair import Pair
from tfprof.errors import OptionError, TfprofError
from tfprof.metrics import METRICS
from tfprof.options import Options
from tfprof.views import view as views
from tfprof.views.registry import VIEWS

NUMBERS = tuple(metric.key for metric in METRICS if metric.is_number)
EVERY = {"select": [*NUMBERS, "occurrence"], "max_depth": 100}


def compared(kind, base, new, **options):
    return build_diff(Pair(base, new), kind, Options.of(**(EVERY | options)))


def named(view, key):
    """Before and after of each row, by name."""
    numbers = zip(view.before(key).tolist(), view.after(key).tolist(), strict=True)
    return {view.name(row): pair for row, pair in enumerate(numbers)}


@pytest.mark.parametrize("kind", VIEWS)
@often
@given(side=profiles(), options=filters(), counted=accounts())
def test_a_profile_does_not_differ_from_itself(kind, side, options, counted):
    view = compared(kind, side, side, **(options | counted))

    assert not any(view.change(number.key).any() for number in view.numbers)
    assert not is_one_sided(view).any()
    assert not is_renamed(view).any()
    assert all(len(shown_rows(view, number).rows) == 1 for number in view.numbers)


@pytest.mark.parametrize("kind", VIEWS)
@often
@given(base=profiles(), new=profiles(), options=filters(), counted=accounts())
def test_the_other_direction_is_the_mirror_image(kind, base, new, options, counted):
    there = compared(kind, base, new, **(options | counted))
    back = compared(kind, new, base, **(options | counted))

    assert len(there) == len(back)
    for number in there.numbers:
        assert int(there.change(number.key)[0]) == -int(back.change(number.key)[0])
        for one, other in ((there.before, back.after), (there.after, back.before)):
            assert sorted(one(number.key).tolist()) == sorted(other(number.key).tolist())


@pytest.mark.parametrize("kind", VIEWS)
@often
@given(base=profiles(), new=profiles(), options=filters(), counted=accounts())
def test_the_changes_of_all_rows_add_up_to_that_of_the_root(kind, base, new, options, counted):
    view = compared(kind, base, new, **(options | counted))

    for number in view.numbers:
        own = view.own_after(number.key) - view.own_before(number.key)
        assert int(own.sum()) == int(view.change(number.key)[0])


@pytest.mark.parametrize("kind", VIEWS)
@often
@given(base=profiles(), new=profiles(), options=filters())
def test_each_side_has_the_numbers_of_its_own_view(kind, base, new, options):
    view = compared(kind, base, new, **options)
    for side, rows, numbers in (
        (base, view.base_row, view.before),
        (new, view.new_row, view.after),
    ):
        asked = {**EVERY, **options, "order_by": "name"}
        if kind == "op":
            asked["max_depth"] = 100
        alone = views.build(kind, side, Options.of(**asked))
        table = alone.total if view.is_nested else alone.own
        place = {int(row): at for at, row in enumerate(alone.arranged.tolist())}
        shown = view.base if side is base else view.new
        for row in np.flatnonzero(rows > 0).tolist():
            arranged = int(shown.arranged[rows[row]])
            if arranged in place and not options.get("account_displayed_op_only"):
                for number in view.numbers:
                    expected = int(table[number.key][place[arranged]])
                    assert int(numbers(number.key)[row]) == expected


@often
@given(base=profiles(), new=profiles(), kind=st.sampled_from([*VIEWS]))
def test_every_row_of_both_sides_is_there_once(base, new, kind):
    view = compared(kind, base, new)

    for rows, side in ((view.base_row, view.base), (view.new_row, view.new)):
        assert sorted(rows[rows >= 0].tolist()) == list(range(len(side)))
    assert view.tree.end[0] == len(view)


def test_before_and_after_stand_side_by_side():
    base = profile(op("net/a", "Var", shape=(3,)), op("net/gone", "Var", shape=(5,)))
    new = profile(op("net/a", "Var", shape=(4,)), op("net/more/b", "Var", shape=(7,)))
    view = compared("scope", base, new)

    assert named(view, "params") == {
        "_TFProfRoot": (8, 11),
        "net": (8, 11),
        "net/a": (3, 4),
        "net/more": (0, 7),
        "net/more/b": (0, 7),
        "net/gone": (5, 0),
    }


def test_rows_are_ordered_by_the_size_of_the_change():
    base = profile(*(op(f"op{place}", "Var", shape=(10,)) for place in range(3)))
    sizes = (12, 3, 10)
    new = profile(*(op(f"op{place}", "Var", shape=(size,)) for place, size in enumerate(sizes)))
    view = compared("scope", base, new, select=["params"])
    shown = shown_rows(view, view.numbers[0])

    assert [view.name(row) for row in shown.rows.tolist()] == ["_TFProfRoot", "op1", "op0"]
    assert shown.unchanged == 1


def test_rows_without_a_change_are_shown_if_asked_for():
    base = profile(op("a", "Var", shape=(3,)), op("b", "Var", shape=(3,)))
    new = profile(op("a", "Var", shape=(3,)), op("b", "Var", shape=(4,)))
    view = compared("scope", base, new, select=["params"])
    shown = shown_rows(view, view.numbers[0], unchanged=True)

    assert len(shown.rows) == 3
    assert not shown.unchanged


def test_a_row_that_reaches_a_threshold_on_one_side_has_the_numbers_of_both():
    base, new = (profile(op("a", "Var", shape=(size,))) for size in (3, 30))
    view = compared("scope", base, new, select=["params"], min_params=10)

    assert named(view, "params")["a"] == (3, 30)


def test_kinds_beyond_the_largest_changes_are_left_out():
    def kinds(factor):
        return profile(*(op(f"o{n}", f"K{n}", shape=(factor * (n + 1),)) for n in range(9)))

    view = compared("op", kinds(1), kinds(2), select=["params"], max_depth=2)
    shown = shown_rows(view, view.numbers[0])

    assert [view.name(row) for row in shown.rows.tolist()[1:]] == ["K8", "K7", "K6"]
    assert shown.beyond == 6


def repeated(name, times):
    return [run(name, micros, step) for step, micros in enumerate(times)]


def test_times_are_medians_and_marked_if_the_steps_do_not_show_a_difference():
    rest = repeated("rest", [90, 91, 90, 91, 90])
    base = profile(*repeated("a", [10, 11, 10, 12, 10]), *repeated("b", [5, 9, 15, 7, 6]), *rest)
    new = profile(*repeated("a", [20, 21, 20, 22, 23]), *repeated("b", [6, 9, 18, 7, 8]), *rest)
    view = compared("scope", base, new, select=["micros"])
    (number, *_) = view.numbers
    row = {view.name(place): place for place in range(len(view))}
    before, after = view.typical(number)

    assert (before[row["a"]], after[row["a"]]) == (10_000, 21_000)
    assert view.times("nanos").is_shown[row["a"]]
    assert not view.times("nanos").is_shown[row["b"]]
    shown = shown_rows(view, number).rows
    assert row["b"] not in shown


def test_with_one_step_on_a_side_no_time_is_shown_to_differ():
    base, new = profile(*repeated("a", [10])), profile(*repeated("a", [99, 99, 99]))
    view = compared("scope", base, new, select=["micros"])

    assert not view.times("nanos").is_conclusive
    assert not view.times("nanos").is_shown.any()
    assert named(view, "nanos")["a"] == (10_000, 99_000)


def test_a_fact_cannot_be_compared():
    side = profile(op("a"))

    with pytest.raises(OptionError, match="`device` is not a number, so it cannot be compared"):
        compared("scope", side, side, select=["device"])


def test_a_dialect_cannot_be_compared():
    side = profile(op("a"))

    with pytest.raises(OptionError, match="has no dialects"):
        compared("scope", side, side, dialect="early")


def test_types_can_be_defined_for_both_sides():
    base, new = (profile(op("a", shape=(size,)), op("b", shape=(9,))) for size in (3, 4))
    view = compared(
        "scope", base, new, select=["params"], define_type=["mine=a"], account_type_regexes=["mine"]
    )

    assert named(view, "params") == {"_TFProfRoot": (3, 4), "a": (3, 4)}


def test_numbers_whose_difference_exceeds_64_bits_are_refused():
    base, new = (profile(op("a", float_ops=count)) for count in (2**62, -(2**62)))

    with pytest.raises(TfprofError, match="`float_ops` is too large to be compared in 64 bits"):
        compared("scope", base, new, select=["float_ops"])
