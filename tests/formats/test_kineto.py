"""Kineto traces are read into columns."""

from __future__ import annotations

import gzip
import json

import pytest
from kineto_traces import event, read, rows, trace_of

from tfprof.errors import InputError, TruncatedError
from tfprof.formats import kineto
from tfprof.formats.content import Content
from tfprof.formats.kineto import reading


@pytest.fixture(autouse=True, params=["compiled", "plain"])
def reader(request, monkeypatch):
    """Each test reads with both readers."""
    if request.param == "plain":
        monkeypatch.setattr(reading, "streaming", None)
    elif reading.streaming is None:
        pytest.skip("not compiled")


def test_an_event_with_a_duration_is_a_slice():
    args = {
        "External id": 7,
        "Record function id": 8,
        "Sequence number": 9,
        "Fwd thread id": 0,
        "Ev Idx": 3,
        "Input Dims": [[2, 3], []],
        "Input type": ["float", "Scalar"],
        "Concrete Inputs": ["", "1"],
    }

    trace = read(trace_of(event(ts=1234567890123.4567, dur=2.25, args=args)))

    assert rows(trace.slices) == [
        {
            "category": "cpu_op",
            "name": "aten::mm",
            "thread": 0,
            "start_ns": 1234567890123457,
            "duration_ns": 2250,
            "external_id": 7,
            "record_id": 8,
            "sequence": 9,
            "forward_thread": 0,
            "input_dims": "[[2, 3], []]",
            "input_types": '["float", "Scalar"]',
            "concrete_inputs": '["", "1"]',
        }
    ]
    assert rows(trace.threads) == [{"process": "1", "thread": "2"}]
    assert trace.events == 1


def test_times_are_exact():
    texts = ["1790860899253746.726001", "0.0005", "3", "-2.5", "1.5e3", "1e-3", "0.0004999"]

    trace = read(trace_of(*[json.dumps(event()).replace("1.5", text) for text in texts]))

    assert trace.slices.start_ns.tolist() == [
        *(1790860899253746726, 1, 3000, -2500, 1_500_000, 1, 0)
    ]


def test_the_arguments_of_python_functions_kernels_and_copies_are_read():
    frame = {"Python id": 4, "Python parent id": None, "Python module id": 2}
    copy = {"correlation": 5, "device": 0, "stream": 7, "bytes": 512, "grid": [1, 2, 3]}

    first, second = rows(read(trace_of(event(args=frame), event(args=copy))).slices)

    assert (first["python_id"], first["module_id"]) == (4, 2)
    assert "python_parent" not in first
    assert [second[name] for name in ("correlation", "device", "stream", "bytes")] == [5, 0, 7, 512]


def test_the_categories_of_old_versions_are_those_of_today():
    operator = {"cat": "Operator", "tid": "2"}
    trace = read(
        trace_of(
            event("aten::mm", **operator),
            event("AddmmBackward", **operator),
            event("MyFunction", **operator, args={"Sequence number": 4}),
            event("ProfilerStep#3", **operator),
            event("cudaLaunchKernel", cat="Runtime"),
            event("gemm", cat="Kernel", tid="stream 7", args={"external id": 5, "stream": 7}),
            event("Memcpy DtoH", cat="Memcpy"),
            event("Memset (Device)", cat="Memset"),
        )
    )

    assert [row["category"] for row in rows(trace.slices)] == [
        *("cpu_op", "cpu_op", "cpu_op", "user_annotation"),
        *("cuda_runtime", "kernel", "gpu_memcpy", "gpu_memset"),
    ]


def test_collectives_have_rows_of_their_own():
    args = {
        "Collective name": "allreduce",
        "dtype": "Float",
        "In msg nelems": 10,
        "Out msg nelems": 10,
        "Group size": 4,
        "Process Group Name": "0",
        "Process Group Ranks": "[0, 1, 2, 3]",
    }

    trace = read(trace_of(event(), event("record_param_comms", args=args)))

    assert rows(trace.collectives) == [
        {
            "slice": 1,
            "name": "allreduce",
            "dtype": "Float",
            "in_elements": 10,
            "out_elements": 10,
            "group": "0",
            "group_size": 4,
            "group_ranks": "[0, 1, 2, 3]",
        }
    ]


