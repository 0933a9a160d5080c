"""The modules that were called as a tree, with the shapes of what their own ops take."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from tfprof.sources.kineto.attribute_tree import Shape
from tfprof.sources.kineto.python_calls import Instances


@dataclass(frozen=True, eq=False)
class Called:
    """The modules that were called, and the shapes of the inputs of their own ops."""

    instances: Instances
    inputs: Sequence[Sequence[Counter[Shape]]]  # of each op of each instance

    @property
    def once(self) -> Called:
        """The same modules with one row each, and all inputs of their ops."""
        once = self.instances.once
        if len(once) == len(self.instances):
            return self
        found: dict[str, list[Counter[Shape]]] = {name: [] for name in once.name}
        for name, inputs in zip(self.instances.name, self.inputs, strict=True):
            found[name] += inputs
        return Called(once, list(found.values()))

    @cached_property
    def inner(self) -> list[list[int]]:
        """The instances whose first call was inside each one, in the order of these calls."""
        found: list[list[int]] = [[] for _ in range(len(self.instances))]
        for row, parent in enumerate(self.instances.parent):
            if parent >= 0:
                found[parent].append(row)
        return found

    @cached_property
    def inner_first(self) -> list[int]:
        """All instances, each after those that it called."""
        found = [row for row, parent in enumerate(self.instances.parent) if parent < 0]
        for row in found:
            found += self.inner[row]
        return found[::-1]

    @cached_property
    def depth(self) -> list[int]:
        """The number of instances around each one."""
        found = [0] * len(self.instances)
        for row in reversed(self.inner_first):
            parent = self.instances.parent[row]
            found[row] = found[parent] + 1 if parent >= 0 else 0
        return found

    @cached_property
    def own(self) -> list[frozenset[Shape]]:
        """The shapes of the inputs of the ops of each instance, without those inside others."""
        return [frozenset(shape for one in inputs for shape in one) for inputs in self.inputs]

    @cached_property
    def shapes(self) -> list[frozenset[Shape]]:
        """The shapes of the inputs of all ops inside each instance."""
        found = list(self.own)
        for row in self.inner_first:
            found[row] = self.own[row].union(*(found[one] for one in self.inner[row]))
        return found

    @cached_property
    def kind(self) -> list[int]:
        """A number for each instance: the same for those of one class that contain the same."""
        found, kinds = [0] * len(self.instances), dict[object, int]()
        for row in self.inner_first:
            inputs = frozenset(frozenset(one.items()) for one in self.inputs[row])
            inner = tuple(found[one] for one in self.inner[row])
            key = (self.instances.class_name[row], inputs, inner)
            found[row] = kinds.setdefault(key, len(kinds))
        return found

    @cached_property
    def embedded(self) -> frozenset[Shape]:
        """The shapes of what embeddings take. Models often share their parameters."""
        rows = [row for row in range(len(self.instances)) if self.is_embedding(row)]
        return frozenset[Shape]().union(*(self.own[row] for row in rows))

    def is_embedding(self, row: int) -> bool:
        """Whether the instance is an embedding, judging by its class."""
        return "Embedding" in self.instances.class_name[row]

    def takes(self, row: int, shapes: Counter[Shape]) -> bool:
        """Whether an op of the instance has inputs of these shapes."""
        return any(shapes <= inputs for inputs in self.inputs[row])

    def takes_all(self, row: int, shapes: Counter[Shape]) -> bool:
        """Whether the ops of the instance have as many inputs of these shapes."""
        return shapes <= sum(self.inputs[row], Counter())
