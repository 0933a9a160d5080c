"""The modules of PyTorch models as scopes and layers."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from tfprof.model.builder import ProfileBuilder
from tfprof.model.layers import NO_LAYER, Layer

# Deeper modules are no layers: the paths of those in a hostile file would fill the memory.
_MOST_DEPTH = 32
_CALL = re.compile(r"@[0-9]+$")  # the number of a further call of a module


class ModuleStack(NamedTuple):
    """The modules around an op of an exported program."""

    root: str  # the class of the model
    path: str  # the dotted path of the innermost module
    classes: tuple[tuple[str, str], ...]  # the path and class of each module, outer ones first

    @classmethod
    def of(cls, text: str) -> ModuleStack:
        """The modules in a text of entries `key,path,class`, joined by semicolons."""
        entries = [entry.split(",") for entry in text.split(";")[:_MOST_DEPTH]]
        found = tuple(
            (_CALL.sub("", path), kind.rpartition(".")[2])
            for _, path, kind in (entry for entry in entries if len(entry) == 3)
            if path != kind  # an empty stack has one word three times
        )
        root = found[0][1] if found and not found[0][0] else ""
        return cls(root, found[-1][0] if found else "", found)


class FreeNames:
    """Names for ops: dots become slashes, and a name that is taken gets a number (`weight#2`)."""

    def __init__(self, root: str = "") -> None:
        """`root` is the class of the model, the outermost scope, or empty if it is unknown."""
        self._root = root
        self._last: dict[str, int] = {}  # the last number of each name

    def take(self, path: str, *parts: str) -> str:
        """A free name for the attribute at a dotted path, or for an op inside that module."""
        name = scope_of(path, self._root)
        name = "/".join(filter(None, (name, *parts))) or "_"
        free, number = name, self._last.get(name, 1)
        while free in self._last:
            number += 1
            free = f"{name}#{number}"
        self._last[name] = number
        self._last.setdefault(free, 1)
        return free


def scope_of(path: str, root: str = "") -> str:
    """The scope of the module at a dotted path: `blocks.0` of a `GPT` is `GPT/blocks/0`."""
    parts = [part or "_" for part in path.split(".")] if path else []
    return "/".join([root, *parts] if root else parts)


class Called(NamedTuple):
    """A module where it was called: the scope of its parameters, and the calls in a step."""

    home: str
    calls: int


def add_modules(
    builder: ProfileBuilder,
    scopes: Mapping[str, str],
    classes: Mapping[str, str],
    called: Mapping[str, Called] | None = None,
) -> int:
    """Add a layer for each module, and link ops to them; returns the number of layers.

    `scopes` has the scope of each op, empty outside of modules; `classes` the class of some scopes;
    `called` those of modules that were called.
    """
    rows: dict[str, int] = {}
    layers: list[Layer] = []
    for scope in (*classes, *scopes.values()):
        above = NO_LAYER
        for path, part in _outer(scope):
            row = rows.setdefault(path, len(layers))
            if row == len(layers):
                layers.append(Layer(part, above, classes.get(path, "")))
            above = row
    for scope, one in (called or {}).items():
        row, home = rows.get(scope, NO_LAYER), rows.get(one.home, NO_LAYER)
        if row >= 0:
            is_home = home == row
            layers[row] = layers[row]._replace(home=NO_LAYER if is_home else home, calls=one.calls)
    ids = builder.add_layers(layers)
    owned = {name: rows[_cut(scope)] for name, scope in scopes.items() if _cut(scope) in rows}
    builder.set_layer(builder.ids(owned), ids[list(owned.values())] if owned else [])
    return len(layers)


def _cut(scope: str) -> str:
    """The innermost module of a scope that is a layer."""
    return "/".join(scope.split("/", _MOST_DEPTH)[:_MOST_DEPTH])


def _outer(scope: str) -> Iterable[tuple[str, str]]:
    """The modules around a scope and itself, outer ones first, each with its own name."""
    parts = _cut(scope).split("/") if scope else []
    return [("/".join(parts[: end + 1]), part) for end, part in enumerate(parts)]
