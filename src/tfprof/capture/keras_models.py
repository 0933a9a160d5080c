"""The layers of Keras models: their names, classes, nesting, output shapes and weights."""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, TypeAlias

from tfprof.capture.variable_roles import captured
from tfprof.columns import Shape
from tfprof.model.layers import NO_LAYER, Layer

# Keras has no type information.
KerasLayer: TypeAlias = Any

_PACKAGES = ("keras", "tf_keras")


@dataclass(frozen=True, slots=True)
class Weight:
    """A variable of a Keras model."""

    name: str
    shape: Shape
    is_trainable: bool


@dataclass(frozen=True, slots=True, eq=False)
class FoundLayers:
    """Layers, parents first, and their weights, by the identity of the handles.

    A layer or weight that is used several times belongs to the first place.
    """

    layers: list[Layer]
    objects: list[KerasLayer]  # the layers themselves
    owner: dict[int, int]  # the position of the layer that has the weight
    weights: dict[int, Weight]

    def owners(self, handles: Mapping[str, int]) -> dict[str, int]:
        """The position of the layer of each variable, for variables that belong to a layer."""
        found = self.owner
        return {name: found[handle] for name, handle in handles.items() if handle in found}


def of_models(models: Sequence[KerasLayer]) -> FoundLayers:
    """The layers of these models; each model is itself an outermost layer."""
    found = FoundLayers([], [], {}, {})
    seen: set[int] = set()
    for model in models:
        found.weights.update(weights(model))
        _add(model, NO_LAYER, found, seen)
    return found


def _add(layer: KerasLayer, parent: int, found: FoundLayers, seen: set[int]) -> None:
    if id(layer) in seen:
        return
    seen.add(id(layer))
    place = len(found.layers)
    found.layers.append(Layer(str(layer.name), parent, type(layer).__name__, _output_shape(layer)))
    found.objects.append(layer)
    inside = _inside(layer)
    of_others = {handle for one in inside for handle in weights(one)}
    for handle in weights(layer):
        if handle not in of_others:
            found.owner.setdefault(handle, place)
    for one in inside:
        _add(one, place, found, seen)


def weights(layer: KerasLayer) -> dict[int, Weight]:
    """The weights of a layer and the layers in it, by the identity of their handles."""
    # The variables of frozen layers are only missing from this list.
    trainable = {id(weight) for weight in getattr(layer, "trainable_weights", ())}
    found = {}
    for weight in getattr(layer, "weights", ()):
        # In Keras 3, a weight has a variable; in Keras 2, it is one.
        variable = weight if hasattr(weight, "handle") else weight.value
        name = variable.name.partition(":")[0]
        shape = tuple(variable.shape.as_list())
        found[id(variable.handle)] = Weight(name, shape, id(weight) in trainable)
    return found


def _inside(layer: KerasLayer) -> list[KerasLayer]:
    """The layers directly in a layer, in its own order."""
    layers = getattr(layer, "layers", None)
    if isinstance(layers, list):
        return layers
    flatten = getattr(layer, "_flatten_layers", None)
    return list(flatten(include_self=False, recursive=False)) if flatten is not None else []


def _output_shape(layer: KerasLayer) -> Shape:
    """The shape of the first output as declared; None if it is unknown."""
    with suppress(Exception):  # a layer that was not called yet has no output
        first = getattr(layer, "outputs", None) or layer.output
        while isinstance(first, list | tuple):
            first = first[0]
        return tuple(-1 if side is None else int(side) for side in first.shape)
    return None


def is_model(layer: KerasLayer) -> bool:
    """Whether a layer is a model, which contains layers."""
    return any(base.__name__ == "Model" for base in type(layer).__mro__)


class UsedModels:
    """The Keras models whose variables graphs capture, kept until they are described."""

    def __init__(self) -> None:
        self._models: dict[int, KerasLayer] = {}
        self._known: set[int] = set()  # the ids of handles that were looked up

    def learn(self, graphs: Iterable[Any]) -> None:
        """Find the models of the variables that `graphs` capture, unless they were looked up."""
        handles = {id(handle) for graph in graphs for handle in captured(graph)} - self._known
        if handles:
            self._known |= handles
            self._models |= {id(model): model for model in _live_models(handles)}

    def describe(self, handles: set[int]) -> FoundLayers:
        """The layers of the models with one of these variables that are in no other such model."""
        known = self._models.values()
        models = [model for model in known if not handles.isdisjoint(weights(model))]
        inner = {id(layer) for model in models for layer in _below(model)}
        return of_models([model for model in models if id(model) not in inner])

    def clear(self) -> None:
        """Drop the models."""
        self._models.clear()
        self._known.clear()


def _live_models(handles: set[int]) -> Iterator[KerasLayer]:
    """The models of the program that have one of these variables."""
    kinds = tuple(_model_classes())
    for thing in gc.get_objects() if kinds else ():
        # `isinstance` may run code of the object.
        if issubclass(type(thing), kinds):
            with suppress(Exception):  # it may be only partly initialised
                if not handles.isdisjoint(weights(thing)):
                    yield thing


def _model_classes() -> Iterator[type]:
    for name in _PACKAGES:
        kind = getattr(sys.modules.get(name), "Model", None)
        if isinstance(kind, type):
            yield kind


def _below(layer: KerasLayer) -> Iterator[KerasLayer]:
    """All layers in a layer."""
    for one in _inside(layer):
        yield one
        yield from _below(one)
