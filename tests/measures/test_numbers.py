"""The numbers of each op: in one step, and averaged over the steps in which it was seen."""

import pytest

from build import CPU, GPU, GPU_STREAM, op, profile, run
from tfprof.errors import OptionError, TfprofError
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


def test_parameters_are_counted_for_ops_that_are_not_variables():
    assert numbers(profile(op("a", "Placeholder", shape=(3,))), "params") == [3]


def test_variables_of_optimizers_and_other_state_are_not_parameters():
    p = profile(
        op("a", shape=(3,)),
        op("b", shape=(4,), types=["_optimizer_variables"]),
        op("c", shape=(5,), types=["_state_variables"]),
    )

    assert numbers(p, "params") == [3, 0, 0]
    assert numbers(p, "slots") == [0, 4, 0]


def test_parameters_are_the_same_in_every_step():
    p = profile(op("a", shape=(3,)), run("a", step=4), run("b", step=5))

    assert numbers(p, "params", step=5) == [3, 0]


def test_an_op_is_one_definition_no_matter_how_often_it_ran():
    p = profile(op("a"), run("a", start=1), run("a", start=2))

    assert numbers(p, "definitions") == [1]


# One step.


def test_a_step_counts_only_its_own_runs():
    p = profile(run("a", 5, step=0), run("a", 7, step=3), run("a", 9, step=3, start=2000))

    assert numbers(p, "micros", step=3) == [16]
    assert numbers(p, "runs", step=3) == [2]


def test_the_numbers_of_an_op_not_seen_in_a_step_are_zero():
    p = profile(run("a", 5, step=0), run("b", 7, step=3))

    assert numbers(p, "micros", step=3) == [0, 7]
    assert numbers(p, "runs", step=3) == [0, 1]


def test_the_error_for_an_unknown_step_lists_the_recorded_steps():
    p = profile(run("a", step=5), run("a", step=7))

    with pytest.raises(OptionError) as raised:
        per_op(p, Chosen(6))

    assert str(raised.value) == "No step 6. Recorded: 5, 7; -1 averages over all steps."


def test_a_step_of_a_profile_without_steps_is_rejected():
    with pytest.raises(OptionError, match=r"No step 0\. Recorded: none;"):
        per_op(profile(op("a")), Chosen(0))


# Averages.


@pytest.mark.parametrize("step", [-1, -7])
def test_any_negative_step_is_the_average(step):
    p = profile(run("a", 4, step=0), run("a", 8, step=1))

    assert numbers(p, "micros", step) == [6]


def test_an_op_is_averaged_over_the_steps_in_which_it_was_seen():
    p = profile(run("a", 4, step=0), run("b", 4, step=0), run("b", 8, step=1), run("c", step=2))

    assert numbers(p, "micros") == [4, 6, 1]


def test_a_step_in_which_an_op_never_started_still_counts_for_the_average():
    p = profile(run("a", 8, step=0), run("a", step=1, start=0))

    assert numbers(p, "micros") == [4]


def test_an_average_is_rounded_down():
    p = profile(run("a", 4, step=0), run("a", 5, step=1))

    assert numbers(p, "micros") == [4]


def test_each_number_is_rounded_separately_so_parts_may_add_up_to_one_less():
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


def test_a_run_on_an_accelerator_counts_once_as_it_was_dispatched():
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


def test_memory_on_a_device_other_than_that_of_the_op_is_not_counted():
    p = profile(
        run("a", device=CPU, memory={"requested": 10}),
        run("a", device=GPU, memory={"requested": 5}),
    )

    assert numbers(p, "bytes") == [10]


def test_memory_may_be_negative_in_one_step():
    p = profile(run("a", step=3, memory={"residual": -10}))

    assert numbers(p, "residual_bytes", step=3) == [-10]
    assert numbers(p, "residual_bytes") == [-10]


