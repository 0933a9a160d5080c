"""Import the frameworks of running programs; reading files does not need them."""

from __future__ import annotations

from typing import Any

from tfprof.errors import CaptureError


def torch() -> Any:
    """The module `torch`; raises `CaptureError` with installation advice if missing."""
    try:
        import torch as found  # noqa: PLC0415 -- optional: only needed to profile a program
    except ImportError as error:
        raise CaptureError(
            f"Profiling a module requires PyTorch ({type(error).__name__}: {error}): "
            "pip install 'tfprof[torch]'."
        ) from None
    return found


def tensorflow() -> Any:
    """The module `tensorflow`; raises `CaptureError` with installation advice if missing."""
    try:
        import tensorflow as tf  # noqa: PLC0415 -- optional: only needed to profile a program
    except ImportError as error:
        raise CaptureError(
            f"Profiling a running program requires TensorFlow ({type(error).__name__}: "
            f"{error}): pip install 'tfprof[tensorflow]'."
        ) from None
    return tf
