"""Inferring the shapes that a program leaves open: a rule for each kind of op."""

import pytest

from sources.shape_programs import const, inferred, loaded, op
from sources.test_tf_functions import calling, function, node

X = op("x", "Placeholder", [], (-1, 6, 8))
IMAGE = op("image", "Placeholder", [], (-1, 9, 10, 3))

# Inputs that the cases below refer to by name.
INPUTS = [
    X,
    IMAGE,
    op("row", "Placeholder", [], (-1,)),
    op("volume", "Placeholder", [], (-1, 4, 6, 8, 2)),
    op("planes", "Placeholder", [], (-1, 3, 9, 10)),
    op("w", "Variable", shape={"shape": {"dim": [{"size": 8}, {"size": 3}]}}),
    op("table", "Placeholder", [], (50, 4)),
    op("filter", "Placeholder", [], (3, 3, 3, 16)),
    op("depthwise", "Placeholder", [], (3, 3, 3, 2)),
    op("kernel", "Placeholder", [], (3, 3, 3, 2, 5)),
    op("ids", "Placeholder", [], (-1, 5)),
    op("scale", "Placeholder", [], (3,)),
    op("any", "Unheard"),
    const("zero", 0),
    const("one", 1),
    const("two", 2),
    const("three", 3),
    const("last", -1),
    const("axes", [1, 2]),
    const("flat", [-1, 8]),
    const("flip", [0, 2, 1]),
    const("paddings", [[0, 0], [1, 2], [3, 0], [0, 0]]),
    const("size", [20, 30]),
    const("blocks", [3, 2]),
    const("crops", [[0, 0], [0, 0]]),
    const("times", [1, 2, 3]),
    const("whole", [2, 9, 10, 3]),
    const("parts", [2, -1, 1]),
    const("begin", [0, 1, 0]),
    const("sizes", [-1, 2, 8]),
    op("dims", "Shape", ["x"]),
    op("gradient", "Placeholder", [], (-1, 5, 5, 16)),
]
SAME = {"padding": {"s": b"SAME"}, "strides": {"list": {"i": [1, 2, 2, 1]}}}
VALID = {**SAME, "padding": {"s": b"VALID"}}
EXPLICIT = {
    **SAME,
    "padding": {"s": b"EXPLICIT"},
    "explicit_paddings": {"list": {"i": [0, 0, 1, 2, 3, 4, 0, 0]}},
}
FIRST = {
    "padding": {"s": b"SAME"},
    "strides": {"list": {"i": [1, 1, 2, 2]}},
    "data_format": {"s": b"NCHW"},
}
POOL = {"ksize": {"list": {"i": [1, 3, 3, 1]}}}
CUBE = {"padding": {"s": b"VALID"}, "strides": {"list": {"i": [1, 1, 2, 2, 1]}}}
KEPT = {"keep_dims": {"b": True}}


def number(value):
    return {"i": value}