def test_launch_configurations_have_rows_of_their_own():
    args = {
        "registers per thread": 168,
        "shared memory": 4096,
        "est. achieved occupancy %": 12,
        "grid": [128, 1, 4],
        "block": [256, 1, 1],
    }
    listed = (
        event(),
        event("gemm", cat="kernel", args=args),
        event("memcpy", cat="gpu_memcpy"),
        event("triton", cat="kernel", args={"grid": [8, 1, 1]}),
    )

    trace = read(trace_of(*listed))

    assert rows(trace.configurations) == [
        {
            "slice": 1,
            "registers": 168,
            "shared_memory": 4096,
            "occupancy": 12,
            "grid": "[128, 1, 4]",
            "block": "[256, 1, 1]",
        },
        {"slice": 3, "grid": "[8, 1, 1]"},
    ]


def test_memory_events_are_read():
    args = {
        "Addr": 140193772339200,
        "Bytes": -512,
        "Total Allocated": 0,
        "Total Reserved": 1024,
        "Device Type": 1,
        "Device Id": 0,
    }

    trace = read(trace_of(event("[memory]", ph="i", args=args), event("other", ph="i")))

    assert len(trace.slices) == 0
    assert rows(trace.memory) == [
        {
            "thread": 0,
            "time_ns": 1500,
            "bytes": -512,
            "address": 140193772339200,
            "device_type": 1,
            "device": 0,
            "allocated": 0,
            "reserved": 1024,
        }
    ]


def test_only_flows_from_forward_to_backward_are_kept():
    flows = [
        event("fwdbwd", ph="s", cat="fwdbwd", id=3),
        event("fwdbwd", ph="f", cat="fwdbwd", id=3, tid=9, ts=4, bp="e"),
        event("ac2g", ph="s", cat="ac2g", id=4),
    ]

    trace = read(trace_of(*flows))

    assert rows(trace.flows) == [
        {"id": 3, "is_start": True, "thread": 0, "time_ns": 1500},
        {"id": 3, "is_start": False, "thread": 1, "time_ns": 4000},
    ]


def test_processes_and_threads_have_names_and_labels():
    names = [
        event("process_name", ph="M", tid=0, args={"name": "python3"}),
        event("process_labels", ph="M", tid=0, args={"labels": "CPU"}),
        event("thread_name", ph="M", args={"name": "thread 2 (pt_autograd_0)"}),
        event("thread_name", ph="M", args={"name": "thread 2 (python3)"}),
        event("process_name", ph="M", pid=5, args={"name": "a GPU without events"}),
    ]

    trace = read(trace_of(event(), event(pid="Spans", tid="PyTorch Profiler"), *names))

    assert rows(trace.threads) == [
        {
            "process": "1",
            "thread": "2",
            "name": "thread 2 (pt_autograd_0)",
            "process_name": "python3",
            "process_labels": "CPU",
        },
        {"process": "Spans", "thread": "PyTorch Profiler"},
    ]


def test_the_last_event_of_a_recording_makes_it_complete():
    end = event("Record Window End", ph="i", pid="", tid="")

    assert read(trace_of(event(), end)).is_complete
    assert not read(trace_of(event())).is_complete


def test_the_values_beside_the_events_are_the_header():
    before = trace_of(event(), baseTimeNanoseconds=1790857026000000000, with_stack=1)
    after = trace_of(event())[:-3] + b', "baseTimeNanoseconds": 17, "distributedInfo": {"rank": 2}}'

    assert read(before).base_ns == 1790857026000000000
    assert read(before).header["with_stack"] == 1
    assert read(after).base_ns == 17
    assert read(after).header["distributedInfo"] == {"rank": 2}


def test_a_list_of_events_needs_no_envelope():
    trace = read(json.dumps([event(), event()]).encode())

    assert len(trace.slices) == 2
    assert trace.base_ns == 0


# Trouble.


@pytest.mark.parametrize("text", ["-1.5", "18446744073709551.615", "9.3e15", "NaN", "inf", "null"])
def test_impossible_durations_count_as_zero(text):
    trace = read(trace_of(json.dumps(event()).replace("2.25", text), event()))

    assert trace.slices.duration_ns.tolist() == [0, 2250]
    assert (trace.clamped_events, trace.damaged_events) == (1, 0)


