"""A view as a protobuf message."""

from __future__ import annotations

import numpy as np
import pytest
from google.protobuf import text_format

from asking import ask
from build import CPU, GPU_STREAM, op, profile, run
from checkpointed import with_tensors
from tfprof.errors import OutputError
from tfprof.formats.messages import message_class
from tfprof.outputs import message

MEMORY = {"requested": 40, "peak": 30, "residual": 20, "output": 10}


def as_text(view):
    return text_format.MessageToString(message.build(view))


def test_a_row_of_a_single_op_fills_all_fields():
    p = profile(
        op("x", outputs=[(2, 3)]),
        op("a/mul", "MatMul", shape=(5, 2), inputs=["x", "gone"], float_ops=7),
        run("a/mul", 3, memory=MEMORY),
        run("a/mul", 4, device=GPU_STREAM),
    )

    root = message.build(ask("scope", p, select=[], show_name_regexes=["a/mul"]))

    assert (
        text_format.MessageToString(root.children[0])
        == f"""\
name: "a/mul"
exec_micros: 7
requested_bytes: 40
parameters: 10
total_exec_micros: 7
total_requested_bytes: 40
total_parameters: 10
devices: "{CPU}"
float_ops: 7
total_float_ops: 7
input_shapes {{
  value {{
    dim {{
      size: 2
    }}
    dim {{
      size: 3
    }}
  }}
}}
input_shapes {{
  key: 1
  value {{
    unknown_rank: true
  }}
}}
accelerator_exec_micros: 4
cpu_exec_micros: 3
total_accelerator_exec_micros: 4
total_cpu_exec_micros: 3
run_count: 1
total_run_count: 1
total_definition_count: 1
peak_bytes: 30
residual_bytes: 20
output_bytes: 10
total_peak_bytes: 30
total_residual_bytes: 20
total_output_bytes: 10
"""
    )


def test_all_fields_are_filled_whatever_is_selected():
    p = profile(op("a", shape=(5,)), run("a", 3))

    selected = message.build(ask("scope", p, select=["params"]))
    unselected = message.build(ask("scope", p, select=[]))

    assert selected == unselected


def test_a_total_includes_the_rows_below():
    p = profile(op("a", shape=(2,)), op("a/b", shape=(3,)))

    root = message.build(ask("scope", p))

    assert (root.parameters, root.total_parameters, root.total_definition_count) == (0, 5, 2)
    assert (root.children[0].parameters, root.children[0].total_parameters) == (2, 5)
    assert root.children[0].children[0].total_parameters == 3


def test_children_are_the_shown_rows():
    p = profile(op("a/b/c"), op("d"))

    root = message.build(ask("scope", p, hide_name_regexes=["a/b"]))

    assert [child.name for child in root.children] == ["a", "d"]
    assert [child.name for child in root.children[0].children] == ["a/b/c"]


def test_a_row_that_is_not_accounted_for_keeps_its_own_numbers():
    p = profile(op("a", "Foo", float_ops=100), op("a/b", "Bar", float_ops=10))

    root = message.build(ask("scope", p, account_type_regexes=["Bar"]))

    assert root.children[0].float_ops == 100


def test_a_scalar_input_has_one_dimension_of_size_1():
    p = profile(op("x", outputs=[()]), op("y", inputs=["x"]))

    root = message.build(ask("graph", p))

    assert [dim.size for dim in root.children[0].input_shapes[0].dim] == [1]


def test_each_row_of_the_op_view_contains_the_next_one():
    p = profile(
        op("a", "A", shape=(1,)), op("b", "B", shape=(2,)), op("c", "C", shape=(3,)), op("d", "B")
    )

    root = message.build(ask("op", p))
    first = root.children[0]
    second = first.children[0]
    third = second.children[0]

    assert [first.name, second.name, third.name] == ["A", "B", "C"]
    assert [first.total_parameters, second.total_parameters, third.total_parameters] == [6, 5, 3]
    assert root.total_parameters == 6
    assert not third.children


