"""Layers of TensorFlow programs: finds the layer of each op by the scopes in its name.

Keras opens a scope for each call of a layer, with the name of the layer and often a number:
`net_1/conv_1/convolution`. Gradients are in `gradient_tape/net_1/conv_1/…`, and the bodies of loops
repeat the scopes of the loop.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import accumulate
from typing import TYPE_CHECKING

import numpy as np

from tfprof.columns import ints
from tfprof.model.builder import ProfileBuilder
from tfprof.model.layers import NO_LAYER, Layer
from tfprof.model.ops import DATA_SCOPE, EAGER_SCOPE

if TYPE_CHECKING:  # classic graphs are read without it
    from tfprof.sources.tf_functions import Flat

_GRADIENTS = "gradient_tape/"
_NUMBER = re.compile(r"_\d+$", re.ASCII)
_SEEDS = re.compile(r"seed_generator(_\d+)*", re.ASCII)  # of random layers such as dropout
_CALL = re.compile(r"(Stateful)?PartitionedCall(_\d+)?", re.ASCII)

# The scopes of Keras for what `compile` adds to a model, and the names of their rows.
_COMPILED = {"compile_loss": "loss", "compile_metrics": "metrics"}


def add(builder: ProfileBuilder, layers: Sequence[Layer], weights: Mapping[str, int]) -> None:
    """Add layers, and link ops to them: variables by `weights`, all others by their scopes.

    `weights` has the name of each variable op, and the position of its layer in `layers`.
    """
    if not layers:
        return
    names = list(builder.names())
    around = _around(layers, names)
    everything = [*layers, *map(Layer, around.values())]
    scopes = dict(zip(around, range(len(layers), len(everything)), strict=True))
    finder = ScopeFinder(everything, names, scopes)
    found = {name: finder.of_op(name) for name in names} | dict(weights)
    owned = [name for name, layer in found.items() if layer != NO_LAYER]
    ids = builder.add_layers(everything)
    ops = builder.ids(owned)
    is_known = ops >= 0
    builder.set_layer(ops[is_known], ids[ints([found[name] for name in owned])][is_known])


def _around(layers: Sequence[Layer], names: Sequence[str]) -> dict[str, str]:
    """The outermost scopes around a model that have gradients, such as a loss, and their titles."""
    finder = ScopeFinder(layers, names, {})
    known = {*names}
    forward, backward = dict[str, None](), set[str]()
    for name in names:
        rest = name.removeprefix(_GRADIENTS)
        scope, slash, _ = rest.partition("/")
        if slash and scope not in known and finder.of_op(f"{scope}/") == NO_LAYER:
            forward |= {scope: None} if rest == name else {}
            backward |= {scope} if rest != name else set()
    wanted = {*_COMPILED, *backward} - {EAGER_SCOPE, DATA_SCOPE}
    return {scope: _COMPILED.get(scope, scope) for scope in forward if scope in wanted}


class ScopeFinder:
    """Finds the layer of a scope: each part of the scope may lead to a layer in the current one."""

    def __init__(
        self, layers: Sequence[Layer], names: Iterable[str], scopes: Mapping[str, int]
    ) -> None:
        """`names` are those of all ops; `scopes` are outermost scopes of layers by other names."""
        self._inside: list[dict[str, int]] = [{} for _ in range(len(layers) + 1)]
        for place, layer in enumerate(layers):
            self._inside[layer.parent].setdefault(layer.name, place)  # -1 is the last one
        # A model inside another one may also be called by itself.
        outer = sorted({layer.parent for layer in layers} - {NO_LAYER}, reverse=True)
        models = {layers[place].name: place for place in outer}
        self._inside[NO_LAYER] = {**models, **self._inside[NO_LAYER], **scopes}
        self._found: dict[str, int] = {"": NO_LAYER}
        self._is_numbered = self._count_numbered(names)

    def of_op(self, name: str) -> int:
        """The position of the innermost layer whose scope the op is in, or `NO_LAYER`."""
        return self._of_scope(name.rpartition("/")[0])

    def _of_scope(self, scope: str) -> int:
        if scope not in self._found:
            outer, _, part = scope.rpartition("/")
            layer = self._of_scope(outer)
            found = next((one for _, one in self._matches(layer, part)), None)
            self._found[scope] = layer if found is None else found
        return self._found[scope]

    def _matches(self, layer: int, part: str) -> Iterator[tuple[bool, int]]:
        """The layers in `layer` that a part of a scope may mean, and whether it has a number."""
        known = self._inside[layer]
        bare = _NUMBER.sub("", part)
        found = [(True, known[bare])] if bare != part and bare in known else []
        if part in known:
            found.insert(len(found) if self._is_numbered else 0, (False, known[part]))
        yield from found

    def _count_numbered(self, names: Iterable[str]) -> bool:
        """Whether the scopes of layers have numbers, as far as there is only one reading."""
        self._is_numbered = True
        balance = 0
        for scope in {name.rpartition("/")[0] for name in names}:
            layer = NO_LAYER
            for part in scope.split("/"):
                matches = list(self._matches(layer, part))
                if len(matches) == 1:
                    balance += 1 if matches[0][0] else -1
                layer = matches[0][1] if matches else layer
        return balance >= 0


def by_scope(flat: Flat, unread: Iterable[str] = ()) -> tuple[list[Layer], dict[str, int]]:
    """The layers that the scopes of ops imply, and the layer of each variable.

    `unread` are variables that no op reads. Without scopes of layers, or if most variables are read
    elsewhere, there are no layers.
    """
    columns = flat.columns
    rows = np.flatnonzero(columns.shape.sizes() == 0).tolist()
    # A frozen graph starts with its constants, whatever the order of the layers.
    inner = [
        columns.name[row] for row in sorted(rows, key=lambda row: columns.kind[row] == "Const")
    ]
    found = SavedLayers(inner)
    of_op = {name: found.of_op(name) for name in inner}
    weights = _owners(flat, of_op)
    unknown = [name for name, layer in weights.items() if layer == NO_LAYER]
    if 2 * len(unknown) > len(weights):
        return [], {}
    by_name = {layer.name: place for place, layer in reversed([*enumerate(found.layers)])}
    # A variable that is not read has the name of its layer in its own name.
    return found.layers, weights | {
        name: by_name.get(name.split("/")[0], NO_LAYER) for name in (*unknown, *unread)
    }


class SavedLayers:
    """The layers that the scopes of ops imply.

    All scopes of layers have numbers, and no other scope has a number unless the same scope without
    one is next to it.
    """

    def __init__(self, names: Sequence[str]) -> None:
        self.layers: list[Layer] = []
        self._places: dict[tuple[str, ...], int] = {(): NO_LAYER}
        self._found: dict[str, int] = {}
        self._ops = {*names}
        inner = {name.rpartition("/")[0] for name in names}
        self._scopes = self._ops.union(*map(_around_and_itself, inner))

    def of_op(self, name: str) -> int:
        """The position of the innermost layer of an op, which is added if it is new."""
        scope = name.rpartition("/")[0]
        if scope not in self._found:
            self._found[scope] = self._of_scope(scope)
        return self._found[scope]

    def _of_scope(self, inner: str) -> int:
        path: tuple[str, ...] = ()
        for scope in _around_and_itself(inner):
            part = scope.rpartition("/")[2]
            if _CALL.fullmatch(part):
                continue
            if _SEEDS.fullmatch(part) or not self._is_layer(scope):
                break
            outer, path = path, (*path, _NUMBER.sub("", part))
            if path not in self._places:
                self._places[path] = len(self.layers)
                self.layers.append(Layer(path[-1], self._places[outer]))
        return self._places[path]

    def _is_layer(self, scope: str) -> bool:
        bare = _NUMBER.sub("", scope)
        if bare == scope or scope in self._ops:
            return False
        return bare not in self._scopes or self._is_layer(bare)


def _around_and_itself(scope: str) -> list[str]:
    """The scopes that contain a scope, outermost first, and the scope itself."""
    return list(accumulate(scope.split("/"), "{}/{}".format)) if scope else []


def _owners(flat: Flat, of_op: Mapping[str, int]) -> dict[str, int]:
    """The layer of the first op that reads each variable, or `NO_LAYER`."""
    columns = flat.columns
    variables = {columns.name[row] for row in np.flatnonzero(columns.shape.sizes() > 0).tolist()}
    found = dict.fromkeys(sorted(variables), NO_LAYER)
    for user, sources in zip(columns.name, flat.sources(), strict=True):
        for variable in variables.intersection(sources):
            if found[variable] == NO_LAYER:
                found[variable] = of_op.get(user, NO_LAYER)
    return found
