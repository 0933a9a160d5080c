"""The layers of a model, as a tree in the model's own order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from tfprof.columns import Coded, Ints, Shape, Shapes, Strings, ints, places_of
from tfprof.kernels import trees

NO_LAYER = -1

# Deeper scopes are not layers: the paths of layers in a hostile file would fill the memory.
MOST_DEPTH = 100


class Layer(NamedTuple):
    """A layer, with its own name; `parent` is the position of the layer that contains it."""

    name: str
    parent: int = NO_LAYER
    kind: str = ""  # the name of its class; empty if unknown
    output_shape: Shape = None
    home: int = NO_LAYER  # the position of the layer that is the same module, with its parameters
    calls: int = 0  # of the module in a step, 0 if unknown


@dataclass(frozen=True, slots=True, eq=False)
class Layers:
    """One row per layer, depth-first: a layer is followed by the layers that it contains."""

    name: Strings  # the names of the layers that contain it and its own, joined with `/`
    parent: Ints  # a row, or `NO_LAYER`
    kind: Coded
    output_shape: Shapes
    home: Ints  # the row of the layer that is the same module, with its parameters, or `NO_LAYER`
    calls: Ints  # of the module in a step, 0 if unknown

    def __len__(self) -> int:
        return len(self.name)

    def is_depth_first(self) -> bool:
        """Whether each layer is followed by the layers that it contains."""
        return np.array_equal(_depth_first(self.parent), np.arange(len(self)))

    def rows(self) -> list[Layer]:
        """The layers, each with its own name instead of its path."""
        found = zip(self.name, self.parent.tolist(), strict=True)
        return [
            Layer(
                path if parent < 0 else path.removeprefix(f"{self.name[parent]}/"),
                parent,
                self.kind[row],
                self.output_shape[row],
                int(self.home[row]),
                int(self.calls[row]),
            )
            for row, (path, parent) in enumerate(found)
        ]


class LayersBuilder:
    """Collects layers; those with the same path are one layer, and its first description counts."""

    def __init__(self) -> None:
        self._layers: dict[str, Layer] = {}  # by path
        self._rows: dict[str, int] = {}

    def add(self, layers: Sequence[Layer]) -> Ints:
        """Add layers, parents first, and return their ids.

        The parent of a layer and its home are positions in `layers`. A number is appended to a name
        that occurs twice in the same layer, as in `dense#2`.
        """
        paths: list[str] = []
        free = _FreePaths()
        for layer in layers:
            above = paths[layer.parent] if layer.parent >= 0 else ""
            path = free.take(f"{above}/{layer.name}" if above else layer.name)
            parent = self._rows[above] if above else NO_LAYER
            self._layers.setdefault(path, layer._replace(parent=parent, home=NO_LAYER))
            self._rows.setdefault(path, len(self._rows))
            paths.append(path)
        ids = [self._rows[path] for path in paths]
        for path, layer in zip(paths, layers, strict=True):
            if layer.home >= 0 and self._layers[path].home < 0:
                self._layers[path] = self._layers[path]._replace(home=ids[layer.home])
        return ints(ids)

    def rows(self) -> Ints:
        """The row of each id in the finished table, with a final -1 so that -1 maps to -1."""
        return np.append(places_of(self._order(), len(self._layers)), NO_LAYER)

    def build(self) -> Layers:
        """The finished table."""
        layers, order = list(self._layers.values()), self._order()
        parents = ints([layer.parent for layer in layers])
        return Layers(
            name=Strings(self._layers).take(order),
            parent=ints(self.rows()[parents[order]]),
            kind=Coded.of([layer.kind for layer in layers]).take(order),
            output_shape=Shapes.of([layer.output_shape for layer in layers]).take(order),
            home=ints(self.rows()[ints([layer.home for layer in layers])[order]]),
            calls=ints([layer.calls for layer in layers])[order],
        )

    def _order(self) -> Ints:
        """The ids, depth-first."""
        return _depth_first(ints([layer.parent for layer in self._layers.values()]))


def _depth_first(parents: Ints) -> Ints:
    """The order in which nodes with these parents follow each other, depth-first."""
    return trees.arranged(parents, np.arange(len(parents)))[0][1:]


class _FreePaths:
    """Returns each path once, in linear time: a number is appended to a path that is taken."""

    def __init__(self) -> None:
        self._last: dict[str, int] = {}  # the last number appended to each taken path

    def take(self, path: str) -> str:
        """`path`, or if it is taken, `path#2` or a later number."""
        free, number = path, self._last.get(path, 1)
        while free in self._last:
            number += 1
            free = f"{path}#{number}"
        self._last[path] = number
        self._last.setdefault(free, 1)
        return free