def test_a_negative_sum_over_two_steps_is_divided_as_an_unsigned_integer():
    p = profile(
        run("a", step=0, memory={"residual": -10}), run("a", step=1, memory={"residual": 4})
    )

    assert numbers(p, "residual_bytes") == [(2**64 - 6) // 2]


# Float ops.


def test_float_ops_are_the_float_ops_of_one_run_times_the_runs():
    p = profile(op("a", float_ops=10), run("a", start=1), run("a", start=2))

    assert numbers(p, "float_ops") == [20]


def test_an_op_that_never_ran_counts_as_one_run_even_if_others_ran():
    p = profile(op("a", float_ops=10), run("b"))

    assert numbers(p, "float_ops") == [10, 0]
    assert numbers(p, "float_ops", step=0) == [10, 0]


def test_an_op_that_ran_only_in_another_step_has_no_float_ops():
    p = profile(op("a", float_ops=10), run("a", step=7), run("b", step=5))

    assert numbers(p, "float_ops", step=5) == [0, 0]


def test_an_op_that_was_seen_but_has_no_counted_run_has_no_float_ops():
    p = profile(op("a", float_ops=10), run("a", device=GPU_STREAM))

    assert numbers(p, "float_ops") == [0]


def test_float_ops_use_the_average_number_of_runs():
    p = profile(
        op("a", float_ops=10), run("a", step=0), run("a", step=1, start=1), run("a", step=1)
    )

    assert numbers(p, "float_ops") == [10]


def test_float_ops_are_counted_if_the_profile_asks_for_it():
    p = profile(op("x", outputs=[(2, 3)]), op("y", "Square", inputs=["x"]), counts_float_ops=True)

    assert float_ops_per_run(p).per_run.tolist() == [0, 6]
    assert numbers(p, "float_ops") == [0, 6]


# Caching.


def test_numbers_are_computed_once():
    p = profile(run("a", step=2))

    assert per_op(p, Chosen(2)) is per_op(p, Chosen(2))


def test_an_error_is_not_cached():
    p = profile(run("a", step=2))
    for _ in range(2):
        with pytest.raises(OptionError, match="No step 1"):
            per_op(p, Chosen(1))

    assert numbers(p, "runs", step=2) == [1]


@pytest.mark.parametrize("sides", [[(2**62,), (2**62,)], [(2**40, 2**40)], [(2**63,)]])
def test_parameters_that_exceed_64_bits_are_refused_and_the_largest_op_is_named(sides):
    p = profile(op("a", shape=(3,)), *(op(f"b{at}", shape=one) for at, one in enumerate(sides)))

    with pytest.raises(TfprofError, match="`params` of all ops exceeds 64 bits: op `b0` alone has"):
        numbers(p, "params")


HUGE = {
    "runs of one op": [run("a", start=1, memory={"peak": 2**62})] * 2,
    "steps": [run("a", step=step, memory={"peak": 2**62}) for step in (0, 1)],
    "ops": [run(name, memory={"peak": 2**62}) for name in "ab"],
    "negative numbers": [run(name, memory={"peak": -(2**62) - 1}) for name in "ab"],
    "the lowest number": [run("a", memory={"peak": -(2**63)})],
}


@pytest.mark.parametrize("case", HUGE)
@pytest.mark.parametrize("counts_whole_micros", [True, False])
def test_memory_that_exceeds_64_bits_is_refused(case, counts_whole_micros):
    p = profile(*HUGE[case], counts_whole_micros=counts_whole_micros)

    with pytest.raises(TfprofError, match=r"`peak_bytes` of all ops exceeds 64 bits: op `a` alone"):
        numbers(p, "peak_bytes")
    assert numbers(p, "micros")


@pytest.mark.parametrize("counts_whole_micros", [True, False])
def test_time_that_exceeds_64_bits_is_refused(counts_whole_micros):
    # In nanoseconds or, if only these count, in microseconds.
    count = 5000 if counts_whole_micros else 5
    runs = [run("a", 2**61 // 1000, start=1)] * count

    with pytest.raises(
        TfprofError, match=r"micros` of all ops exceeds 64 bits: op `a` alone has 2,3"
    ):
        numbers(profile(*runs, counts_whole_micros=counts_whole_micros), "micros")


@pytest.mark.parametrize("float_ops", [2**62, -(2**62) - 1])
@pytest.mark.parametrize("counts_whole_micros", [True, False])
def test_float_ops_of_all_runs_that_exceed_64_bits_are_refused(float_ops, counts_whole_micros):
    runs = [run("a", start=start) for start in (1, 2)]
    p = profile(op("a", float_ops=float_ops), *runs, counts_whole_micros=counts_whole_micros)

    with pytest.raises(TfprofError, match="`float_ops` of all ops exceeds 64 bits: op `a` alone"):
        numbers(p, "float_ops")


def test_numbers_just_below_64_bits_are_exact():
    p = profile(
        run("a", memory={"peak": 2**62}), run("b", memory={"peak": 2**61}), run("c", micros=3)
    )

    assert numbers(p, "peak_bytes") == [2**62, 2**61, 0]