def test_a_row_of_many_ops_contains_each_of_them():
    p = profile(
        op("b", "K", shape=(2,), float_ops=3),
        op("a", "K", inputs=["b"]),
        run("b", 5, memory=MEMORY),
        run("b", 6),
    )

    root = message.build(ask("op", p))
    first, second = root.children[0].graph_nodes

    assert (root.children[0].exec_micros, root.children[0].float_ops) == (11, 6)
    assert (first.name, second.name) == ("a", "b")
    assert (second.run_count, second.total_run_count) == (2, 2)
    assert (second.exec_micros, second.total_exec_micros) == (11, 11)
    assert (second.parameters, second.total_parameters) == (2, 2)
    assert (second.requested_bytes, second.total_requested_bytes) == (40, 40)
    assert (first.total_definition_count, list(first.devices)) == (1, [])
    assert first.input_shapes[0].unknown_rank


def test_lines_of_code_nest_like_the_calls():
    p = profile(op("a", shape=(2,), code=["m.py:1:f", "m.py:2:g"]))

    assert (
        as_text(ask("code", p))
        == """\
name: "_TFProfRoot"
total_parameters: 2
children {
  name: "m.py:1:f"
  total_parameters: 2
  children {
    name: "m.py:2:g"
    parameters: 2
    total_parameters: 2
    graph_nodes {
      name: "a"
      parameters: 2
      total_parameters: 2
      total_definition_count: 1
    }
  }
}
"""
    )


@pytest.mark.parametrize(
    ("kind", "name"),
    [
        ("scope", "tensorflow.tfprof.GraphNodeProto"),
        ("graph", "tensorflow.tfprof.GraphNodeProto"),
        ("code", "tensorflow.tfprof.MultiGraphNodeProto"),
        ("op", "tensorflow.tfprof.MultiGraphNodeProto"),
    ],
)
def test_the_message_type_depends_on_whether_rows_gather_ops(kind, name):
    p = profile(op("a", code=["m.py:1:f"]))

    assert message.build(ask(kind, p)).DESCRIPTOR.full_name == name


def value_of(values, **options):
    p = with_tensors(profile(op("w")), {"w": values})
    root = message.build(ask("scope", p, **({"select": ["tensor_value"]} | options)))
    return root.children[0].tensor_value


@pytest.mark.parametrize(
    ("values", "number", "field", "stored"),
    [
        (np.float32([[1, 2], [3, 0.25]]), 1, "value_double", [1, 2, 3, 0.25]),
        (np.float64([1234567.89]), 2, "value_double", [1234570.0]),
        (np.int32([-1, 5]), 3, "value_int64", [-1, 5]),
        (np.int64(2**62), 9, "value_int64", [2**62]),
        (np.bool_([True, False]), 10, "value_int64", [1, 0]),
        (np.uint64([1, 2**64 - 1]), 23, "value_int64", [1, -1]),
        (np.array([b"a", b"\xff"], object), 7, "value_str", ["a", "\ufffd"]),
    ],
)
def test_values_are_flat_and_have_the_number_of_their_dtype(values, number, field, stored):
    value = value_of(values)

    assert value.dtype == number
    assert list(getattr(value, field)) == stored


def test_complex_values_are_omitted():
    assert value_of(np.ones(2, np.complex64)).ByteSize() == 0


def test_values_are_included_only_if_selected():
    assert value_of(np.float32([1]), select=["params"]).ByteSize() == 0


def test_the_file_contains_the_message():
    view = ask("scope", profile(op("a/b", shape=(2,))))

    data = b"".join(message.encode(view))

    assert message_class(message.GRAPH_NODE).FromString(data) == message.build(view)


def op_view_of(kinds):
    """An op view with `kinds` rows, the last of which has the most deeply nested facts."""
    ops = [op(f"op{i}", f"Kind{i:02}", inputs=["op0"], outputs=[(2,)]) for i in range(kinds)]
    return ask("op", profile(*ops), max_depth=1000)


def test_a_deep_message_can_be_read_back():
    view = op_view_of(kinds=96)

    data = b"".join(message.encode(view))

    assert message_class(message.MULTI_NODE).FromString(data) == message.build(view)


def test_a_message_too_deep_to_be_read_back_is_rejected():
    with pytest.raises(OutputError, match=r"nests 98 levels deep, .* lower -max_depth"):
        b"".join(message.encode(op_view_of(kinds=97)))
