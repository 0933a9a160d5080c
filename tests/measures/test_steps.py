"""Wall time within a step."""

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from build import copy, op, profile, run
from profile_strategies import often
from tfprof.columns import ints
from tfprof.errors import MissingInputError
from tfprof.measures.steps import (
    covered,
    covered_together,
    op_flags,
    op_nanos,
    require_steps,
    rounded_parts,
    shares,
    step_of,
    typical_step,
)


@pytest.mark.parametrize(
    ("spans", "nanos"),
    [
        ([], 0),
        ([(10, 15)], 5),
        ([(10, 15), (20, 22)], 7),
        ([(10, 15), (12, 22)], 12),
        ([(10, 30), (12, 22), (25, 26)], 20),
        ([(10, 30), (12, 22), (40, 41)], 21),
    ],
)
def test_overlapping_time_counts_once(spans, nanos):
    starts, ends = zip(*spans, strict=True) if spans else ((), ())

    assert covered(ints(starts), ints(ends)) == nanos


_intervals = st.lists(st.tuples(st.integers(0, 60), st.integers(0, 20)), max_size=12)


@often
@given(_intervals)
def test_each_instant_is_divided_equally_among_the_intervals_that_cover_it(found):
    spans = sorted((start, start + length) for start, length in found)
    start, end = (ints([span[side] for span in spans]) for side in (0, 1))

    assert shares(start, end).tolist() == pytest.approx(slow_shares(spans))


def slow_shares(spans):
    """The share of each interval, instant by instant."""
    totals = [Fraction(0)] * len(spans)
    for instant in range(100):
        active = [row for row, (start, end) in enumerate(spans) if start <= instant < end]
        for row in active:
            totals[row] += Fraction(1, len(active))
    return [float(total) for total in totals]


def test_shares_are_exact_at_times_of_day():
    start, end = ints([10**18, 10**18 + 3]), ints([10**18 + 5, 10**18 + 9])

    assert shares(start, end).tolist() == [4, 5]


@often
@given(st.lists(st.fractions(0, 50, max_denominator=7), min_size=1, max_size=8))
def test_rounded_parts_add_up_and_are_close_to_the_exact_ones(parts):
    parts = [*parts, math.ceil(sum(parts)) - sum(parts)]
    found = rounded_parts(np.array(parts, np.float64), int(sum(parts)))

    assert found.sum() == sum(parts)
    assert all(abs(one - part) <= 1 for one, part in zip(found.tolist(), parts, strict=True))
    assert (found >= 0).all()


def test_the_typical_step_has_the_median_duration():
    p = profile(
        run("a", 900, step=1), run("a", 10, step=2), run("a", 30, step=3), run("a", 20, step=4)
    )

    assert typical_step(p).number == 4  # the shorter of the two in the middle
    assert typical_step(p).nanos == 20_000


def test_a_step_contains_runs_and_transfers_in_order_of_their_starts():
    p = profile(run("a", 5, start=100), run("b", 5, start=50), copy("edge_1_a", 5, start=70))

    step = step_of(p, 0)

    assert step.start.tolist() == [50_000, 70_000, 100_000]
    assert step.op.tolist() == [1, -1, 0]
    assert step.copy.tolist() == [-1, 0, -1]
    assert step.nanos == 55_000


def test_time_alone_excludes_time_in_which_other_ops_ran():
    p = profile(run("a", 10, start=100), run("b", 10, start=105))
    step = step_of(p, 0)
    of_b = op_flags(step, np.array([False, True]))

    assert step.covered(of_b) == 10_000
    assert step.alone(of_b) == 5000
    assert op_nanos(step, of_b).tolist() == [0, 10_000]


def test_a_transfer_does_not_belong_to_an_op():
    step = step_of(profile(run("a", start=100), copy("x", start=50)), 0)

    assert op_flags(step, np.array([True])).tolist() == [False, True]


def test_a_run_that_ends_before_it_starts_takes_no_time():
    assert step_of(profile(run("a", -7)), 0).nanos == 0


def test_a_step_with_a_negative_number_cannot_be_chosen():
    assert step_of(profile(run("a", step=4)), 0).option == ("-step", "4")
    assert step_of(profile(run("a", step=-4)), 0).option == ()


def test_a_step_lasts_as_long_as_the_program_says():
    p = profile(run("a", 5, start=100))
    bounds = {"start_ns": ints([90_000]), "end_ns": ints([130_000])}

    step = step_of(replace(p, steps=replace(p.steps, **bounds)), 0)

    assert (step.begin, step.finish, step.nanos) == (90_000, 130_000, 40_000)


def test_a_run_before_the_first_step_extends_it():
    p = profile(run("a", 5, start=100))
    bounds = {"start_ns": ints([110_000]), "end_ns": ints([130_000])}

    assert step_of(replace(p, steps=replace(p.steps, **bounds)), 0).begin == 100_000


def test_iterators_do_not_count_as_running():
    p = profile(
        op("tf_data/Root", "Iterator::Root"), run("tf_data/Root", 900), run("a", 5, start=1100)
    )

    assert step_of(p, 0).op.tolist() == [0]
    assert step_of(p, 0).nanos == 5_000


def test_intervals_may_overlap_those_of_another_column():
    first, second = (ints([0, 10]), ints([5, 20])), (ints([3]), ints([12]))

    assert covered_together(first, second) == 20


def test_the_error_without_a_step_names_the_file_to_give():
    with pytest.raises(MissingInputError, match="--run_meta_path"):
        typical_step(profile(op("a")))
    with pytest.raises(MissingInputError, match="--run_meta_path"):
        require_steps(profile(op("a")))
