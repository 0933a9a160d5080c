"""The graph file and op log of a recording: ops are read back as they were written."""

import tfprof
from sources.test_tf_functions import TWICE, calling, function, inline, node, program
from sources.tf_files import shape
from tfprof.capture.graph_files import WrittenOp, graph_def, node_def, op_log
from tfprof.formats.messages import message_class
from tfprof.model.code import Frame
from tfprof.model.ops import WALKED_CALL

LINE = Frame("train.py", 3, "step", "loss = f(x)", -1)


def nodes(flat):
    """The NodeDefs of all ops by name, after a round trip through a GraphDef."""
    sources = flat.sources()
    ops = [
        WrittenOp(node_def(flat, row, name, sources[row]))
        for row, name in enumerate(flat.columns.name)
    ]
    graph = message_class("tensorflow.GraphDef").FromString(graph_def(ops))
    return {found.name: found for found in graph.node}


def test_an_op_keeps_its_kind_attributes_and_inputs():
    data = program(
        [node("in"), node("out", "Split", ["in", "in:2", "^in"], num_split={"i": 3})],
    )

    found = nodes(inline(data))["out"]

    assert (found.op, list(found.input)) == ("Split", ["in", "in:2", "^in"])
    assert found.attr["num_split"].i == 3


def test_an_argument_is_not_counted_as_a_parameter():
    data = program([node("x", "Placeholder", shape={"shape": shape(7)})])

    found = nodes(inline(data))["x"]

    assert found.op == "_Arg"
    assert "shape" not in found.attr


def test_an_argument_that_is_read_as_a_variable_becomes_a_variable():
    read = node("r", "ReadVariableOp", ["w"], _output_shapes={"list": {"shape": [shape(3, 4)]}})

    found = nodes(inline(program([node("w", "Placeholder"), read])))["w"]

    assert found.op == "VarHandleOp"
    assert [dim.size for dim in found.attr["shape"].shape.dim] == [3, 4]


def test_the_parameters_of_a_variable_with_two_ops_count_once():
    variable = node("w", "VarHandleOp", shape={"shape": shape(3)}, shared_name={"s": b"w"})
    body = function("read", [variable], [], {"y": "w:resource:0"})
    calls = [calling("one", "read"), calling("two", "read")]

    found = nodes(inline(program(calls, body)))

    assert ["shape" in found[name].attr for name in ("one/w", "two/w")].count(True) == 1


def test_the_values_of_large_constants_are_dropped():
    def constant(name, size):
        return node(name, "Const", value={"s": b"x" * size})

    found = nodes(inline(program([constant("axis", 8), constant("table", 5000)])))

    assert "value" in found["axis"].attr
    assert "value" not in found["table"].attr


def test_graph_and_op_log_are_read_back(tmp_path):
    flat = inline(program([node("in"), calling("call", "twice", ["in"])], TWICE))
    sources = flat.sources()
    ops = [
        WrittenOp(
            node_def(flat, row, name, sources[row]),
            types=[WALKED_CALL] * (row in flat.walked),
            stack=[LINE] if name == "double" else [],
        )
        for row, name in enumerate(flat.columns.name)
    ]
    (tmp_path / "graph.pb").write_bytes(graph_def(ops))
    (tmp_path / "log").write_bytes(op_log(ops))

    profile = tfprof.load(tmp_path / "graph.pb", tmp_path / "log")

    assert profile.columns.ops.name == flat.columns.name.take(flat.columns.name.order())
    assert "train.py:3:step" in [row["name"] for row in profile.code(select=["occurrence"])]
    assert "call" in [
        row["name"]
        for row in profile.scope(account_type_regexes=["_walked_call"], select=["op_types"])
    ]


def test_an_op_log_without_code_lines_and_calls_is_empty():
    flat = inline(program([node("in")]))
    op = WrittenOp(node_def(flat, 0, "in", []))

    assert op_log([op]) == b""
