"""Keras files (`.keras`, `.h5`): the layers of a model, and its weights as ops."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace

from tfprof.formats import keras_file
from tfprof.formats.keras_file import KerasFile
from tfprof.model.builder import OpColumns, ProfileBuilder
from tfprof.model.layers import NO_LAYER, Layer
from tfprof.model.notes import Note, Subject
from tfprof.model.ops import OPTIMIZER_VARIABLE, TRAINABLE_VARIABLE
from tfprof.sources import keras_h5, keras_weights
from tfprof.sources.keras_config import layers_of
from tfprof.sources.keras_weights import FoundLayers, Weight
from tfprof.sources.source import FileSummary, InputFile, summary

_KIND = "Variable"


def read(file: InputFile) -> KerasFile:
    """The configuration and the weights of the model."""
    return keras_file.read(file.path, file.content.head)


def add(found: KerasFile, builder: ProfileBuilder, file: InputFile) -> FileSummary:
    """Define an op for each weight, and add the layers that they belong to."""
    found_in = keras_h5.found_in if found.is_legacy else keras_weights.found_in
    model = found_in(found.weights, layers_of(found.config))
    weights = model.weights = list(_unique(model.weights))
    names = [weight.name for weight in weights]
    builder.add_ops(OpColumns.variables(names, _KIND, [weight.shape for weight in weights]))
    trainable = [weight.name for weight in weights if weight.is_trainable]
    builder.add_type(TRAINABLE_VARIABLE, builder.ids(trainable))
    slots = [weight.name for weight in weights if weight.is_of_optimizer]
    builder.add_type(OPTIMIZER_VARIABLE, builder.ids(slots))
    _add_layers(model, builder)
    builder.notes += _notes(file.path, found)
    return summary(file, layers=len(model.layers), weights=len(weights) - len(slots))


def _notes(path: str, found: KerasFile) -> Iterator[Note]:
    if not found.config:
        text = (
            f"{path} contains weights only; the classes and output shapes of layers are unknown, "
            "and all layers are assumed to be trainable."
        )
        yield Note(text, Subject.PARAMS)
    text = (
        f"{path} contains no ops, so there are no float operations and times; export the model "
        "with model.export(FOLDER) and give that folder, or record the program with `tfprof run`."
    )
    yield Note(text, Subject.FLOAT_OPS | Subject.TIME)


def _unique(weights: Sequence[Weight]) -> Iterator[Weight]:
    """Weights with different names: a repeated one gets a number."""
    taken: set[str] = set()
    numbers: Counter[str] = Counter()  # the last number used for each name
    for weight in weights:
        name = weight.name
        while name in taken:
            numbers[weight.name] += 1
            name = f"{weight.name}_{numbers[weight.name] + 1}"
        taken.add(name)
        yield replace(weight, name=name)


def _add_layers(model: FoundLayers, builder: ProfileBuilder) -> None:
    places = {path: place for place, path in enumerate(model.layers)}
    layers = []
    for path, layer in model.layers.items():
        above = path.removesuffix(layer.name).removesuffix("/")
        parent = places.get(above, NO_LAYER) if above else NO_LAYER
        layers.append(Layer(layer.name, parent, layer.kind, layer.output_shape))
    rows = builder.add_layers(layers)
    owned = [weight for weight in model.weights if weight.layer in places]
    builder.set_layer(
        builder.ids(weight.name for weight in owned),
        [int(rows[places[weight.layer]]) for weight in owned],
    )
