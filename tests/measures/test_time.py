"""How long ops ran, on their own device and on an accelerator."""

from dataclasses import replace

import numpy as np

from build import CPU, GPU, GPU_STREAM, op, profile, run
from tfprof.measures import time
from tfprof.measures.numbers import EVERYTHING, per_op


def exact(*facts):
    """A profile whose runs are not counted in whole microseconds."""
    found = profile(*facts)
    nothing = np.zeros(len(found.recordings), np.bool_)
    return replace(found, recordings=replace(found.recordings, counts_whole_micros=nothing))


def test_time_on_the_device_of_the_op_is_cpu_time():
    p = profile(run("a", 5, device=CPU))

    assert time.cpu_micros(p).tolist() == [5]
    assert time.accelerator_micros(p).tolist() == [0]


def test_time_on_a_stream_is_accelerator_time():
    p = profile(run("a", 5, device=GPU_STREAM))

    assert time.cpu_micros(p).tolist() == [0]
    assert time.accelerator_micros(p).tolist() == [5]


def test_dispatching_an_op_to_an_accelerator_is_cpu_time():
    p = profile(run("a", 5, device=GPU), run("a", 7, device=GPU_STREAM))

    assert time.cpu_micros(p).tolist() == [5]
    assert time.accelerator_micros(p).tolist() == [7]


def test_runs_of_one_op_in_one_step_are_added_up():
    p = profile(run("a", 5, start=10), run("a", 7, start=20))

    assert time.cpu_micros(p).tolist() == [12]


def test_each_op_and_each_step_has_its_own_time():
    p = profile(run("b", 1, step=0), run("a", 2, step=3), run("a", 4, step=0))

    assert time.cpu_micros(p).tolist() == [4, 2, 1]


def test_a_run_that_never_started_takes_no_time():
    p = profile(run("a", 5, start=0))

    assert time.cpu_micros(p).tolist() == [0]


def test_a_run_on_a_device_other_than_that_of_the_op_takes_no_time():
    p = profile(run("a", 5, device=CPU), run("a", 7, device=GPU))

    assert time.cpu_micros(p).tolist() == [5]


def test_a_profile_without_runs_has_no_times():
    p = profile(op("a"))

    assert time.cpu_micros(p).tolist() == []
    assert time.accelerator_micros(p).tolist() == []


def test_a_run_counts_the_microsecond_boundaries_it_crosses():
    p = profile(run("a", 1.4, start=5.8), run("b", 1.4, start=5.1))

    assert time.cpu_micros(p).tolist() == [2, 1]
    assert time.cpu_nanos(p).tolist() == [1400, 1400]


def test_a_run_within_one_microsecond_counts_as_one():
    p = profile(run("a", 0.3, start=5.1), run("a", 0.3, start=6.1))

    assert time.cpu_micros(p).tolist() == [2]
    assert time.cpu_nanos(p).tolist() == [600]
    assert time.last_end_micros(p).tolist() == [7]


def test_exact_times_are_rounded_so_that_sums_stay_correct():
    names = [f"net/{number}" for number in range(10)]
    p = exact(*(run(name, 0.3) for name in names))

    micros = per_op(p, EVERYTHING)["micros"].tolist()

    assert set(micros) == {0, 1}
    assert sum(micros) == 3


def test_exact_times_are_averaged_before_they_are_rounded():
    runs = [run("a", micros, step=step) for step, micros in enumerate((0.4, 0.4, 1.3))]
    p = exact(*runs)

    assert per_op(p, EVERYTHING)["nanos"].tolist() == [700]
    assert per_op(p, EVERYTHING)["micros"].tolist() == [1]
