"""The file `layers.json` of a recording, which `tfprof.capture` writes.

It has the layers of the models that ran, and facts that the graph and the op log cannot express:
how often ops in loops run, and notes.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from tfprof.columns import Shape, ints
from tfprof.errors import InputError, one_line
from tfprof.model.builder import ProfileBuilder
from tfprof.model.layers import MOST_DEPTH, Layer
from tfprof.model.notes import names_of, of_names
from tfprof.model.ops import TRAINABLE_VARIABLE, UNKNOWN_REPEATS
from tfprof.sources import tf_layers, unread_variables
from tfprof.sources.source import FileSummary, InputFile, summary

FORMAT = "tfprof layers"
VERSION = 1
_LARGEST = 1 << 26
_LARGEST_DIM = 1 << 62
_MOST_REPEATS = 1 << 40
_DAMAGE = (
    ArithmeticError,
    AttributeError,
    LookupError,
    RecursionError,
    TypeError,
    ValueError,
)


class UnreadWeight(NamedTuple):
    """A weight of a layer that no recorded function read, so that the graph does not have it."""

    layer: int
    name: str
    shape: Shape
    is_trainable: bool


class RecordedLayers(NamedTuple):
    """Layers, the layer of each variable op by name, weights without an op, and further facts."""

    layers: Sequence[Layer] = ()
    weights: Mapping[str, int] = {}
    unread: Sequence[UnreadWeight] = ()
    repeats: Mapping[str, int] = {}  # how often ops in loops run, or `UNKNOWN_REPEATS`
    notes: Sequence[str] = ()


def encoded(found: RecordedLayers) -> bytes:
    """The content of the file."""
    content = {
        "format": FORMAT,
        "version": VERSION,
        "layers": [
            {"name": one.name, "parent": one.parent, "class": one.kind, "shape": one.output_shape}
            for one in found.layers
        ],
        "weights": dict(found.weights),
        "unread": [one._asdict() for one in found.unread],
        "repeats": dict(found.repeats),
        "notes": [{"text": note, "about": names_of(note)} for note in found.notes],
    }
    return json.dumps(content, indent=1).encode()


def read(file: InputFile) -> RecordedLayers:
    """The layers in the file."""
    data = file.content.read(_LARGEST)[0]
    try:
        content = json.loads(data)
        if content["version"] > VERSION:
            raise InputError(file.path, "is from a later version: upgrade tfprof.")
        layers = [
            Layer(str(one["name"]), int(one["parent"]), str(one["class"]), _shape(one["shape"]))
            for one in content["layers"]
        ]
        weights = {str(name): int(layer) for name, layer in content["weights"].items()}
        unread = [
            UnreadWeight(
                int(one["layer"]),
                str(one["name"]),
                _shape(one["shape"]),
                bool(one["is_trainable"]),
            )
            for one in content["unread"]
        ]
        repeats = {str(op): int(count) for op, count in content.get("repeats", {}).items()}
        notes = [of_names(str(one["text"]), str(one["about"])) for one in content.get("notes", [])]
        _require(all(-1 <= one.parent < place for place, one in enumerate(layers)))
        _require_flat(layers)
        owners = (*weights.values(), *(one.layer for one in unread))
        _require(all(0 <= layer < len(layers) for layer in owners))
        _require(
            all(UNKNOWN_REPEATS <= count <= _MOST_REPEATS for count in repeats.values()),
            "an op runs impossibly often",
        )
    except _DAMAGE as error:
        trouble = one_line(str(error) or type(error).__name__)
        raise InputError(file.path, f"is damaged: {trouble}; record again.") from None
    return RecordedLayers(layers, weights, unread, repeats, notes)


def _shape(sides: Any) -> Shape:
    if sides is None:
        return None
    shape = tuple(int(side) for side in sides)
    _require(all(-1 <= side < _LARGEST_DIM for side in shape), "a shape is impossible")
    return shape


def _require(holds: bool, trouble: str = "it refers to a layer that is missing") -> None:
    if not holds:
        raise ValueError(trouble)


def _require_flat(layers: Sequence[Layer]) -> None:
    """Refuse layers that are nested so deep that their paths would fill the memory."""
    depths: list[int] = []
    for layer in layers:
        depths.append(depths[layer.parent] + 1 if layer.parent >= 0 else 0)
        _require(
            depths[-1] < MOST_DEPTH, f"its layers are nested more than {MOST_DEPTH} levels deep"
        )


def add(found: RecordedLayers, builder: ProfileBuilder, file: InputFile) -> FileSummary:
    """Add the layers and the weights that the graph lacks, and link all ops to their layers.

    Also adds how often ops run, and notes.
    """
    names = unread_variables.define([(one.name, one.shape) for one in found.unread], builder)
    pairs = list(zip(names, found.unread, strict=True))
    trainable = [name for name, one in pairs if one.is_trainable]
    builder.add_type(TRAINABLE_VARIABLE, builder.ids(trainable))
    owners = {**found.weights, **{name: one.layer for name, one in pairs}}
    tf_layers.add(builder, found.layers, owners)
    ops = builder.ids(list(found.repeats))
    builder.set_repeats(ops[ops >= 0], ints(list(found.repeats.values()))[ops >= 0])
    builder.notes += found.notes
    return summary(file, layers=len(found.layers))
