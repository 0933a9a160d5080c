"""A view as a trace in Perfetto's own format."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import assume, given

import tfprof
from asking import ask
from build import CPU, GPU, GPU_STREAM, op, profile, run
from perfetto_reader import Trace
from profile_strategies import accounts, filters, often, profiles
from tfprof.errors import MissingInputError
from tfprof.formats.text_schema import is_repeated
from tfprof.options import Options
from tfprof.outputs import perfetto, timeline
from tfprof.outputs.perfetto import packets
from tfprof.views.schedule import Ticks, schedule, scheduled_steps

SAMPLE = Path(__file__).parent.parent / "parity" / "recorded" / "gpu_synth" / "inputs"


@pytest.fixture(scope="module")
def accelerated():
    """Six steps of a model on a CPU and an accelerator."""
    names = ["graph.pb", "tfprof_log", *(f"run_meta_{step}" for step in range(6))]
    return tfprof.load(*(SAMPLE / f"{name}.gz" for name in names))


def encoded(view):
    (part,) = perfetto.parts(view)
    return b"".join(part.pieces)


def written(view):
    return Trace(encoded(view))


def shown(process):
    """The name of a device in a trace."""
    return process.removeprefix("/")


# The graph view.


def test_a_run_is_a_slice_on_a_lane_of_its_device():
    found = written(ask("graph", profile(run("a", start=7, micros=2), run("b", start=8))))

    assert [(s.process, s.track, s.name, s.start, s.duration) for s in found.slices[1:]] == [
        (shown(CPU), "lane 0", "a", 7000, 2000),
        (shown(CPU), "lane 1", "b", 8000, 1000),
    ]


def test_a_step_is_a_slice_that_spans_its_runs():
    steps = profile(
        run("a", start=10, micros=2, step=3),
        run("b", start=14, micros=2, step=3),
        run("a", start=90, micros=5, step=4),
    )

    found = written(ask("graph", steps))

    assert [(s.name, s.start, s.duration) for s in found.on("Steps")] == [
        ("step 3", 10_000, 6000),
        ("step 4", 90_000, 5000),
    ]
    assert [(s.name, s.arguments["step"]) for s in found.on("lane 0")] == [
        ("a", 3),
        ("b", 3),
        ("a", 4),
    ]


def test_a_trace_of_one_step_contains_no_other_step():
    steps = profile(run("a", start=10, step=3), run("a", start=90, step=4))

    assert [s.name for s in written(ask("graph", steps, step=4)).slices] == ["step 4", "a"]


def test_overlapping_steps_are_on_separate_tracks():
    steps = profile(
        run("a", start=10, micros=50, step=0),
        run("a", start=20, micros=5, step=1),
        run("a", start=70, micros=5, step=2),
    )

    found = written(ask("graph", steps))

    assert [s.name for s in found.on("Steps")] == ["step 0", "step 2"]
    assert [s.name for s in found.on("Steps (2)")] == ["step 1"]
    assert [s.process for s in found.on("lane 0")] == [
        shown(CPU),
        f"{shown(CPU)} (2)",
        shown(CPU),
    ]


def test_the_arguments_of_a_slice_are_the_facts_of_its_op():
    known = profile(
        op("x", outputs=[(2, 3)]),
        op("net/y", "MatMul", inputs=["x", "x"], float_ops=36),
        run("net/y", start=10, micros=9),
    )

    assert written(ask("graph", known)).slices[-1].arguments == {
        "step": 0,
        "kind": "MatMul",
        "scope": "net",
        "input_shapes": "0:2x3|1:2x3",
        "float_ops": 36,
        "FLOP/s": 4e6,
    }


def test_unknown_facts_of_an_op_are_omitted():
    assert written(ask("graph", profile(run("a")))).slices[-1].arguments == {"step": 0}


def test_only_the_device_that_computes_an_op_has_flops_per_second():
    matmul = op("a", "MatMul", float_ops=10)
    runs = [run("a", start=10, device=GPU), run("a", start=20, device=GPU_STREAM)]

    found = written(ask("graph", profile(matmul, *runs)))

    assert [s.process for s in found.slices if "FLOP/s" in s.arguments] == [shown(GPU_STREAM)]


def test_an_arrow_goes_from_a_run_to_a_run_on_another_device():
    fed = profile(
        op("b", inputs=["a"]),
        run("a", start=10, micros=4, device="/other/cpu:0"),
        run("b", start=30),
    )

    found = written(ask("graph", fed))

    assert [(one.name, other.name) for one, other in found.arrows] == [("a", "b")]


def test_memory_in_use_is_a_counter_with_a_track_for_the_largest_holders():
    memory = {"micros": 500, "in_use": 10_000_000}
    held = profile(run("a", start=400, device=GPU, memory=memory, allocations=[(1, 2_500_000)]))

    found = written(ask("graph", held))

    assert found.counters == [(shown(GPU), "Allocator Bytes in Use", 500_000, 10_000_000)]
    (top,) = found.on("Top Allocations")
    assert (top.start, top.arguments) == (500_000, {"a": 2_500_000, "not displayed": 7_500_000})


def test_runs_that_start_together_are_on_separate_lanes():
    found = written(ask("graph", profile(run("a", start=7), run("b", start=7))))

    assert [(s.track, s.name, s.start) for s in found.slices[1:]] == [
        ("lane 0", "a", 7000),
        ("lane 1", "b", 7000),
    ]


def test_times_are_exact_to_the_nanosecond():
    found = written(ask("graph", profile(run("a", start=7.25, micros=1.4))))

    assert [(s.name, s.start, s.duration) for s in found.slices[1:]] == [("a", 7250, 1400)]


# Trees.


def test_a_row_is_a_slice_within_its_parent():
    tree = profile(run("a", micros=2), run("a/b", micros=3), run("c", micros=4))

    found = written(ask("scope", tree))

    assert [(s.name, s.depth, s.start, s.duration) for s in found.slices] == [
        ("_TFProfRoot", 0, 0, 9000),
        ("a", 1, 0, 5000),
        ("a/b", 2, 0, 3000),
        ("c", 1, 5000, 4000),
    ]


def test_the_arguments_of_a_row_are_its_selected_totals():
    tree = profile(run("a", micros=2, memory={"requested": 7}), run("a/b", micros=3))

    found = written(ask("scope", tree, select=["micros", "bytes", "device"]))

    assert found.slices[1].arguments == {"total bytes": 7, "total micros": 5}


# Both.


@pytest.mark.parametrize("kind", ["scope", "graph"])
def test_a_trace_requires_a_step(kind):
    with pytest.raises(MissingInputError, match="--run_meta_path"):
        written(ask(kind, profile(op("a"))))


def test_a_step_without_times_gives_a_trace_without_slices():
    assert written(ask("graph", profile(op("a"), run("a", start=0)))).slices == []


@pytest.mark.parametrize("kind", ["scope", "graph", "code"])
def test_the_block_size_does_not_change_a_trace(kind, monkeypatch, accelerated):
    view = accelerated.view(kind, Options.of(max_depth=100)).view
    whole = written(view)
    monkeypatch.setattr(packets, "BLOCK_ROWS", 3)

    small = written(view)

    assert sorted(small.slices, key=repr) == sorted(whole.slices, key=repr)
    assert small.counters == whole.counters


@pytest.mark.parametrize("kind", ["scope", "graph", "code"])
def test_the_official_reader_knows_every_field(kind, accelerated):
    messages = pytest.importorskip(
        "perfetto.protos.perfetto.trace.perfetto_trace_pb2", reason="needs the package perfetto"
    )
    unknown_fields = pytest.importorskip("google.protobuf.unknown_fields")
    data = encoded(accelerated.view(kind, Options.of(max_depth=100)).view)

    trace = messages.Trace.FromString(data)

    unknown = [m for m in within(trace) if len(unknown_fields.UnknownFieldSet(m))]
    assert unknown == []
    types = [packet.track_event.type for packet in trace.packet if packet.HasField("track_event")]
    assert types.count(1) == types.count(2)
    assert types.count(1) + types.count(3) == len(Trace(data).slices)


def within(message):
    """A message and all messages inside it."""
    yield message
    for field, value in message.ListFields():
        if field.message_type:
            for inner in value if is_repeated(field) else [value]:
                yield from within(inner)


def test_a_trace_also_has_the_runs_that_the_classic_timeline_leaves_out(
    accelerated,
):
    view = accelerated.graph(max_depth=1000).view

    slices, arrows, counters = native(view)
    classic_slices, classic_arrows, classic_counters = classic(view)

    assert (len(slices), len(arrows), len(counters)) == (324, 31, 32)
    assert len(slices) == len(classic_slices) + left_out(view)
    assert set(slices) >= set(classic_slices)
    assert set(arrows) >= set(classic_arrows)
    assert max(value for _, value in counters) == max(value for _, value in classic_counters)


@often
@given(profiles(), accounts(), filters())
def test_any_trace_has_every_run_of_the_classic_timeline(p, account, filter_):
    view = ask("graph", p, **account, **filter_)

    slices, _, counters = native(view)
    classic_slices, _, classic_counters = classic(view)

    assert len(slices) == len(classic_slices) + left_out(view)
    assert set(slices) >= set(classic_slices)
    assert counters == classic_counters
    assume(slices)


# The classic timeline finds the ends of an arrow by device and microsecond. If ops are hidden, it
# may draw an arrow from a shown op that started in the same microsecond as a hidden input.
@often
@given(profiles())
def test_any_trace_of_a_whole_graph_has_every_arrow_of_the_classic_timeline(p):
    view = ask("graph", p)

    _, arrows, _ = native(view)
    _, classic_arrows, _ = classic(view)

    assert len(arrows) >= len(classic_arrows)
    assume(classic_arrows)


def left_out(view):
    """The number of runs that the classic timeline leaves out."""
    return sum(schedule(view, step, Ticks.MICROS).left_out for step in scheduled_steps(view))


def native(view):
    """The slices of runs, the arrows and the counters of a trace, sorted."""
    found = written(view)
    return (
        sorted(
            (s.process.partition(" (")[0], s.name, s.start // 1000)
            for s in found.slices
            if s.track.startswith("lane")
        ),
        sorted((one.name, other.start // 1000) for one, other in found.arrows),
        sorted((time // 1000, value) for _, _, time, value in found.counters),
    )


def classic(view):
    """The same for the classic timelines."""
    slices, arrows, counters = [], [], []
    for part in timeline.parts(view):
        events = json.loads(b"".join(part.pieces))["traceEvents"]
        names = {e["pid"]: e["args"]["name"] for e in events if e["ph"] == "M"}
        for e in events:
            if e["ph"] == "X":
                process = shown(names[e["pid"]].partition(" threads: ")[2])
                slices.append((process, e["name"], e["ts"]))
            elif e["ph"] == "t":
                name = e["name"].removesuffix("_flow")
                arrows.append((name, e["ts"]))
            elif e["ph"] == "C" and e["name"] == "Allocated Bytes":
                counters.append((e["ts"], e["args"]["Allocator Bytes in Use"]))
    return sorted(slices), sorted(arrows), sorted(counters)
