"""Reading GraphDef files: the names, kinds, edges, shapes and attributes of ops."""

from sources.tf_files import UNKNOWN_RANK, content, graph, node, read, row, shape


def test_ops_are_defined_in_the_order_of_the_file():
    ops = read(graph(node("b"), node("a"), node("c"))).ops

    assert list(ops.name) == ["a", "b", "c"]
    assert ops.defined.tolist() == [1, 0, 2]


def test_the_kind_of_an_op_is_one_of_its_types():
    ops = read(graph(node("a", "MatMul"))).ops

    assert ops.kind[0] == "MatMul"
    assert ops.types.of(0) == ["MatMul"]


def test_the_first_of_two_nodes_with_the_same_name_counts():
    ops = read(graph(node("a", "First"), node("b", inputs=["a"]), node("a", "Second"))).ops

    assert list(ops.name) == ["a", "b"]
    assert ops.kind[0] == "First"
    assert ops.defined.tolist() == [0, 1]


def test_inputs_and_control_dependencies_keep_their_order():
    ops = read(graph(node("c", inputs=["a:1", "^b", "gone", "a"]), node("a"), node("b"))).ops

    assert ops.inputs.source.tolist() == [0, 1, -1, 0]
    assert ops.inputs.slot.tolist() == [1, -1, 0, 0]


def test_parameters_are_counted_from_the_shape_attribute():
    sizes = {
        "scalar": {"shape": shape()},
        "matrix": {"shape": shape(3, 4)},
        "open": {"shape": shape(-1, 8)},
        "empty": {"shape": shape(0, 8)},
        "unknown": {"shape": UNKNOWN_RANK},
        "text": {"s": b"3x4"},
    }
    ops = read(graph(*(node(name, shape=value) for name, value in sizes.items()))).ops

    found = dict(zip(ops.name, ops.shape.sizes().tolist(), strict=True))

    assert found == {"scalar": 1, "matrix": 12, "open": 0, "empty": 0, "unknown": 0, "text": 0}


def test_output_shapes_are_those_stated_in_the_graph():
    listed = {"list": {"shape": [shape(2, 3), UNKNOWN_RANK]}}
    outputs = read(graph(node("a", _output_shapes=listed))).ops.outputs

    assert (outputs.of(0, 0), outputs.of(0, 1), outputs.of(0, 2)) == ((2, 3), None, None)


def test_attributes_are_read_by_name():
    ops = read(graph(node("b", k={"i": 3}), node("a", data_format={"s": b"NHWC"}))).ops

    assert ops.origins.attribute(0, "data_format") == "NHWC"
    assert ops.origins.attribute(1, "k") == 3
    assert ops.origins.attribute(1, "data_format") is None


def test_the_device_requested_by_a_node_is_not_a_type():
    placed = node("a")
    placed.device = "/device:GPU:0"
    ops = read(graph(placed)).ops

    assert ops.types.of(0) == ["NoOp"]


def test_a_real_graph_has_its_ops():
    profile = read(content("mlp_tiny/graph.pb"))

    assert len(profile.ops) == 15
    assert profile.ops.kind[row(profile, "fc1/w")] == "VariableV2"
    assert profile.ops.shape[row(profile, "fc1/w")] == (4, 3)
