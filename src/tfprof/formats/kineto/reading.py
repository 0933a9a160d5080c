"""Reads the trace in a file, with the compiled scanner if there is one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from tfprof.errors import InputError, TruncatedError
from tfprof.formats.content import Content
from tfprof.formats.kineto.columns import Trace
from tfprof.formats.kineto.damage import DamagedError
from tfprof.formats.kineto.envelope import Found
from tfprof.formats.kineto.repairs import repaired
from tfprof.formats.read_ahead import read_ahead

try:
    from tfprof.formats.kineto import streaming
except ImportError:  # no compiler
    streaming = None  # type: ignore[assignment]


def read(content: Content) -> Trace:
    """The trace in a file, as `kineto.read` returns it."""
    try:
        found = _found(content)
    except DamagedError as error:
        raise InputError(content.path, f"{error}; export the trace again.") from None
    if found.is_whole and not content.is_cut:
        return repaired(found.trace)
    if not (content.is_partial and found.trace.events):
        raise TruncatedError(content.path, _trouble(found))
    content.set_gap(found.read, found.size)
    return repaired(found.trace)


def _trouble(found: Found) -> str:
    place = f"after byte {found.read:,} of {found.size:,}"
    if found.is_followed:
        return f"contains something else {place}; give one file per trace."
    return f"ends early or is damaged {place}; was the copy or download cut short?"


def _found(content: Content) -> Found:
    if streaming is not None:
        pieces = _Pieces(content.pieces())
        found, zeros = streaming.read(read_ahead(pieces)), pieces.zeros
    else:
        from tfprof.formats.kineto import plain  # noqa: PLC0415 -- not needed with a compiler

        data = content.read()[0]
        found, zeros = plain.read(data), data.count(0)
    return found._replace(trace=replace(found.trace, zero_bytes=zeros)) if zeros else found


class _Pieces:
    """The same pieces; counts the zero bytes in them, which are nowhere in JSON."""

    def __init__(self, pieces: Iterable[bytes]) -> None:
        self.pieces = pieces
        self.zeros = 0

    def __iter__(self) -> Iterator[bytes]:
        for piece in self.pieces:
            if 0 in piece:
                self.zeros += piece.count(0)
            yield piece