CASES = [
    ("Relu", ["x"], {}, (7, 6, 8)),
    ("AddV2", ["x", "scalar"], {}, (7, 6, 8)),
    ("SelectV2", ["row1", "x", "one"], {}, (7, 6, 8)),
    ("ReluGrad", ["x", "x"], {}, (7, 6, 8)),
    ("IdentityN", ["x", "w"], {}, [(7, 6, 8), (8, 3)]),
    ("Conv2D", ["image", "filter"], SAME, (7, 5, 5, 16)),
    ("Conv2D", ["image", "filter"], VALID, (7, 4, 4, 16)),
    ("Conv2D", ["image", "filter"], EXPLICIT, (7, 5, 8, 16)),
    (
        "Conv2D",
        ["image", "filter"],
        {**VALID, "dilations": {"list": {"i": [1, 2, 2, 1]}}},
        (7, 3, 3, 16),
    ),
    ("Conv2D", ["planes", "filter"], FIRST, (7, 16, 5, 5)),
    ("Conv3D", ["volume", "kernel"], CUBE, (7, 2, 2, 3, 5)),
    ("DepthwiseConv2dNative", ["image", "depthwise"], SAME, (7, 5, 5, 6)),
    ("Conv2DBackpropInput", ["whole", "filter", "gradient"], SAME, (2, 9, 10, 3)),
    ("Conv2DBackpropInput", ["size", "filter", "gradient"], SAME, (7, 20, 30, 3)),
    ("Conv2DBackpropFilter", ["image", "whole", "gradient"], SAME, (2, 9, 10, 3)),
    ("MaxPool", ["image"], {**VALID, **POOL}, (7, 4, 4, 3)),
    ("AvgPool", ["image"], {**SAME, **POOL}, (7, 5, 5, 3)),
    ("MaxPoolGrad", ["image", "gradient", "gradient"], {}, (7, 9, 10, 3)),
    ("AvgPoolGrad", ["whole", "gradient"], {}, (2, 9, 10, 3)),
    (
        "ExtractImagePatches",
        ["image"],
        {**VALID, "ksizes": {"list": {"i": [1, 3, 2, 1]}}},
        (7, 4, 5, 18),
    ),
    ("ResizeBilinear", ["image", "size"], {}, (7, 20, 30, 3)),
    ("ResizeNearestNeighborGrad", ["image", "size"], {}, (7, 20, 30, 3)),
    ("ResizeBilinearGrad", ["x", "image"], {}, (7, 9, 10, 3)),
    ("CropAndResize", ["image", "ids", "row", "size"], {}, (7, 20, 30, 3)),
    ("DepthToSpace", ["gradient"], {"block_size": number(2)}, (7, 10, 10, 4)),
    (
        "SpaceToDepth",
        ["planes"],
        {"block_size": number(1), "data_format": {"s": b"NCHW"}},
        (7, 3, 9, 10),
    ),
    ("SpaceToBatchND", ["image", "blocks", "crops"], {}, (42, 3, 5, 3)),
    ("BatchToSpaceND", ["batches", "blocks", "crops"], {}, (2, 9, 20, 1)),
    ("MatMul", ["matrix", "w"], {}, (7, 3)),
    ("MatMul", ["matrix", "matrix"], {"transpose_a": {"b": True}}, (8, 8)),
    ("BatchMatMulV2", ["x", "w"], {}, (7, 6, 3)),
    ("BatchMatMulV2", ["x", "x"], {"adj_y": {"b": True}}, (7, 6, 6)),
    ("Einsum", ["x", "w"], {"equation": {"s": b"abc,cd->abd"}}, (7, 6, 3)),
    ("Einsum", ["x", "w"], {"equation": {"s": b"...c,cd->...d"}}, (7, 6, 3)),
    ("Reshape", ["x", "flat"], {}, (42, 8)),
    ("Transpose", ["x", "flip"], {}, (7, 8, 6)),
    ("ExpandDims", ["x", "last"], {}, (7, 6, 8, 1)),
    ("Squeeze", ["narrow"], {"squeeze_dims": {"list": {"i": [1]}}}, (7, 5)),
    ("Squeeze", ["narrow"], {}, (7, 5)),
    ("ConcatV2", ["x", "x", "last"], {}, (7, 6, 16)),
    ("ConcatV2", ["x", "x", "zero"], {}, (14, 6, 8)),
    ("Concat", ["one", "x", "x"], {}, (7, 12, 8)),
    ("Split", ["two", "x"], {"num_split": number(2)}, [(7, 6, 4)] * 2),
    ("SplitV", ["x", "parts", "one"], {}, [(7, 2, 8), (7, 3, 8), (7, 1, 8)]),
    ("Pack", ["x", "x"], {"axis": number(1)}, (7, 2, 6, 8)),
    ("Unpack", ["x"], {"axis": number(1), "num": number(6)}, [(7, 8)] * 6),
    ("Tile", ["x", "times"], {}, (7, 12, 24)),
    ("Pad", ["image", "paddings"], {}, (7, 12, 13, 3)),
    ("MirrorPadGrad", ["image", "paddings"], {}, (7, 6, 7, 3)),
    ("BroadcastTo", ["x", "times"], {}, (1, 2, 3)),
    ("Fill", ["times", "zero"], {}, (1, 2, 3)),
    ("RandomUniform", ["dims"], {}, (7, 6, 8)),
    ("StatelessRandomUniformV2", ["dims", "any", "any", "any"], {}, (7, 6, 8)),
    ("Shape", ["x"], {}, (3,)),
    ("Size", ["x"], {}, ()),
    ("ShapeN", ["x", "row"], {}, [(3,), (1,)]),
    ("Mean", ["x", "axes"], {}, (7,)),
    ("Sum", ["x", "last"], KEPT, (7, 6, 1)),
    ("ArgMax", ["x", "one"], {}, (7, 8)),
    ("TopKV2", ["x", "three"], {}, [(7, 6, 3)] * 2),
    ("Cumsum", ["x", "one"], {}, (7, 6, 8)),
    ("Bincount", ["row", "three", "row"], {}, (3,)),
    ("DenseBincount", ["ids", "three", "row"], {}, (7, 3)),
    ("GatherV2", ["table", "ids", "zero"], {}, (7, 5, 4)),
    ("GatherV2", ["x", "ids", "one"], {"batch_dims": number(1)}, (7, 5, 8)),
    ("GatherNd", ["x", "pairs"], {}, (7, 8)),
    ("ScatterNd", ["any", "any", "dims"], {}, (7, 6, 8)),
    ("OneHot", ["ids", "three", "any", "any"], {"axis": number(-1)}, (7, 5, 3)),
    ("UnsortedSegmentSum", ["x", "row", "three"], {}, (3, 6, 8)),
    ("Range", ["zero", "three", "one"], {}, (3,)),
    ("LinSpace", ["any", "any", "three"], {}, (3,)),
    ("Slice", ["x", "begin", "sizes"], {}, (7, 2, 8)),
    ("StridedSliceGrad", ["dims", "begin", "sizes", "times", "x"], {}, (7, 6, 8)),
    ("BiasAddGrad", ["image"], {}, (3,)),
    ("BiasAddGrad", ["planes"], {"data_format": {"s": b"NCHW"}}, (3,)),
    (
        "FusedBatchNormV3",
        ["image", "scale", "scale", "scale", "scale"],
        {},
        [(7, 9, 10, 3), (3,), (3,), (3,), (3,), None],
    ),
    (
        "FusedBatchNormGradV3",
        ["image", "image", "scale", "scale", "scale", "scale"],
        {},
        [(7, 9, 10, 3), (3,), (3,), (0,), (0,)],
    ),
    ("SoftmaxCrossEntropyWithLogits", ["matrix", "matrix"], {}, [(7,), (7, 8)]),
    ("SparseSoftmaxCrossEntropyWithLogits", ["matrix", "row"], {}, [(7,), (7, 8)]),
    ("L2Loss", ["x"], {}, ()),
    ("AddN", ["x", "x"], {}, (7, 6, 8)),
    ("RFFT", ["x", "eight"], {}, (7, 6, 5)),
    ("Bitcast", ["x"], {"T": {"type": 1}, "type": {"type": 3}}, (7, 6, 8)),
    ("Bitcast", ["x"], {"T": {"type": 1}, "type": {"type": 9}}, None),
    ("MatrixDiagV3", ["matrix", "zero", "last", "last", "zero"], {}, (7, 8, 8)),
    ("MatrixDiagPartV3", ["x", "zero", "zero"], {}, (7, 6)),
    ("MatrixSolve", ["square", "right"], {}, (7, 4, 2)),
    ("MatrixDeterminant", ["square"], {}, (7,)),
    ("Svd", ["x"], {}, [(7, 6), (7, 6, 6), (7, 8, 6)]),
    ("Svd", ["x"], {"full_matrices": {"b": True}}, [(7, 6), (7, 6, 6), (7, 8, 8)]),
    ("Qr", ["x"], {}, [(7, 6, 6), (7, 6, 8)]),
    ("Lu", ["square"], {}, [(7, 4, 4), (7, 4)]),
    ("SelfAdjointEigV2", ["square"], {}, [(7, 4), (7, 4, 4)]),
    ("SparseTensorDenseMatMul", ["any", "any", "size", "w"], {}, (20, 3)),
    ("ApproxTopK", ["x"], {"k": number(2)}, [(7, 6, 2)] * 2),
    ("UniformCandidateSampler", ["ids"], {"num_sampled": number(9)}, [(9,), (7, 5), (9,)]),
    ("DynamicStitch", ["zero", "axes", "one", "axes"], {}, (3,)),
]
MORE = [
    op("scalar", "Placeholder", [], ()),
    op("row1", "Placeholder", [], (1, 6, 1)),
    op("matrix", "Placeholder", [], (-1, 8)),
    op("narrow", "Placeholder", [], (-1, 1, 5)),
    op("batches", "Placeholder", [], (12, 3, 10, 1)),
    op("pairs", "Placeholder", [], (-1, 2)),
    op("square", "Placeholder", [], (-1, 4, 4)),
    op("right", "Placeholder", [], (-1, 4, 2)),
    const("eight", [8]),
]


