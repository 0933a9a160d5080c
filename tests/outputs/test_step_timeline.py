"""The events of the timeline of a step."""

import json

import pytest

import tfprof
from sources.tf_files import CPU, GPU, GPU_LANE, graph, node, run_metadata, stats
from tfprof.errors import UnknownFormatError
from tfprof.formats import step_stats
from tfprof.formats.records import Records
from tfprof.outputs import step_events, step_timeline

ALLOCATORS, COMPUTE, TENSORS = 0, 1, 2  # processes


def ran(name, label="", start=10, micros=5, **fields):
    return stats(name, start, all_end_rel_micros=micros, timeline_label=label, **fields)


def made(requested=8, allocator="cpu"):
    memory = {"requested_bytes": requested, "allocator_name": allocator}
    return {"tensor_description": {"allocation_description": memory}}


def events(*runs, devices=None, kinds="XNODstCM", **options):
    """The events of some kinds for `runs` on the CPU, or for the runs of `devices`."""
    data = run_metadata(*(devices or [(CPU, runs)]))
    written = b"".join(step_timeline.encode(step_stats.decode(Records("r", data)), **options))
    return [event for event in json.loads(written)["traceEvents"] if event["ph"] in kinds]


def arguments(*runs, devices=None):
    return [event["args"] for event in events(*runs, devices=devices, kinds="X")]


def test_the_allocators_and_each_device_are_processes():
    found = events(devices=[(CPU, []), (GPU, [])], kinds="M")

    assert [(event["pid"], event["args"]["name"]) for event in found] == [
        (0, "Allocators"),
        (1, f"{CPU} Compute"),
        (2, f"{CPU} Tensors"),
        (3, f"{GPU} Compute"),
        (4, f"{GPU} Tensors"),
    ]


def test_an_op_is_a_region_named_by_its_kind():
    assert events(ran("sum", "sum = Add(a, b:1)", 10, 5), kinds="X") == [
        {
            "ph": "X",
            "cat": "Op",
            "name": "Add",
            "pid": COMPUTE,
            "tid": 0,
            "ts": 10,
            "dur": 5,
            "args": {"name": "sum", "op": "Add", "input0": "a", "input1": "b:1"},
        }
    ]


@pytest.mark.parametrize(
    ("label", "expected"),
    [
        ("", {"op": "unknown"}),
        ("a", {"op": "unknown"}),
        ("a = NoOp()", {"op": "NoOp"}),
        ("a = (b)", {"op": "", "input0": "b"}),
        ("a = b = F(c)", {"op": "F", "input0": "c"}),
        ("a = F(c) = d", {"op": "F", "input0": "c"}),
        # The last opening bracket counts, and the last closing one.
        ("a = F(b(c), d)", {"op": "F(b", "input0": "c)", "input1": "d"}),
        ("a = F(b,c)", {"op": "F", "input0": "b,c"}),
        ("a = F(b, )", {"op": "F", "input0": "b", "input1": ""}),
        ("a = F(\nb)", {"op": "unknown"}),
        ("a=F(b)", {"op": "unknown"}),
        ('a = "é\\"(\t)', {"op": '"é\\"', "input0": "\t"}),
    ],
)
def test_a_label_is_parsed(label, expected):
    assert arguments(ran("node", label)) == [{"name": "node"} | expected]


def test_a_received_tensor_is_named_recvtensor_whatever_its_label():
    assert arguments(ran("RecvTensor", "a = F(b)")) == [{"name": "RecvTensor", "op": "RecvTensor"}]


@pytest.mark.parametrize(
    ("name", "label", "expected"),
    [
        ("a:MatMul", "", ("a", "MatMul")),
        ("a:MatMul:2", "", ("a", "MatMul")),
        ("a", "", ("a", "unknown")),
        ("k", "void k(int)@@b:Add#id=5", ("b", "Add")),
        ("k:Copy", "void k(int)@@#b", ("k", "Copy")),
        ("k:Copy", "# void k(int)@@b:Add", ("k", "Copy")),
        ("RecvTensor", "x = F(y)", ("RecvTensor", "unknown")),
    ],
)
@pytest.mark.parametrize("device", [GPU_LANE, "/device:GPU:0/memcpy"])
def test_a_kernel_is_named_after_its_annotation_or_else_its_name(device, name, label, expected):
    found = arguments(devices=[(device, [ran(name, label)])])

    assert found == [dict(zip(("name", "op"), expected, strict=True))]


def test_overlapping_runs_are_in_separate_lanes():
    found = events(ran("a", start=10, micros=9), ran("b", start=12), ran("c", start=20), kinds="X")

    assert [event["tid"] for event in found] == [0, 1, 0]


def test_a_tensor_lives_from_the_start_of_its_op_until_it_is_last_read():
    found = events(
        ran("a", start=10, micros=5, output=[made(), made()]),
        ran("b", "b = F(a:1)", start=40, micros=5),
        kinds="ND",
    )

    assert [(event["ph"], event["name"], event["ts"], event["id"]) for event in found] == [
        ("N", "a", 10, 0),
        ("N", "a:1", 10, 1),
        ("D", "a", 15, 0),
        ("D", "a:1", 44, 1),
    ]
    assert {event["pid"] for event in found} == {TENSORS}


