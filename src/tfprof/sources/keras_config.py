"""The layers in the configuration of a Keras model."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tfprof.columns import Shape
from tfprof.sources.keras_shapes import LARGEST_DIM, output_shape

_MOST_DEPTH = 30


@dataclass(frozen=True, slots=True)
class ConfiguredLayer:
    """A layer; a model is a layer with layers of its own."""

    name: str
    kind: str  # the name of its class
    config: Mapping[str, Any]
    is_trainable: bool
    key: str  # the name of its group in a file of weights
    output_shape: Shape = None
    layers: tuple[ConfiguredLayer, ...] = ()


def layers_of(config: Mapping[str, Any]) -> tuple[ConfiguredLayer, ...]:
    """The layers of the model with this configuration, in its own order."""
    return _Model(config, is_trainable=True, depth=0).layers()


class _Model:
    """A model's configuration; in a functional model layers state the tensors that they use."""

    def __init__(self, config: Mapping[str, Any], *, is_trainable: bool, depth: int) -> None:
        inside = _mapping(config.get("config"))
        self._is_trainable = is_trainable and inside.get("trainable") is not False
        self._depth = depth
        described = inside.get("layers") if depth < _MOST_DEPTH else None
        self._layers = [one for one in _list(described) if isinstance(one, dict)]
        self._is_chain = config.get("class_name") == "Sequential"
        self._start = _shape(inside.get("build_input_shape"))
        self._used = dict(_used_shapes(self._layers))
        self._found: dict[str, Shape] = {}

    def layers(self) -> tuple[ConfiguredLayer, ...]:
        keys: Counter[str] = Counter()
        found = []
        before = self._start
        for place, described in enumerate(self._layers):
            layer = self._layer(place, described, before, _key(described, keys))
            before = self._found[layer.name] = layer.output_shape
            # Keras does not list the inputs of a chain among its layers.
            if not self._is_chain or layer.kind != "InputLayer":
                found.append(layer)
        return tuple(found)

    def _layer(
        self, place: int, described: Mapping[str, Any], before: Shape, key: str
    ) -> ConfiguredLayer:
        config = _mapping(described.get("config"))
        name = str(described.get("name") or config.get("name") or key)
        kind = str(described.get("class_name") or "")
        is_trainable = self._is_trainable and config.get("trainable") is not False
        inner: tuple[ConfiguredLayer, ...] = ()
        if isinstance(config.get("layers"), list):
            inside = _Model(described, is_trainable=is_trainable, depth=self._depth + 1)
            inner = inside.layers()
        shape = self._used.get(name) or self._next_input(place)
        if shape is None:
            inputs = self._inputs(described, before)
            shape = _model_output(config, inner) if inner else output_shape(kind, config, inputs)
        return ConfiguredLayer(name, kind, config, is_trainable, key, shape, inner)

    def _next_input(self, place: int) -> Shape:
        """In a chain, the shape for which the next layer was built."""
        if not self._is_chain or place + 1 >= len(self._layers):
            return None
        return _shape(_mapping(self._layers[place + 1].get("build_config")).get("input_shape"))

    def _inputs(self, described: Mapping[str, Any], before: Shape) -> list[Shape]:
        """The shapes of the tensors that a layer gets."""
        nodes = described.get("inbound_nodes")
        if isinstance(nodes, list) and nodes:
            stated = [_shape(tensor.get("shape")) for tensor in _tensors(nodes[0])]
            old = [self._found.get(name) for name in _old_names(nodes[0])]
            return stated or old
        if self._is_chain and before is not None:
            return [before]
        return [_shape(_mapping(described.get("build_config")).get("input_shape"))]


def _model_output(config: Mapping[str, Any], layers: Sequence[ConfiguredLayer]) -> Shape:
    """The output of a nested model: that of its only output layer, or of the last in a chain."""
    outputs = config.get("output_layers")
    if outputs is None:
        return layers[-1].output_shape
    if isinstance(outputs, list) and len(outputs) == 1 and isinstance(outputs[0], list):
        outputs = outputs[0]
    if isinstance(outputs, list) and outputs and isinstance(outputs[0], str):
        return next((one.output_shape for one in layers if one.name == outputs[0]), None)
    return None


def _used_shapes(layers: Sequence[Mapping[str, Any]]) -> Iterator[tuple[str, Shape]]:
    """The shapes of tensors that layers use, by the layer that produces them.

    Layers with several outputs are left out; the shape of the first call counts.
    """
    found: dict[str, dict[tuple[int, int], Shape]] = {}
    for layer in layers:
        for node in _list(layer.get("inbound_nodes")):
            for tensor in _tensors(node):
                match tensor:
                    case {"keras_history": [str(name), int(call), int(output)], "shape": shape}:
                        found.setdefault(name, {}).setdefault((call, output), _shape(shape))
    for name, shapes in found.items():
        if all(output == 0 for _, output in shapes):
            yield name, shapes[min(shapes)]


def _tensors(value: Any, depth: int = 0) -> Iterator[Mapping[str, Any]]:
    """The descriptions of tensors in the arguments of a call."""
    if depth > _MOST_DEPTH:
        return
    if isinstance(value, dict) and value.get("class_name") == "__keras_tensor__":
        yield _mapping(value.get("config"))
    elif isinstance(value, dict | list):
        for part in value.values() if isinstance(value, dict) else value:
            yield from _tensors(part, depth + 1)


def _old_names(node: Any) -> Iterator[str]:
    """The layers whose outputs a call gets, as Keras 2 lists them: `[["conv1", 0, 0, {}], …]`."""
    for one in _list(node):
        if isinstance(one, list) and one and isinstance(one[0], str):
            yield one[0]


def _shape(value: Any) -> Shape:
    """A shape, with -1 for open dimensions, or None if this is none."""
    if not isinstance(value, list):
        return None
    dims = [-1 if dim is None else dim for dim in value]
    is_shape = all(type(dim) is int and -1 <= dim < LARGEST_DIM for dim in dims)
    return tuple(dims) if is_shape else None


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def _key(described: Mapping[str, Any], taken: Counter[str]) -> str:
    """The name of a layer's group in a file of weights: its class in snake case, numbered."""
    base = snake_case(str(described.get("class_name") or ""))
    number = taken[base]
    taken[base] += 1
    return f"{base}_{number}" if number else base


def snake_case(name: str) -> str:
    """`Conv2D` as `conv2d`, as Keras writes it."""
    name = re.sub(r"\W+", "", name)
    name = re.sub(r"(.)([A-Z][a-z]+)", r"\1_\2", name)
    return re.sub(r"([a-z])([A-Z])", r"\1_\2", name).lower()
