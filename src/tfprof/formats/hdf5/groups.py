"""The groups, attributes and dataset shapes of an HDF5 file; no values are read."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO, Final, NamedTuple

from tfprof.errors import InputError
from tfprof.formats.file_spans import unreadable
from tfprof.formats.hdf5.objects import Kind, ObjectMessage, Storage
from tfprof.formats.hdf5.stored import Cursor, Hdf5Error

# No file of a model is near these limits.
_MOST_OBJECTS: Final = 500_000
_MOST_DEPTH: Final = 60
_MOST_ATTRIBUTE_BYTES: Final = 1 << 26
_LARGEST_SIZE: Final = 1 << 63

# The names of types by their class in the file.
_CLASSES: Final = ("int", "float", "time", "S", "bits", "opaque", "compound", "ref", "enum", "vlen")
_INTEGER, _FLOAT, _TEXT, _COMPOUND, _VARIABLE = 0, 1, 3, 6, 9


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
    with Path(file).open("rb") if isinstance(file, str) else nullcontext(file) as opened:
        try:
            storage = Storage(opened)
            return _Reader(path, storage).group(storage.messages(storage.root), "", (storage.root,))
        except Hdf5Error as error:
            raise InputError(
                path, f"is a damaged HDF5 file ({error}); save it again or fetch it again."
            ) from None
        except OSError as error:
            raise unreadable(path, error) from None


class _Type(NamedTuple):
    """The type of a value: its class, how many bytes it takes, and its name."""

    number: int
    size: int
    name: str
    is_text: bool


class _Reader:
    """Reads groups within the limits, without following links to other places."""

    def __init__(self, path: str, storage: Storage) -> None:
        self._path, self._storage = path, storage
        self._left = _MOST_OBJECTS

    def group(self, messages: list[ObjectMessage], name: str, above: tuple[int, ...]) -> Group:
        """The group with these messages.

        `above` has the addresses of the group and of those that contain it.
        """
        found = Group(attributes=dict(self._texts(messages)))
        for link in sorted(self._storage.links(messages), key=lambda link: link.name):
            part = link.name.decode("utf-8", "replace")
            self._left -= 1
            if self._left < 0 or len(above) > _MOST_DEPTH + 1:
                raise InputError(
                    self._path,
                    f"contains more than {_MOST_OBJECTS:,} objects, or objects nested more than "
                    f"{_MOST_DEPTH} levels deep; models do not.",
                )
            if link.address is None:
                raise InputError(self._path, f"contains a link, `{part}`; models have none.")
            where = f"{name}/{part}"
            if link.address in above:
                raise InputError(self._path, f"is damaged: the group `{where}` contains itself.")
            inside = self._storage.messages(link.address)
            kinds = {message.kind for message in inside}
            if kinds & {Kind.SYMBOL_TABLE, Kind.LINK_INFO, Kind.LINK, Kind.GROUP_INFO}:
                found.groups[part] = self.group(inside, where, (*above, link.address))
            elif {Kind.DATASPACE, Kind.LAYOUT} <= kinds:
                found.datasets[part] = self._dataset(part, inside)
        return found

    def _dataset(self, name: str, messages: list[ObjectMessage]) -> Dataset:
        by_kind = {message.kind: message for message in messages}
        shape, type_ = by_kind[Kind.DATASPACE], by_kind.get(Kind.DATATYPE)
        dims = self._dims(shape.data) or ()
        if math.prod(dims) >= _LARGEST_SIZE:
            raise InputError(self._path, f"is damaged: the shape of `{name}` is impossible.")
        is_known = type_ is not None and not type_.is_shared
        return Dataset(dims, self._type(type_.data).name if type_ and is_known else "unknown")

    def _dims(self, data: bytes) -> tuple[int, ...] | None:
        """The dimensions of a dataspace; None if it is empty."""
        fields = self._storage.cursor(data)
        version, rank, _, kind = (fields.number(1) for _ in range(4))
        if version == 1:
            fields.number(4)
        elif version != 2:
            raise Hdf5Error(f"version {version} of a dataspace is not supported")
        dims = tuple(fields.length() for _ in range(rank))
        return None if version == 2 and kind == 2 else dims

    def _type(self, data: bytes) -> _Type:
        fields = self._storage.cursor(data)
        number = fields.number(1) & 0x0F
        bits, size = fields.number(3), fields.number(4)
        name = _CLASSES[number] if number < len(_CLASSES) else "array"
        if number == _INTEGER:
            name = f"{'int' if bits & 8 else 'uint'}{8 * size}"
        elif number == _FLOAT:
            name = f"float{8 * size}"
        elif number == _COMPOUND and _is_complex(fields):
            name = f"complex{8 * size}"
        is_text = number == _TEXT or (number == _VARIABLE and bits & 0x0F == 1)
        return _Type(number, size, name, is_text)

    def _texts(self, messages: list[ObjectMessage]) -> Iterator[tuple[str, str | list[str]]]:
        """The attributes that are texts or lists of texts."""
        for data in self._storage.attributes(messages):
            fields = self._storage.cursor(data)
            version, flags = fields.number(1), fields.number(1)
            if version not in (1, 2, 3):
                raise Hdf5Error(f"version {version} of an attribute is not supported")
            sizes = [fields.number(2) for _ in range(3)]
            if version == 3:
                fields.number(1)
            parts = []
            for size in sizes:
                parts.append(fields.take(size))
                if version == 1:
                    fields.align()
            name = parts[0].rstrip(b"\0").decode("utf-8", "replace")
            if not (version > 1 and flags):  # a shared type is never a text of Keras
                type_, dims = self._type(parts[1]), self._dims(parts[2])
                if type_.is_text and dims is not None:
                    yield name, self._value(name, type_, dims, fields)

    def _value(
        self, name: str, type_: _Type, dims: tuple[int, ...], fields: Cursor
    ) -> str | list[str]:
        count = math.prod(dims)
        if count * max(type_.size, 1) > len(fields):
            raise Hdf5Error(f"the attribute `{name}` is cut short")
        texts = []
        for _ in range(count):
            text = fields.take(type_.size)
            if type_.number == _VARIABLE:
                text = self._variable(text)
            if len(text) > _MOST_ATTRIBUTE_BYTES:
                raise InputError(
                    self._path,
                    f"has an attribute `{name}` that is too large: the limit is "
                    f"{_MOST_ATTRIBUTE_BYTES:,} bytes.",
                )
            texts.append(text.rstrip(b"\0").decode("utf-8", "replace"))
        return texts if dims else texts[0]

    def _variable(self, data: bytes) -> bytes:
        """A text of any length, which is in the global heap."""
        fields = self._storage.cursor(data)
        size, address, index = fields.number(4), fields.offset(), fields.number(4)
        return self._storage.heap_object(address, index)[:size] if size else b""


def _is_complex(fields: Cursor) -> bool:
    """Whether a compound type has the fields `r` and `i`, as complex numbers do."""
    names = fields.rest()
    return names.startswith(b"r\0") and b"i\0" in names
