"""The layers of Keras models in a running program, and the lines of code that created them.

In a functional or sequential model no line of the program calls the layers, so `model.fit` would be
the only line of the program for all of them. Their ops are attributed to the line that created the
layer, if it was created while the program was recorded, or else to the layer itself.

What is patched: `Layer.__init__` of Keras 3, while a program is recorded. The patch is undone like
that of `kept_functions`.
"""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import wraps
from types import FrameType
from typing import Any, NamedTuple, TypeAlias

MODULE = "keras.src.layers.layer"
Call: TypeAlias = tuple[str, int, str]  # file, line and function

_MODELS = re.compile(r"[/\\]models[/\\](functional|sequential)\.py$")
_NUMBER = re.compile(r"_\d+$")


def runs_layers(file: str) -> bool:
    """Whether a file is one of Keras that calls the layers of a model."""
    return _MODELS.search(file) is not None


class Layer(NamedTuple):
    """A layer: its name, its class, and the calls that created it if known, outermost first."""

    name: str
    kind: str
    created: tuple[Call, ...]


@dataclass(slots=True, eq=False)
class KerasLayers:
    """The layers of a program, by name; models, which contain layers, are not among them."""

    _kinds: dict[str, str] = field(default_factory=dict)
    _created: dict[str, tuple[Call, ...]] = field(default_factory=dict)

    def learn(self, layers: Sequence[Any]) -> None:
        """Note layers that exist."""
        for layer in layers:
            if not _is_model(type(layer)) and isinstance(name := getattr(layer, "name", None), str):
                self._kinds[name] = type(layer).__name__

    def see(self, layer: Any, frame: FrameType | None) -> None:
        """Note the creation of a layer, by the code that runs in `frame`."""
        self.learn([layer])
        calls: list[Call] = []
        while frame is not None:
            calls.append((frame.f_code.co_filename, frame.f_lineno, frame.f_code.co_name))
            frame = frame.f_back
        if (name := getattr(layer, "name", "")) in self._kinds:
            self._created[name] = tuple(reversed(calls))

    def of(self, op: str) -> Layer | None:
        """The outermost layer in whose scope an op is; TensorFlow may number repeated scopes."""
        for scope in op.split("/")[:-1]:
            for name in (scope, _NUMBER.sub("", scope)) if scope not in self._kinds else (scope,):
                if name in self._kinds:
                    return Layer(name, self._kinds[name], self._created.get(name, ()))
        return None

    def clear(self) -> None:
        """Forget all layers."""
        self._kinds.clear()
        self._created.clear()


def _is_model(kind: type) -> bool:
    return any(base.__name__ == "Model" for base in kind.__mro__)


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
