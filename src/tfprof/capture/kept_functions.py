"""Keeps the traced functions of a program alive while it is recorded, by patching TensorFlow.

Why: a recording only names ops. Their shapes, variables and code lines are in the graphs that
TensorFlow traced, and a program may drop a function before the recording stops. TensorFlow has no
public way to list traced functions or to be notified of new ones.

What is patched: `AtomicFunction.__init__` in
`tensorflow.python.eager.polymorphic_function.atomic_function`, which every traced function goes
through, so that new functions are kept. Functions that exist already are found among the objects
that Python's garbage collector tracks.

It is always undone: the first `KeptFunctions` installs the patch and the last one to be released
removes it, whatever their order. Releasing twice is harmless, and one that is dropped without
being released releases itself. If other code has patched the same method in the meantime, ours
stays in its chain and does nothing.

Where TensorFlow's internals have changed, nothing is kept. The graph of a recording then lacks
functions that the program has dropped, and of the others variables, code lines and most shapes.
"""

from __future__ import annotations

import gc
import weakref
from collections.abc import Callable
from contextlib import suppress
from functools import wraps
from threading import RLock
from typing import Any

_lock = RLock()  # reentrant, as the garbage collector may release one while another is made
_kept: dict[int, list[Any]] = {}  # the functions of each `KeptFunctions`, by the list's id
_restore: list[Callable[[], None]] = []  # how to remove the patch, while it is installed


class KeptFunctions:
    """Every function that is traced already, or will be until `release`."""

    def __init__(self) -> None:
        self._functions: list[Any] = []
        self._finalize = weakref.finalize(self, _release, self._functions)
        self._finalize.atexit = False
        with suppress(ImportError, AttributeError):
            _keep(self._functions)

    def graph(self, name: str) -> Any | None:
        """The graph of the function `name`, None if it is not kept."""
        wanted = name.encode()
        return next((one.graph for one in self._functions if one.name == wanted), None)

    def release(self) -> None:
        """Let go of all functions, and of new ones too."""
        self._finalize()


def _keep(functions: list[Any]) -> None:
    """Add all functions to `functions`, and new ones as they are traced."""
    from tensorflow.python.eager.polymorphic_function import (  # noqa: PLC0415 -- see the package
        atomic_function,
    )

    kind = atomic_function.AtomicFunction
    with _lock:
        if not _kept:
            _restore.append(_patch(kind))
        _kept[id(functions)] = functions
    functions += [one for one in gc.get_objects() if type(one) is kind]


def _patch(kind: Any) -> Callable[[], None]:
    """Make new objects of `kind` known to all of `_kept`; returns how to undo that."""
    make = kind.__init__

    @wraps(make)
    def make_and_keep(function: Any, *args: Any, **keywords: Any) -> None:
        make(function, *args, **keywords)
        for functions in list(_kept.values()):
            functions.append(function)

    def restore() -> None:
        if kind.__init__ is make_and_keep:
            kind.__init__ = make

    kind.__init__ = make_and_keep
    return restore


def _release(functions: list[Any]) -> None:
    """Let go of `functions`; the last to be released removes the patch."""
    with _lock:
        _kept.pop(id(functions), None)
        if not _kept and _restore:
            _restore.pop()()
    functions.clear()
