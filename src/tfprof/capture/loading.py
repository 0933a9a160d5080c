"""`tfprof.load`: a profile of files, or of a program that is there as an object."""

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
    """A profile of the files a program left behind, or of a program that can be called.

    Each path is recognised by its content; keywords (`graph_path`, `run_meta_path`, `op_log_path`,
    `checkpoint_path`, `profile_path`) say what a file is. `run_meta_path` may be one path, several,
    or a mapping of step to path. `functions=True` counts what is inside functions of a graph,
    `signature` chooses what of a SavedModel is called, `batch_size` how many examples it is given
    where it takes any number, `count_float_ops=False` takes float ops from the op log alone.
    `progress` is called with each path before it is read.

    A Keras model, a `tf.function` or a concrete function is traced, not run: a model with its own
    inputs, `batch_size` of them (1), or like the arguments behind it; a function with these.
    """
    if not what or not is_program(what[0]):
        return api.load(*what, progress=progress, **inputs)
    from tfprof.capture import programs  # noqa: PLC0415 -- those who read files do without

    given = {name: find(name, INPUT_OPTIONS).check(value) for name, value in inputs.items()}
    checked = Inputs(**given)
    program = programs.trace(what[0], what[1:], checked.batch_size)
    return api.load_inputs([], checked, progress, program.add)


def is_program(thing: Any) -> bool:
    """Whether this is something of TensorFlow or Keras that can be called."""
    names = {kind.__module__.partition(".")[0] for kind in type(thing).__mro__}
    return callable(thing) and not names.isdisjoint(_FRAMEWORKS)
