"""A scan gives the same columns as protobuf's own reader, or leaves the file to it."""

import gzip
import importlib.util
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from floors import checked, floor
from formats.scan_agreement import FORMATS, is_scanned_alike, parsed, scanned
from formats.wire_messages import TEXTS, Maker, span
from sources.tf_files import (
    FILES,
    MESSAGES,
    UNKNOWN_RANK,
    content,
    graph,
    node,
    op_log,
    shape,
)
from tfprof.formats import graph_def, scan
from tfprof.formats.messages import message_class
from tfprof.formats.recognise import MessageKind
from tfprof.formats.text_records import to_binary

EXAMPLE = Path(__file__).parents[2] / "examples" / "resnet32"
KINDS = tuple(FORMATS)
SAMPLES = [name for name, kind in FILES.items() if kind in KINDS and not name.endswith("txt")]
ODD = 0.03

seeds = st.integers(0, 2**32 - 1)
kinds = st.sampled_from(KINDS)


def random_file(kind, seed, oddity=0.0):
    maker = Maker(seed, oddity)
    return maker, maker.message(message_class(MESSAGES[kind]).DESCRIPTOR)


@pytest.mark.parametrize("name", SAMPLES)
def test_a_sample_is_scanned(name):
    assert is_scanned_alike(FILES[name], content(name))


@pytest.mark.skipif(not scan.is_compiled(), reason="the scanners are not compiled: too slow")
@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("graph.pbtxt", MessageKind.GRAPH),
        ("run_meta", MessageKind.RUN_META),
        ("tfprof_log", MessageKind.OP_LOG),
    ],
)
def test_a_larger_model_is_scanned(name, kind):
    data = gzip.decompress((EXAMPLE / f"{name}.gz").read_bytes())
    if name.endswith("txt"):
        data = bytes(to_binary(name, data, MESSAGES[kind]))

    assert is_scanned_alike(kind, data)


@settings(max_examples=100)
@given(st.sampled_from([MessageKind.RUN_META, MessageKind.OP_LOG]), seeds)
def test_a_regular_file_is_scanned(kind, seed):
    _, data = random_file(kind, seed)

    assert is_scanned_alike(kind, data)


ATTRIBUTES = {
    "shape": [shape(3, -1), shape(), shape(0, 2**40), UNKNOWN_RANK],
    "_output_shapes": [[], [shape(2), UNKNOWN_RANK, shape()], [shape(-1, 5)]],
}


@pytest.mark.parametrize("own", ATTRIBUTES["shape"])
@pytest.mark.parametrize("outputs", ATTRIBUTES["_output_shapes"])
def test_the_shapes_of_nodes_are_scanned(own, outputs):
    listed = {"list": {"shape": outputs}}
    nodes = [node("a", shape={"shape": own}), node("b", _output_shapes=listed, k={"i": 3})]

    assert is_scanned_alike(MessageKind.GRAPH, graph(*nodes, nodes[0]))


@pytest.mark.parametrize("value", [{"i": 3}, {"s": b"\xff"}, {"f": 1.5}, {"type": 1}, {"b": True}])
def test_attributes_without_a_shape_are_scanned(value):
    assert is_scanned_alike(MessageKind.GRAPH, graph(node("a", shape=value, _output_shapes=value)))


def test_all_inputs_of_a_graph_are_scanned():
    assert is_scanned_alike(MessageKind.GRAPH, graph(node("a", "Add", TEXTS), node("b", "", TEXTS)))


@pytest.mark.parametrize("last", [{"shape": shape(2)}, {"i": 3}])
def test_a_repeated_attribute_is_left_to_protobuf(last):
    halves = [node("", "", shape=value) for value in ({"shape": shape(1)}, last)]
    data = span(1, b"".join(half.SerializeToString() for half in halves))

    assert scanned(MessageKind.GRAPH, data) is None
    assert parsed(MessageKind.GRAPH, data).shape[0] == ((2,) if "shape" in last else None)


