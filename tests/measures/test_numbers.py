"""Every number of every op: of one step, and averaged over the steps it was seen in."""

import pytest

from build import CPU, GPU, GPU_STREAM, op, profile, run
from tfprof.errors import OptionError
from tfprof.measures.numbers import float_ops_per_run, per_op
from tfprof.metrics import NUMBERS
from tfprof.model.recordings import Chosen

AVERAGE = -1


def numbers(p, key, step=AVERAGE):
    """One number of each op, in name order."""
    return per_op(p, Chosen(step))[key].tolist()


def test_every_number_has_a_value_for_every_op():
    found = per_op(profile(op("a"), op("b")), Chosen(AVERAGE))

    assert set(found) == set(NUMBERS)
    assert {len(column) for column in found.values()} == {2}


def test_a_profile_without_ops_has_no_numbers():
    assert all(len(column) == 0 for column in per_op(profile(), Chosen(AVERAGE)).values())


# Parameters and definitions.


@pytest.mark.parametrize(
    ("shape", "params"),
    [((3, 4), 12), ((), 1), ((5,), 5), ((3, 0), 0), ((-1, 4), 0), (None, 0)],
)
def test_parameters_are_the_elements_of_the_shape(shape, params):
    assert numbers(profile(op("a", shape=shape)), "params") == [params]


def test_parameters_do_not_ask_whether_the_op_is_a_variable():
    assert numbers(profile(op("a", "Placeholder", shape=(3,))), "params") == [3]


def test_parameters_are_the_same_in_every_step():
    p = profile(op("a", shape=(3,)), run("a", step=4), run("b", step=5))

    assert numbers(p, "params", step=5) == [3, 0]


def test_an_op_is_one_definition_however_often_it_ran():
    p = profile(op("a"), run("a", start=1), run("a", start=2))

    assert numbers(p, "definitions") == [1]


# One step.


def test_a_step_counts_its_own_runs():
    p = profile(run("a", 5, step=0), run("a", 7, step=3), run("a", 9, step=3, start=2000))

    assert numbers(p, "micros", step=3) == [16]
    assert numbers(p, "runs", step=3) == [2]


def test_an_op_not_seen_in_a_step_has_nothing_there():
    p = profile(run("a", 5, step=0), run("b", 7, step=3))

    assert numbers(p, "micros", step=3) == [0, 7]
    assert numbers(p, "runs", step=3) == [0, 1]


def test_a_step_that_was_not_recorded_is_refused_with_those_that_were():
    p = profile(run("a", step=5), run("a", step=7))

    with pytest.raises(OptionError) as refusal:
        per_op(p, Chosen(6))

    assert str(refusal.value) == "No step 6. Recorded: 5, 7; -1 averages over all steps."


def test_a_step_of_a_profile_without_steps_is_refused():
    with pytest.raises(OptionError, match=r"No step 0\. Recorded: none;"):
        per_op(profile(op("a")), Chosen(0))


# Averages.


@pytest.mark.parametrize("step", [-1, -7])
def test_any_negative_step_is_the_average(step):
    p = profile(run("a", 4, step=0), run("a", 8, step=1))

    assert numbers(p, "micros", step) == [6]


def test_an_op_is_averaged_over_the_steps_it_was_seen_in():
    p = profile(run("a", 4, step=0), run("b", 4, step=0), run("b", 8, step=1), run("c", step=2))

    assert numbers(p, "micros") == [4, 6, 1]


def test_a_step_where_an_op_never_started_still_counts_as_one():
    p = profile(run("a", 8, step=0), run("a", step=1, start=0))

    assert numbers(p, "micros") == [4]


def test_an_average_is_cut_to_a_whole_number():
    p = profile(run("a", 4, step=0), run("a", 5, step=1))

    assert numbers(p, "micros") == [4]


def test_each_number_is_cut_on_its_own_so_parts_may_miss_one():
    p = profile(
        run("a", 3, step=0, device=GPU),
        run("a", 4, step=1, device=GPU),
        run("a", 4, step=0, device=GPU_STREAM),
        run("a", 5, step=1, device=GPU_STREAM),
    )

    assert numbers(p, "cpu_micros") == [3]
    assert numbers(p, "accelerator_micros") == [4]
    assert numbers(p, "micros") == [8]


