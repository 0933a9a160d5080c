"""Folders that `torch.distributed.checkpoint` writes: a table of tensors, and their values.

The file `.metadata` is a pickle with the type and shape of each tensor, and where it was in the
objects that were saved. The values are in files of the ranks, which are not read.
"""

from __future__ import annotations

from typing import Any, Final

from tfprof.errors import InputError
from tfprof.formats.file_spans import file_size, read_span
from tfprof.formats.inert_pickle import Made, PickleError, Symbol, load
from tfprof.formats.torch_checkpoint import SavedObject
from tfprof.formats.torch_tensors import Storage
from tfprof.formats.weights import Place

_MOST: Final = 1 << 28  # bytes
_AGAIN: Final = "save it again or fetch it again"
_SHAPED: Final = Symbol("torch._utils", "_rebuild_meta_tensor_no_storage")


def read(path: str) -> SavedObject:
    """What was saved, with tensors that have no values; `path` is that of the table."""
    size = file_size(path)
    if size > _MOST:
        raise InputError(path, f"is larger than the limit of {_MOST:,} bytes; {_AGAIN}.")
    try:
        return SavedObject(_root(load(bytes(read_span(path, 0, size)), has_symbols=True)[0]), _none)
    except PickleError as error:
        raise InputError(path, f"{error}; {_AGAIN}.") from None


def _root(found: object) -> dict[Any, object]:
    match found:
        case Made(state={"state_dict_metadata": dict(tensors), "planner_data": dict(places)}):
            return _nested(tensors, places)
        case Made(state={"state_dict_metadata": dict(tensors)}):
            return _nested(tensors, {})
    raise PickleError("has no table of tensors")


def _nested(tensors: dict[Any, object], places: dict[Any, object]) -> dict[Any, object]:
    """The tables that were saved; the path of each tensor in them is in `places`."""
    root: dict[Any, object] = {}
    for name, about in tensors.items():
        path = places.get(name)
        *above, last = path if isinstance(path, tuple) and path else (name,)
        table = root
        for part in above:
            inner = table.setdefault(_key(part), {})
            if not isinstance(inner, dict):
                raise PickleError(f"has a tensor at an impossible place, {name!r}")
            table = inner
        table[_key(last)] = _tensor(about)
    return root


def _key(part: object) -> object:
    return part if isinstance(part, str | int) else str(part)


def _tensor(about: object) -> object:
    """The tensor that an entry describes; None for other objects."""
    match about:
        case Made(state={"properties": Made(state=(Symbol() as dtype, *_)), "size": size}):
            return Made(_SHAPED, (dtype, size))
    return None


def _none(storage: Storage) -> Place:
    raise PickleError(f"lacks the values {storage.key!r}")