@pytest.mark.parametrize(
    "entry",
    [
        span(2, b"") + span(1, b"k"),  # the value before the key
        span(1, b"k"),
        span(2, b""),
        b"",
        span(1, b"k") + span(2, b"") + span(2, b""),
        span(1, b"k" * 128) + span(2, b""),
        span(1, b"_output_shapes") + span(2, span(1, span(3, b"\x80"))),  # a list of numbers
    ],
)
def test_an_unusual_attribute_is_left_to_protobuf(entry):
    assert scanned(MessageKind.GRAPH, span(1, span(5, entry))) is None


def test_similar_texts_are_distinguished():
    entries = [{"name": "a", "types": [f"{number:08}", "same"]} for number in range(5000)]
    data = op_log(*entries)

    assert is_scanned_alike(MessageKind.OP_LOG, data)
    assert len(scanned(MessageKind.OP_LOG, data).type.values) == 5001


NAMELESS = b"\x12\x01A"  # a node with only an op


@pytest.mark.parametrize(
    "data",
    [
        span(1, span(1, "é".encode())),  # text that is not ASCII
        span(1, span(1, b"\xff")),
        span(1, NAMELESS + b"\x33\x34"),  # a group
        span(1, NAMELESS + b"\x36"),  # an unused wire type
        span(1, NAMELESS + b"\x02\x00"),  # field 0
        span(1, NAMELESS + b"\x92\x80\x80\x80\x80\x00\x01A"),  # a tag of six bytes
        span(1, NAMELESS + b"\x12\x81\x80\x80\x80\x80\x00A"),  # a length of six bytes
        span(1, NAMELESS + b"\x30" + b"\xff" * 9 + b"\x02"),  # a number of 65 bits
        span(1, NAMELESS + b"\x30" + b"\x80" * 10 + b"\x00"),  # a number of eleven bytes
        span(1, NAMELESS + b"\x31" + b"\x00" * 7),  # a cut number
        span(1, NAMELESS + b"\x35\x00\x00\x00"),
        span(1, NAMELESS + b"\x30\x80"),
        span(1, b"\x12\x02A"),  # a text that is longer than its node
        span(1, span(5, b"\x0a\x02k")),  # a key that is longer than its attribute
        b"\x0a\x04" + NAMELESS,  # a node that is longer than the file
        b"\x0a",
        b"\x0a\xff\xff\xff\xff\xff\xff\xff\xff\x7f" + NAMELESS,
    ],
)
def test_damaged_or_unusual_files_are_left_to_protobuf(data):
    whole = span(1, NAMELESS)

    assert scanned(MessageKind.GRAPH, whole + data) is None
    assert scanned(MessageKind.GRAPH, whole + whole) is not None


@pytest.mark.parametrize("twice", [3, 2, 4])
def test_an_output_described_twice_is_left_to_protobuf(twice):
    described = span(2, span(2, b"")) + span(4, b"\x08\x05")
    inner = described + span(twice, b"")
    description = span(3, inner) if twice != 3 else span(3, described) * 2
    data = span(1, span(1, span(2, span(7, description))))

    assert scanned(MessageKind.RUN_META, data) is None
    assert parsed(MessageKind.RUN_META, data).outputs.requested.tolist() == [5]


def test_a_repeated_stack_is_left_to_protobuf():
    data = span(1, span(4, b"\x0a") + span(4, b""))

    assert scanned(MessageKind.OP_LOG, data) is None
    assert parsed(MessageKind.OP_LOG, data).stacks == [b""]


def test_a_repeated_string_is_left_to_protobuf():
    # Only the last counts, but protobuf checks all of them.
    assert scanned(MessageKind.OP_LOG, span(2, span(2, b"\xff") + span(2, b"a"))) is None


MAPS = [
    ("inputs", span(2, b"\x08\x01\x10\x05")),
    ("output_shapes", span(15, b"\x08\x01")),
    ("execs", span(12, b"\x08\x01")),
    ("output_memory", span(12, span(2, span(7, span(11, b"\x08\x01") * 2)))),
    ("cpu_execs", span(12, span(2, span(5, span(1, b"cpu")) * 2))),
]


