"""Exported programs of PyTorch (`.pt2`): a graph in JSON, and the values of its parameters.

Since PyTorch 2.8 they are archives with one or more models (`models/NAME.json`); older ones have a
single program. Nothing in them is executed.
"""

from __future__ import annotations

import io
import json
import re
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from tfprof.errors import InputError, one_line
from tfprof.formats import exported_graph
from tfprof.formats.archives import ZIP_DAMAGE, member
from tfprof.formats.exported_graph import Graph
from tfprof.formats.inert_pickle import PickleError
from tfprof.formats.torch_checkpoint import SavedObject, read_archive
from tfprof.formats.torch_tensors import Storage, tensor_in
from tfprof.formats.weights import Place, StoredWeight

_MOST_PROGRAM: Final = 1 << 27  # bytes; parsing takes several times as much memory
_MOST_STATE: Final = 1 << 33
_OLD: Final = "serialized_exported_program.json"
_OLD_STATE: Final = "serialized_state_dict.pt"
_MODEL: Final = re.compile(r"((?:[^/]+/)?)models/([^/]+)\.json")
_AGAIN: Final = "export it again or fetch it again"
_DAMAGE: Final = (
    *(ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError),
)


@dataclass(frozen=True, slots=True)
class Program:
    """An exported program."""

    name: str
    others: Sequence[str]  # further programs in the file
    graph: Graph
    weights: Mapping[str, StoredWeight] = field(default_factory=dict)  # by name
    state: SavedObject | None = None  # a state dict with the weights, in files of older versions


def read(path: str) -> Program:
    """The program in the file at `path`."""
    try:
        with zipfile.ZipFile(path) as archive:
            return _read(path, archive)
    except PickleError as error:
        raise InputError(path, f"{error}; {_AGAIN}.") from None
    except ZIP_DAMAGE as error:
        raise InputError(path, f"is damaged ({one_line(error)}); {_AGAIN}.") from None


def _read(path: str, archive: zipfile.ZipFile) -> Program:
    names = archive.namelist()
    if _OLD in names:
        graph = _graph(path, _loaded(path, archive, _OLD))
        return Program("model", (), graph, state=_state(path, archive, _OLD_STATE))
    found = sorted(match.groups() for match in map(_MODEL.fullmatch, names) if match)
    if not found:
        raise InputError(
            path, "contains compiled code and no program; give what torch.export.save wrote."
        )
    models = [name for _, name in found]
    chosen = "model" if "model" in models else models[0]
    folder = next(folder for folder, name in found if name == chosen)
    weights = f"{folder}data/weights/"
    config = f"{weights}{chosen}_weights_config.json"
    return Program(
        chosen,
        [name for name in models if name != chosen],
        _graph(path, _loaded(path, archive, f"{folder}models/{chosen}.json")),
        _weights(path, archive, weights, config) if config in names else {},
        _state(path, archive, f"{weights}{chosen}.pt"),
    )


def _loaded(path: str, archive: zipfile.ZipFile, name: str) -> Any:
    try:
        return json.loads(member(path, archive, name, _MOST_PROGRAM))
    except (ValueError, RecursionError):
        raise InputError(path, f"is damaged: {name} is not valid JSON; {_AGAIN}.") from None


def _graph(path: str, content: Any) -> Graph:
    try:
        return exported_graph.parsed(content)
    except _DAMAGE:
        raise _damaged(path) from None


def _weights(
    path: str, archive: zipfile.ZipFile, folder: str, config: str
) -> dict[str, StoredWeight]:
    """The parameters by name, as the table `config` describes them; pickled ones are left out."""
    listed = _loaded(path, archive, config)
    try:
        return {
            str(name): _weight(path, archive, f"{folder}{one['path_name']}", one["tensor_meta"])
            for name, one in listed["config"].items()
            if not one["use_pickle"]
        }
    except PickleError:
        raise
    except _DAMAGE:
        raise _damaged(path) from None


def _weight(path: str, archive: zipfile.ZipFile, name: str, about: Any) -> StoredWeight:
    info = archive.getinfo(name)
    dtype, width = exported_graph.type_of(about)
    storage = Storage(name, dtype, info.file_size // width)
    shape, strides = (tuple(one["as_int"] for one in about[key]) for key in ("sizes", "strides"))
    is_readable = info.compress_type == zipfile.ZIP_STORED
    place = Place(path, 0, info.file_size, name, is_readable)
    return tensor_in(storage, lambda _: place, about["storage_offset"]["as_int"], shape, strides)


def _state(path: str, archive: zipfile.ZipFile, name: str) -> SavedObject | None:
    """The state dict in a file of an archive, which is an archive itself; None if it is missing."""
    if name not in archive.NameToInfo:
        return None
    data = member(path, archive, name, _MOST_STATE)
    if not data.startswith(b"PK"):
        return None
    with zipfile.ZipFile(io.BytesIO(data)) as inner:
        return read_archive(path, inner, is_readable=False)


def _damaged(path: str) -> InputError:
    return InputError(path, f"is a damaged exported program; {_AGAIN}.")
