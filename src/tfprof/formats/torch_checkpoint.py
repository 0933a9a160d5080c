"""Files that `torch.save` writes: a pickle with the structure, and the values beside it.

Newer files are zip archives: `NAME/data.pkl` has the structure and `NAME/data/0`, … the values.
Older ones are pickles one after the other, and then the values. TorchScript files are archives of
the same kind with code, which is not read.
"""

from __future__ import annotations

import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from tfprof.errors import InputError, one_line
from tfprof.formats.archives import ZIP_DAMAGE, member
from tfprof.formats.file_spans import file_size, read_span
from tfprof.formats.inert_pickle import PickleError, load
from tfprof.formats.torch_files import STRUCTURE, is_old_checkpoint
from tfprof.formats.torch_tensors import Storage
from tfprof.formats.weights import Place

_MOST_STRUCTURE: Final = 1 << 28  # bytes of the pickle with the structure
_AGAIN: Final = "save it again or fetch it again"


@dataclass(frozen=True, slots=True)
class SavedObject:
    """What was saved, as inert values, and where the values of storages are."""

    root: object
    place_of: Callable[[Storage], Place]


def read(path: str) -> SavedObject:
    """The content of the file at `path`."""
    try:
        if is_old_checkpoint(bytes(read_span(path, 0, min(file_size(path), 32)))):
            return _read_old(path)
        with zipfile.ZipFile(path) as archive:
            return read_archive(path, archive)
    except PickleError as error:
        raise InputError(path, f"{error}; {_AGAIN}.") from None
    except ZIP_DAMAGE as error:
        raise InputError(path, f"is damaged ({one_line(error)}); {_AGAIN}.") from None


def read_archive(path: str, archive: zipfile.ZipFile, *, is_readable: bool = True) -> SavedObject:
    """The content of an archive; without `is_readable`, the values cannot be read later."""
    infos = {info.filename: info for info in archive.infolist()}
    name = min((name for name in infos if STRUCTURE.fullmatch(name)), key=len, default="")
    root, _ = load(member(path, archive, name, _MOST_STRUCTURE), has_symbols=True)
    folder = name.removesuffix("data.pkl")
    order = f"{folder}byteorder"
    is_little = order not in infos or member(path, archive, order, 16) == b"little"

    def place_of(storage: Storage) -> Place:
        info = infos.get(f"{folder}data/{storage.key}")
        if info is None:
            raise PickleError(f"lacks the values data/{storage.key}")
        is_plain = is_readable and is_little and info.compress_type == zipfile.ZIP_STORED
        return Place(path, 0, info.file_size, info.filename, is_plain)

    return SavedObject(root, place_of)


def _read_old(path: str) -> SavedObject:
    """A file of pickles: a mark, a version, the machine, the structure and the keys of the values.

    The values that follow are not read.
    """
    data = bytes(read_span(path, 0, min(file_size(path), _MOST_STRUCTURE)))
    end = 0
    for _ in range(3):
        _, end = load(data, end)
    root, end = load(data, end, has_symbols=True)
    keys, end = load(data, end)
    known = {key for key in keys if isinstance(key, str)} if isinstance(keys, list) else set()

    def place_of(storage: Storage) -> Place:
        if storage.key not in known:
            raise PickleError(f"lacks the values {storage.key!r}")
        return Place(path, 0, storage.length, storage.key, is_readable=False)

    return SavedObject(root, place_of)
