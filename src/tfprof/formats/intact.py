"""The intact part of a message whose file was cut short, or is damaged from some byte on.

Records before the first damage are kept: a node of a graph, an entry of a log, a plane of a
recording. Some messages contain records in other messages; of these, too, complete records are
kept.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple, TypeAlias

from tfprof.formats import messages, wire
from tfprof.formats.messages import message_class
from tfprof.formats.wire import SPAN, WireError

Inside: TypeAlias = Mapping[str, "Holder"]


class Holder(NamedTuple):
    """A field with a message that consists of records, and the fields in it that do so too."""

    number: int
    inside: Inside


# The fields of each message that hold records; all other fields are records.
_HOLDERS: dict[str, Inside] = {
    "tensorflow.GraphDef": {"library": Holder(2, {})},
    "tensorflow.RunMetadata": {"step_stats": Holder(1, {"dev_stats": Holder(1, {})})},
}


class Gap(NamedTuple):
    """How much of a file could be read; `missing` is a lower bound for what is not in the file."""

    read: int
    size: int
    missing: int = 0
    is_unpacked: bool = False  # counts bytes of the content of a gzipped file

    def sentence(self, path: str, facts: Mapping[str, int]) -> str:
        """A note on the answer; `facts` counts what was read."""
        kind = "unpacked bytes" if self.is_unpacked else "bytes"
        share = f"{100 * self.read / self.size:.1f} %" if self.size else "0 %"
        found = ", ".join(f"{name}: {count:,}" for name, count in facts.items())
        missing = f", and at least {self.missing:,} more are missing" if self.missing else ""
        if self.is_unpacked and not missing:
            missing = ", and the gzip data ends early"
        return (
            f"{path} is cut short or damaged: {self.read:,} of {self.size:,} {kind} could be read "
            f"({share}{f'; {found}' if found else ''}){missing}. The numbers cover only this part."
        )


class Intact(NamedTuple):
    """The intact part as a complete message, and how many bytes of the file it represents."""

    data: bytes
    read: int
    missing: int = 0


def of_binary(name: str, data: bytes) -> Intact:
    """The intact part of an encoded message."""
    numbers = _numbers(_HOLDERS.get(name, {}))
    found = _Walk(data, name).message(numbers, 0, len(data))
    return Intact(b"".join(found.pieces), found.end, found.missing)


_Numbers: TypeAlias = Mapping[int, "_Numbers"]


def _numbers(inside: Inside) -> _Numbers:
    return {holder.number: _numbers(holder.inside) for holder in inside.values()}


class _Kept(NamedTuple):
    """The kept bytes of a message, where they end in the file, and what is missing after it."""

    pieces: list[bytes]
    end: int
    missing: int
    is_whole: bool


class _Broken(NamedTuple):
    """A field that cannot be read: its number and start if it holds a message that is cut short.

    If it is not cut but damaged, the damage may have begun in the field before it.
    """

    number: int = 0
    start: int = 0
    missing: int = 0
    is_cut: bool = False


_LONGEST_HEAD = 20  # bytes of a tag and a length or number
_LARGEST = 1 << 31  # bytes of a message


class _Walk:
    """Walks the fields of a message up to the first damage."""

    def __init__(self, data: bytes, name: str) -> None:
        self._data, self._name = data, name

    def message(self, holders: _Numbers, start: int, end: int, path: tuple[int, ...] = ()) -> _Kept:
        """What is intact of the message from `start` to `end`, without its own tag and length.

        `path` has the numbers of the fields that it is in.
        """
        at, last = start, start  # the end and the start of the last intact field
        missing = 0
        try:
            for number, kind, first, stop in wire.fields(self._data, start, end):
                if kind == SPAN and number in holders:
                    inner = self.message(holders[number], first, stop, (*path, number))
                    if not inner.is_whole:
                        return self._cut(start, at, number, inner)
                at, last = stop, at
        except WireError:
            broken = self._broken(at, end)
            missing = broken.missing
            if broken.number in holders:
                inner = self.message(
                    holders[broken.number], broken.start, end, (*path, broken.number)
                )
                return self._cut(start, at, broken.number, inner._replace(missing=missing))
            if not broken.is_cut:
                return _Kept([self._data[start:last]], last, 0, is_whole=False)
        if not self._is_valid(last, at, path):
            at = last
        return _Kept([self._data[start:at]], at, missing, is_whole=at == end)

    def _cut(self, start: int, at: int, number: int, inner: _Kept) -> _Kept:
        """The fields before `at`, and a field with what is intact of its message."""
        head = _head(number, sum(map(len, inner.pieces)))
        pieces = [self._data[start:at], head, *inner.pieces]
        return _Kept(pieces, inner.end, inner.missing, is_whole=False)

    def _broken(self, at: int, end: int) -> _Broken:
        """The field at `at`, which cannot be read: it goes past the end, or is damaged."""
        try:
            tag, first = wire.varint(self._data, at, end)
            size, first = wire.varint(self._data, first, end)
        except WireError:
            return _Broken(is_cut=end - at < _LONGEST_HEAD and self._data[at] != 0)
        number, missing = tag >> 3, first + size - len(self._data)
        is_cut = 0 < number <= wire.LARGEST_FIELD and tag & 7 in wire.KINDS
        if not is_cut or tag & 7 != SPAN or not 0 < missing < _LARGEST:
            return _Broken(is_cut=is_cut and end - at < _LONGEST_HEAD)
        return _Broken(number, first, missing, is_cut=True)

    def _is_valid(self, start: int, end: int, path: tuple[int, ...]) -> bool:
        """Whether protobuf can decode a field; damage need not begin between two fields."""
        field = self._data[start:end]
        for number in reversed(path):
            field = _head(number, len(field)) + field
        try:
            message_class(self._name).FromString(field)
        except messages.DecodeError:
            return False
        except KeyError:  # this message is decoded without a schema
            return True
        return True


def _head(number: int, size: int) -> bytes:
    return wire.encoded(number << 3 | SPAN) + wire.encoded(size)


# Strings, comments and brackets of protobuf text; the name before an opening bracket.
_TOKEN = re.compile(
    rb"""(?P<skip>"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|\#[^\n]*)"""
    rb"""|(?:(?P<name>[A-Za-z_]\w*)\s*:?\s*)?(?P<open>[{<\[])"""
    rb"""|(?P<close>[}>\]])"""
)
_CLOSING = {b"{": b"}", b"<": b">"}


def of_text(name: str, data: bytes, end: int) -> Intact:
    """The intact part of a message in text form that is damaged at byte `end`."""
    path: list[tuple[bytes, Inside | None]] = []  # the open brackets; None inside a record
    holders: Inside | None = _HOLDERS.get(name, {})
    good, closing = 0, b""
    for token in _TOKEN.finditer(data, 0, end):
        if opening := token["open"]:
            path.append((opening, holders))
            holder = (holders or {}).get((token["name"] or b"").decode())
            holders = holder.inside if holder and opening != b"[" else None
        elif token["close"] and path:
            _, holders = path.pop()
            if holders is not None:
                good = token.end()
                closing = b"".join(_CLOSING[bracket] for bracket, _ in reversed(path))
    return Intact(data[:good] + closing, good)
