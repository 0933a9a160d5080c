"""The weights in an older `.h5` file of Keras, in which they have their own names."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from tfprof.formats.hdf5 import Group
from tfprof.sources.keras_config import ConfiguredLayer
from tfprof.sources.keras_weights import FoundLayers, Weight, is_trainable_variable, joined

_OF_MODEL = "top_level_model_weights"  # the weights that belong to no layer
_OF_OPTIMIZER = "optimizer_weights"


def found_in(root: Group, layers: Sequence[ConfiguredLayer]) -> FoundLayers:
    """The layers and weights of a model; layers without a configuration are found in the file."""
    found = FoundLayers()
    _add_configured(found, layers, "")
    stored = root.groups.get("model_weights", root)
    listed = _texts(stored, "layer_names")
    for name in dict.fromkeys((*listed, *stored.groups)):
        if name not in stored.groups or name == _OF_OPTIMIZER:
            continue
        layer = ConfiguredLayer(name, "", {}, is_trainable=True, key=name)
        if name != _OF_MODEL:
            layer = found.layers.setdefault(name, layer)
        path = name if name in found.layers else ""
        found.weights += _weights(stored, layer, found.layers, path)
    for name, dataset in root.groups.get(_OF_OPTIMIZER, Group()).datasets_below():
        found.weights.append(
            Weight(
                name.removesuffix(":0"),
                "",
                dataset.shape,
                is_trainable=False,
                is_of_optimizer=True,
            )
        )
    return found


def _add_configured(found: FoundLayers, layers: Sequence[ConfiguredLayer], path: str) -> None:
    for layer in layers:
        here = joined(path, layer.name)
        found.layers[here] = layer
        _add_configured(found, layer.layers, here)


def _texts(group: Group, name: str) -> list[str]:
    """A list of texts, which Keras splits if it is long: `layer_names0`, `layer_names1`, …"""
    whole = group.attributes.get(name)
    if isinstance(whole, list):
        return whole
    parts: list[str] = []
    number = 0
    while isinstance(part := group.attributes.get(f"{name}{number}"), list):
        parts += part
        number += 1
    return parts


def _weights(
    others: Group, layer: ConfiguredLayer, layers: Mapping[str, ConfiguredLayer], path: str
) -> Iterator[Weight]:
    """The weights of a layer; the names of those of a nested model contain the layer's name."""
    group = others.groups[layer.name]
    stored = dict(group.datasets_below())
    names = _texts(group, "weight_names")
    for name in [*names, *(one for one in stored if one not in names)]:
        dataset = stored.get(name)
        if dataset is None or _is_repeated(name, layer, others):
            continue
        words = name.rpartition(":")[0].split("/") if name.endswith(":0") else name.split("/")
        owner, inside = _owner(layer, words, path)
        is_trainable = is_trainable_variable(words[-1], dataset) and (
            owner not in layers or layers[owner].is_trainable
        )
        yield Weight("/".join(filter(None, (owner, *inside))), owner, dataset.shape, is_trainable)


def _is_repeated(name: str, layer: ConfiguredLayer, others: Group) -> bool:
    """Whether a weight belongs to a layer that is also outside of this model, and is stored there.

    Its name then starts with the name of that layer.
    """
    scope = name.partition("/")[0]
    owner = others.groups.get(scope) if scope != layer.name else None
    return owner is not None and name in dict(owner.datasets_below())


def _owner(layer: ConfiguredLayer, words: list[str], path: str) -> tuple[str, list[str]]:
    """The layer that a weight belongs to, and the rest of its name."""
    scopes = [at for at, word in enumerate(words[:-1]) if word == layer.name]
    rest = words[scopes[-1] + 1 :] if scopes else words
    by_name = {inner.name: inner for inner in layer.layers}
    for at, word in enumerate(rest[:-1]):
        if word in by_name:
            return _owner(by_name[word], rest[at:], joined(path, word))
    return path, rest
