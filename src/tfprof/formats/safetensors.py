"""Files of tensors in the format safetensors: a header in JSON, then the values.

The header has the type, the shape and the range of bytes of each tensor. Values are not read.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Sequence
from typing import Any, Final

from tfprof.errors import InputError
from tfprof.formats.file_spans import file_size, read_span
from tfprof.formats.weights import Place, StoredWeight, StoredWeights, is_shape, is_size

_LARGEST_HEADER: Final = 100_000_000  # bytes; the limit of the library that writes these files
_LENGTH_BYTES: Final = 8
_METADATA: Final = "__metadata__"
_AGAIN: Final = "save it again or fetch it again"

# Objects and lists take much more memory than their text. A header with more of them than one in
# this many bytes is not one of tensors, which are described in about eighty bytes.
_BYTES_PER_PART: Final = 8
_HARMLESS: Final = 1 << 23

_NAME: Final = re.compile(r"[A-Z][A-Z0-9_]{1,15}")  # of a type
# The name and the bits of each type; a type with a name of its own has no readable values.
_TYPES: Final = {
    "BOOL": ("bool", 8),
    "U8": ("uint8", 8),
    "I8": ("int8", 8),
    "U16": ("uint16", 16),
    "I16": ("int16", 16),
    "U32": ("uint32", 32),
    "I32": ("int32", 32),
    "U64": ("uint64", 64),
    "I64": ("int64", 64),
    "F16": ("float16", 16),
    "BF16": ("bfloat16", 16),
    "F32": ("float32", 32),
    "F64": ("float64", 64),
    "C64": ("complex64", 64),
    "F8_E5M2": ("float8_e5m2", 8),
    "F8_E4M3": ("float8_e4m3fn", 8),
    "F8_E5M2FNUZ": ("float8_e5m2fnuz", 8),
    "F8_E4M3FNUZ": ("float8_e4m3fnuz", 8),
    "F8_E8M0": ("float8_e8m0fnu", 8),
    "F6_E2M3": ("float6_e2m3fn", 6),
    "F6_E3M2": ("float6_e3m2fn", 6),
    "F4": ("float4_e2m1fn", 4),
}


def read(path: str) -> StoredWeights:
    """The tensors of the file at `path`, in the order of their values."""
    size = file_size(path)
    length = int.from_bytes(read_span(path, 0, _LENGTH_BYTES), "little")
    if length > _LARGEST_HEADER:
        raise _damaged(path, f"its header of {length:,} bytes exceeds {_LARGEST_HEADER:,}")
    start = _LENGTH_BYTES + length
    header = _parsed(path, bytes(read_span(path, _LENGTH_BYTES, length)))
    header.pop(_METADATA, None)
    found = [_weight(path, name, entry, start) for name, entry in header.items()]
    found.sort(key=lambda pair: pair[0])
    _require_apart(found, size)
    return StoredWeights([weight for _, weight in found])


def _parsed(path: str, header: bytes) -> dict[str, Any]:
    parts = header.count(b"{") + header.count(b"[")
    if len(header) > _HARMLESS and parts > len(header) // _BYTES_PER_PART:
        raise _damaged(path, "its header is not a table of tensors")
    try:
        found = json.loads(header, object_pairs_hook=_without_repeats)
    except (ValueError, RecursionError) as error:
        trouble = "its header is not valid JSON"
        raise _damaged(path, str(error) if isinstance(error, _RepeatedError) else trouble) from None
    if not isinstance(found, dict):
        raise _damaged(path, "its header is not a table of tensors")
    return found


class _RepeatedError(ValueError):
    """A name occurs twice in an object."""


def _without_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise _RepeatedError("a name occurs twice in its header")
    return found


def _weight(path: str, name: str, entry: object, start: int) -> tuple[Place, StoredWeight]:
    """A tensor whose values are in the file after `start`, and their place."""
    match entry:
        case {"dtype": str(kind)} if _NAME.fullmatch(kind) and kind not in _TYPES:
            trouble = f"has the tensor `{name}` of unknown type {kind}; upgrade tfprof."
            raise InputError(path, trouble)
        case {"dtype": str(kind), "shape": shape, "data_offsets": [first, last]} if (
            kind in _TYPES and is_shape(shape) and is_size(first) and is_size(last)
        ):
            dtype, bits = _TYPES[kind]
        case _:
            raise _damaged(path, f"the entry of tensor `{name}` is not valid")
    if 8 * (last - first) != math.prod(shape) * bits:
        sizes = "x".join(map(str, shape)) or "a scalar"
        trouble = f"tensor `{name}` has {last - first:,} bytes for {sizes} values of type {dtype}"
        raise _damaged(path, trouble)
    place = Place(path, start + first, last - first)
    return place, StoredWeight(name, dtype, tuple(shape), place)


def _require_apart(found: Sequence[tuple[Place, StoredWeight]], size: int) -> None:
    """Refuse tensors that overlap or are not in the file."""
    end = 0
    for (path, start, length, *_), weight in found:
        if start < end and length:
            raise _damaged(path, f"tensor `{weight.name}` overlaps another one")
        end = max(end, start + length)
        if end > size:
            raise InputError(
                path,
                f"ends at byte {size:,}, before tensor `{weight.name}` does; was it copied fully?",
            )


def _damaged(path: str, trouble: str) -> InputError:
    return InputError(path, f"is a damaged safetensors file: {trouble}; {_AGAIN}.")
