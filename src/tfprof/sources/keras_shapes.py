"""Output shapes of Keras layers, for those that follow from the configuration and the inputs."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

from tfprof.columns import Shape

Config: TypeAlias = Mapping[str, Any]
Known: TypeAlias = tuple[int, ...]  # -1 for open dimensions
LARGEST_DIM = 1 << 62
Rule: TypeAlias = Callable[[Config, list[Known]], Shape]


def output_shape(kind: str, config: Config, inputs: Sequence[Shape]) -> Shape:
    """The output of a layer of class `kind`, or None if it is unknown."""
    try:
        if kind == "InputLayer":
            stated = config.get("batch_shape", config.get("batch_input_shape"))
            return _checked([-1 if dim is None else int(dim) for dim in stated])
        known = [shape for shape in inputs if shape is not None]
        rule = _RULES.get(kind)
        if rule is None or not known or len(known) < len(inputs):
            return None
        return _checked(rule(config, known))
    except _UNEXPECTED:
        return None  # the configuration is incomplete or not as expected


_UNEXPECTED = (LookupError, TypeError, ValueError, ArithmeticError, AttributeError, RecursionError)


def _checked(shape: Sequence[int] | None) -> Shape:
    """A shape, or None if a dimension cannot exist."""
    is_possible = shape is not None and all(-1 <= dim < LARGEST_DIM for dim in shape)
    return tuple(shape) if shape is not None and is_possible else None


def _same(_: Config, inputs: list[Known]) -> Shape:
    return inputs[0]


def _dense(config: Config, inputs: list[Known]) -> Shape:
    return (*inputs[0][:-1], int(config["units"]))


def _embedding(config: Config, inputs: list[Known]) -> Shape:
    return (*inputs[0], int(config["output_dim"]))


def _flatten(_: Config, inputs: list[Known]) -> Shape:
    sides = inputs[0][1:]
    return (inputs[0][0], -1 if -1 in sides else math.prod(sides))


def _reshape(config: Config, inputs: list[Known]) -> Shape:
    sides, target = inputs[0][1:], tuple(int(dim) for dim in config["target_shape"])
    if -1 not in target or -1 in sides:
        return (inputs[0][0], *target)
    open_side = math.prod(sides) // -math.prod(target)
    return (inputs[0][0], *(open_side if dim < 0 else dim for dim in target))


def _permute(config: Config, inputs: list[Known]) -> Shape:
    return (inputs[0][0], *(inputs[0][int(dim)] for dim in config["dims"]))


def _repeat(config: Config, inputs: list[Known]) -> Shape:
    return (inputs[0][0], int(config["n"]), *inputs[0][1:])


def _recurrent(config: Config, inputs: list[Known]) -> Shape:
    if config.get("return_state"):
        return None
    steps = inputs[0][1:2] if config.get("return_sequences") else ()
    return (inputs[0][0], *steps, int(config["units"]))


def _bidirectional(config: Config, inputs: list[Known]) -> Shape:
    inner = config["layer"]
    shape = output_shape(inner["class_name"], inner["config"], inputs)
    merge = config.get("merge_mode", "concat")
    if shape is None or merge is None:
        return None
    return (*shape[:-1], 2 * shape[-1]) if merge == "concat" else shape


def _wrapped(config: Config, inputs: list[Known]) -> Shape:
    inner = config["layer"]
    return output_shape(inner["class_name"], inner["config"], inputs)


def _each_step(config: Config, inputs: list[Known]) -> Shape:
    inner = config["layer"]
    one = (inputs[0][0], *inputs[0][2:])
    shape = output_shape(inner["class_name"], inner["config"], [one])
    return None if shape is None else (shape[0], inputs[0][1], *shape[1:])


def _attention(config: Config, inputs: list[Known]) -> Shape:
    return inputs[0] if config.get("output_shape") is None else None


def _elementwise(_: Config, inputs: list[Known]) -> Shape:
    return inputs[0] if len(set(inputs)) == 1 else None


def _concatenate(config: Config, inputs: list[Known]) -> Shape:
    axis = int(config.get("axis", -1)) % len(inputs[0])
    sizes = [shape[axis] for shape in inputs]
    total = -1 if -1 in sizes else sum(sizes)
    return (*inputs[0][:axis], total, *inputs[0][axis + 1 :])


Side: TypeAlias = Callable[[int, int], int]  # the size and number of a dimension: its new size


def _by_side(inputs: list[Known], config: Config, change: Side, channels: int | None) -> Shape:
    """Change each spatial dimension; `channels` replaces the number of channels."""
    shape = inputs[0]
    is_first = config.get("data_format") == "channels_first"
    sides = shape[2:] if is_first else shape[1:-1]
    depth = channels if channels is not None else shape[1 if is_first else -1]
    changed = tuple(-1 if size < 0 else change(size, at) for at, size in enumerate(sides))
    return (shape[0], depth, *changed) if is_first else (shape[0], *changed, depth)


def _listed(value: Any, at: int) -> int:
    """The value of one dimension; a number is the value of all."""
    return int(value[at]) if isinstance(value, list) else int(value)


def _windows(config: Config, size_name: str, default_strides: Any = 1) -> Side:
    """How many windows of a convolution or pooling fit into a dimension."""
    strides = config.get("strides")
    strides = default_strides if strides is None else strides

    def change(size: int, at: int) -> int:
        step = _listed(strides, at)
        if config.get("padding") in ("same", "causal"):
            return -(-size // step)
        wide = (_listed(config[size_name], at) - 1) * _listed(config.get("dilation_rate", 1), at)
        return (size - wide - 1) // step + 1

    return change


def _convolution(config: Config, inputs: list[Known]) -> Shape:
    change = _windows(config, "kernel_size")
    return _by_side(inputs, config, change, int(config["filters"]))


def _depthwise(config: Config, inputs: list[Known]) -> Shape:
    shape = _by_side(inputs, config, _windows(config, "kernel_size"), None)
    is_first = config.get("data_format") == "channels_first"
    depth = inputs[0][1 if is_first else -1] * int(config.get("depth_multiplier", 1))
    if shape is None:
        return None
    return (shape[0], depth, *shape[2:]) if is_first else (*shape[:-1], depth)


def _transposed(config: Config, inputs: list[Known]) -> Shape:
    if config.get("output_padding") is not None:
        return None

    def change(size: int, at: int) -> int:
        step = _listed(config.get("strides", 1), at)
        wide = (_listed(config["kernel_size"], at) - 1) * _listed(
            config.get("dilation_rate", 1), at
        ) + 1
        return size * step + (0 if config.get("padding") == "same" else max(wide - step, 0))

    return _by_side(inputs, config, change, int(config["filters"]))


def _pooling(config: Config, inputs: list[Known]) -> Shape:
    change = _windows(config, "pool_size", config["pool_size"])
    return _by_side(inputs, config, change, None)


def _pooling_all(config: Config, inputs: list[Known]) -> Shape:
    if config.get("keepdims"):
        return _by_side(inputs, config, lambda *_: 1, None)
    return (inputs[0][0], inputs[0][1 if config.get("data_format") == "channels_first" else -1])


def _around(value: Any, at: int) -> int:
    """The elements before and after a dimension: `1`, `[1, 1]` or `[[1, 1], [0, 2]]`."""
    if not isinstance(value, list):
        return 2 * int(value)
    before, after = value[at] if isinstance(value[0], list) else value
    return int(before) + int(after)


def _padded(config: Config, inputs: list[Known]) -> Shape:
    change: Side = lambda size, at: size + _around(config["padding"], at)  # noqa: E731
    return _by_side(inputs, config, change, None)


def _cropped(config: Config, inputs: list[Known]) -> Shape:
    change: Side = lambda size, at: size - _around(config["cropping"], at)  # noqa: E731
    return _by_side(inputs, config, change, None)


def _larger(config: Config, inputs: list[Known]) -> Shape:
    change: Side = lambda size, at: size * _listed(config["size"], at)  # noqa: E731
    return _by_side(inputs, config, change, None)


def _of(rule: Rule, *kinds: str, dims: str = "") -> dict[str, Rule]:
    """A rule for these classes; with `dims`, one for each number of dimensions."""
    names = [f"{kind}{dim}D" for kind in kinds for dim in dims] if dims else kinds
    return dict.fromkeys(names, rule)


_UNCHANGED = (
    *("Activation", "ReLU", "LeakyReLU", "ELU", "PReLU", "Softmax", "Identity", "Masking"),
    *("Dropout", "GaussianDropout", "AlphaDropout", "GaussianNoise", "ActivityRegularization"),
    *("BatchNormalization", "LayerNormalization", "GroupNormalization", "RMSNormalization"),
    *("UnitNormalization", "Normalization", "Rescaling"),
    *("RandomFlip", "RandomRotation", "RandomZoom", "RandomTranslation", "RandomContrast"),
    *("RandomBrightness", "RandomSaturation", "RandomHue"),
)

_RULES: dict[str, Rule] = {
    **_of(_same, *_UNCHANGED),
    **_of(_same, "SpatialDropout", dims="123"),
    **_of(_dense, "Dense"),
    **_of(_embedding, "Embedding"),
    **_of(_flatten, "Flatten"),
    **_of(_reshape, "Reshape"),
    **_of(_permute, "Permute"),
    **_of(_repeat, "RepeatVector"),
    **_of(_recurrent, "LSTM", "GRU", "SimpleRNN"),
    **_of(_bidirectional, "Bidirectional"),
    **_of(_each_step, "TimeDistributed"),
    **_of(_wrapped, "SpectralNormalization"),
    **_of(_attention, "MultiHeadAttention", "GroupedQueryAttention"),
    **_of(_elementwise, "Add", "Subtract", "Multiply", "Average", "Maximum", "Minimum"),
    **_of(_concatenate, "Concatenate"),
    **_of(_convolution, "Conv", "SeparableConv", dims="123"),
    **_of(_depthwise, "DepthwiseConv", dims="12"),
    **_of(_transposed, "Conv1DTranspose", "Conv2DTranspose", "Conv3DTranspose"),
    **_of(_pooling, "MaxPooling", "AveragePooling", dims="123"),
    **_of(_pooling_all, "GlobalMaxPooling", "GlobalAveragePooling", dims="123"),
    **_of(_padded, "ZeroPadding", dims="123"),
    **_of(_cropped, "Cropping", dims="123"),
    **_of(_larger, "UpSampling", dims="123"),
}
