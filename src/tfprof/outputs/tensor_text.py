"""The values of a tensor, as text in brackets."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from tfprof.model.tensors import Tensors
from tfprof.views.view import TABLE_VALUE_TYPES

_MAX_LENGTH = 10_000


def of_tensor(tensors: Tensors, place: int) -> str:
    """The values of a tensor; empty for a missing tensor (-1) or a dtype that tables omit."""
    if place < 0 or tensors.dtype[place] not in TABLE_VALUE_TYPES:
        return ""
    return of_values(tensors.read(tensors.name[place]))


def of_values(values: npt.NDArray[Any]) -> str:
    """Brackets around each dimension, a space after each value; truncated if too long."""
    text = "["
    for piece in _pieces(values):
        text += piece
        if len(text) > _MAX_LENGTH:
            break
    text = text[:_MAX_LENGTH] + "],\n"
    return text if len(text) < _MAX_LENGTH else text + "...omitted from display\n\n"


def rounded(value: float) -> float:
    """A float rounded to six significant digits, as tables and messages show it."""
    return float(f"{value:g}")


def _pieces(values: npt.NDArray[Any]) -> Iterator[str]:
    """The text between the outermost brackets, piece by piece."""
    if values.ndim <= 1:
        for value in values.reshape(-1):
            yield _value_text(value)
        return
    for inner in values:
        yield "["
        yield from _pieces(inner)
        yield "],\n"


def _value_text(value: Any) -> str:
    if isinstance(value, bytes):
        return f"'{value.decode('utf-8', 'replace')}' "
    if isinstance(value, np.floating):
        return f"{rounded(float(value)):.2f} "
    return f"{value} "
