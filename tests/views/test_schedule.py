"""The timeline of a step: slots, lanes, devices and flows between devices."""

import pytest

from build import CPU, GPU, GPU_STREAM, op, profile, run
from tfprof.errors import OutputError
from tfprof.options import Options
from tfprof.views import graph, schedule
from tfprof.views.schedule import Ticks


def laid_out(found, step=0, **options):
    return schedule.schedule(
        graph.build(found, Options.of(step=step, **options)), step, Ticks.MICROS
    )


def slots(found, plan):
    """Each slot as (op, device, lane, start, duration)."""
    columns = (plan.slots.device, plan.slots.lane, plan.slots.start, plan.slots.duration)
    numbers = zip(*(column.tolist() for column in columns), strict=True)
    return [
        (found.ops.name[o], *row) for o, row in zip(plan.slots.op.tolist(), numbers, strict=True)
    ]


def flows(found, plan):
    """Each flow as (op, start) of its producer and its consumer."""
    ends = [
        (found.ops.name[o], start)
        for o, start in zip(plan.slots.op.tolist(), plan.slots.start.tolist(), strict=True)
    ]
    pairs = zip(plan.flows.producer.tolist(), plan.flows.consumer.tolist(), strict=True)
    return [(ends[producer], ends[consumer]) for producer, consumer in pairs]


def test_overlapping_slots_are_in_separate_lanes():
    p = profile(
        run("a", start=10, micros=10), run("b", start=15, micros=2), run("c", start=20, micros=5)
    )

    assert slots(p, laid_out(p)) == [("a", 0, 0, 10, 10), ("c", 0, 0, 20, 5), ("b", 0, 1, 15, 2)]


def test_a_run_that_ends_before_it_starts_still_takes_up_a_lane():
    p = profile(run("a", start=10, micros=10), run("a", start=15, micros=-3))

    assert slots(p, laid_out(p)) == [("a", 0, 0, 10, 10), ("a", 0, 1, 15, -3)]


def test_devices_are_in_the_order_of_the_ops_in_the_view():
    p = profile(op("a"), op("z"), run("z", device=CPU), run("a", device=GPU))

    assert list(laid_out(p).devices.name) == [GPU, CPU]
    assert list(laid_out(p, order_by="micros").devices.name) == [GPU, CPU]


def test_the_devices_of_one_op_are_in_name_order():
    p = profile(run("a", device=GPU), run("a", device=GPU_STREAM))

    assert list(laid_out(p).devices.name) == sorted([GPU, GPU_STREAM])


def test_of_two_runs_that_start_together_the_first_in_the_view_is_kept():
    p = profile(run("a", start=10, micros=3), run("b", start=10, micros=9))

    assert slots(p, laid_out(p)) == [("a", 0, 0, 10, 3)]
    assert laid_out(p).left_out == 1
    assert slots(p, laid_out(p, order_by="micros")) == [("b", 0, 0, 10, 9)]


def test_only_runs_of_shown_ops_in_the_step_are_laid_out():
    p = profile(run("a", start=10), run("a", start=90, step=1), run("b", start=20))

    assert slots(p, laid_out(p, hide_name_regexes=["b"])) == [("a", 0, 0, 10, 1)]


def test_a_view_of_all_steps_is_rebuilt_for_one_step():
    p = profile(
        *(run("a", start=10, step=0, micros=1), run("b", start=20, step=0, micros=5)),
        *(run("a", start=10, step=1, micros=9), run("b", start=20, step=1, micros=5)),
    )
    view = graph.build(p, Options.of(min_micros=2))

    assert slots(p, schedule.schedule(view, 0, Ticks.MICROS)) == [("b", 0, 0, 20, 5)]


def test_an_op_without_a_start_time_has_no_slot():
    p = profile(run("a", start=0))

    assert len(laid_out(p).slots) == 0
    assert len(laid_out(p).devices) == 0


def test_a_flow_leads_from_each_run_of_an_input_on_another_device():
    p = profile(
        op("sum", inputs=["left", "right", "left"]),
        run("left", start=10),
        run("left", start=12),
        run("right", start=14, device=GPU),
        run("sum", start=20, device=GPU),
    )

    there = [(("left", 10), ("sum", 20)), (("left", 12), ("sum", 20))]
    assert flows(p, laid_out(p)) == [there[0], there[0], there[1], there[1]]


def test_flows_start_at_the_dispatch_and_not_at_the_run_on_the_stream():
    p = profile(
        op("b", inputs=["a"]),
        run("a", start=10, device=GPU),
        run("a", start=11, device=GPU_STREAM),
        run("b", start=30),
    )

    assert flows(p, laid_out(p)) == [(("a", 10), ("b", 30))]


def test_an_unaccounted_op_has_no_flows():
    p = profile(
        op("b", "B", inputs=["a"]), op("a", "A"), run("a", start=10, device=GPU), run("b", start=30)
    )

    assert flows(p, laid_out(p, account_type_regexes=["B"])) == []


def test_the_flow_of_a_hidden_input_starts_at_the_slot_that_starts_with_it():
    p = profile(
        op("b", inputs=["a"]),
        run("a", start=10, device=GPU),
        run("other", start=10, device=GPU),
        run("b", start=30),
    )

    assert flows(p, laid_out(p, hide_name_regexes=["a"])) == [(("other", 10), ("b", 30))]


def test_too_many_flows_are_rejected_before_they_are_created(monkeypatch):
    monkeypatch.setattr(schedule, "MOST_FLOWS", 3)
    p = profile(
        op("b", inputs=["a"]),
        *(run("a", start=start, device=GPU) for start in (10, 20)),
        *(run("b", start=start) for start in (30, 40)),
    )

    with pytest.raises(OutputError, match="4 arrows"):
        laid_out(p)
