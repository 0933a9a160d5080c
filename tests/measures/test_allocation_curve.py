"""Memory curves computed from allocation records."""

from dataclasses import replace

import numpy as np
import pytest

from build import CPU, GPU, allocator, profile, run
from tfprof.columns import Strings, ints
from tfprof.errors import TfprofError
from tfprof.measures.memory import allocator_traces, lacks_small_allocations, peaks_by_row
from tfprof.model.memory_curves import MemoryCurve


def changes(*pairs):
    """The curve of these changes, each a time in microseconds and a number of bytes."""
    micros, sizes = zip(*pairs, strict=True)
    return MemoryCurve.of_changes(1000 * ints(micros), ints(sizes))


def points(curve):
    return list(zip(curve.micros.tolist(), curve.bytes.tolist(), strict=True))


def recorded(*events, name="host", **more):
    """The only trace of an op with these allocation records."""
    (found,) = allocator_traces(profile(run("a", allocators=[allocator(name, events, **more)])))
    return found


# Curves


def test_a_curve_is_the_running_sum_in_order_of_time():
    assert points(changes((30, -5), (10, 5), (20, 7))) == [(10, 5), (20, 12), (30, 7)]


def test_changes_in_the_same_microsecond_become_one_point():
    assert points(changes((10, 5), (10, 100), (10, -100))) == [(10, 5)]


def test_the_peak_is_the_first_of_the_highest_points():
    curve = changes((10, 5), (20, -1), (30, 1))

    assert (curve.peak, curve.peak_bytes, curve.peak_ns) == (0, 5, 10_000)


@pytest.mark.parametrize(("micros", "held"), [(9, 0), (10, 5), (15, 5), (20, 8), (99, 8)])
def test_a_curve_holds_until_its_next_point(micros, held):
    assert changes((10, 5), (20, 3)).at(1000 * micros) == held


def test_the_highest_of_several_levels_at_the_same_time_is_kept():
    curve = MemoryCurve.of_levels(1000 * ints([20, 10, 20, 20]), ints([7, 5, 9, 8]))

    assert points(curve) == [(10, 5), (20, 9)]


# Traces


def test_each_allocator_device_and_step_has_its_own_curve():
    p = profile(
        run("a", step=1, allocators=[allocator("x", [(10, 1)]), allocator("w", [(10, 2)])]),
        run("b", step=0, allocators=[allocator("x", [(10, 4)])]),
        run("c", step=1, device=GPU, allocators=[allocator("x", [(10, 8)])]),
        run("d", step=1, allocators=[allocator("x", [(20, 16)])]),
    )
    names = {0: CPU, 1: GPU}

    found = [(r.allocator, names[r.device], r.step, points(r.curve)) for r in allocator_traces(p)]

    assert found == [
        ("w", CPU, 1, [(10, 2)]),
        ("x", CPU, 0, [(10, 4)]),
        ("x", CPU, 1, [(10, 1), (20, 17)]),
        ("x", GPU, 1, [(10, 8)]),
    ]


def test_levels_belong_to_the_curve_of_their_allocator():
    p = profile(
        run("a", memory={"micros": 5}, allocators=[allocator("x", [(10, 1)], level=70)]),
        run("b", memory={"micros": 9}, allocators=[allocator("x", level=80)]),
        run("c", memory={"micros": 9}, allocators=[allocator("y", level=90)]),
        run("d", memory={"micros": 0}, allocators=[allocator("x", level=99)]),
    )

    (found,) = allocator_traces(p)

    assert points(found.levels) == [(5, 70), (9, 80)]


def test_without_records_there_are_no_traces():
    assert allocator_traces(profile(run("a", allocators=[allocator("x", level=5)]))) == ()


def test_each_op_holds_the_memory_it_allocated_and_has_not_released():
    p = profile(
        run("a", allocators=[allocator("x", [(10, 64), (30, -60), (40, -4)])]),
        run("b", allocators=[allocator("x", [(20, 8), (30, 61), (40, 1)])]),
    )

    (found,) = allocator_traces(p)

    assert found.curve.peak_ns == 30_000
    assert found.held_at_peak(2).tolist() == [4, 69]
    assert found.taken_at_peak(2).tolist() == [-60, 61]


@pytest.mark.parametrize("no_time", [0, -5, -(2**63), 2**63 - 1])
def test_records_without_a_time_count_from_the_first_time(no_time):
    found = recorded((no_time, 3), (20, 5), (10, 1))

    assert points(found.curve) == [(10, 4), (20, 9)]
    assert found.untimed == 1


def test_records_that_all_lack_a_time_become_one_point():
    found = recorded((0, 3), (0, 5))

    assert points(found.curve) == [(0, 8)]
    assert found.untimed == 2


@pytest.mark.parametrize("sizes", [(2**62, 2**62), (-(2**63), 0)])
def test_impossibly_large_sizes_are_rejected(sizes):
    with pytest.raises(TfprofError, match="damaged"):
        recorded(*((10, size) for size in sizes))


def test_a_curve_is_read_only():
    with pytest.raises(ValueError, match="read-only"):
        recorded((10, 1)).curve.bytes += np.int64(1)


# Peaks of groups of ops


def peaks(p, parents, rows, steps=(0,)):
    """The peak of each row; `rows` has the row of each op by name."""
    row_of_op = ints([rows[name] for name in p.ops.name])
    return peaks_by_row(p, ints(steps), row_of_op, ints(parents)).tolist()


def allocating(name, *events, step=0, device=CPU):
    return run(name, step=step, device=device, allocators=[allocator("host", events)])


def test_the_peak_of_a_row_is_that_of_the_ops_below_it_together():
    p = profile(
        allocating("a", (10, 100), (40, -100)),
        allocating("b", (20, 30), (30, -30)),
        allocating("c", (50, 90)),
    )

    # A root, and a row that has `a` and a row with `b`.
    assert peaks(p, [-1, 0, 1, 0], {"a": 1, "b": 2, "c": 3}) == [130, 130, 30, 90]


def test_the_peak_of_a_row_is_the_highest_of_all_steps_and_devices():
    p = profile(
        allocating("a", (10, 5)),
        allocating("a", (10, 7), step=1),
        allocating("b", (10, 6), device=GPU),
        run("c"),
    )
    rows = {"a": 1, "b": 1, "c": 2}

    assert peaks(p, [-1, 0, 0], rows, steps=(0, 1)) == [7, 7, -1]
    assert peaks(p, [-1, 0, 0], rows, steps=(0,)) == [6, 6, -1]


def test_records_at_the_same_time_count_together_in_a_peak():
    p = profile(allocating("a", (10, 5), (20, 100), (20, -103)))

    assert peaks(p, [-1], {"a": 0}) == [5]


def test_without_records_the_peak_of_a_row_is_unknown():
    assert peaks(profile(run("a")), [-1], {"a": 0}) == [-1]


@pytest.mark.parametrize(
    ("device", "in_micros", "lacks"), [(CPU, False, True), (CPU, True, False), (GPU, False, False)]
)
def test_small_allocations_are_missing_on_the_host_in_recordings_of_tensorflow_2(
    device, in_micros, lacks
):
    p = profile(allocating("a", (10, 5), device=device), counts_whole_micros=in_micros)

    assert lacks_small_allocations(p) == lacks


def test_pytorch_records_small_allocations_on_the_host_too():
    p = profile(allocating("a", (10, 5), device=CPU), counts_whole_micros=False)
    recordings = replace(p.recordings, framework=Strings(["pytorch"]))

    assert not lacks_small_allocations(replace(p, recordings=recordings))
