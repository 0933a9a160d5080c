"""The weights in a file of Keras 3: their names, their layers, and which are trainable."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from tfprof.formats.hdf5 import Dataset, Group
from tfprof.sources.keras_config import ConfiguredLayer, snake_case

# Names of the groups in a file.
_VARIABLES = "vars"
_LAYERS = "layers"
_OPTIMIZER = "optimizer"
_SEEDS = "seed_generator"

_NUMBER = re.compile("0|[1-9][0-9]{0,8}")

# Variables that are not trained, also if their layer is trainable.
_UNTRAINED = re.compile(
    r"moving_mean|moving_variance|mean|variance|count|vector_u|g_idx|.+_(?:scale|zero)|variable_\d+"
)


@dataclass(frozen=True, slots=True)
class Weight:
    """One weight; `layer` is the path of its layer, empty for a weight of the model itself."""

    name: str
    layer: str
    shape: tuple[int, ...]
    is_trainable: bool
    is_of_optimizer: bool = False


@dataclass(slots=True)
class FoundLayers:
    """The layers of a model by path, parents first, and its weights."""

    layers: dict[str, ConfiguredLayer] = field(default_factory=dict)
    weights: list[Weight] = field(default_factory=list)


def found_in(root: Group, layers: Sequence[ConfiguredLayer]) -> FoundLayers:
    """The layers and weights of a model; layers without a configuration are found in the file."""
    found = FoundLayers()
    _add_model(found, root, layers, "")
    if _OPTIMIZER in root.groups:
        _add_optimizer(found, root.groups[_OPTIMIZER])
    return found


def joined(path: str, name: str) -> str:
    """The path of a layer or variable in the layer at `path`."""
    return f"{path}/{name}" if path else name


def _add_model(
    found: FoundLayers, group: Group, layers: Sequence[ConfiguredLayer], path: str
) -> None:
    """Add the layers of a model in the order of its configuration, then those without one."""
    stored = dict(_stored_layers(group))
    by_name = {_own_name(key, part): key for key, part in stored.items()}
    for layer in layers:
        key = by_name.get(layer.name, layer.key)
        _add_layer(found, stored.pop(key, Group()), layer, joined(path, layer.name))
    for key, part in stored.items():
        name = _own_name(key, part)
        layer = ConfiguredLayer(name, "", {}, is_trainable=True, key=key)
        _add_layer(found, part, layer, joined(path, name))
    owner = found.layers.get(path)
    is_trainable = owner is None or owner.is_trainable
    for number, dataset in _variables(group):
        name = joined(path, f"weight_{number}")
        found.weights.append(Weight(name, path, dataset.shape, is_trainable))


def _stored_layers(group: Group) -> Iterator[tuple[str, Group]]:
    """The groups of a model's layers: in `layers`, and in attributes of a model written by hand."""
    for key, part in group.groups.items():
        if key in (_VARIABLES, _OPTIMIZER) or key.startswith(_SEEDS):
            continue
        if _VARIABLES in part.groups:
            yield key, part
        else:  # a list of layers
            names = ((f"{key}/{name}" if key != _LAYERS else name) for name in part.groups)
            yield from zip(names, part.groups.values(), strict=True)


def _own_name(key: str, group: Group) -> str:
    """The name of the layer in a group; older files have only its key."""
    variables = group.groups.get(_VARIABLES)
    return (variables.text("name") if variables else "") or key.rpartition("/")[2]


def _add_layer(found: FoundLayers, group: Group, layer: ConfiguredLayer, path: str) -> None:
    found.layers[path] = layer
    if layer.layers or _LAYERS in group.groups:
        _add_model(found, group, layer.layers, path)
    else:
        kind = layer.kind or _inner_kind(layer.key, group)
        found.weights += _weights_in(group, layer, path, path, kind)


def _weights_in(
    group: Group, layer: ConfiguredLayer, owner: str, path: str, kind: str
) -> Iterator[Weight]:
    """The weights of a layer and of the layers inside it, which have no row of their own."""
    stored = _variables(group)
    for name, (_, dataset) in zip(_names(kind, layer, len(stored)), stored, strict=True):
        if name:
            is_trainable = layer.is_trainable and is_trainable_variable(name, dataset)
            yield Weight(joined(path, name), owner, dataset.shape, is_trainable)
    for key, part in group.groups.items():
        if key != _VARIABLES and not key.startswith(_SEEDS):
            inside = joined(path, _own_name(key, part)) if _VARIABLES in part.groups else path
            yield from _weights_in(part, layer, owner, inside, _inner_kind(key, part))