@pytest.mark.parametrize(("kind", "inputs", "attributes", "found"), CASES)
def test_the_shape_of_an_output_follows_from_the_inputs(kind, inputs, attributes, found):
    made = op("y", kind, inputs, **attributes)

    assert inferred(*INPUTS, *MORE, made)["y"] == found


def test_the_first_dim_of_inputs_is_the_batch_size():
    found = inferred(X, op("two", "Placeholder", [], (-1, -1)), op("none", "Placeholder", [], ()))

    assert found == {"x": (7, 6, 8), "two": (7, -1), "none": ()}


def test_an_input_may_declare_its_shape_only_in_an_attribute():
    declared = {"shape": {"dim": [{"size": -1}, {"size": 4}]}}

    assert inferred(op("x", "Placeholder", shape=declared))["x"] == (7, 4)


@pytest.mark.parametrize(
    ("made", "found"),
    [
        (op("y", "Unheard", ["x"], (-1, 6)), (-1, 6)),
        (op("y", "Unique", ["x"], (-1,), (-1,)), [(-1,), (7,)]),
        (op("y", "Where", ["x"], (-1, 3)), (-1, 3)),
        (op("y", "Mean", ["x", "any"], (-1, 6)), (-1, 6)),
        (op("y", "Relu", ["x"], (-1, 6, 9)), (-1, 6, 9)),
        (op("y", "Einsum", ["x", "w"], (-1, 6), equation={"s": b"ab,cd->ad"}), (-1, 6)),
        (op("y", "Reshape", ["x", "fives"], (-1, 5)), (-1, 5)),
        (op("y", "StridedSlice", ["x", "any", "any", "any"], (-1, 6, 8)), (-1, 6, 8)),
        (op("y", "SpaceToBatchND", ["image", "twos", "crops"], (-1, 4, 5, 3)), (-1, 4, 5, 3)),
    ],
    ids=lambda value: value.op if hasattr(value, "op") else "",
)
def test_a_shape_that_does_not_follow_stays_as_stated(made, found):
    others = [const("fives", [-1, 5]), const("twos", [2, 2])]

    assert inferred(*INPUTS, *others, made)["y"] == found