@pytest.mark.parametrize("text", ["NaN", "-Infinity", "nan", "-nan", "inf", "-inf", "-nan(ind)"])
def test_constants_that_are_no_json_are_skipped(text):
    args = f'{{"memory bandwidth (GB/s)": {text}, "stream": {text}, "x": "a nan", "bytes": 4}}'
    text = json.dumps(event(args={})).replace("{}", args)

    trace = read(trace_of(text, event()))

    assert trace.slices.bytes.tolist() == [4, -1]
    assert trace.slices.stream.tolist() == [-1, -1]
    assert trace.damaged_events == 0


@pytest.mark.parametrize(
    "damaged",
    [
        '{"ph": "X", "name": "a "quoted" name", "pid": 1, "tid": 2, "ts": 3, "dur": 4}',
        '{"ph": "X", "name": "no end, "pid": 1, "tid": 2, "ts": 3, "dur": 4}',
        '{"ph": "X", "name": "two"", "pid": 1, "tid": 2, "ts": 3, "dur": 4}',
        '{"ph": "X", "name": "stray", \x07 "pid": 1, "tid": 2, "ts": 3, "dur": 4}',
        '{"ph": "X", "name": "cut", "args": {"a": [1, 2',
        '{"ph": "X", "name": "bad escape \\q", "pid": 1, "tid": 2, "ts": 3, "dur": 4}',
        '{"ph": "X", "name": "no time", "pid": 1, "tid": 2, "dur": 4}',
        '{"ph": "X", "name": "no time", "pid": 1, "tid": 2, "ts": NaN, "dur": 4}',
        '{"ph": "X", "name": "too late", "pid": 1, "tid": 2, "ts": 1e300, "dur": 4}',
        '{"ph": "X", "name": "number", "ts": 007, "dur": 4}',
        f'{{"ph": "X", "name": "deep", "ts": 1, "args": {"[" * 100_000}1{"]" * 100_000}}}',
        "17",
    ],
)
def test_reading_goes_on_after_a_damaged_event(damaged):
    trace = read(trace_of(event("first"), damaged, event("second"), damaged, event("third")))

    assert [row["name"] for row in rows(trace.slices)] == ["first", "second", "third"]
    assert (trace.events, trace.damaged_events) == (5, 2)


def test_a_damaged_last_event_does_not_hide_the_end():
    text = '{"ph": "X", "name": "a "quoted" name", "args": {}}'

    trace = read(trace_of(event("first"), text)[:-2] + b', "traceName": "x"}')

    assert (len(trace.slices), trace.damaged_events) == (1, 1)
    assert trace.header["traceName"] == "x"


@pytest.mark.parametrize("text", ["1" * 30, "-" + "1" * 30, "1" * 5000, str(2**63), "1.5", '"x"'])
def test_numbers_that_are_no_64_bit_integers_are_missing(text):
    text = json.dumps(event(args={"correlation": 123})).replace("123", text)

    assert read(trace_of(text)).slices.correlation.tolist() == [-1]


@pytest.mark.parametrize("text", ["9223372036854775807", '"9223372036854775807"'])
def test_the_largest_integer_is_read_also_as_a_text(text):
    text = json.dumps(event(args={"correlation": 123})).replace("123", text)

    assert read(trace_of(text)).slices.correlation.tolist() == [2**63 - 1]


def test_the_last_of_equal_keys_counts():
    text = json.dumps(event(args={"stream": 1, "bytes": 9}))[:-1]

    trace = read(trace_of(f'{text}, "name": "b", "args": {{"stream": 2, "stream": 3}}}}'))

    assert rows(trace.slices)[0]["name"] == "b"
    assert (trace.slices.stream.tolist(), trace.slices.bytes.tolist()) == ([3], [-1])


def test_names_may_have_any_bytes():
    names = [b"caf\xc3\xa9", b"caf\xe9", b"tab\there", b"\\u0041\\n", b"\\ud800", b"a\\/b"]
    data = b",".join(json.dumps(event("?")).encode().replace(b"?", name) for name in names)

    trace = read(b'{"traceEvents": [' + data + b"]}")

    assert [row["name"] for row in rows(trace.slices)] == [
        *("café", "caf�", "tab\there", "A\n", "\\ud800", "a/b")
    ]


@pytest.mark.parametrize(
    ("data", "trouble"),
    [
        (b'{"schemaVersion": 1}', "contains no traceEvents"),
        (b'{"traceEvents": {}}', "traceEvents are not a list"),
        (b'{"traceEvents": null}', "traceEvents are not a list"),
        (b'"traceEvents"', "does not start with an object"),
    ],
)
def test_what_is_no_trace_is_an_error(data, trouble):
    with pytest.raises(InputError, match=trouble):
        read(data)


