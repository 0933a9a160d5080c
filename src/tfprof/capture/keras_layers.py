"""The lines of code that created the layers of a running program.

What is patched: `Layer.__init__` of Keras 3, while a program is recorded. The patch is undone like
that of `kept_functions`.
"""

from __future__ import annotations

import inspect
import sys
import weakref
from collections.abc import Callable
from contextlib import suppress
from functools import wraps
from types import FrameType
from typing import Any, TypeAlias

MODULE = "keras.src.layers.layer"
Call: TypeAlias = tuple[str, int, str]  # file, line and function


class CreatedLayers:
    """The calls that created each layer, as far as their creation was seen."""

    def __init__(self) -> None:
        # By id; the reference shows whether the id still belongs to the same layer.
        self._calls: dict[int, tuple[weakref.ref[Any], tuple[Call, ...]]] = {}

    def see(self, layer: Any, frame: FrameType | None) -> None:
        """Note the creation of a layer, by the code that runs in `frame`."""
        calls: list[Call] = []
        while frame is not None:
            calls.append((frame.f_code.co_filename, frame.f_lineno, frame.f_code.co_name))
            frame = frame.f_back
        self._calls[id(layer)] = weakref.ref(layer), tuple(reversed(calls))

    def calls_of(self, layer: Any) -> tuple[Call, ...]:
        """The calls that created a layer, outermost first; empty if they are unknown."""
        reference, calls = self._calls.get(id(layer), (None, ()))
        return calls if reference is not None and reference() is layer else ()

    def clear(self) -> None:
        """Forget all layers."""
        self._calls.clear()


def patch(see: Callable[[Any, FrameType | None], None]) -> Callable[[], None] | None:
    """Call `see` for each new layer; returns what undoes this, or None without Keras."""
    module = sys.modules.get(MODULE)
    kind = getattr(module, "Layer", None)
    if kind is None:
        return None
    make = kind.__init__

    @wraps(make)
    def make_and_see(layer: Any, *args: Any, **keywords: Any) -> None:
        make(layer, *args, **keywords)
        with suppress(Exception):  # a layer may be of any kind
            see(layer, inspect.currentframe())

    def restore() -> None:
        if kind.__init__ is make_and_see:
            kind.__init__ = make

    kind.__init__ = make_and_see
    return restore
