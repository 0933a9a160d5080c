"""The groups, attributes and dataset shapes of an HDF5 file; no values are read.

Requires h5py, which is imported on first use.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, BinaryIO, Final

from tfprof.errors import InputError, MissingInputError

# No file of a model is near these limits.
_MOST_OBJECTS: Final = 500_000
_MOST_DEPTH: Final = 60
_MOST_ATTRIBUTE_BYTES: Final = 1 << 26
_LARGEST_SIZE: Final = 1 << 63


@dataclass(frozen=True, slots=True)
class Dataset:
    """An array, without its values."""

    shape: tuple[int, ...]
    dtype: str


@dataclass(frozen=True, slots=True)
class Group:
    """A group with what it contains, by name."""

    groups: dict[str, Group] = field(default_factory=dict)
    datasets: dict[str, Dataset] = field(default_factory=dict)
    attributes: dict[str, str | list[str]] = field(default_factory=dict)
    """The attributes that are texts or lists of texts."""

    def text(self, name: str) -> str:
        """An attribute, empty if it is missing or not a text."""
        found = self.attributes.get(name, "")
        return found if isinstance(found, str) else ""

    def datasets_below(self) -> Iterator[tuple[str, Dataset]]:
        """All datasets of this group and of the groups in it, with their paths."""
        yield from self.datasets.items()
        for name, group in self.groups.items():
            yield from ((f"{name}/{path}", found) for path, found in group.datasets_below())


def read(path: str, file: str | BinaryIO) -> Group:
    """The content of the HDF5 file `file`; `path` is for error messages."""
    with _opened(path, file) as root:
        return _Reader(path).group(root, ())


@contextmanager
def _opened(path: str, file: str | BinaryIO) -> Iterator[Any]:
    try:
        import h5py  # noqa: PLC0415 -- optional
    except ImportError:
        raise MissingInputError(
            f"{path} is an HDF5 file, which requires h5py: pip install 'tfprof[keras]'"
        ) from None
    try:
        with h5py.File(file, "r") as root:
            yield root
    except (OSError, RuntimeError, KeyError, ValueError, TypeError, UnicodeError) as error:
        raise InputError(
            path, f"is a damaged HDF5 file ({error}); save it again or fetch it again."
        ) from None


class _Reader:
    """Reads groups within the limits, without following links to other places."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._left = _MOST_OBJECTS

    def group(self, source: Any, above: tuple[int, ...]) -> Group:
        """The content of a group; `above` has the addresses of the groups that contain it."""
        import h5py  # noqa: PLC0415

        address = h5py.h5o.get_info(source.id).addr
        if address in above:
            raise InputError(self._path, f"is damaged: the group `{source.name}` contains itself.")
        found = Group(attributes=dict(self._texts(source)))
        for name in source:
            self._left -= 1
            if self._left < 0 or len(above) > _MOST_DEPTH:
                raise InputError(self._path, "contains too many or too deeply nested objects.")
            if not isinstance(source.get(name, getlink=True), h5py.HardLink):
                raise InputError(self._path, f"contains a link, `{name}`; models have none.")
            part = source[name]
            if isinstance(part, h5py.Group):
                found.groups[name] = self.group(part, (*above, address))
            elif isinstance(part, h5py.Dataset):
                found.datasets[name] = self._dataset(name, part)
        return found

    def _dataset(self, name: str, source: Any) -> Dataset:
        shape = tuple(int(size) for size in source.shape or ())
        if math.prod(shape) >= _LARGEST_SIZE:
            raise InputError(self._path, f"is damaged: the shape of `{name}` is impossible.")
        return Dataset(shape, str(source.dtype))

    def _texts(self, source: Any) -> Iterator[tuple[str, str | list[str]]]:
        for name in source.attrs:
            kept = source.attrs.get_id(name)
            if math.prod(kept.shape) * kept.dtype.itemsize > _MOST_ATTRIBUTE_BYTES:
                raise InputError(self._path, f"has an attribute `{name}` that is too large.")
            value = source.attrs[name]
            if isinstance(value, str | bytes):
                yield name, _text(value)
            elif getattr(value, "dtype", None) is not None and value.dtype.kind in "SOU":
                yield name, [_text(one) for one in value.ravel().tolist()]


def _text(value: str | bytes | object) -> str:
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)