def sliced(first, stop, step, **masks):
    nodes = [
        X,
        const("begin", first),
        const("end", stop),
        const("step", step),
        op(
            "y",
            "StridedSlice",
            ["x", "begin", "end", "step"],
            **{f"{name}_mask": number(bits) for name, bits in masks.items()},
        ),
    ]
    return inferred(*nodes)["y"]


def test_a_strided_slice_follows_its_masks():
    assert sliced([0, -1], [0, 0], [1, 1], begin=1, end=1, shrink_axis=2) == (7, 8)
    assert sliced([0, 1], [0, 5], [1, 2], begin=1, end=1) == (7, 2, 8)
    assert sliced([0, 0], [0, 4], [1, 1], ellipsis=1) == (7, 6, 4)
    assert sliced([0, 0], [0, 0], [1, 1], begin=3, end=3, new_axis=2) == (7, 1, 6, 8)
    assert sliced([2], [5], [1]) == (3, 6, 8)
    assert sliced([0], [0], [-1], begin=1, end=1) == (7, 6, 8)


def computed(*nodes):
    """The shape of a tensor whose dims are computed by `nodes`, the last of which is `dims`."""
    numbers = [const(name, value) for name, value in {"zero": 0, "one": 1, "two": 2}.items()]
    lists = [const("ones", [1]), const("twos", [2, 2]), const("end", [2]), const("start", [0])]
    every = op("size", "Shape", ["x"])
    fill = op("zeros", "Fill", ["dims", "zero"])
    return inferred(X, every, *numbers, *lists, *nodes, fill)["zeros"]


