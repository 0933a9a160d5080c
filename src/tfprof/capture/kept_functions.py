"""Keeps the traced functions of a program alive while it is recorded, by patching TensorFlow.

Why: a recording only names ops. Their shapes, variables and code lines are in the graphs that
TensorFlow traced, and a program may drop a function before the recording stops. TensorFlow has no
public way to list traced functions or to be notified of new ones.

What is patched: `AtomicFunction.__init__` in
`tensorflow.python.eager.polymorphic_function.atomic_function`, which every traced function goes
through, so that new functions are kept, and `AtomicFunction.call_flat`, which every call from
Python goes through, to note the shapes of arguments. Functions that already exist are found among
the objects that Python's garbage collector tracks.

The patch is always undone: the first `KeptFunctions` installs it and the last one to be released
removes it, whatever their order. Releasing twice is harmless, and a `KeptFunctions` that is dropped
without being released releases itself. If other code has patched the same method in the meantime,
our patch stays in the chain and does nothing.

If TensorFlow's internals have changed, nothing is kept. The recorded graph then lacks functions
that the program has dropped, and the variables, code lines and most shapes of all others.
"""

from __future__ import annotations

import gc
import weakref
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import wraps
from threading import RLock
from types import FrameType
from typing import Any

from tfprof.capture import keras_layers
from tfprof.capture.fed_shapes import FedArguments
from tfprof.capture.keras_layers import CreatedLayers
from tfprof.capture.keras_models import UsedModels
from tfprof.capture.variable_roles import VariableRoles


@dataclass(slots=True, eq=False)
class _Kept:
    """What is kept for a `KeptFunctions`."""

    functions: list[Any] = field(default_factory=list)
    roles: VariableRoles = field(default_factory=VariableRoles)
    fed: FedArguments = field(default_factory=FedArguments)
    models: UsedModels = field(default_factory=UsedModels)
    created: CreatedLayers = field(default_factory=CreatedLayers)

    def add(self, functions: Sequence[Any]) -> None:
        """Keep functions, and find out what their variables are for while the owners exist.

        While a function is being traced its variables may be incomplete; it captures all variables
        of the functions that it calls.
        """
        self.functions += functions
        with suppress(Exception):  # TensorFlow's internals may raise anything
            if not _is_tracing():
                graphs = [one.graph for one in functions]
                self.roles.learn(graphs)
                self.models.learn(graphs)


def _is_tracing() -> bool:
    from tensorflow.python.framework import ops  # noqa: PLC0415 -- loads TensorFlow

    return bool(ops.inside_function())


_lock = RLock()  # reentrant: the garbage collector may release one while another is created
_kept: dict[int, _Kept] = {}  # by id
_restore: list[Callable[[], None]] = []  # removes the patch, while it is installed
_restore_layers: list[Callable[[], None]] = []  # the same for the patch of Keras


class KeptFunctions:
    """Keeps every function that is already traced, or is traced before `release`."""

    def __init__(self) -> None:
        self._kept = _Kept()
        self._finalize = weakref.finalize(self, _release, self._kept)
        self._finalize.atexit = False
        with suppress(ImportError, AttributeError):
            _keep(self._kept)

    @property
    def roles(self) -> VariableRoles:
        """What the variables of the functions are for."""
        return self._kept.roles

    @property
    def fed(self) -> FedArguments:
        """The shapes of the arguments with which the program called the functions."""
        return self._kept.fed

    @property
    def models(self) -> UsedModels:
        """The Keras models whose variables the functions use."""
        return self._kept.models

    @property
    def created(self) -> CreatedLayers:
        """The lines that created layers."""
        return self._kept.created

    def graph(self, name: str) -> Any | None:
        """The graph of the function `name`; None if it is not kept."""
        wanted = name.encode()
        return next((one.graph for one in self._kept.functions if one.name == wanted), None)

    def release(self) -> None:
        """Drop all functions and stop keeping new ones."""
        self._finalize()


def _keep(kept: _Kept) -> None:
    """Keep all existing functions, and new ones as they are traced."""
    from tensorflow.python.eager.polymorphic_function import (  # noqa: PLC0415 -- loads TensorFlow
        atomic_function,
    )

    kind = atomic_function.AtomicFunction
    with _lock:
        if not _kept:
            _restore.append(_patch(kind))
        _kept[id(kept)] = kept
        watch_layers()
    kept.add([one for one in gc.get_objects() if type(one) is kind])


def watch_layers() -> None:
    """Note where layers are created, if functions are kept and Keras is imported."""
    with _lock:
        if _kept and not _restore_layers and (restore := keras_layers.patch(_see_layer)):
            _restore_layers.append(restore)


def _see_layer(layer: Any, frame: FrameType | None) -> None:
    for kept in list(_kept.values()):
        kept.created.see(layer, frame)


def _patch(kind: Any) -> Callable[[], None]:
    """Note new objects of `kind` and their calls in all of `_kept`; returns what undoes this."""
    make, call = kind.__init__, kind.call_flat

    @wraps(make)
    def make_and_keep(function: Any, *args: Any, **keywords: Any) -> None:
        make(function, *args, **keywords)
        for kept in list(_kept.values()):
            kept.add([function])

    @wraps(call)
    def note_and_call(function: Any, *args: Any) -> Any:
        for kept in list(_kept.values()):
            with suppress(Exception):  # TensorFlow's internals may raise anything
                kept.fed.see(function, args)
        return call(function, *args)

    def restore() -> None:
        if kind.__init__ is make_and_keep:
            kind.__init__ = make
        if kind.call_flat is note_and_call:
            kind.call_flat = call

    kind.__init__, kind.call_flat = make_and_keep, note_and_call
    return restore


def _release(kept: _Kept) -> None:
    """Drop what is kept; the last release removes the patch."""
    with _lock:
        _kept.pop(id(kept), None)
        if not _kept and _restore:
            _restore.pop()()
        if not _kept and _restore_layers:
            _restore_layers.pop()()
    kept.functions.clear()
    kept.roles.clear()
    kept.models.clear()
    kept.created.clear()
    kept.fed.clear()