@pytest.mark.parametrize(
    ("data", "read"),
    [
        (b'{"traceEvents": [], 5}', 20),
        (b'{"a" 5, "traceEvents": []}', 1),
        (b'{"a": 5, "b": 6 "traceEvents": []}', 9),
        (b'{"a": 5, "b": bad, "traceEvents": []}', 9),
        (b" ", 0),
    ],
)
def test_damage_around_the_events_is_an_error(data, read):
    with pytest.raises(TruncatedError, match=f"is damaged after byte {read} of {len(data)};"):
        kineto.read(Content.of_bytes("trace.json", data))


@pytest.mark.parametrize("rest", [b"x", trace_of(event("b")), b"\x00\x00"])
def test_what_follows_a_trace_in_its_file_is_not_ignored(rest):
    data = trace_of(event("a")).strip()

    with pytest.raises(TruncatedError, match="contains something else after byte"):
        read(data + b" \n" + rest)

    content = Content.of_bytes("trace.json", data + rest)
    content.is_partial = True
    assert [row["name"] for row in rows(kineto.read(content).slices)] == ["a"]
    assert content.gap is not None
    assert content.gap.read == len(data)


def test_a_trace_that_ends_early_is_an_error():
    data = trace_of(event("a"), event("b"))

    for size in range(2, len(data) - 2):
        with pytest.raises(TruncatedError, match="ends early or is damaged"):
            read(data[:size])


def test_what_is_intact_of_a_trace_that_ends_early_can_be_read(tmp_path):
    data = trace_of(event("a"), event("b"), event("c"))
    path = tmp_path / "trace.json.gz"
    path.write_bytes(gzip.compress(data[: data.index(b'"c"')]))
    content = Content(str(path), is_partial=True)

    trace = kineto.read(content)

    assert [row["name"] for row in rows(trace.slices)] == ["a", "b"]
    assert content.gap is not None
    assert content.gap.read == data.index(b'{"ph": "X", "cat": "cpu_op", "name": "c"')
    assert content.gap.is_unpacked


def test_an_error_says_if_nothing_is_intact():
    content = Content.of_bytes("trace.json", trace_of(event())[:60])
    content.is_partial = True

    with pytest.raises(TruncatedError):
        kineto.read(content)


# Recognising.


def test_traces_are_recognised_by_their_content():
    assert kineto.looks_like_trace(b'\n  {\n    "schemaVersion": 1,\n "deviceProperties": [')
    assert kineto.looks_like_trace(trace_of(event()))
    assert kineto.looks_like_trace(json.dumps([event()]).encode())


@pytest.mark.parametrize(
    "head",
    [
        b'{"displayTimeUnit":"ns","traceEvents":[]}',
        b'{"traceEvents":[{"ph":"X","cat":"Op","name":"conv","pid":0}]}',
        b'{"schema": "1.1.1-chakra.0.0.4", "pid": 403, "nodes": [ {"id": 1, "name": "cpu_op"',
        b'{"format": "tfprof layers"}',
        b"",
        b"\x1f\x8b",
    ],
)
def test_other_files_are_not_taken_for_traces(head):
    assert not kineto.looks_like_trace(head)


LATE = 3.8e12  # microseconds after the base time of a trace


def test_times_that_were_clamped_to_zero_are_unknown():
    trace = read(
        trace_of(
            event("aten::relu", ts=0, dur=7),
            event("early", cat="kernel", ts=0, dur=3),
            event("aten::mm", ts=LATE, dur=10),
            event("late", cat="kernel", ts=LATE + 5, dur=4),
        )
    )

    assert [
        (row.get("category"), row["start_ns"], row["duration_ns"]) for row in rows(trace.slices)
    ] == [
        (None, 3_800_000_000_000_000, 7000),
        ("kernel", 3_800_000_000_000_000, 3000),
        ("cpu_op", 3_800_000_000_000_000, 10000),
        ("kernel", 3_800_000_000_005_000, 4000),
    ]
    assert trace.unplaced_events == 2


def test_a_recording_may_begin_at_zero():
    trace = read(trace_of(event(ts=0, dur=7), event(ts=2e6, dur=3e6)))

    assert trace.slices.start_ns.tolist() == [0, 2_000_000_000]
    assert trace.unplaced_events == 0
