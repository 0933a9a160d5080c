"""Whole models and random shapes, compared with counts that do not use the rules."""

import string
from itertools import product
from math import prod

import pytest
from hypothesis import given
from hypothesis import strategies as st

from build import op, profile
from counting import counted
from tfprof.measures import flops

small = st.integers(1, 4)


def total(*facts):
    """The total float operations of these ops, after checking that all are counted."""
    built = profile(*facts, counts_float_ops=True)
    found = flops.count(built)
    assert found.is_counted.all()
    return int(found.per_run.sum())


class Tally:
    """Counts the multiplies, adds and other operations of naive loops."""

    def __init__(self):
        self.count = 0

    def dot(self, length):
        for _ in range(length):
            self.count += 2

    def each(self, shape, operations):
        for _ in product(*map(range, shape)):
            self.count += operations


# Naive loops.


@given(
    batch=small,
    image=st.tuples(small, small),
    window=st.tuples(small, small),
    depth=st.integers(1, 3),
    groups=st.integers(1, 3),
    filters=st.integers(1, 3),
    stride=st.integers(1, 3),
    dilation=st.integers(1, 3),
    is_channels_first=st.booleans(),
)
def test_a_convolution_counts_the_same_as_naive_loops(
    *, batch, image, window, depth, groups, filters, stride, dilation, is_channels_first
):
    # Padded so that every window position is inside the image for any dilation.
    sides = [(size - 1) // stride + 1 for size in image]
    tally = Tally()
    for _ in product(range(batch), *map(range, sides), range(groups), range(filters)):
        for _ in product(*map(range, window), range(depth)):
            tally.dot(1)
    channels, results = groups * depth, groups * filters
    given_image = (batch, channels, *image) if is_channels_first else (batch, *image, channels)
    result = (batch, results, *sides) if is_channels_first else (batch, *sides, results)
    weights = (*window, depth, results)
    attributes = {
        "data_format": "NCHW" if is_channels_first else "NHWC",
        "dilations": (1, 1, dilation, dilation) if is_channels_first else (1, dilation) * 2,
    }

    forward = counted("Conv2D", inputs=[given_image, weights], output=result, **attributes)
    backward = [
        counted("Conv2DBackpropInputV2", inputs=[given_image, weights, result], output=given_image),
        counted("Conv2DBackpropFilterV2", inputs=[given_image, weights, result], output=weights),
    ]

    assert [forward, *backward] == [tally.count] * 3


@given(sides=st.tuples(small, small, small), window=st.tuples(small, small, small), data=st.data())
def test_a_3d_convolution_counts_the_same_as_naive_loops(sides, window, data):
    batch, depth, filters = data.draw(st.tuples(small, small, small))
    tally = Tally()
    for _ in product(range(batch), *map(range, sides), range(filters)):
        tally.dot(prod(window) * depth)
    image, result = (batch, *sides, depth), (batch, *sides, filters)
    weights = (*window, depth, filters)

    assert counted("Conv3D", inputs=[image, weights], output=result) == tally.count
    assert counted("Conv", inputs=[image, weights], output=result) == tally.count
    assert counted("Conv3DBackpropInputV2", inputs=[(5,), weights, result]) == tally.count
    filter_gradient = {"inputs": [image, (5,), result], "output": weights}
    assert counted("Conv3DBackpropFilterV2", **filter_gradient) == tally.count


@given(batch=small, sides=st.tuples(small, small), channels=small, window=st.tuples(small, small))
def test_pooling_counts_the_same_as_naive_loops(batch, sides, channels, window):
    tally = Tally()
    for _ in product(range(batch), *map(range, sides), range(channels)):
        tally.each(window, 1)

    found = counted("MaxPool", output=(batch, *sides, channels), ksize=(1, *window, 1))

    assert found == tally.count


letters = st.lists(st.sampled_from("abcd"), max_size=3, unique=True)


@given(operands=st.lists(letters, min_size=1, max_size=3), data=st.data())
def test_an_einsum_is_counted_over_all_combinations_of_its_letters(operands, data):
    sizes = data.draw(st.fixed_dictionaries(dict.fromkeys("abcd", small)))
    used = sorted({letter for operand in operands for letter in operand})
    kept = [letter for letter in used if data.draw(st.booleans())]
    tally = Tally()
    results = set()
    for point in product(*(range(sizes[letter]) for letter in used)):
        place = tuple(index for letter, index in zip(used, point, strict=True) if letter in kept)
        tally.count += len(operands) - 1  # multiplies
        if kept != used and (len(operands) > 1 or place in results):
            tally.count += 1  # an add
        results.add(place)

    found = counted(
        "Einsum",
        inputs=[tuple(sizes[letter] for letter in operand) for operand in operands],
        output=tuple(sizes[letter] for letter in kept),
        equation=f"{','.join(map(''.join, operands))}->{''.join(kept)}",
    )

    assert found == tally.count


@given(batch=st.lists(small, max_size=2), sides=st.tuples(small, small, small))
def test_an_einsum_with_an_ellipsis_counts_the_same_as_a_batched_product(batch, sides):
    rows, shared, columns = sides
    shapes = {
        "inputs": [(*batch, rows, shared), (*batch, shared, columns)],
        "output": (*batch, rows, columns),
    }

    product_ = counted("BatchMatMulV2", **shapes)

    assert counted("Einsum", equation="...ij,...jk->...ik", **shapes) == product_
    alphabet = string.ascii_uppercase[: len(batch)]
    spelled = f"{alphabet}ij, {alphabet}jk -> {alphabet}ik"
    assert counted("Einsum", equation=spelled, **shapes) == product_


@pytest.mark.parametrize(
    ("equation", "inputs", "number"),
    [
        ("ij->ji", [(2, 3)], 0),
        ("ij->i", [(2, 3)], 4),
        ("ii->", [(3, 3)], 2),
        ("ij->", [(0, 3)], 0),
        ("i,j->ij", [(2,), (3,)], 6),
        ("ij,ij->ij", [(2, 3), (2, 3)], 6),
        ("...i,i->...", [(4, 2, 3), (3,)], 48),
        ("...i,...i->...i", [(4, 1, 3), (2, 3)], 24),
        ("a...b,b->a", [(4, 2, 3), (3,)], 48),
    ],
)
def test_an_einsum_counts_only_the_necessary_multiplies_and_adds(equation, inputs, number):
    assert counted("Einsum", inputs=inputs, equation=equation) == number


@pytest.mark.parametrize(
    ("equation", "inputs"),
    [
        ("ij,jk", [(2, 3), (3, 4)]),
        ("ij,jk->ik", [(2, 3)]),
        ("ij,jk->ik", [(2, 3), (4, 5)]),
        ("ij->ij", [(2, 3, 4)]),
        ("ijk->ij", [(2, 3)]),
        ("...i,...i->...", [(2, 3), (4, 3)]),
        (7, [(2,)]),
        ("", [()]),
    ],
)
def test_an_einsum_whose_equation_does_not_fit_its_inputs_is_not_counted(equation, inputs):
    assert counted("Einsum", inputs=inputs, equation=equation) is None


# Models.


def test_the_float_operations_of_a_convolutional_network_match_a_formula():
    batch, side, depth, filters, classes = 8, 16, 3, 12, 10
    half = side // 2
    features = half * half * filters

    found = total(
        op("x", "Placeholder", outputs=[(batch, side, side, depth)]),
        op("kernel", "VarHandleOp", outputs=[()]),
        op("k", "ReadVariableOp", inputs=["kernel"], outputs=[(3, 3, depth, filters)]),
        op(
            "conv",
            "Conv2D",
            inputs=["x", "k"],
            outputs=[(batch, side, side, filters)],
            attributes={"strides": (1, 1, 1, 1), "data_format": "NHWC"},
        ),
        op("c", "Const", outputs=[(filters,)]),
        op(
            "bn",
            "FusedBatchNormV3",
            inputs=["conv", "c", "c", "c", "c"],
            outputs=[(batch, side, side, filters)],
            attributes={"is_training": True},
        ),
        op("relu", "Relu", inputs=["bn"], outputs=[(batch, side, side, filters)]),
        op(
            "pool",
            "MaxPool",
            inputs=["relu"],
            outputs=[(batch, half, half, filters)],
            attributes={"ksize": (1, 2, 2, 1)},
        ),
        op("flat", "Reshape", inputs=["pool", "c"], outputs=[(batch, features)]),
        op("w", "Const", outputs=[(features, classes)]),
        op("logits", "MatMul", inputs=["flat", "w"], outputs=[(batch, classes)]),
        op("b", "Const", outputs=[(classes,)]),
        op("biased", "BiasAdd", inputs=["logits", "b"], outputs=[(batch, classes)]),
        op("labels", "Placeholder", outputs=[(batch,)]),
        op(
            "loss",
            "SparseSoftmaxCrossEntropyWithLogits",
            inputs=["biased", "labels"],
            outputs=[(batch,), (batch, classes)],
        ),
        op(
            "gradients/logits_grad/MatMul",
            "MatMul",
            inputs=["flat", "loss:1"],
            outputs=[(features, classes)],
            attributes={"transpose_a": True},
        ),
        op("rate", "Const", outputs=[()]),
        op(
            "update",
            "ResourceApplyGradientDescent",
            inputs=["kernel", "rate", "gradients/logits_grad/MatMul"],
        ),
    )

    pixels = batch * side * side
    assert found == sum(
        [
            pixels * filters * (3 * 3 * depth) * 2,  # convolution
            pixels * filters * 7 + 4 * filters,  # batch norm
            pixels * filters,  # relu
            batch * half * half * filters * 4,  # pooling
            batch * classes * features * 2 + batch * classes,  # dense
            batch * (classes * 5 + 3),  # loss
            batch * classes * features * 2,  # gradient
            features * classes * 2,  # update
        ]
    )


def test_the_float_operations_of_an_lstm_of_small_ops_match_a_formula():
    batch, inputs, state = 4, 5, 6
    one, four = [(batch, state)], [(batch, 4 * state)]

    found = total(
        op("xh", "Placeholder", outputs=[(batch, inputs + state)]),
        op("w", "Const", outputs=[(inputs + state, 4 * state)]),
        op("b", "Const", outputs=[(4 * state,)]),
        op("c", "Placeholder", outputs=one),
        op("product", "MatMul", inputs=["xh", "w"], outputs=four),
        op("gates", "BiasAdd", inputs=["product", "b"], outputs=four),
        op("split", "Split", inputs=["b", "gates"], outputs=one * 4),
        op("one", "Const", outputs=[()]),
        op("forget_bias", "AddV2", inputs=["split:2", "one"], outputs=one),
        op("i", "Sigmoid", inputs=["split:0"], outputs=one),
        op("f", "Sigmoid", inputs=["forget_bias"], outputs=one),
        op("o", "Sigmoid", inputs=["split:3"], outputs=one),
        op("j", "Tanh", inputs=["split:1"], outputs=one),
        op("kept", "Mul", inputs=["c", "f"], outputs=one),
        op("new", "Mul", inputs=["i", "j"], outputs=one),
        op("state", "AddV2", inputs=["kept", "new"], outputs=one),
        op("tanh", "Tanh", inputs=["state"], outputs=one),
        op("h", "Mul", inputs=["tanh", "o"], outputs=one),
    )

    weights = (inputs + state) * 4 * state
    assert found == batch * (2 * weights + 4 * state + state * (1 + 3 * 4 + 2 + 3 + 1))


@given(batch=small, inputs=small, state=small)
def test_an_lstm_cell_in_one_op_counts_the_same_as_one_of_small_ops(batch, inputs, state):
    peepholes = [(state,)] * 3
    weights = (inputs + state, 4 * state)

    found = counted(
        "LSTMBlockCell",
        inputs=[(batch, inputs), *[(batch, state)] * 2, weights, *peepholes, (4 * state,)],
        cell_clip=-1.0,
    )

    assert found == batch * (2 * prod(weights) + 4 * state + state * (1 + 3 * 4 + 2 + 3 + 1))


@given(steps=small, batch=small, inputs=small, state=small)
def test_an_lstm_over_a_sequence_counts_its_cell_once_per_step(steps, batch, inputs, state):
    weights = [(inputs + state, 4 * state), *[(state,)] * 3, (4 * state,)]
    states = [(batch, state)] * 2
    attributes = {"cell_clip": 3.0, "use_peephole": True}

    cell = counted("LSTMBlockCell", inputs=[(batch, inputs), *states, *weights], **attributes)
    whole = counted(
        "BlockLSTM", inputs=[(), (steps, batch, inputs), *states, *weights], **attributes
    )

    assert whole == steps * cell


def test_the_float_operations_of_a_transformer_layer_match_a_formula():
    batch, length, width, heads, inner = 2, 16, 32, 4, 128
    size = width // heads
    tokens = [(batch, length, width)]
    split = [(batch, length, heads, size)]
    scores = [(batch, heads, length, length)]

    def project(name, source):
        return op(
            name,
            "Einsum",
            inputs=[source, "w_in"],
            outputs=split,
            attributes={"equation": "btd,dhk->bthk"},
        )

    def layer_norm(name, source):
        rows = [(batch, length, 1)]
        return [
            op(f"{name}/mean", "Mean", inputs=[source, "axis"], outputs=rows),
            op(f"{name}/d", "SquaredDifference", inputs=[source, f"{name}/mean"], outputs=tokens),
            op(f"{name}/var", "Mean", inputs=[f"{name}/d", "axis"], outputs=rows),
            op(f"{name}/eps", "AddV2", inputs=[f"{name}/var", "one"], outputs=rows),
            op(f"{name}/rsqrt", "Rsqrt", inputs=[f"{name}/eps"], outputs=rows),
            op(f"{name}/gamma", "Mul", inputs=[f"{name}/rsqrt", "g"], outputs=tokens),
            op(f"{name}/x", "Mul", inputs=[source, f"{name}/gamma"], outputs=tokens),
            op(f"{name}/m", "Mul", inputs=[f"{name}/mean", f"{name}/gamma"], outputs=tokens),
            op(f"{name}/beta", "Sub", inputs=["g", f"{name}/m"], outputs=tokens),
            op(name, "AddV2", inputs=[f"{name}/x", f"{name}/beta"], outputs=tokens),
        ]

    found = total(
        op("x", "Placeholder", outputs=tokens),
        op("one", "Const", outputs=[()]),
        op("axis", "Const", outputs=[(1,)]),
        op("g", "Const", outputs=[(width,)]),
        op("w_in", "Const", outputs=[(width, heads, size)]),
        op("w_out", "Const", outputs=[(heads, size, width)]),
        op("w_up", "Const", outputs=[(width, inner)]),
        op("w_down", "Const", outputs=[(inner, width)]),
        *(project(name, "x") for name in "qkv"),
        op("scaled", "Mul", inputs=["q", "one"], outputs=split),
        op(
            "scores",
            "Einsum",
            inputs=["k", "scaled"],
            outputs=scores,
            attributes={"equation": "bshk,bthk->bhts"},
        ),
        op("attention", "Softmax", inputs=["scores"], outputs=scores),
        op(
            "mixed",
            "Einsum",
            inputs=["attention", "v"],
            outputs=split,
            attributes={"equation": "bhts,bshk->bthk"},
        ),
        op(
            "out",
            "Einsum",
            inputs=["mixed", "w_out"],
            outputs=tokens,
            attributes={"equation": "bthk,hkd->btd"},
        ),
        op("residual", "AddV2", inputs=["x", "out"], outputs=tokens),
        *layer_norm("norm", "residual"),
        op("flat", "Reshape", inputs=["norm", "axis"], outputs=[(batch * length, width)]),
        op("up", "MatMul", inputs=["flat", "w_up"], outputs=[(batch * length, inner)]),
        op("relu", "Relu", inputs=["up"], outputs=[(batch * length, inner)]),
        op("down", "MatMul", inputs=["relu", "w_down"], outputs=[(batch * length, width)]),
    )

    count = batch * length
    assert found == sum(
        [
            4 * 2 * count * width * width,  # queries, keys, values, result
            2 * 2 * batch * length * length * width,  # scores, mixing
            count * width,  # scaling
            5 * batch * heads * length * length,  # softmax
            count * width,  # residual
            count * (9 * width + 3),  # layer norm
            2 * 2 * count * width * inner + count * inner,  # feed-forward
        ]
    )
