"""Wall time within a step."""

from dataclasses import replace

import numpy as np
import pytest

from build import copy, op, profile, run
from tfprof.columns import ints
from tfprof.errors import MissingInputError
from tfprof.measures.steps import (
    covered,
    covered_together,
    op_flags,
    op_nanos,
    require_steps,
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
