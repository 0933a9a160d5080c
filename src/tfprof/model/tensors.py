"""The tensors of a checkpoint; their values are read from the file on request."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy.typing as npt

from tfprof.columns import Shapes, Strings
from tfprof.errors import MissingInputError


@dataclass(frozen=True, slots=True, eq=False)
class Tensors:
    """One row per tensor, sorted by name; `read` returns the values of a tensor by name."""

    name: Strings
    dtype: Strings
    shape: Shapes
    read: Callable[[str], npt.NDArray[Any]]
    has_values: bool = True  # False if the file with the values is missing

    def __len__(self) -> int:
        return len(self.name)

    def find(self, name: str) -> int:
        """The row of the tensor called `name`, or -1."""
        row = bisect_left(self.name, name)
        return row if row < len(self) and self.name[row] == name else -1

    @classmethod
    def none(cls) -> Tensors:
        """An empty table."""
        return cls.described(Strings(), Strings(), Shapes.of([]))

    @classmethod
    def described(cls, name: Strings, dtype: Strings, shape: Shapes) -> Tensors:
        """Tensors without their values."""
        return cls(name, dtype, shape, _no_values, has_values=False)


def _no_values(name: str) -> npt.NDArray[Any]:
    """Refuse to read values that are not available."""
    raise MissingInputError(f"The values of {name} are in a checkpoint: give the checkpoint too.")
