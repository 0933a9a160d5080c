"""The memory in use on an accelerator, and the ops that held most of it."""

from build import CPU, GPU, profile, run
from tfprof.options import Options
from tfprof.views import graph, schedule
from tfprof.views.schedule import Ticks

KB = 1000


def curves(*runs):
    """A profile with these runs, and the memory of its accelerators."""
    found = profile(*runs)
    return found, schedule.schedule(graph.build(found, Options(step=0)), 0, Ticks.MICROS).memory


def measured(name, time, in_use, device=GPU, allocations=(), **memory):
    memory |= {"micros": time, "in_use": in_use}
    return run(name, start=time, device=device, memory=memory, allocations=allocations)


def points(curve):
    return list(zip(curve.time.tolist(), curve.in_use.tolist(), strict=True))


def holders(found, curve, point):
    """The ops that held memory at a point, and how many bytes."""
    names = [found.ops.name[o] for o in curve.holders[point].tolist()]
    start = int(curve.holders.offsets[point])
    sizes = curve.holder_bytes[start : start + len(names)].tolist()
    return dict(zip(names, sizes, strict=True))


def test_only_accelerators_have_a_curve():
    found, memory = curves(measured("a", 500, KB), measured("b", 500, KB, device=CPU))

    assert [found.devices.name[curve.device] for curve in memory] == [GPU]


def test_points_closer_than_100_micros_are_left_out_but_count_for_the_peak():
    _, (curve,) = curves(measured("a", 500, 1), measured("b", 599, 7), measured("c", 600, 3))

    assert points(curve) == [(500, 1), (600, 3)]
    assert curve.peak == 7


def test_of_two_measurements_at_the_same_time_that_of_the_op_shown_last_counts():
    _, (curve,) = curves(measured("b", 500, 2), measured("a", 500, 1))

    assert points(curve) == [(500, 2)]


def test_an_op_holds_the_memory_it_allocated_and_has_not_released():
    found, (curve,) = curves(
        measured("a", 500, 9, allocations=[(400, 5), (500, 1), (650, -6)]),
        measured("b", 600, 9),
        measured("c", 700, 9),
    )

    assert holders(found, curve, 0) == {"a": 5}
    assert holders(found, curve, 1) == {"a": 6}
    assert holders(found, curve, 2) == {}
    assert curve.rest.tolist() == [4, 3, 9]


def test_changes_in_the_same_microsecond_are_added_up():
    found, (curve,) = curves(measured("a", 500, 9, allocations=[(400, 5), (400, -2)]))

    assert holders(found, curve, 0) == {"a": 3}


def test_persistent_memory_is_held_from_the_start():
    found, (curve,) = curves(measured("a", 500, 9, accelerator_persistent=4))

    assert holders(found, curve, 0) == {"a": 4}


def test_an_op_that_holds_more_than_the_remaining_memory_is_skipped():
    found, (curve,) = curves(
        measured("a", 500, 10, allocations=[(1, 7)]),
        measured("b", 501, 10, allocations=[(1, 7)]),
        measured("c", 502, 10, allocations=[(1, 2)]),
    )

    assert holders(found, curve, 0) == {"a": 7, "c": 2}
    assert curve.rest.tolist() == [1]


def test_an_accelerator_without_measurements_has_an_empty_curve():
    _, (curve,) = curves(run("a", device=GPU, memory={"micros": 0}))

    assert points(curve) == []
    assert curve.peak == 0
