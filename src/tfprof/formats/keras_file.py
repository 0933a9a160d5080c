"""Files that Keras writes: the configuration of a model, and the names and shapes of its weights.

A `.keras` file is a zip archive of `config.json` and `model.weights.h5`. Older `.h5` files contain
the configuration as an attribute. Files of weights have none.
"""

from __future__ import annotations

import io
import json
import struct
import tempfile
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, Final

from tfprof.errors import InputError, one_line
from tfprof.formats import hdf5
from tfprof.formats.archives import ZIP_DAMAGE
from tfprof.formats.hdf5 import Group
from tfprof.formats.recognise import KERAS_FILES, is_keras_archive

_CONFIG, _WEIGHTS, _ = KERAS_FILES

_MOST_CONFIG_BYTES: Final = 1 << 25  # parsing takes up to forty times as much memory
_MOST_UNPACKED_BYTES: Final = 1 << 32
_CHUNK: Final = 1 << 20
_AGAIN: Final = "save it again or fetch it again"
_LOCAL_HEADER: Final = 30  # bytes before the name of a file in a zip archive


@dataclass(frozen=True, slots=True)
class KerasFile:
    """The content of a file."""

    config: dict[str, Any]
    """Empty for a file of weights."""
    weights: Group
    is_legacy: bool
    """Whether weights are stored under the names of layers and variables, as in old `.h5` files."""


def read(path: str, head: bytes) -> KerasFile:
    """Read the file at `path`, which starts with `head`."""
    with Path(path).open("rb") as file:
        if not head.startswith(file.read(2)):
            raise InputError(path, "is a gzipped Keras file; unpack it first.")
    if is_keras_archive(head):
        return _read_archive(path)
    root = hdf5.read(path, path)
    is_legacy = _is_legacy(root)
    if not is_legacy and "vars" not in dict(_groups(root)):
        raise InputError(
            path, "is an HDF5 file without a Keras model; save one with model.save(FILE.keras)."
        )
    config = root.text("model_config")
    return KerasFile(_parsed(path, config.encode()) if config else {}, root, is_legacy)


def _is_legacy(root: Group) -> bool:
    """Whether layers are listed by name, in one attribute or several (`layer_names0`, …)."""
    names = root.groups.get("model_weights", root).attributes
    return any(name.startswith("layer_names") for name in names)


def _groups(group: Group) -> Iterator[tuple[str, Group]]:
    """All groups in a group."""
    for name, part in group.groups.items():
        yield name, part
        yield from _groups(part)


def _read_archive(path: str) -> KerasFile:
    try:
        with zipfile.ZipFile(path) as archive:
            info = archive.getinfo(_CONFIG)
            if info.file_size > _MOST_CONFIG_BYTES:
                raise InputError(path, f"is not a Keras model: its {_CONFIG} is too large.")
            config = _parsed(path, archive.read(info))
            with _member(path, archive, archive.getinfo(_WEIGHTS)) as file:
                return KerasFile(config, hdf5.read(path, file), is_legacy=False)
    except KeyError as error:
        raise InputError(path, f"is an incomplete Keras file: {error.args[0]}; {_AGAIN}.") from None
    except ZIP_DAMAGE as error:
        trouble = one_line(error)
        raise InputError(path, f"is a damaged Keras file ({trouble}); {_AGAIN}.") from None


def _parsed(path: str, data: bytes) -> dict[str, Any]:
    if len(data) > _MOST_CONFIG_BYTES:
        raise InputError(path, "is damaged: its configuration is too large.")
    try:
        config = json.loads(data)
    except (ValueError, RecursionError):
        raise InputError(
            path, f"is damaged: its configuration is not valid JSON; {_AGAIN}."
        ) from None
    if not isinstance(config, dict):
        raise InputError(path, f"is damaged: its configuration is not an object; {_AGAIN}.")
    return config


@contextmanager
def _member(path: str, archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> Iterator[BinaryIO]:
    """A file of the archive that can be read at any place."""
    if info.compress_type == zipfile.ZIP_STORED:
        with Path(path).open("rb") as file:
            file.seek(info.header_offset)
            header = file.read(_LOCAL_HEADER)
            name, extra = struct.unpack("<HH", header[26:30])
            start = info.header_offset + _LOCAL_HEADER + name + extra
            yield io.BufferedReader(_Part(file, start, info.file_size))
        return
    with archive.open(info) as packed, tempfile.TemporaryFile() as file:
        size = 0
        while data := packed.read(_CHUNK):
            size += len(data)
            if size > _MOST_UNPACKED_BYTES:
                raise InputError(
                    path, f"is not a Keras model: its {_WEIGHTS} is too large when unpacked."
                )
            file.write(data)
        file.seek(0)
        yield file


class _Part(io.RawIOBase):
    """A part of a file, as a file."""

    def __init__(self, file: BinaryIO, start: int, size: int) -> None:
        self._file, self._start, self._size, self._at = file, start, size, 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        base = {io.SEEK_SET: 0, io.SEEK_CUR: self._at, io.SEEK_END: self._size}[whence]
        self._at = max(0, base + offset)
        return self._at

    def readinto(self, buffer: Any) -> int:
        self._file.seek(self._start + self._at)
        data = self._file.read(max(0, min(len(buffer), self._size - self._at)))
        buffer[: len(data)] = data
        self._at += len(data)
        return len(data)
