"""The nodes of a GraphDef become columns, in the order of the file."""

import pytest

from sources.tf_files import UNKNOWN_RANK, content, graph, node, shape
from tfprof.errors import InputError
from tfprof.formats import graph_def
from tfprof.formats.graph_def import source
from tfprof.formats.messages import message_class
from tfprof.formats.records import Records


def decode(data):
    return graph_def.decode(Records("graph.pb", data))


def own_shape(**attributes):
    return decode(graph(node("a", **attributes))).shape[0]


def test_nodes_keep_their_order_names_ops_and_inputs():
    columns = decode(graph(node("b", "Add", ["x", "^y", "z:1"]), node("a", "Mul")))

    assert list(columns.name) == ["b", "a"]
    assert list(columns.op) == ["Add", "Mul"]
    assert list(columns.input_name) == ["x", "y", "z"]
    assert columns.input_slot.tolist() == [0, -1, 1]
    assert columns.input_offsets.tolist() == [0, 3, 3]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a", ("a", 0)),
        ("a:0", ("a", 0)),
        ("a:1", ("a", 1)),
        ("a:12", ("a", 12)),
        ("^a", ("a", -1)),
        ("^a/b:1", ("a/b", -1)),
        ("a:1:2", ("a", 0)),
        ("a:output:0", ("a", 0)),
        ("a:", ("a", 0)),
        ("a:x", ("a", 0)),
        ("a:-1", ("a", 0)),
        ("a:99999999999999999999", ("a", 0)),
        ("", ("", 0)),
    ],
)
def test_an_input_refers_to_an_output_of_an_op(text, expected):
    columns = decode(graph(node("b", inputs=[text])))

    assert (columns.input_name[0], columns.input_slot[0]) == expected
    assert source(text) == expected


def test_each_node_can_be_read_again_from_its_bounds():
    data = content("mlp_tiny/graph.pb")
    columns = decode(data)
    spans = zip(columns.start.tolist(), columns.end.tolist(), strict=True)

    names = [
        message_class(graph_def.RAW_NODE).FromString(data[start:end]).name for start, end in spans
    ]

    assert names == list(columns.name)
    assert len(names) == 15


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (shape(3, 4), (3, 4)),
        (shape(-1, 8), (-1, 8)),
        (shape(0), (0,)),
        (shape(), ()),
        (UNKNOWN_RANK, None),
    ],
)
def test_the_shape_attribute_is_the_shape_of_a_node(value, expected):
    assert own_shape(shape={"shape": value}) == expected


def test_a_node_without_a_shape_attribute_has_none():
    assert own_shape(dtype={"type": 1}) is None


@pytest.mark.parametrize("value", [{"i": 3}, {"s": b"3x4"}, {"list": {"shape": [shape(3)]}}, {}])
def test_a_shape_attribute_without_a_shape_is_ignored(value):
    assert own_shape(shape=value) is None


def test_output_shapes_are_a_list_by_slot():
    shapes = [shape(2), UNKNOWN_RANK, shape()]
    columns = decode(graph(node("a", _output_shapes={"list": {"shape": shapes}}), node("b")))

    assert list(columns.output_shape) == [(2,), None, ()]
    assert columns.output_offsets.tolist() == [0, 3, 3]


def test_output_shapes_that_are_not_a_list_are_ignored():
    columns = decode(graph(node("a", _output_shapes={"shape": shape(2)})))

    assert columns.output_offsets.tolist() == [0, 0]


def test_other_fields_of_a_graph_are_skipped():
    library_and_versions = b"\x12\x00\x22\x03\x08\x95\x0e"

    columns = decode(library_and_versions + graph(node("a")) + library_and_versions)

    assert list(columns.name) == ["a"]


def test_a_graph_may_have_no_nodes():
    assert list(decode(b"\x22\x02\x08\x01").name) == []


def test_an_error_names_the_place_of_a_damaged_node():
    data = graph(node("a", "Add")) + b"\x0a\x02\x0a\x05"

    with pytest.raises(InputError, match="the NodeDef at byte 12 is damaged"):
        decode(data)


def test_an_error_names_the_damaged_attribute():
    whole = graph(node("a", shape={"shape": shape(5)}))
    damaged = whole.replace(b"\x3a\x04\x12\x02\x08\x05", b"\x3a\x04\x12\x09\x08\x05")

    assert damaged != whole
    with pytest.raises(InputError, match="contains a damaged attribute `shape`"):
        decode(damaged)
