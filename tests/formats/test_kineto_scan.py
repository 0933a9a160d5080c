"""The compiled scanner of Kineto traces agrees with the reader that uses the `json` module."""

from __future__ import annotations

import gzip
import json
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from kineto_traces import SAMPLES, damaged, event, in_pieces, plainly, scanned, trace_of

streaming = pytest.importorskip("tfprof.formats.kineto.streaming")


@pytest.mark.parametrize("path", SAMPLES, ids=lambda path: path.name)
@pytest.mark.parametrize("size", [1 << 20, 4099])
def test_recorded_traces_are_read_alike(path, size):
    data = gzip.decompress(path.read_bytes())

    assert scanned(data, size) == plainly(data)


texts = st.text(max_size=8) | st.sampled_from(["cpu_op", "kernel", "[memory]", "7", "-3", "1e3"])
numbers = (
    st.integers(-(2**70), 2**70)
    | st.integers(-5, 5)
    | st.floats()
    | st.floats(0, 1e15).map(lambda number: round(number, 3))
)
values = st.recursive(
    st.none() | st.booleans() | texts | numbers,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=6,
)
KEYS = (
    *("correlation", "External id", "external id", "Sequence number", "Fwd thread id", "stream"),
    *("Python id", "Python parent id", "bytes", "Input Dims", "Input type", "Concrete Inputs"),
    *("Collective name", "dtype", "In msg nelems", "Process Group Name", "Process Group Ranks"),
    *("grid", "block", "registers per thread", "shared memory", "est. achieved occupancy %"),
    *("Bytes", "Addr", "Device Id", "Total Allocated", "name", "labels", "Ev Idx"),
)
arguments = st.dictionaries(st.sampled_from(KEYS) | texts, values, max_size=5)
NAMES = ("[memory]", "Record Window End", "thread_name", "process_name", "process_labels", "mm")
events = st.fixed_dictionaries(
    {
        "ph": st.sampled_from("XXXXXiIMMsfC") | values,
        "name": st.sampled_from(NAMES) | texts | values,
        "ts": numbers | values,
    },
    optional={
        "cat": st.sampled_from(["cpu_op", "kernel", "fwdbwd"]) | values,
        "pid": st.integers(0, 2) | values,
        "tid": st.integers(0, 2) | texts | values,
        "dur": numbers | values,
        "id": numbers | values,
        "args": arguments | values,
        "s": values,
    },
)


@settings(max_examples=200, deadline=None)
@given(
    st.lists(events | values, max_size=6),
    st.dictionaries(texts, values, max_size=3),
    st.integers(1, 200),
    st.sampled_from([None, 1, "\t"]),
    st.booleans(),
)
def test_any_trace_is_read_alike(listed, header, size, indent, is_ascii):
    trace = header | {"traceEvents": listed}
    data = json.dumps(trace, indent=indent, ensure_ascii=is_ascii).encode(errors="surrogatepass")

    assert scanned(data, size) == plainly(data)


@pytest.mark.parametrize("seed", range(300))
def test_damaged_traces_are_read_alike(seed):
    random = Random(seed)  # noqa: S311 -- not for security
    args = {"stream": 7, "Input Dims": [[2, 3], []], "Concrete Inputs": ["", "[1]"], "grid": [1]}
    memory = event("[memory]", ph="i", args={"Bytes": 4, "Addr": 16})
    whole = trace_of(event("a", args=args), memory, event("é"), event('b\\"', args={"x": {"y": 0}}))

    data = damaged(whole, random)

    assert scanned(data, random.choice([7, 64, 1 << 20])) == plainly(data)


def test_texts_with_escapes_equal_texts_without():
    texts = ["a/b", "a\\/b", "\\u0061/b"]

    data = trace_of(*[json.dumps(event("?")).replace("?", text) for text in texts])
    trace = streaming.read(in_pieces(data, 5)).trace

    assert [trace.slices.name[row] for row in range(3)] == ["a/b"] * 3
    assert len(set(trace.slices.name.codes.tolist())) == 1


def test_keys_and_phases_may_have_escapes():
    text = json.dumps(event(args={"stream": 3})).replace('"ph": "X"', '"\\u0070h": "\\u0058"')

    trace = streaming.read([trace_of(text.replace("stream", "str\\u0065am"))]).trace

    assert trace.slices.stream.tolist() == [3]