def test_a_tensor_made_again_replaces_the_first():
    again = [ran("a", output=[made()]), ran("b", output=[made()]), ran("a", output=[made(64)])]
    found = events(*again, kinds="ND")

    assert [(event["ph"], event["name"], event["id"]) for event in found] == [
        ("N", "a", 0),
        ("N", "b", 1),
        ("N", "a", 2),
        ("D", "a", 2),
        ("D", "b", 1),
    ]


def test_a_snapshot_describes_its_tensor():
    described = {
        "dtype": 1,
        "shape": {"dim": [{"size": 2}, {"size": 3, "name": 'x"'}]},
        "allocation_description": {
            "requested_bytes": 24,
            "allocator_name": "cpu",
            "has_single_reference": True,
            "ptr": 2**63,
        },
    }
    (found,) = events(ran("a", output=[{"tensor_description": described}]), kinds="O")

    assert found["ts"] == 14
    assert found["args"]["snapshot"]["tensor_description"] == (
        "dtype: DT_FLOAT\n"
        "shape {\n  dim {\n    size: 2\n  }\n  dim {\n    size: 3\n    name: x\\\n  }\n}\n"
        "allocation_description {\n"
        "  requested_bytes: 24\n"
        "  allocator_name: cpu\n"
        "  has_single_reference: true\n"
        "  ptr: 9223372036854775808\n"
        "}\n"
    )


def test_an_allocator_counts_the_bytes_of_its_tensors():
    found = events(
        ran("a", start=10, micros=5, output=[made(8, "cpu")]),
        ran("b", start=12, micros=5, output=[made(4, "gpu")]),
        ran("c", "c = F(a)", start=20, micros=5, output=[made(16, "cpu")]),
        kinds="C",
    )

    assert {event["pid"] for event in found} == {ALLOCATORS}
    assert [(event["ts"], event["args"]) for event in found] == [
        (10, {"cpu": 8}),
        (20, {"cpu": 24}),
        (24, {"cpu": 16}),
        (25, {"cpu": 0}),
        (12, {"gpu": 4}),
        (17, {"gpu": 0}),
    ]


def test_allocators_are_in_the_order_of_the_tensors_that_count():
    found = events(
        ran("a", output=[made(8, "cpu")]),
        ran("a", output=[made(8, "gpu")]),
        ran("b", output=[made(8, "cpu")]),
        kinds="C",
    )

    assert [event["name"] for event in found] == ["gpu", "gpu", "cpu", "cpu"]


def test_an_arrow_goes_from_the_end_of_the_maker_to_the_start_of_the_reader():
    found = events(
        devices=[
            (CPU, [ran("a", start=10, micros=5, output=[made()])]),
            (GPU, [ran("b", "b = F(a/_7)", start=30)]),
        ],
        kinds="st",
    )

    assert [(event["ph"], event["name"], event["ts"], event["pid"]) for event in found] == [
        ("s", "a", 15, 1),
        ("t", "a", 30, 3),
    ]
    assert [event["id"] for event in found] == [0, 0]


def test_an_input_that_is_only_a_suffix_names_no_tensor():
    runs = [ran("", start=10, output=[made()]), ran("b", "b = F(/_7)", start=12)]

    assert events(*runs, kinds="st") == []


def test_arrows_within_a_lane_are_not_drawn():
    runs = [ran("a", start=10, output=[made()]), ran("b", "b = F(a)", start=30)]

    assert events(*runs, kinds="st") == []


def test_arrows_and_tensors_can_be_left_out():
    runs = [ran("a", start=10, output=[made()]), ran("b", "b = F(a)", start=12)]

    assert {event["ph"] for event in events(*runs)} == set("MNOXstDC")
    assert {event["ph"] for event in events(*runs, show_dataflow=False)} == set("MNOXDC")
    assert {event["ph"] for event in events(*runs, show_memory=False)} == set("MXst")


def test_the_block_size_does_not_change_the_events(monkeypatch):
    runs = [
        ran(f"n{place}", f"n{place} = F(n{place - 1}, n0)", 10 + place, output=[made(place)] * 2)
        for place in range(20)
    ]
    whole = events(*runs)

    monkeypatch.setattr(step_timeline, "ROWS_AT_ONCE", 3)
    monkeypatch.setattr(step_events, "ROWS_AT_ONCE", 3)

    assert events(*runs) == whole


def test_a_step_without_op_runs_is_written_with_a_note(tmp_path):
    path = tmp_path / "run_meta"
    path.write_bytes(run_metadata((CPU, [])))

    notes = tfprof.step_timeline(path, tmp_path / "timeline.json")

    assert notes == (
        f"{path} has no timed ops; record it with RunOptions(trace_level=FULL_TRACE).",
    )
    assert len(json.loads((tmp_path / "timeline.json").read_text())["traceEvents"]) == 3


def test_a_timeline_of_another_file_is_refused(tmp_path):
    path = tmp_path / "graph"
    path.write_bytes(graph(node("a")))

    with pytest.raises(UnknownFormatError, match="is a GraphDef file; a timeline requires"):
        tfprof.step_timeline(path, tmp_path / "out")


def test_a_timeline_can_be_written_from_python(tmp_path):
    path = tmp_path / "run_meta"
    path.write_bytes(run_metadata((CPU, [ran("a", "a = F()", output=[made()])])))

    assert tfprof.step_timeline(path, tmp_path / "out", show_memory=False) == ()
    written = json.loads((tmp_path / "out").read_text())["traceEvents"]
    assert [event["ph"] for event in written] == ["M", "M", "M", "X"]
