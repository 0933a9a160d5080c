"""The layer to which an op is attributed if no line of the program calls the layer.

In a functional or sequential model Keras calls the layers, so `model.fit` would be the only line of
the program for all of them. Their ops are attributed to the line that created the layer, if it was
created while the program was recorded, or else to the layer itself.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from tfprof.capture.keras_layers import Call, CreatedLayers
from tfprof.capture.keras_models import FoundLayers, is_model
from tfprof.model.layers import NO_LAYER
from tfprof.sources.tf_layers import ScopeFinder

_MODELS = re.compile(r"[/\\]models[/\\](functional|sequential)\.py$")


def runs_layers(file: str) -> bool:
    """Whether a file is one of Keras that calls the layers of a model."""
    return _MODELS.search(file) is not None


class CreatedLayer(NamedTuple):
    """A layer: its name, its class, and the calls that created it if known, outermost first."""

    name: str
    kind: str
    created: tuple[Call, ...]


class LayerLines:
    """Finds the layer of an op of these models; layers in a layer that is no model belong to it."""

    def __init__(self, found: FoundLayers, created: CreatedLayers, names: Sequence[str]) -> None:
        """`names` are those of all ops."""
        self._found = found
        self._created = created
        self._finder = ScopeFinder(found.layers, names, {})

    def of_op(self, name: str) -> CreatedLayer | None:
        """The outermost layer in whose scope an op is, apart from models, which contain layers."""
        place, outermost = self._finder.of_op(name), NO_LAYER
        while place != NO_LAYER:
            if not is_model(self._found.objects[place]):
                outermost = place
            place = self._found.layers[place].parent
        if outermost == NO_LAYER:
            return None
        layer = self._found.layers[outermost]
        calls = self._created.calls_of(self._found.objects[outermost])
        return CreatedLayer(layer.name, layer.kind, calls)