@pytest.mark.parametrize(
    ("nodes", "found"),
    [
        ([op("dims", "Identity", ["size"])], (7, 6, 8)),
        ([op("dims", "StridedSlice", ["size", "start", "end", "ones"])], (7, 6)),
        (
            [
                op(
                    "b",
                    "StridedSlice",
                    ["size", "start", "ones", "ones"],
                    shrink_axis_mask=number(1),
                ),
                op("dims", "Pack", ["b", "two"]),
            ],
            (7, 2),
        ),
        ([op("a", "Prod", ["size", "start"]), op("dims", "Pack", ["a", "two"])], (336, 2)),
        ([op("dims", "GatherV2", ["size", "twos", "zero"])], (8, 8)),
        ([op("dims", "ConcatV2", ["twos", "size", "zero"])], (2, 2, 7, 6, 8)),
        ([op("dims", "Mul", ["size", "two"])], (14, 12, 16)),
        ([op("a", "Sub", ["size", "one"]), op("dims", "FloorDiv", ["a", "two"])], (3, 2, 3)),
        ([op("dims", "Maximum", ["size", "twos3"]), const("twos3", [9, 1, 1])], (9, 6, 8)),
        ([op("dims", "Slice", ["size", "ones", "end"])], (6, 8)),
        ([op("dims", "Cast", ["size"], DstT={"type": 9})], (7, 6, 8)),
        ([op("a", "ExpandDims", ["two", "zero"]), op("dims", "Tile", ["a", "end"])], (2, 2)),
        ([op("dims", "Unpack", ["pair"], num=number(2)), const("pair", [[4, 5], [1, 1]])], (4, 5)),
        ([op("r", "Rank", ["x"]), op("dims", "Pack", ["r"])], (3,)),
        ([op("r", "Size", ["x"]), op("dims", "Pack", ["r"])], (336,)),
        ([op("dims", "Range", ["one", "three", "one"]), const("three", 3)], (1, 2)),
        ([op("dims", "BroadcastArgs", ["size", "ones"])], (7, 6, 8)),
        (
            [
                op("dims", "SelectV2", ["yes", "size", "twos3"]),
                const("yes", True, "?"),
                const("twos3", [2, 2, 2]),
            ],
            (7, 6, 8),
        ),
        ([op("dims", "ReverseV2", ["size", "start"])], (8, 6, 7)),
        (
            [
                const("places", [2, 0]),
                op("dims", "DynamicStitch", ["one", "places", "two", "twos"]),
            ],
            (2, 2, 2),
        ),
        (
            [op("dims", "Reshape", ["pair", "flat"]), const("pair", [[4, 5]]), const("flat", [-1])],
            (4, 5),
        ),
    ],
)
def test_shapes_are_computed_through_ops_on_integers(nodes, found):
    assert computed(*nodes) == found


def test_an_unknown_element_leaves_only_its_dim_open():
    nodes = [op("mystery", "Unheard", [], ()), op("dims", "Pack", ["two", "mystery"])]

    assert computed(*nodes) == (2, -1)


