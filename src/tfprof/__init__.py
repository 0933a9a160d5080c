"""Where a model's parameters, float operations, time and memory go."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from tfprof.errors import (
    InputError,
    MissingInputError,
    OptionError,
    OutputError,
    TfprofError,
    UnknownFormatError,
)

if TYPE_CHECKING:
    from tfprof.api import (
        Advice,
        Answer,
        Info,
        LoadedProfile,
        MemoryAnswer,
        OpLog,
        info,
        load,
        step_timeline,
    )

__all__ = [
    "Advice",
    "Answer",
    "Info",
    "InputError",
    "LoadedProfile",
    "MemoryAnswer",
    "MissingInputError",
    "OpLog",
    "OptionError",
    "OutputError",
    "TfprofError",
    "UnknownFormatError",
    "info",
    "load",
    "step_timeline",
]


def __getattr__(name: str) -> Any:
    """Fetch a public name when it is first used, so that importing tfprof loads no numpy."""
    if name not in __all__:
        raise AttributeError(f"module `tfprof` has no attribute {name!r}")
    value = getattr(import_module("tfprof.api"), name)
    globals()[name] = value
    return value
