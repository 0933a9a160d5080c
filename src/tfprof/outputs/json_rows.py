"""JSON with an indent of 4, many objects at once: each member is a column, in pieces."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from tfprof.columns import Strings
from tfprof.outputs.pieces import Piece, woven

_INDENT = 4


def quoted(texts: Strings) -> list[Piece]:
    """Texts, escaped already, as values."""
    return [b'"', texts, b'"']


def members(fields: Iterable[tuple[Piece, Sequence[Piece]]], depth: int) -> list[Piece]:
    """An object with these members, by their keys, whose own indent is `depth` steps."""
    more = [piece for key, value in fields for piece in member([key], value, depth)]
    return [b"{" + _line_start(depth + 1) + b'"', *more[1:], _line_start(depth) + b"}"]


def member(key: Sequence[Piece], value: Sequence[Piece], depth: int) -> list[Piece]:
    """A member that follows on others, of an object whose own indent is `depth` steps."""
    return [b"," + _line_start(depth + 1) + b'"', *key, b'": ', *value]


def in_list(items: Sequence[Sequence[Piece]], rows: int, depth: int) -> Strings:
    """Rows of items that follow on others in a list whose own indent is `depth` steps."""
    start = b"," + _line_start(depth + 1)
    return woven(_merged([piece for item in items for piece in (start, *item)]), rows)


def _line_start(depth: int) -> bytes:
    return b"\n" + b" " * (_INDENT * depth)


def _merged(pieces: Sequence[Piece]) -> list[Piece]:
    """The same with neighbours that all rows share made one."""
    found: list[Piece] = []
    for piece in pieces:
        if found and isinstance(piece, bytes) and isinstance(found[-1], bytes):
            found[-1] += piece
        else:
            found.append(piece)
    return found
