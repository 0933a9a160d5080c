"""`tfprof.load`: a profile of files, or of a model or function in memory."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from tfprof import api
from tfprof.options import INPUT_OPTIONS, Inputs, find

if TYPE_CHECKING:
    from tfprof.api import Profile

_FRAMEWORKS = ("tensorflow", "keras", "tf_keras")


def load(
    *what: Any,
    progress: Callable[[str], None] = lambda _: None,
    **inputs: Any,
) -> Profile:
    """Load a profile from files, or by tracing a Keras model or TensorFlow function.

    The format of each path is recognised by content; keywords (`graph_path`, `run_meta_path`,
    `op_log_path`, `checkpoint_path`, `profile_path`) state it explicitly. `run_meta_path` may be
    one path, several, or a mapping from step to path. `functions=True` counts the ops inside the
    functions of a graph, `signature` selects a signature of a SavedModel, `batch_size` sets the
    batch size of inputs that accept any, `count_float_ops=False` uses only float ops of the op log.
    `progress` is called with each path before it is read.

    A Keras model, a `tf.function` or a concrete function is traced but not run. Further arguments
    are the ones to trace it with. Without any, a model is traced with the inputs that it declares,
    in batches of `batch_size` (default: 1).
    """
    if not what or not is_program(what[0]):
        return api.load(*what, progress=progress, **inputs)
    from tfprof.capture import programs  # noqa: PLC0415 -- not needed to read files

    given = {name: find(name, INPUT_OPTIONS).check(value) for name, value in inputs.items()}
    checked = Inputs(**given)
    program = programs.trace(what[0], what[1:], checked.batch_size)
    return api.load_inputs([], checked, progress, program.add)


def is_program(thing: Any) -> bool:
    """Whether `thing` is a callable object of TensorFlow or Keras."""
    names = {kind.__module__.partition(".")[0] for kind in type(thing).__mro__}
    return callable(thing) and not names.isdisjoint(_FRAMEWORKS)