def test_runs_are_averaged_too():
    p = profile(
        run("a", step=0, start=1),
        run("a", step=0, start=2),
        run("a", step=0, start=3),
        run("a", step=1),
    )

    assert numbers(p, "runs") == [2]


def test_a_run_on_an_accelerator_is_counted_where_it_was_dispatched():
    p = profile(run("a", device=GPU), run("a", device=GPU_STREAM), run("a", device=GPU_STREAM))

    assert numbers(p, "runs") == [1]


# Memory.


@pytest.mark.parametrize(
    ("key", "fact"),
    [
        ("bytes", "requested"),
        ("peak_bytes", "peak"),
        ("residual_bytes", "residual"),
        ("output_bytes", "output"),
    ],
)
def test_memory_is_added_up_over_the_runs_of_a_step(key, fact):
    p = profile(
        run("a", start=1, memory={fact: 10}),
        run("a", start=2, memory={fact: 5}),
        run("b", memory={fact: 100}),
    )

    assert numbers(p, key, step=0) == [15, 100]


def test_memory_is_averaged_over_steps():
    p = profile(run("a", step=0, memory={"peak": 10}), run("a", step=1, memory={"peak": 5}))

    assert numbers(p, "peak_bytes") == [7]


def test_memory_away_from_the_op_s_own_device_is_not_counted():
    p = profile(
        run("a", device=CPU, memory={"requested": 10}),
        run("a", device=GPU, memory={"requested": 5}),
    )

    assert numbers(p, "bytes") == [10]


def test_memory_may_be_negative_in_one_step():
    p = profile(run("a", step=3, memory={"residual": -10}))

    assert numbers(p, "residual_bytes", step=3) == [-10]
    assert numbers(p, "residual_bytes") == [-10]


def test_a_negative_sum_over_two_steps_is_divided_as_if_it_had_no_sign():
    p = profile(
        run("a", step=0, memory={"residual": -10}), run("a", step=1, memory={"residual": 4})
    )

    assert numbers(p, "residual_bytes") == [(2**64 - 6) // 2]


# Float ops.


def test_float_ops_are_those_of_one_run_times_the_runs():
    p = profile(op("a", float_ops=10), run("a", start=1), run("a", start=2))

    assert numbers(p, "float_ops") == [20]


def test_an_op_that_never_ran_counts_as_one_run_beside_others_that_did():
    p = profile(op("a", float_ops=10), run("b"))

    assert numbers(p, "float_ops") == [10, 0]
    assert numbers(p, "float_ops", step=0) == [10, 0]


def test_an_op_that_ran_in_another_step_alone_has_no_float_ops():
    p = profile(op("a", float_ops=10), run("a", step=7), run("b", step=5))

    assert numbers(p, "float_ops", step=5) == [0, 0]


def test_an_op_that_was_seen_but_never_counted_a_run_has_no_float_ops():
    p = profile(op("a", float_ops=10), run("a", device=GPU_STREAM))

    assert numbers(p, "float_ops") == [0]


def test_float_ops_use_the_averaged_runs():
    p = profile(
        op("a", float_ops=10), run("a", step=0), run("a", step=1, start=1), run("a", step=1)
    )

    assert numbers(p, "float_ops") == [10]


def test_float_ops_are_counted_where_the_profile_asks_for_it():
    p = profile(op("x", outputs=[(2, 3)]), op("y", "Square", inputs=["x"]), counts_float_ops=True)

    assert float_ops_per_run(p).per_run.tolist() == [0, 6]
    assert numbers(p, "float_ops") == [0, 6]


# One answer for all who ask.


def test_numbers_are_worked_out_once():
    p = profile(run("a", step=2))

    assert per_op(p, Chosen(2)) is per_op(p, Chosen(2))


def test_a_refusal_is_not_remembered_as_an_answer():
    p = profile(run("a", step=2))
    for _ in range(2):
        with pytest.raises(OptionError, match="No step 1"):
            per_op(p, Chosen(1))

    assert numbers(p, "runs", step=2) == [1]
