"""Build many JSON objects at once, indented by 4; each member is a column in pieces."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from tfprof.columns import Strings
from tfprof.outputs.pieces import Piece, woven

_INDENT = 4


def quoted(texts: Strings) -> list[Piece]:
    """Escaped texts as JSON strings."""
    return [b'"', texts, b'"']


def members(fields: Iterable[tuple[Piece, Sequence[Piece]]], depth: int) -> list[Piece]:
    """An object at indentation level `depth` with these keys and values."""
    more = [piece for key, value in fields for piece in member([key], value, depth)]
    return [b"{" + _line_start(depth + 1) + b'"', *more[1:], _line_start(depth) + b"}"]


def member(key: Sequence[Piece], value: Sequence[Piece], depth: int) -> list[Piece]:
    """A member, not the first, of an object at indentation level `depth`."""
    return [b"," + _line_start(depth + 1) + b'"', *key, b'": ', *value]


def in_list(items: Sequence[Sequence[Piece]], rows: int, depth: int) -> Strings:
    """Rows of items, none of them the first, of a list at indentation level `depth`."""
    start = b"," + _line_start(depth + 1)
    return woven(_merged([piece for item in items for piece in (start, *item)]), rows)


def _line_start(depth: int) -> bytes:
    return b"\n" + b" " * (_INDENT * depth)


def _merged(pieces: Sequence[Piece]) -> list[Piece]:
    """The same pieces, with adjacent shared texts joined."""
    found: list[Piece] = []
    for piece in pieces:
        if found and isinstance(piece, bytes) and isinstance(found[-1], bytes):
            found[-1] += piece
        else:
            found.append(piece)
    return found
