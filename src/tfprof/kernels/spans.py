"""Spans: where each of many texts begins and ends in the same bytes."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
import numpy.typing as npt

Ints: TypeAlias = npt.NDArray[np.int64]
Bools: TypeAlias = npt.NDArray[np.bool_]


def check_spans(data: bytes, starts: Ints, ends: Ints) -> None:
    """Raise `ValueError` unless each start is followed by its end, and both are within `data`."""
    if len(starts) != len(ends):
        raise ValueError(f"{len(starts)} texts begin, but {len(ends)} end")
    if len(starts) and not (
        starts.min() >= 0 and ends.max() <= len(data) and bool((starts <= ends).all())
    ):
        raise ValueError("a text lies outside of its data")


def check_text(text: bytes) -> None:
    """Raise `ValueError` for an empty text, which would match everywhere."""
    if not text:
        raise ValueError("an empty text stands everywhere")
