"""A JSON document whose last key is a list of rows, written row by row."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any


def encode(head: dict[str, Any], rows: Iterable[dict[str, Any]]) -> Iterator[bytes]:
    """The document, one line per row, so that a large one need not fit in memory."""
    opening = json.dumps(head, indent=1).removesuffix("\n}")
    yield f'{opening},\n "rows": [\n'.encode()
    separator = b"  "
    for row in rows:
        yield separator + json.dumps(row, allow_nan=False).encode()
        separator = b",\n  "
    yield b"\n ]\n}\n"
