"""Builds a model with TensorFlow, exports it, and records its numbers.

`python -m models.record NAME FOLDER` writes the SavedModel FOLDER/NAME, the numbers of the live
model (FOLDER/NAME.json) and, for some models, a frozen graph (FOLDER/NAME.frozen.pb).
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import keras
import tensorflow as tf
from tensorflow.python.framework.convert_to_constants import convert_variables_to_constants_v2

import tfprof
from models.facts import BATCH_SIZES, Live
from models.zoo import ENTRIES, ControlFlow, Entry, Model


def record(entry: Entry, folder: Path) -> Live:
    """Export a model to `folder`, and return the numbers of the live model."""
    program = KerasProgram(entry.build()) if entry.is_keras else FunctionProgram(entry.build())
    path = folder / entry.name
    program.export(f"{path}.part")
    path.with_name(f"{entry.name}.part").rename(path)  # other programs may wait for the folder
    if entry.is_frozen:
        frozen = convert_variables_to_constants_v2(program.concrete(None), lower_control_flow=False)
        path.with_name(f"{entry.name}.frozen.pb").write_bytes(
            frozen.graph.as_graph_def().SerializeToString()
        )
    return Live(
        name=entry.name,
        input=program.shape,
        params=sum(map(_size, program.weights)),
        trainable=sum(map(_size, program.trainable_weights)),
        float_ops={size: program.profile(size).flops().float_ops for size in BATCH_SIZES},
        profiler=dict(_profiler(program.concrete(1).graph)),
    )


class KerasProgram:
    """A Keras model with one input."""

    def __init__(self, model: Model) -> None:
        self._model = model
        (self._input,) = model.inputs
        self.shape = tuple(self._input.shape[1:])
        self.weights, self.trainable_weights = model.weights, model.trainable_weights

    def export(self, path: str) -> None:
        self._model.export(path, verbose=False)

    def profile(self, batch_size: int) -> tfprof.Profile:
        return tfprof.load(self._model, batch_size=batch_size)

    def concrete(self, batch_size: int | None) -> Any:
        """The model as a function for batches of this size, or of any."""
        spec = tf.TensorSpec((batch_size, *self.shape), self._input.dtype)
        called = tf.function(lambda batch: self._model(batch, training=False))
        return called.get_concrete_function(spec)


class FunctionProgram:
    """A `tf.function` of a module."""

    def __init__(self, module: ControlFlow) -> None:
        self._module = module
        self.shape = (module.size,)
        self.weights, self.trainable_weights = module.variables, module.trainable_variables

    def export(self, path: str) -> None:
        self._module.served = tf.function(
            self._module.__call__, input_signature=[tf.TensorSpec((None, *self.shape))]
        )
        tf.saved_model.save(self._module, path, signatures=self._module.served)

    def profile(self, batch_size: int) -> tfprof.Profile:
        return tfprof.load(self.concrete(batch_size))

    def concrete(self, batch_size: int | None) -> Any:
        """The function for batches of this size, or of any."""
        spec = tf.TensorSpec((batch_size, *self.shape))
        return tf.function(self._module.__call__).get_concrete_function(spec)


def _size(variable: Any) -> int:
    return int(tf.TensorShape(variable.shape).num_elements())


def _profiler(graph: Any) -> Iterator[tuple[str, int]]:
    """Float operations by op kind according to TensorFlow's own profiler."""
    profiler = tf.compat.v1.profiler
    options = {**profiler.ProfileOptionBuilder.float_operation(), "output": "none"}
    waiting = [profiler.profile(graph=graph, cmd="op", options=options)]
    while waiting:
        node = waiting.pop()
        if node.float_ops:
            yield node.name, node.float_ops
        waiting += node.children


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("name", choices=sorted(ENTRIES))
    parser.add_argument("folder", type=Path)
    args = parser.parse_args()
    keras.utils.disable_interactive_logging()
    record(ENTRIES[args.name], args.folder).write(args.folder / f"{args.name}.json")


if __name__ == "__main__":
    main()