def _variables(group: Group) -> list[tuple[int, Dataset]]:
    """The variables of a layer in their order."""
    stored = group.groups.get(_VARIABLES, Group()).datasets
    numbered = {int(name): one for name, one in stored.items() if _NUMBER.fullmatch(name)}
    return sorted(numbered.items())


def is_trainable_variable(name: str, dataset: Dataset) -> bool:
    """Whether a variable is trained if its layer is trainable."""
    is_number = dataset.dtype.startswith(("float", "bfloat", "complex"))
    return is_number and _UNTRAINED.fullmatch(name) is None


# The variables of layers, in the order in which Keras saves them. A layer saves those for which
# the option in brackets is not off. An empty name is a variable of an inner layer, saved again.
_BIASED = ("kernel", "bias[use_bias]")
_QUANTISED = (*_BIASED, "kernel_scale", "kernel_zero", "g_idx")
_CELL = ("kernel", "recurrent_kernel", "bias[use_bias]")
_SCALED = ("gamma[scale]", "beta[center]")
_VARIABLE_NAMES: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(("dense", "einsum_dense"), _QUANTISED),
    **dict.fromkeys([f"conv{dim}d{end}" for dim in "123" for end in ("", "_transpose")], _BIASED),
    **dict.fromkeys(("depthwise_conv1d", "depthwise_conv2d"), _BIASED),
    **dict.fromkeys(
        [f"separable_conv{dim}d" for dim in "12"],
        ("depthwise_kernel", "pointwise_kernel", "bias[use_bias]"),
    ),
    **dict.fromkeys(("lstm_cell", "gru_cell", "simple_rnn_cell"), _CELL),
    **dict.fromkeys([f"conv_lstm_cell{dim}" for dim in ("", "1d", "2d", "3d")], _CELL),
    "batch_normalization": (*_SCALED, "moving_mean", "moving_variance"),
    **dict.fromkeys(("layer_normalization", "group_normalization"), _SCALED),
    "rms_normalization": ("scale",),
    "embedding": ("embeddings", "embeddings_scale"),
    "reversible_embedding": ("embeddings", "reverse_embeddings[tie_weights]"),
    "normalization": ("mean", "variance", "count"),
    "p_re_lu": ("alpha",),
    "spectral_normalization": ("", "vector_u"),
}


def _names(kind: str, layer: ConfiguredLayer, count: int) -> list[str]:
    """Names for the variables of a layer of class `kind`.

    Those of an unknown class are numbered (`weight_0`), and those that a known class has besides
    its usual ones too (`variable_3`).
    """
    known = _VARIABLE_NAMES.get(snake_case(kind))
    if known is None:
        return [f"weight_{at}" for at in range(count)]
    options = layer.config if kind == layer.kind else {}
    names = [
        name.partition("[")[0]
        for name in known
        if options.get(name.partition("[")[2].rstrip("]")) is not False
    ]
    return [names[at] if at < len(names) else f"variable_{at}" for at in range(count)]


def _inner_kind(key: str, group: Group) -> str:
    """The class of a layer inside another one, guessed from its names, in snake case."""
    names = [_own_name(key, group), key.rpartition("/")[2]]
    for name in names:
        base = re.sub(r"(?:^(?:forward|backward)_)|_[0-9]+$", "", name)
        if base in _VARIABLE_NAMES:
            return base
    return "dense" if names[1].endswith("dense") or _looks_dense(group) else ""


def _looks_dense(group: Group) -> bool:
    """Whether the variables are a kernel and a bias for its last dimensions."""
    match [one.shape for _, one in _variables(group)]:
        case [kernel, bias]:
            return 0 < len(bias) < len(kernel) and kernel[-len(bias) :] == bias
    return False


def _add_optimizer(found: FoundLayers, group: Group) -> None:
    name = _own_name(_OPTIMIZER, group)
    for path, dataset in group.datasets_below():
        place = path.removeprefix(f"{_VARIABLES}/")
        found.weights.append(
            Weight(f"{name}/{place}", "", dataset.shape, is_trainable=False, is_of_optimizer=True)
        )
