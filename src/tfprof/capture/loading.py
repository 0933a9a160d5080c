"""`tfprof.load`: a profile of files, or of a model or function in memory."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from tfprof import api
from tfprof.options import INPUT_OPTIONS, Inputs, find

if TYPE_CHECKING:
    from tfprof.api import Profile

_FRAMEWORKS = ("tensorflow", "keras", "tf_keras")
_OF_ANY_PROGRAM = ("count_float_ops",)  # options that have a meaning for modules of PyTorch


def load(
    *what: Any,
    progress: Callable[[str], None] = lambda _: None,
    **inputs: Any,
) -> Profile:
    """Load a profile from files, or from a Keras model, TensorFlow function or PyTorch module.

    The format of each path is recognised by content; keywords (`graph_path`, `run_meta_path`,
    `op_log_path`, `checkpoint_path`, `profile_path`) state it explicitly. `run_meta_path` may be
    one path, several, or a mapping from step to path. `functions=True` counts the ops inside the
    functions of a graph, `signature` selects a signature of a SavedModel, `batch_size` sets the
    batch size of inputs that accept any, `count_float_ops=False` uses only float ops of the op log.
    `progress` is called with each path before it is read.

    A Keras model, a `tf.function` or a concrete function is traced but not run. Further arguments
    are the ones to trace it with. Without any, a model is traced with the inputs that it declares,
    in batches of `batch_size` (default: 1).

    A PyTorch module is called with the further arguments and keywords, as shapes without values.
    `backward=True` counts the backward pass too. Without arguments, only parameters are counted.
    """
    if what and is_module(what[0]):
        return _load_module(what[0], what[1:], inputs)
    if not what or not is_program(what[0]):
        return api.load(*what, progress=progress, **inputs)
    from tfprof.capture import programs  # noqa: PLC0415 -- not needed to read files

    given = {name: find(name, INPUT_OPTIONS).check(value) for name, value in inputs.items()}
    checked = Inputs(**given)
    program = programs.trace(what[0], what[1:], checked.batch_size)
    return api.load_inputs([], checked, progress, program.add)


def _load_module(module: Any, inputs: Sequence[Any], keywords: Mapping[str, Any]) -> Profile:
    from tfprof.capture import torch_models  # noqa: PLC0415 -- not needed to read files

    options = {name: keywords[name] for name in _OF_ANY_PROGRAM if name in keywords}
    given = {name: find(name, INPUT_OPTIONS).check(value) for name, value in options.items()}
    others = {name: value for name, value in keywords.items() if name not in options}
    counted = torch_models.count(module, inputs, others)
    return api.load_inputs([], Inputs(**given), program=counted.add)


def is_program(thing: Any) -> bool:
    """Whether `thing` is a callable object of TensorFlow or Keras."""
    return callable(thing) and not _packages(thing).isdisjoint(_FRAMEWORKS)


def is_module(thing: Any) -> bool:
    """Whether `thing` is a module of PyTorch."""
    return callable(thing) and "torch" in _packages(thing) and hasattr(thing, "named_modules")


def _packages(thing: Any) -> set[str]:
    """The packages of the classes of `thing`."""
    return {kind.__module__.partition(".")[0] for kind in type(thing).__mro__}
