"""Each rule compared with hand-computed numbers; a multiply and an add count as two."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from counting import counted
from tfprof.measures.flop_rules import registry


@pytest.mark.parametrize("kind", ["Reciprocal", "Square", "Log", "Neg", "AssignAdd", "AssignSub"])
def test_a_unary_op_does_one_operation_per_element(kind):
    assert counted(kind, inputs=[(2, 3)]) == 6


@pytest.mark.parametrize("kind", ["Reciprocal", "Rsqrt", "Softmax", "BiasAdd"])
def test_a_scalar_counts_as_one_element(kind):
    assert counted(kind, inputs=[()]) == counted(kind, inputs=[(1,)])


def test_rsqrt_does_two_operations_per_element():
    assert counted("Rsqrt", inputs=[(2, 3)]) == 12


def test_softmax_does_five_operations_per_element():
    assert counted("Softmax", inputs=[(2, 10)]) == 100


def test_l2_loss_does_three_operations_per_element_minus_the_first_add():
    assert counted("L2Loss", inputs=[(4, 5)]) == 59


@pytest.mark.parametrize(
    "kind",
    [
        *("Add", "AddV2", "Sub", "Mul", "RealDiv", "Maximum", "Minimum", "Pow"),
        *("Greater", "GreaterEqual", "Less", "LessEqual", "Equal", "NotEqual"),
    ],
)
def test_a_binary_op_does_one_operation_per_broadcast_element(kind):
    assert counted(kind, inputs=[(3, 1), (4,)], output=(3, 4)) == 12


def test_squared_difference_does_two_operations_per_broadcast_element():
    assert counted("SquaredDifference", inputs=[(3, 1), (4,)], output=(3, 4)) == 24


def test_rsqrt_grad_does_four_operations_per_element():
    assert counted("RsqrtGrad", inputs=[(3,), (3,)], output=(3,)) == 12


@pytest.mark.parametrize("kind", ["Sum", "ArgMax", "ArgMin", "BiasAddGrad"])
def test_a_reduction_does_one_operation_per_element_after_the_first_of_each_result(kind):
    assert counted(kind, inputs=[(5, 4)], output=(4,)) == 16


def test_a_mean_also_divides_each_result():
    assert counted("Mean", inputs=[(5, 4)], output=(4,)) == 20


@pytest.mark.parametrize("kind", ["Sum", "Mean", "L2Loss"])
def test_reducing_an_empty_tensor_computes_nothing(kind):
    assert counted(kind, inputs=[(0, 4)], output=(4,)) == 0


def test_add_n_adds_each_input_after_the_first():
    assert counted("AddN", inputs=[(2, 3)] * 4) == 18


def test_add_n_of_one_input_adds_nothing():
    assert counted("AddN", inputs=[(2, 3)]) == 0


def test_add_n_of_no_inputs_adds_nothing():
    assert counted("AddN") == 0


def test_mat_mul_multiplies_and_adds_along_the_shared_dim():
    assert counted("MatMul", inputs=[(2, 3), (3, 4)], output=(2, 4)) == 48


def test_mat_mul_uses_the_other_dim_of_a_transposed_matrix():
    found = counted("MatMul", inputs=[(3, 2), (3, 4)], output=(2, 4), transpose_a=True)

    assert found == 48


@pytest.mark.parametrize("kind", ["BatchMatMul", "BatchMatMulV2", "BatchMatMulV3"])
def test_batch_mat_mul_is_one_product_per_batch_element(kind):
    assert counted(kind, inputs=[(7, 2, 3), (7, 3, 4)], output=(7, 2, 4)) == 336


@pytest.mark.parametrize("kind", ["BatchMatMul", "BatchMatMulV2", "BatchMatMulV3"])
def test_batch_mat_mul_uses_the_other_dim_of_an_adjoint_matrix(kind):
    found = counted(kind, inputs=[(7, 3, 2), (7, 3, 4)], output=(7, 2, 4), adj_x=True)

    assert found == 336


def test_batch_mat_mul_counts_a_broadcast_batch():
    assert counted("BatchMatMulV2", inputs=[(2, 3), (7, 3, 4)], output=(7, 2, 4)) == 336


def test_conv_2d_multiplies_and_adds_each_weight_of_the_window():
    shapes = {"inputs": [(1, 4, 4, 3), (3, 3, 3, 8)], "output": (1, 4, 4, 8)}

    assert counted("Conv2D", **shapes) == 2 * 128 * 27


def test_a_grouped_conv_2d_is_counted_by_the_depth_of_its_filter():
    shapes = {"inputs": [(1, 4, 4, 6), (3, 3, 3, 8)], "output": (1, 4, 4, 8)}

    assert counted("Conv2D", **shapes) == 2 * 128 * 27


def test_conv_2d_with_an_unknown_image_is_not_counted():
    assert counted("Conv2D", inputs=[None, (3, 3, 3, 8)], output=(1, 4, 4, 8)) is None


def test_conv_3d_multiplies_and_adds_each_weight_of_the_window():
    shapes = {"inputs": [(1, 2, 4, 4, 3), (2, 3, 3, 3, 8)], "output": (1, 2, 4, 4, 8)}

    assert counted("Conv3D", **shapes) == 2 * 256 * 54


@pytest.mark.parametrize("kind", ["DepthwiseConv2dNative", "Dilation2D"])
def test_a_depthwise_window_is_counted_without_depth(kind):
    depth = (3, 2) if kind == "DepthwiseConv2dNative" else (6,)

    assert counted(kind, inputs=[(1, 4, 4, 6), (3, 3, *depth)], output=(1, 4, 4, 6)) == 2 * 96 * 9


@pytest.mark.parametrize("kind", ["AvgPool", "MaxPool"])
def test_pooling_does_one_operation_for_each_value_in_a_window(kind):
    assert counted(kind, output=(1, 2, 2, 3), ksize=(1, 3, 2, 1)) == 72


def test_avg_pool_grad_multiplies_and_adds_each_value_in_a_window():
    shapes = [(4,), (1, 2, 2, 3)]

    assert counted("AvgPoolGrad", inputs=shapes, ksize=(1, 3, 2, 1)) == 144


def test_max_pool_grad_pools_again_and_then_adds_once_per_output():
    shapes = [(1, 6, 4, 3), (1, 2, 2, 3), (1, 2, 2, 3)]

    assert counted("MaxPoolGrad", inputs=shapes, ksize=(1, 3, 2, 1)) == 84


def test_bias_add_adds_once_per_element():
    assert counted("BiasAdd", inputs=[(2, 4, 4, 3), (3,)], data_format="NHWC") == 96


def test_conv_2d_backprop_input_counts_the_same_as_its_convolution():
    found = counted(
        "Conv2DBackpropInput",
        inputs=[(4,), (3, 3, 5, 8), (2, 3, 4, 8)],
        output=(2, 6, 8, 5),
        strides=(1, 2, 2, 1),
        data_format="NHWC",
    )

    assert found == 2 * 480 * 360 // (5 * 2 * 2)


def test_conv_2d_backprop_filter_counts_the_same_as_its_convolution():
    found = counted(
        "Conv2DBackpropFilter",
        inputs=[(2, 6, 8, 5), (4,), (2, 3, 4, 8)],
        output=(3, 3, 5, 8),
        strides=(1, 2, 2, 1),
        data_format="NHWC",
    )

    assert found == 2 * 480 * 360 // (5 * 2 * 2)


def test_a_convolution_gradient_is_truncated_to_an_integer():
    found = counted(
        "Conv2DBackpropInput",
        inputs=[(4,), (1, 1, 1, 1), (1, 2, 2, 1)],
        output=(1, 5, 5, 1),
        strides=(1, 3, 3, 1),
    )

    assert found == 5  # 50 / 9


def test_a_convolution_gradient_divides_in_floating_point():
    found = counted(
        "Conv2DBackpropFilter",
        inputs=[(1, 2**30 + 1, 2**30 + 1, 1), (4,), (1, 1, 1, 1)],
        output=(1, 1, 1, 1),
        strides=(1, 1, 1, 1),
    )

    assert found == 2**61 + 2**32  # the exact number has 2 more, which a float cannot represent


def test_a_convolution_gradient_without_channels_counts_as_zero():
    found = counted(
        "Conv2DBackpropInput",
        inputs=[(4,), (3, 3, 0, 8), (1, 4, 4, 8)],
        output=(1, 4, 4, 0),
        strides=(1, 1, 1, 1),
    )

    assert found == 0


def test_a_convolution_gradient_too_large_for_a_float_is_not_counted():
    huge = (2**62,) * 40

    found = counted("Conv2DBackpropInput", inputs=[(4,), huge], output=huge, strides=(1, 1, 1, 1))

    assert found is None


sizes = st.integers(1, 9)


@given(batch=sizes, sides=st.tuples(sizes, sizes), depths=st.tuples(sizes, sizes), data=st.data())
def test_the_data_format_does_not_change_a_convolution_gradient(batch, sides, depths, data):
    strides = data.draw(st.tuples(st.integers(1, 3), st.integers(1, 3)))
    depth, filters = depths
    weights = (3, 2, depth, filters)

    last = counted(
        "Conv2DBackpropInput",
        inputs=[(4,), weights],
        output=(batch, *sides, depth),
        strides=(1, *strides, 1),
        data_format="NHWC",
    )
    first = counted(
        "Conv2DBackpropInput",
        inputs=[(4,), weights],
        output=(batch, depth, *sides),
        strides=(1, 1, *strides),
        data_format="NCHW",
    )

    assert last == first


FORMATS = {
    "NHWC": {"image": (2, 6, 8, 5), "result": (2, 3, 4, 7), "window": (1, 3, 2, 1)},
    "NCHW": {"image": (2, 5, 6, 8), "result": (2, 7, 3, 4), "window": (1, 1, 3, 2)},
}


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        ("AvgPool", 6 * 168),
        ("MaxPool", 6 * 168),
        ("AvgPoolGrad", 2 * 6 * 168),
        ("MaxPoolGrad", 7 * 168),
        ("BiasAdd", 480),
        ("Conv2D", 2 * 168 * 30),
        ("DepthwiseConv2dNative", 2 * 168 * 6),
    ],
)
@pytest.mark.parametrize("data_format", ["NHWC", "NCHW"])
def test_the_data_format_does_not_change_the_count(kind, expected, data_format):
    given_format = FORMATS[data_format]
    image, result = given_format["image"], given_format["result"]
    second = result if kind.endswith("PoolGrad") else (3, 2, 5, 7)

    found = counted(
        kind,
        inputs=[image, second],
        output=result,
        ksize=given_format["window"],
        data_format=data_format,
    )

    assert found == expected


@pytest.mark.parametrize(
    ("image", "result"),
    [((1, 2, 4, 4, 3), (1, 2, 4, 4, 8)), ((1, 3, 2, 4, 4), (1, 8, 2, 4, 4))],
    ids=["NDHWC", "NCDHW"],
)
def test_the_data_format_does_not_change_a_conv_3d(image, result):
    assert counted("Conv3D", inputs=[image, (2, 3, 3, 3, 8)], output=result) == 2 * 256 * 54


def test_a_gradient_with_an_unknown_data_format_is_not_counted():
    found = counted(
        "Conv2DBackpropInput",
        inputs=[(4,), (3, 3, 5, 8)],
        output=(2, 6, 8, 5),
        strides=(1, 1, 1, 1),
        data_format="CHWN",
    )

    assert found is None


@pytest.mark.parametrize(
    "strides", [None, 2, ("1", "2", "2", "1"), (1, 2), (1, 0, 0, 1), (1, -1, 1, 1)]
)
def test_a_gradient_with_missing_or_invalid_strides_is_not_counted(strides):
    found = counted(
        "Conv2DBackpropInput", inputs=[(4,), (3, 3, 5, 8)], output=(2, 6, 8, 5), strides=strides
    )

    assert found is None


@pytest.mark.parametrize("kind", ["AvgPool", "MaxPool"])
def test_pooling_without_a_window_is_not_counted(kind):
    assert counted(kind, output=(1, 2, 2, 3)) is None


@pytest.mark.parametrize("kind", ["MatMul", "BatchMatMul"])
def test_a_product_with_a_scalar_is_not_counted(kind):
    assert counted(kind, inputs=[(), (3, 4)], output=(2, 4)) is None


@pytest.mark.parametrize(
    "kind",
    [
        *("Const", "Identity", "Placeholder", "NoOp", "VariableV2", "VarHandleOp", "Assign"),
        *("ReadVariableOp", "Reshape", "Transpose", "ConcatV2", "StridedSlice", "GatherV2", "Cast"),
        *("Switch", "Merge", "QueueDequeueManyV2", "SaveV2", "ScalarSummary", "Assert"),
        *("IteratorGetNext", "AnonymousIteratorV3", "ParallelBatchDataset", "RebatchDatasetV2"),
    ],
)
def test_a_kind_that_only_moves_values_counts_as_zero(kind):
    assert counted(kind) == 0


@pytest.mark.parametrize(
    "kind",
    [
        *("PartitionedCall", "StatefulPartitionedCall", "While", "If", "MapDataset"),
        *("ParallelMapDatasetV2", "TensorArrayWriteV3", "HistogramSummary", "Svd"),
    ],
)
def test_a_kind_that_may_compute_something_has_no_rule(kind):
    assert registry.rule_of(kind) is None


def test_the_classic_kinds_are_those_of_tensorflows_own_profiler():
    assert registry.classic_kinds() == [
        *("Add", "AddN", "AddV2", "ArgMax", "ArgMin", "AssignAdd", "AssignSub", "AvgPool"),
        *("AvgPoolGrad", "BatchMatMul", "BatchMatMulV2", "BatchMatMulV3", "BiasAdd", "BiasAddGrad"),
        *("Conv2D", "Conv2DBackpropFilter", "Conv2DBackpropInput", "Conv3D"),
        *("DepthwiseConv2dNative", "Dilation2D", "Equal", "Greater", "GreaterEqual", "L2Loss"),
        *("Less", "LessEqual", "Log", "MatMul", "MaxPool", "MaxPoolGrad", "Maximum", "Mean"),
        *("Minimum", "Mul", "Neg", "NotEqual", "Pow", "RealDiv", "Reciprocal", "Rsqrt"),
        *("RsqrtGrad", "Softmax", "Square", "SquaredDifference", "Sub", "Sum"),
    ]


@pytest.fixture
def table(monkeypatch):
    """A copy of the table of rules that a test may change."""
    monkeypatch.setattr(registry, "_rules", dict(registry._rules))


@pytest.mark.usefixtures("table")
def test_a_rule_can_be_added():
    registry.register("Gelu", lambda op: 8 * op.input(0)[0])

    assert counted("Gelu", inputs=[(5,)]) == 40


@pytest.mark.usefixtures("table")
def test_a_rule_can_be_replaced():
    registry.register("Square", lambda _: 7)
    registry.register("Const", lambda _: 1)

    assert counted("Square", inputs=[(5,)]) == 7
    assert counted("Const") == 1


@pytest.mark.usefixtures("table")
def test_a_rule_can_query_the_kind_and_the_number_of_inputs():
    registry.register("Twice", lambda op: len(op.kind) * op.input_count)

    assert counted("Twice", inputs=[None, None]) == 10


@pytest.mark.usefixtures("table")
def test_a_negative_input_position_is_unknown():
    registry.register("Last", lambda op: op.input(-1)[0])

    assert counted("Last", inputs=[(5,), (6,)]) is None
