"""Rules of PyTorch's ops give the numbers of `torch.utils.flop_counter`, for random shapes."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from packaging.version import Version

from counting import counted
from profile_strategies import often
from tfprof.measures.flop_rules.registry import no_arithmetic, rule_of

pytest.importorskip("torch", reason="compares with PyTorch's own counter")

import torch
from torch.utils.flop_counter import flop_registry

pytestmark = pytest.mark.live

aten = torch.ops.aten
sides = st.integers(1, 9)


def by_pytorch(name, *arguments, out=None):
    """The float operations that PyTorch counts for an op with these shapes and arguments."""
    return flop_registry[getattr(aten, name)](*map(empty, arguments), out_val=empty(out))


def empty(value):
    """A tensor without values for each shape, which is a tuple of numbers."""
    if isinstance(value, tuple) and all(type(one) is int for one in value):
        return torch.empty(value, device="meta")
    return tuple(map(empty, value)) if isinstance(value, tuple) else value


@often
@given(sides, sides, sides, sides)
def test_products(batch, rows, shared, columns):
    left, right = (rows, shared), (shared, columns)
    cases = {
        "mm": [left, right],
        "addmm": [(columns,), left, right],
        "bmm": [(batch, *left), (batch, *right)],
        "baddbmm": [(batch, rows, columns), (batch, *left), (batch, *right)],
        "_scaled_mm": [left, right, (), ()],
    }
    for name, shapes in cases.items():
        assert counted(f"aten::{name}", stated=shapes) == by_pytorch(name, *shapes)


windows = st.tuples(
    *(st.integers(1, 3) for _ in range(2)),  # window and stride
    st.integers(0, 2),  # padding
    st.integers(1, 2),  # dilation
)


@st.composite
def convolutions(draw):
    """The shapes and arguments of a convolution."""
    rank, groups = draw(st.integers(1, 3)), draw(st.integers(1, 3))
    batch, inputs, outputs = draw(sides), groups * draw(sides), groups * draw(sides)
    is_transposed = draw(st.booleans())
    window, stride, padding, dilation = zip(*(draw(windows) for _ in range(rank)), strict=True)
    sizes = [9 + draw(sides) for _ in range(rank)]
    channels = (inputs, outputs // groups) if is_transposed else (outputs, inputs // groups)
    image, weight = (batch, inputs, *sizes), (*channels, *window)
    rest = (stride, padding, dilation, is_transposed, (0,) * rank, groups)
    return image, weight, rest


NAMES = ("stride", "padding", "dilation", "transposed", "output_padding", "groups")


def results(image, weight, rest):
    """The shape of the result of a convolution."""
    tensors = (torch.empty(shape, device="meta") for shape in (image, weight))
    stride, padding, dilation, *others = rest
    return tuple(aten.convolution(*tensors, None, stride, padding, dilation, *others).shape)


@often
@given(convolutions())
def test_convolutions(drawn):
    image, weight, rest = drawn
    output = results(image, weight, rest)
    attributes = dict(zip(NAMES, rest, strict=True))

    found = counted("aten::convolution", stated=[image, weight], **attributes)

    assert found == by_pytorch("convolution", image, weight, None, *rest, out=output)


@often
@given(convolutions(), st.booleans(), st.booleans())
def test_gradients_of_convolutions(drawn, of_input, of_weight):
    image, weight, rest = drawn
    output = results(image, weight, rest)
    mask = (of_input, of_weight, False)
    attributes = dict(zip(NAMES, rest, strict=True)) | {"output_mask": mask}

    found = counted("aten::convolution_backward", stated=[output, image, weight], **attributes)

    out = (image, weight, (1,))
    arguments = (output, image, weight, None, *rest)
    masks = [of_input, False, False], [False, of_weight, False]
    parts = [by_pytorch("convolution_backward", *arguments, mask, out=out) for mask in masks]
    # For the weight, PyTorch counts products of inputs and outputs of different groups, too.
    assert found == parts[0] + parts[1] // rest[-1]


ATTENTION = ("_scaled_dot_product_{}_attention", "_scaled_dot_product_{}_attention_backward")


# Older versions refuse heads that share keys.
MOST_SHARED = 3 if Version(torch.__version__) >= Version("2.13") else 1


@often
@given(st.tuples(*[sides] * 5), st.integers(1, 3), st.integers(1, MOST_SHARED))
def test_attention(drawn, heads, shared):
    batch, queries, keys, width, values = drawn
    query, key = (batch, heads * shared, queries, width), (batch, heads, keys, width)
    value, gradient = (batch, heads, keys, values), (batch, heads * shared, queries, values)
    for kind in ("flash", "efficient", "cudnn"):
        forward, backward = (name.format(kind) for name in ATTENTION)
        shapes = [query, key, value]
        assert counted(f"aten::{forward}", stated=shapes) == by_pytorch(forward, *shapes)
        shapes = [gradient, *shapes]
        assert counted(f"aten::{backward}", stated=shapes) == by_pytorch(backward, *shapes)


def test_every_kind_that_pytorch_counts_has_a_rule():
    names = [str(one) for one in flop_registry if str(one).startswith("aten.")]
    rules = {name: rule_of(name.replace(".", "::")) for name in names}

    assert [name for name, rule in rules.items() if rule in (None, no_arithmetic)] == []