@pytest.mark.parametrize(("name", "entry"), MAPS)
def test_a_map_with_a_repeated_key_is_left_to_protobuf(name, entry):
    twice = entry if name in {"output_memory", "cpu_execs"} else entry * 2

    assert scanned(MessageKind.PROFILE, span(1, span(2, twice))) is None
    parsed(MessageKind.PROFILE, span(1, span(2, twice)))


@pytest.mark.parametrize("other", [b"\x18\x01", span(15, b""), b"\xa5\x06....", b"\x19........"])
def test_a_map_entry_with_unknown_fields_is_left_to_protobuf(other):
    data = span(1, span(2, span(2, b"\x08\x01\x10\x05" + other)))

    assert scanned(MessageKind.PROFILE, data) is None
    assert parsed(MessageKind.PROFILE, data).input_id.tolist() == []


def test_maps_are_sorted_by_key():
    slots = b"".join(
        span(15, b"\x08" + bytes([slot]) + span(2, span(1, b"\x05"))) for slot in (2, 0)
    )
    steps = b"".join(span(12, b"\x08" + bytes([step]) + span(2, b"\x08\x01")) for step in (9, 3))
    data = span(1, span(2, slots + steps))

    assert is_scanned_alike(MessageKind.PROFILE, data)
    assert scanned(MessageKind.PROFILE, data).output_slot.tolist() == [0, 2]
    assert scanned(MessageKind.PROFILE, data).recorded.step.tolist() == [3, 9]


def test_of_two_values_of_a_field_the_last_counts():
    data = span(1, b"\x10\x05\x10\x00")

    assert is_scanned_alike(MessageKind.OP_LOG, data)
    assert scanned(MessageKind.OP_LOG, data).float_ops.tolist() == [0]


def test_a_message_in_two_parts_is_merged():
    data = span(1, span(1, span(2, span(12, b"\x08\x05\x18\x01") + span(12, b"\x18\x07"))))

    assert is_scanned_alike(MessageKind.RUN_META, data)
    assert scanned(MessageKind.RUN_META, data).temp_bytes.tolist() == [5]
    assert scanned(MessageKind.RUN_META, data).persistent_bytes.tolist() == [7]


@floor(0.2)  # measured: 0.4
@settings(max_examples=150)
@given(kinds, seeds)
def test_an_odd_file_is_scanned_as_protobuf_reads_it(kind, seed):
    _, data = random_file(kind, seed, ODD)

    checked(is_scanned_alike(kind, data))


@floor(0.05)  # measured: 0.2
@settings(max_examples=150)
@given(kinds, seeds)
def test_a_damaged_file_is_scanned_as_protobuf_reads_it(kind, seed):
    maker, data = random_file(kind, seed)

    checked(is_scanned_alike(kind, maker.damaged(data)))


@floor(0.1)  # measured: 0.4
@settings(max_examples=50)
@given(st.sampled_from(SAMPLES), seeds)
def test_a_damaged_sample_is_scanned_as_protobuf_reads_it(name, seed):
    checked(is_scanned_alike(FILES[name], Maker(seed).damaged(content(name))))


@pytest.fixture
def plain_scan(monkeypatch):
    """The modules of the scanner, uncompiled; each imports the one before."""
    monkeypatch.setitem(sys.modules, "cython", None)
    for name in ("scan_bytes", "scan_rows", "scan"):
        path = Path(graph_def.__file__).with_name(f"{name}.py")
        spec = importlib.util.spec_from_file_location(f"tfprof.formats.{name}", path)
        module = importlib.util.module_from_spec(spec)
        monkeypatch.setitem(sys.modules, spec.name, module)
        spec.loader.exec_module(module)
    return module


def test_the_source_runs_as_plain_python_without_cython(plain_scan):
    assert not plain_scan.is_compiled()
    for module in FORMATS.values():
        for seed in range(20):
            maker, data = random_file(KINDS[seed % 4], seed, ODD if seed % 2 else 0.0)
            for tried in (data, maker.damaged(data)):
                found = plain_scan.scan(module._PLAN, tried)
                assert listed(found) == listed(scan.scan(module._PLAN, tried))


def listed(columns):
    return columns and {name: column.tolist() for name, column in columns.items()}
