"""The parameters of a model as a tree of attributes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TypeAlias

Shape: TypeAlias = tuple[int, ...]
Path: TypeAlias = tuple[str, ...]

_MOST_DEPTH = 64  # of attributes; deeper parameters are not matched
_MOST_DIGITS = 9


@dataclass(eq=False)
class Attribute:
    """A module of the model, or a list of modules, with the shapes of its own parameters."""

    path: Path
    place: int  # in the order of the file
    own: Counter[Shape] = field(default_factory=Counter)
    children: list[Attribute] = field(default_factory=list)
    kind: int = -1  # the same for attributes with the same shapes at the same places below them

    @cached_property
    def shapes(self) -> frozenset[Shape]:
        """The shapes of all parameters below it."""
        return frozenset(self.own).union(*(child.shapes for child in self.children))

    @cached_property
    def size(self) -> int:
        """The number of parameters below it."""
        return self.own.total() + sum(child.size for child in self.children)

    @property
    def only_child(self) -> Attribute | None:
        """The attribute that has all parameters below this one, if there is one."""
        return self.children[0] if len(self.children) == 1 and not self.own else None

    @cached_property
    def is_list(self) -> bool:
        """Whether it is a list of modules."""
        return bool(self.children) and all(child.is_numbered for child in self.children)

    @property
    def is_parametrizations(self) -> bool:
        """Whether it is what `torch.nn.utils.parametrize` adds to a module, and never called."""
        return self.path[-1:] == ("parametrizations",)

    @property
    def is_numbered(self) -> bool:
        """Whether it is one of a list."""
        return self.path[-1].isdecimal()

    @cached_property
    def number(self) -> tuple[Path, int] | None:
        """What is before the number at the end of its name, and that number: 2 of `conv2`."""
        name = self.path[-1]
        stem = name.rstrip("0123456789")
        if not 0 < len(name) - len(stem) <= _MOST_DIGITS:
            return None
        return (*self.path[:-1], stem), int(name[len(stem) :])


@dataclass(frozen=True, eq=False)
class AttributeTree:
    """The attributes of a model."""

    root: Attribute
    owners: Counter[Shape]  # how many attributes have parameters of a shape of their own

    @classmethod
    def of(cls, parameters: Mapping[str, Shape]) -> AttributeTree | None:
        """The tree of parameters by name: `blocks.0.attn.weight`; None if it is too deep.

        Scalars, such as counters, are left out: they have no characteristic shape.
        """
        root = Attribute((), 0)
        known: dict[Path, Attribute] = {(): root}
        for name, shape in parameters.items():
            path = tuple(name.split("."))[:-1]
            if len(path) > _MOST_DEPTH:
                return None
            if shape:
                _attribute(known, path).own[shape] += 1
        _number(root, {})
        owners = Counter(shape for one in known.values() for shape in one.own)
        return cls(root, owners)


def _attribute(known: dict[Path, Attribute], path: Path) -> Attribute:
    """The attribute at a path, added with those above it if it is new."""
    found = known.get(path)
    if found is None:
        found = known[path] = Attribute(path, len(known))
        _attribute(known, path[:-1]).children.append(found)
    return found


def _number(attribute: Attribute, kinds: dict[object, int]) -> int:
    below = sorted(_number(child, kinds) for child in attribute.children)
    called_as = (attribute.is_list, attribute.is_parametrizations)
    key = (frozenset(attribute.own.items()), tuple(below), called_as)
    attribute.kind = kinds.setdefault(key, len(kinds))
    return attribute.kind
