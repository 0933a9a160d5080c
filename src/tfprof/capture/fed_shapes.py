"""The shapes that a recorded program fed to its functions, where these accept any batch size.

Functions get their data in two ways: as arguments, whose shapes are noted with each call, and from
an iterator of `tf.data`. TensorFlow's profiler records the size in bytes of each element that an
iterator returned; the stated shapes have only one open dim, so the batch size follows from it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from math import prod
from typing import Any, TypeAlias

from tfprof.formats.tensor_types import tensor_type

Dims: TypeAlias = tuple[int, ...]
Arguments: TypeAlias = tuple[tuple[int, Dims], ...]  # the places and shapes of open arguments

_ITERATORS = ("IteratorGetNext", "IteratorGetNextSync", "IteratorGetNextAsOptional")


@dataclass(eq=False)
class FedArguments:
    """Counts the shapes of the arguments that functions leave open."""

    _open: dict[str, list[int]] = field(default_factory=dict)  # places of arguments, by function
    _seen: dict[str, Counter[Arguments]] = field(default_factory=dict)

    def see(self, function: Any, arguments: Sequence[Any]) -> None:
        """Note a call of a traced function."""
        name = function.name.decode()
        if name not in self._open:
            self._open[name] = _open_places(function.graph)
        if self._open[name]:
            fed = tuple((place, tuple(arguments[place].shape)) for place in self._open[name])
            if all(None not in shape for _, shape in fed):  # not a call in another function
                self._seen.setdefault(name, Counter())[fed] += 1

    def of(self, name: str) -> Counter[Arguments]:
        """The shapes with which a function was called, and how often."""
        return self._seen.get(name, Counter())

    def clear(self) -> None:
        """Forget all calls."""
        self._open.clear()
        self._seen.clear()


def _open_places(graph: Any) -> list[int]:
    shapes = [tensor.shape for tensor in graph.inputs]
    return [
        place
        for place, shape in enumerate(shapes)
        if shape.rank is None or not shape.is_fully_defined()
    ]


@dataclass(slots=True, eq=False)
class Fed:
    """What was fed to a function: its arguments, and elements of iterators by their sizes."""

    arguments: Counter[Arguments] = field(default_factory=Counter)
    element_bytes: Sequence[int] = ()
    batches: Counter[int] = field(default_factory=Counter)  # batch sizes, filled by `substitute`

    def substitute(self, definition: Any, inputs: Sequence[str]) -> None:
        """State the most frequent shapes in a GraphDef; `inputs` are the names of arguments."""
        fed: dict[str, Dims] = {}
        if self.arguments:
            fed = {inputs[place]: shape for place, shape in most_frequent(self.arguments)}
            self.batches = Counter()
            for shapes, count in self.arguments.items():
                self.batches[(*shapes[0][1], 1)[0]] += count
        for node in _nodes(definition):
            if node.op in _ITERATORS:
                self._size_elements(node)
        for node in definition.node:
            if node.name in fed:
                _state(node, [fed[node.name]])

    def _size_elements(self, node: Any) -> None:
        """State the shapes of the elements that an iterator returned most often."""
        shapes = [_dims(shape) for shape in node.attr["output_shapes"].list.shape]
        widths = [tensor_type(number).stored for number in node.attr["output_types"].list.type]
        if any(shape is None for shape in shapes) or any(width is None for width in widths):
            return
        known = [shape for shape in shapes if shape is not None]
        bytes_each = [width.itemsize for width in widths if width is not None]
        sizes = Counter(_batch_sizes(self.element_bytes, known, bytes_each))
        if sizes:
            self.batches += sizes
            size = most_frequent(sizes)
            _state(node, [tuple(size if dim < 0 else dim for dim in shape) for shape in known])


def most_frequent(counts: Counter[Any]) -> Any:
    """The most frequent key; of several, the largest."""
    return max(counts, key=lambda key: (counts[key], key))


def _batch_sizes(
    elements: Iterable[int], shapes: Sequence[Dims], widths: Sequence[int]
) -> Iterator[int]:
    """The batch size of each element, if it is the only open dim of the shapes."""
    if any(dim < 0 for shape in shapes for dim in shape[1:]):
        return
    fixed = example = 0
    for shape, width in zip(shapes, widths, strict=True):
        if shape and shape[0] < 0:
            example += width * prod(shape[1:])
        else:
            fixed += width * prod(shape)
    for element in elements if example else ():
        size, rest = divmod(element - fixed, example)
        if size > 0 and not rest:
            yield size


def _nodes(definition: Any) -> Iterator[Any]:
    """The nodes of a graph and of its functions."""
    yield from definition.node
    for function in definition.library.function:
        yield from function.node_def


def _dims(shape: Any) -> Dims | None:
    return None if shape.unknown_rank else tuple(dim.size for dim in shape.dim)


def _state(node: Any, shapes: Sequence[Dims]) -> None:
    """Replace the output shapes of a node."""
    stated = node.attr["_output_shapes"].list
    del stated.shape[:]
    for shape in shapes:
        added = stated.shape.add()
        for dim in shape:
            added.dim.add().size = dim
