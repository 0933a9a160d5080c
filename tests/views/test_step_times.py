"""The time of each step: wall, busy, idle, waiting for input, and what was unusual."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from build import CPU, GPU, GPU_STREAM, copy, op, profile, run
from profile_strategies import often
from tfprof.columns import ints
from tfprof.errors import MissingInputError, OptionError, TfprofError
from tfprof.measures.numbers import EVERYTHING, per_op
from tfprof.model.executions import Waits
from tfprof.model.ops import Phase
from tfprof.options import StepOptions
from tfprof.outputs.steps import StepTable
from tfprof.views import steps


def times(p, **options):
    return steps.build(p, StepOptions(**options))


def only(p, **options):
    (step,) = times(p, **options).steps
    return step


def marked(p, bounds, waits=()):
    """A profile with the start and end of each step, and waits (step, start, duration)."""
    starts, ends = zip(*bounds, strict=True)
    columns = zip(*waits, strict=True) if waits else ((), (), ())
    exact = np.zeros(len(p.recordings), np.bool_)
    return replace(
        p,
        recordings=replace(p.recordings, counts_whole_micros=exact),
        steps=replace(p.steps, start_ns=ints(starts), end_ns=ints(ends)),
        waits=Waits(*(ints(column) for column in columns)),
    )


def test_time_in_which_several_ops_run_is_busy_once():
    step = only(profile(run("a", 10, start=100), run("b", 10, start=105)))

    assert (step.wall_ns, step.busy_ns, step.idle_ns) == (15_000, 15_000, 0)
    assert (step.op_time_ns, step.parallel_ns) == (20_000, 5_000)


def test_time_in_which_nothing_runs_is_idle():
    step = only(profile(run("a", 10, start=100), run("b", 10, start=150)))

    assert (step.wall_ns, step.busy_ns, step.idle_ns) == (60_000, 20_000, 40_000)


def test_a_step_includes_the_time_until_the_next_one():
    p = marked(profile(run("a", 10, start=100)), [(90_000, 190_000)])

    assert (only(p).wall_ns, only(p).idle_ns) == (100_000, 90_000)


def test_a_run_that_lasts_longer_than_its_step_counts_up_to_its_end():
    p = marked(profile(run("a", 50, start=100)), [(90_000, 110_000)])

    assert only(p).busy_ns == 10_000
    assert only(p).outside_ns == 40_000


def test_op_time_is_the_sum_of_its_parts():
    p = marked(
        profile(
            op("tf_data/Root", "Iterator::Root"),
            run("a", 50, start=100),
            run("b", 7, start=105),
            run("tf_data/Root", 30, start=95),
            copy("x", 9, start=92),
        ),
        [(90_000, 120_000)],
    )
    step = only(p)

    assert step.op_time_ns == 87_000
    assert (step.parallel_ns, step.pipeline_ns, step.outside_ns) == (7_000, 30_000, 30_000)
    alone = step.op_time_ns - step.parallel_ns - step.pipeline_ns - step.outside_ns
    assert alone == 20_000  # the op `a` until the end of the step


def test_the_average_op_time_of_steps_is_the_time_of_all_ops():
    runs = [run("a", 10, step=0), run("a", 14, step=1), run("b", 6, step=1, start=2000)]
    p = marked(profile(*runs), [(1_000_000, 1_100_000), (1_000_000, 2_100_000)])
    found = [step.op_time_ns for step in times(p).steps]

    assert sum(found) / 2 == per_op(p, EVERYTHING)["nanos"].sum()


# Phases.


def test_the_phases_of_a_step_add_up_to_its_wall_time():
    p = marked(
        profile(
            op("next", "IteratorGetNext"),
            op("update", "AssignSub", types=["_optimizer"]),
            run("next", 4, start=101),
            run("a", 10, start=110),
            run("gradients/a_grad/b", 20, start=120),
            run("update", 5, start=140),
            copy("x", 3, start=145),
        ),
        [(100_000, 160_000)],
        [(0, 100_000, 8_000)],
    )

    assert only(p).phases == {
        "forward": 10_000,
        "backward": 20_000,
        "optimizer": 5_000,
        "input": 4_000,
        "other": 0,
        "communication": 0,
        "transfers": 3_000,
        "idle_input_wait": 4_000,
        "idle_other": 14_000,
    }
    assert sum(only(p).phases.values()) == only(p).wall_ns


def test_communication_is_a_part_of_a_step():
    p = profile(
        op("all_reduce", phase=Phase.COMMUNICATION),
        run("all_reduce", 30, start=100),
        run("a", 10, start=110),
    )

    assert only(p).phases["communication"] == 25_000
    assert only(p).phases["forward"] == 5_000
    assert "communication 83.33%" in StepTable(times(p)).report


def test_time_in_which_several_ops_run_is_divided_equally_among_them():
    p = profile(
        run("a", 30, start=100),
        run("b", 20, start=100),
        run("gradients/a_grad/c", 20, start=110),
    )

    # 10 us of `a` and `b`, 10 us of all three, 10 us of `a` and the gradient.
    assert only(p).phases["forward"] == 10_000 + 6_667 + 5_000
    assert only(p).phases["backward"] == 3_333 + 5_000


def test_only_the_ops_of_accelerators_divide_a_step_with_kernels():
    p = profile(run("a", 30, start=100), run("gradients/b", 20, start=105, device=GPU_STREAM))

    assert only(p).phases["backward"] == only(p).busy_ns == 20_000
    assert only(p).phases["idle_other"] == 10_000


def test_time_after_the_end_of_a_step_belongs_to_no_phase():
    p = marked(profile(run("a", 50, start=100)), [(90_000, 110_000)])

    assert only(p).phases["forward"] == 10_000


_PHASES = {
    "forward": ("a", "Op"),
    "backward": ("gradients/a_grad/b", "Op"),
    "input": ("next", "IteratorGetNext"),
    "transfers": None,
}
_spans = st.tuples(st.sampled_from(sorted(_PHASES)), st.integers(1, 40), st.integers(0, 20))


@often
@given(
    st.lists(_spans, max_size=10),
    st.lists(st.tuples(st.integers(0, 40), st.integers(0, 20)), max_size=3),
)
def test_phases_are_those_of_a_count_instant_by_instant(spans, waits):
    ops = [op(*named) for named in _PHASES.values() if named]
    runs = [
        run(_PHASES[part][0], micros, start=start)
        if _PHASES[part]
        else copy("x", micros, start=start)
        for part, start, micros in spans
    ]
    bounds, found_waits = (5_000, 50_000), [(0, start * 1000, n * 1000) for start, n in waits]
    step = only(marked(profile(*ops, run("a", 1, start=7), *runs), [bounds], found_waits))
    expected = slow_phases([("forward", 7, 1), *spans], waits, step)

    assert sum(step.phases.values()) == step.wall_ns
    assert step.phases["idle_input_wait"] + step.phases["idle_other"] == step.idle_ns
    assert all(abs(step.phases[part] - nanos) <= 1 for part, nanos in expected.items())


def slow_phases(spans, waits, step):
    """The parts of a step, microsecond by microsecond."""
    parts = dict.fromkeys(step.phases, Fraction(0))
    for instant in range(step.start_ns // 1000, (step.start_ns + step.wall_ns) // 1000):
        active = [part for part, start, micros in spans if start <= instant < start + micros]
        for part in active:
            parts[part] += Fraction(1000, len(active))
        if not active:
            fetches = [(start, micros) for part, start, micros in spans if part == "input"]
            is_wait = any(start <= instant < start + n for start, n in [*waits, *fetches])
            parts["idle_input_wait" if is_wait else "idle_other"] += 1000
    return parts


# Devices.


def test_each_device_has_its_own_busy_time():
    step = only(
        profile(
            run("a", 2, start=100, device=GPU),
            run("a", 8, start=101, device=GPU_STREAM),
            run("a", 5, start=105, device=GPU_STREAM),
            copy("MemcpyH2D", 3, start=90),
            run("b", 4, start=120, device=CPU),
        )
    )

    assert step.devices == {"/device:gpu:0": 12_000, CPU: 6_000}
    assert (step.ops, step.kernels) == (2, 2)


# Input.


def test_waiting_for_input_is_measured_also_while_ops_run():
    p = marked(profile(run("a", 10, start=100)), [(90_000, 130_000)], [(0, 105_000, 20_000)])

    assert only(p).input_wait_ns == 20_000
    assert only(p).idle_input_wait_ns == 15_000


def test_ops_that_fetch_data_are_waits_for_input():
    step = only(profile(op("q", "QueueDequeueV2"), run("q", 30), run("a", 10, start=1020)))

    assert step.input_wait_ns == 30_000


def test_iterators_on_other_threads_are_neither_busy_nor_waiting():
    p = profile(op("tf_data/Root", "Iterator::Root"), run("tf_data/Root", 90), run("a", 10))

    assert (only(p).busy_ns, only(p).input_wait_ns, only(p).ops) == (10_000, 0, 1)


# Summary.


def many(*micros, **options):
    """Steps whose only op takes this long."""
    return times(profile(*(run("a", one, step=step) for step, one in enumerate(micros))), **options)


def test_the_summary_has_the_median_and_the_spread():
    (summary,) = many(10, 12, 11, 14, 13).summaries

    assert (summary.median_ns, summary.p10_ns, summary.p90_ns) == (12_000, 10_000, 14_000)
    assert (summary.steps, summary.unusual) == (5, ())


def test_the_median_step_is_a_recorded_step_and_the_shorter_of_two():
    runs = [run("a", micros, step=step) for step, micros in enumerate((40, 10, 30, 20))]
    found = times(profile(*runs))

    assert found.summaries[0].median_step == 3
    assert found.median_step(found.summaries[0]).wall_ns == found.summaries[0].median_ns == 20_000


def test_a_step_far_from_the_median_is_unusual():
    (summary,) = many(100, 101, 99, 100, 300).summaries

    assert [(one.step, one.step_ns) for one in summary.unusual] == [(4, 300_000)]
    assert summary.unusual[0].causes == ("200us more running ops, mostly a",)


def test_a_shorter_step_is_unusual_too():
    (summary,) = many(100, 101, 99, 100, 30).summaries

    assert summary.unusual[0].causes == ("70us less running ops",)


def test_few_steps_have_no_unusual_one():
    assert many(10, 10, 90).summaries[0].unusual == ()


def test_the_cause_may_be_waiting_for_input():
    runs = [run("a", 10, step=step, start=100 * step + 100) for step in range(4)]
    bounds = [(100_000 * step + 100_000, 100_000 * step + 120_000) for step in range(3)]
    p = marked(profile(*runs), [*bounds, (400_000, 490_000)], [(3, 410_000, 70_000)])
    (summary,) = times(p).summaries

    assert summary.unusual[0].step == 3
    assert summary.unusual[0].causes == ("70us more waiting for input",)


def test_the_cause_may_be_time_without_ops():
    runs = [run("a", 10, step=step, start=100 * step + 100) for step in range(4)]
    bounds = [(100_000 * step + 100_000, 100_000 * step + 120_000) for step in range(3)]
    p = marked(profile(*runs), [*bounds, (400_000, 490_000)])
    (summary,) = times(p).summaries

    assert summary.unusual[0].causes == (
        "70us more idle for other reasons, such as Python or tracing a function",
    )


def test_the_cause_may_be_what_ran_before_the_first_step():
    runs = [run("a", 10, step=step, start=100 * step + 100) for step in range(4)]
    bounds = [(100_000 * step + 100_000, 100_000 * step + 120_000) for step in range(4)]
    early = run("setup", 30, step=0, start=40)
    (summary,) = times(marked(profile(*runs, early), bounds)).summaries

    assert summary.unusual[0].causes[-1] == "60us before the program began the step"


def test_each_recording_has_a_summary():
    p = profile(run("a", 10, recording="x"), run("a", 30, recording="y"))

    assert [(one.recording, one.median_ns) for one in times(p).summaries] == [
        ("x", 10_000),
        ("y", 30_000),
    ]


# Choosing.


def test_steps_and_recordings_can_be_chosen():
    p = profile(
        run("a", 1, step=0, recording="x"),
        run("a", 2, step=1, recording="x"),
        run("a", 3, step=1, recording="y"),
    )

    assert [step.op_time_ns for step in times(p, step=1).steps] == [2_000, 3_000]
    assert [step.op_time_ns for step in times(p, recording=("x",)).steps] == [1_000, 2_000]


def test_an_unknown_step_is_rejected():
    with pytest.raises(OptionError, match=r"No step 7\. Recorded: 0; -1 shows all steps\."):
        times(profile(run("a")), step=7)


def test_the_error_without_a_step_names_the_file_to_give():
    with pytest.raises(MissingInputError, match="--run_meta_path"):
        times(profile(op("a")))


# Notes.


def test_a_recording_without_step_markers_is_noted():
    p = marked(profile(run("a")), [(-1, -1)])

    (note,) = times(p).notes
    assert note.startswith("here has no step markers: its steps last from their first op")


def test_a_step_that_was_marked_twice_is_noted():
    p = marked(profile(run("a", step=0), run("a", step=1)), [(0, 9), (-1, -1)])

    (note,) = times(p).notes
    assert note.startswith("here: step 1 was marked more than once")


def test_run_metadata_needs_no_markers():
    assert times(profile(run("a"))).notes == ()


def test_steps_whose_runs_exceed_64_bits_are_refused():
    p = profile(*[run("a", 2**61 // 1000, start=1)] * 5)

    with pytest.raises(TfprofError, match="`micros` of all ops exceeds 64 bits: op `a` alone"):
        times(p)
