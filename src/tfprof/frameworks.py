"""The frameworks of programs that run; nothing here is needed to read a file."""

from __future__ import annotations

from typing import Any

from tfprof.errors import CaptureError


def tensorflow() -> Any:
    """The module `tensorflow`; where it cannot be imported, the error says how to get it."""
    try:
        import tensorflow as tf  # noqa: PLC0415 -- only who has a program that runs has it
    except ImportError as error:
        raise CaptureError(
            f"A program that runs is profiled with its TensorFlow ({type(error).__name__}: "
            f"{error}): pip install 'tfprof[tensorflow]'."
        ) from None
    return tf