def test_the_gradient_of_a_broadcast_is_reduced_along_the_right_axes():
    nodes = [
        op("a", "Shape", ["x"]),
        op("b", "Shape", ["row"]),
        op("axes", "BroadcastGradientArgs", ["a", "b"]),
        op("y", "Sum", ["x", "axes:1"]),
    ]

    assert inferred(X, op("row", "Placeholder", [], (1, 8)), *nodes)["y"] == (8,)


def test_a_call_has_the_shapes_of_its_results():
    body = function("f", [op("r", "Relu", ["a"])], ["a"], {"b": "r:activations:0"})
    call = calling("call", "f", ["x"])

    found = inferred(X, call, op("y", "Neg", ["call"]), functions=[body])

    assert found["call"] == found["call/r"] == found["y"] == (7, 6, 8)


def test_a_conditional_has_what_the_shapes_of_its_branches_have_in_common():
    branches = {name: {"func": {"name": name[0]}} for name in ("then_branch", "else_branch")}
    functions = [
        function("t", [op("r", "Relu", ["a"])], ["a"], {"b": "r:activations:0"}),
        function(
            "e",
            [const("d", [2]), op("r", "Sum", ["a", "d"], keep_dims={"b": True})],
            ["a"],
            {"b": "r:output:0"},
        ),
    ]
    choice = op("if", "If", ["which", "x"], **branches)

    found = inferred(X, op("which", "Placeholder", [], ()), choice, functions=functions)

    assert found["if"] == (7, 6, -1)


def test_the_shapes_of_ops_in_a_cycle_stay_as_stated():
    nodes = [
        op("a", "Relu", ["b"], (-1,)),
        op("b", "Relu", ["a"], (-1,)),
        op("c", "Pack", ["c"], (1,)),
        op("d", "Fill", ["c"], (-1,)),
    ]

    assert inferred(*nodes) == {"a": (-1,), "b": (-1,), "c": (1,), "d": (-1,)}


def test_a_note_names_the_first_op_whose_shape_is_unknown():
    notes = []
    nodes = [X, op("hit", "Where", ["x"]), op("y", "Neg", ["hit"]), op("z", "Neg", ["y"])]

    loaded(*nodes, notes=notes)

    assert notes == [
        (
            "graph.pb: the output shape of `hit` (Where) is unknown, because it depends on data; "
            "float ops that depend on it are not counted. Use a model with fixed input shapes, or "
            "add a recording of a run."
        )
    ]


def test_the_note_says_if_a_kind_has_no_rule():
    notes = []

    loaded(X, op("odd", "Unheard", ["x"]), op("y", "Neg", ["odd"]), notes=notes)

    assert "`odd` (Unheard) is unknown, because there is no rule for `Unheard`;" in notes[0]


def test_a_batch_size_also_applies_to_graphs_without_their_functions():
    nodes = [X, op("y", "Relu", ["x"], (-1, 6, 8)), node("x", "Again"), node("z", "Neg", ["y"])]

    found = inferred(*nodes, includes_functions=False)

    assert found == {"x": (7, 6, 8), "y": (7, 6, 8), "z": (7, 6, 8)}


@pytest.mark.parametrize("values", [[1 << 40], list(range(600)), [-5]])
def test_absurd_dims_are_unknown(values):
    huge = const("huge", values, "i8")
    nodes = [huge, op("y", "Fill", ["huge", "zero"]), op("z", "Mul", ["huge", "huge"])]
    nodes += [op("w", "Fill", ["z", "zero"]), op("v", "Tile", ["huge", "huge"])]

    assert all(
        -1 in (found or [-1]) or max(found) < 1 << 62
        for found in inferred(X, const("zero", 0), *nodes).values()
        if found != []
    )


def test_a_chain_of_many_ops_is_followed():
    nodes = [op(f"n{i}", "Relu", [f"n{i - 1}" if i else "x"]) for i in range(5000)]

    assert inferred(*reversed(nodes), X)["n4999"] == (7, 6, 8)
