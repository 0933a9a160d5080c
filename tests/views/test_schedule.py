"""What ran where and when, what it waited for, and what memory it took."""

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


def test_slots_that_overlap_stand_in_lanes_of_their_own():
    p = profile(
        run("a", start=10, micros=10), run("b", start=15, micros=2), run("c", start=20, micros=5)
    )

    assert slots(p, laid_out(p)) == [("a", 0, 0, 10, 10), ("c", 0, 0, 20, 5), ("b", 0, 1, 15, 2)]


def test_a_run_that_ends_before_it_starts_takes_a_lane_of_its_own():
    p = profile(run("a", start=10, micros=10), run("a", start=15, micros=-3))

    assert slots(p, laid_out(p)) == [("a", 0, 0, 10, 10), ("a", 0, 1, 15, -3)]


def test_devices_are_in_the_order_in_which_the_view_meets_them():
    p = profile(op("a"), op("z"), run("z", device=CPU), run("a", device=GPU))

    assert list(laid_out(p).devices.name) == [GPU, CPU]
    assert list(laid_out(p, order_by="micros").devices.name) == [GPU, CPU]


def test_of_an_ops_devices_the_one_whose_name_is_first_is_met_first():
    p = profile(run("a", device=GPU), run("a", device=GPU_STREAM))

    assert list(laid_out(p).devices.name) == sorted([GPU, GPU_STREAM])


def test_of_two_runs_that_start_together_the_first_one_met_is_kept():
    p = profile(run("a", start=10, micros=3), run("b", start=10, micros=9))

    assert slots(p, laid_out(p)) == [("a", 0, 0, 10, 3)]
    assert laid_out(p).left_out == 1
    assert slots(p, laid_out(p, order_by="micros")) == [("b", 0, 0, 10, 9)]


def test_only_runs_of_the_step_and_of_shown_ops_are_laid_out():
    p = profile(run("a", start=10), run("a", start=90, step=1), run("b", start=20))

    assert slots(p, laid_out(p, hide_name_regexes=["b"])) == [("a", 0, 0, 10, 1)]


def test_a_view_of_all_steps_is_asked_anew_for_one_of_them():
    p = profile(
        *(run("a", start=10, step=0, micros=1), run("b", start=20, step=0, micros=5)),
        *(run("a", start=10, step=1, micros=9), run("b", start=20, step=1, micros=5)),
    )
    view = graph.build(p, Options.of(min_micros=2))

    assert slots(p, schedule.schedule(view, 0, Ticks.MICROS)) == [("b", 0, 0, 20, 5)]


def test_an_op_that_was_never_timed_has_no_slot():
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


def test_flows_come_from_dispatch_and_not_from_what_it_started_elsewhere():
    p = profile(
        op("b", inputs=["a"]),
        run("a", start=10, device=GPU),
        run("a", start=11, device=GPU_STREAM),
        run("b", start=30),
    )

    assert flows(p, laid_out(p)) == [(("a", 10), ("b", 30))]


def test_an_op_that_is_not_accounted_for_feeds_nobody():
    p = profile(
        op("b", "B", inputs=["a"]), op("a", "A"), run("a", start=10, device=GPU), run("b", start=30)
    )

    assert flows(p, laid_out(p, account_type_regexes=["B"])) == []


def test_a_hidden_input_lends_its_flow_to_who_started_with_it():
    p = profile(
        op("b", inputs=["a"]),
        run("a", start=10, device=GPU),
        run("other", start=10, device=GPU),
        run("b", start=30),
    )

    assert flows(p, laid_out(p, hide_name_regexes=["a"])) == [(("other", 10), ("b", 30))]


def test_too_many_flows_are_refused_before_they_are_made(monkeypatch):
    monkeypatch.setattr(schedule, "MOST_FLOWS", 3)
    p = profile(
        op("b", inputs=["a"]),
        *(run("a", start=start, device=GPU) for start in (10, 20)),
        *(run("b", start=start) for start in (30, 40)),
    )

    with pytest.raises(OutputError, match="4 arrows"):
        laid_out(p)
