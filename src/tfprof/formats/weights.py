"""Tensors in files of weights: names, types and shapes, and where their values are."""

from __future__ import annotations

import math
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, TypeGuard

import numpy as np

from tfprof.errors import InputError, one_line
from tfprof.formats.archives import ZIP_DAMAGE
from tfprof.formats.file_spans import read_span
from tfprof.formats.tensor_types import Values, named_type

_LARGEST_SIZE = (1 << 63) - 1
_LARGEST_RANK = 64  # of PyTorch's tensors
_TRAINED = ("float", "bfloat", "complex")
_QUANTISED = ("qint", "quint")


class Place(NamedTuple):
    """The bytes of a file that contain a tensor; equal places are the same tensor."""

    path: str
    start: int
    size: int
    member: str = ""  # the file in the zip archive at `path` in which they are
    is_readable: bool = True  # False if it says only which tensors have the same values

    def read(self) -> bytes | bytearray:
        """The bytes; raises `InputError` if the file has changed or is damaged."""
        if not self.member:
            return read_span(self.path, self.start, self.size)
        try:
            with zipfile.ZipFile(self.path) as archive, archive.open(self.member) as file:
                file.seek(self.start)
                data = file.read(self.size)
        except ZIP_DAMAGE as error:
            raise InputError(self.path, f"cannot be read ({one_line(error)}).") from None
        if len(data) < self.size:
            raise InputError(self.path, f"ends inside of {self.member}; was it copied fully?")
        return data


@dataclass(frozen=True, slots=True)
class StoredWeight:
    """A tensor, without its values."""

    name: str
    """As the model has it, with dots between the parts: `blocks.0.attn.weight`."""
    dtype: str
    """The name of the type, such as `float32`; those that tfprof does not know keep their own."""
    shape: tuple[int, ...]
    place: Place | None = None
    """None if the values cannot be read."""
    strides: tuple[int, ...] = ()
    """In values; empty if the values are in the usual order."""
    is_frozen: bool = False
    """Whether the file says that it is not trained."""

    @property
    def size(self) -> int:
        """The number of values; a scalar has one."""
        return math.prod(self.shape)

    def values(self) -> Values:
        """The values, read from the file; raises `InputError` if they cannot be read."""
        kind = named_type(self.dtype)
        if self.place is None or not self.place.is_readable or not kind.is_readable:
            what = f"the values of `{self.name}` ({self.dtype})"
            raise InputError(self.place.path if self.place else self.name, f"{what} are not read.")
        flat = kind.values(self.place.read())
        if not self.strides:
            return flat.reshape(self.shape)
        steps = [stride * flat.itemsize for stride in self.strides]
        return np.lib.stride_tricks.as_strided(flat, self.shape, steps, writeable=False)


@dataclass(frozen=True, slots=True)
class StoredWeights:
    """The tensors of a model, and those that its optimizer keeps."""

    weights: Sequence[StoredWeight]
    slots: Sequence[StoredWeight] = ()
    buffers: frozenset[str] | None = None
    """The names of tensors that are not parameters; None if the file does not say."""
    classes: dict[str, str] = field(default_factory=dict)
    """The class of each module by its dotted path, if the file has them; the model's is empty."""
    notes: Sequence[str] = ()


def is_size(value: object) -> TypeGuard[int]:
    """Whether this is a number of values or bytes that a machine could have."""
    return type(value) is int and 0 <= value <= _LARGEST_SIZE


def is_shape(value: object) -> TypeGuard[list[int] | tuple[int, ...]]:
    """Whether this is a list or tuple of sizes of a tensor that a machine could have."""
    return (
        isinstance(value, list | tuple)
        and len(value) <= _LARGEST_RANK
        and all(map(is_size, value))
        and math.prod(value) <= _LARGEST_SIZE
    )


def is_trained_type(dtype: str) -> bool:
    """Whether tensors of a type can be trained: floats and complex numbers."""
    return dtype.startswith(_TRAINED)


def is_weight_type(dtype: str) -> bool:
    """Whether tensors of a type are weights: those that can be trained, and quantised ones."""
    return dtype.startswith((*_TRAINED, *_QUANTISED))
