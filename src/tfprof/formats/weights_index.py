"""The index of a model whose weights are in several files, as Hugging Face's libraries write it.

It is JSON with the name of each tensor and of the file that contains it, in the same folder.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from tfprof.errors import InputError

_LARGEST: Final = 1 << 25  # bytes; parsing takes several times as much memory
_MAP: Final = "weight_map"
_AGAIN: Final = "save it again or fetch it again"


def shards(path: str, data: bytes) -> dict[str, str]:
    """The path of the file of each tensor; `data` is the content of the index at `path`."""
    if len(data) > _LARGEST:
        raise InputError(path, f"is larger than the limit of {_LARGEST:,} bytes for an index.")
    try:
        found = json.loads(data)[_MAP].items()
    except (ValueError, RecursionError, LookupError, TypeError, AttributeError):
        raise InputError(path, f"is a damaged index of weights; {_AGAIN}.") from None
    folder = Path(path).parent
    return {name: str(folder / _plain(path, file)) for name, file in found}


def require_complete(path: str, listed: dict[str, str], found: Iterable[str]) -> None:
    """Refuse an index that lists a tensor which is not in the files."""
    missing = listed.keys() - set(found)
    if missing:
        name = min(missing)
        raise InputError(listed[name], f"lacks the tensor `{name}` that {path} lists; {_AGAIN}.")


def _plain(path: str, name: object) -> str:
    """The name of a file in the same folder; anything else is refused."""
    is_plain = isinstance(name, str) and name not in ("", ".", "..")
    if not is_plain or any(char in "/\\:\0" for char in str(name)):
        raise InputError(path, f"names a file outside of its folder, {name!r}; {_AGAIN}.")
    return str(name)
