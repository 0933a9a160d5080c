"""Text for a terminal: characters from files are escaped, so that they cannot control it."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable

from tfprof.errors import escaped

BOLD = ("\x1b[1m", "\x1b[0m")

_LAYOUT = "\n\t"
_HARMLESS = bytes(range(0x20, 0x7F)) + _LAYOUT.encode()
_BOLD_TEXT = re.compile(r"\x1b\[1m([^\x1b\n]*)\x1b\[0m")


def write(pieces: Iterable[str]) -> None:
    """Write a text to standard output: escaped for a terminal, verbatim for a file or pipe."""
    # A program may have replaced standard output by an object that can only write.
    is_terminal = getattr(sys.stdout, "isatty", bool)()
    for piece in map(harmless, pieces) if is_terminal else pieces:
        print(piece, end="")


def harmless(piece: str) -> str:
    """`piece` with control, bidirectional and invisible characters escaped.

    Newlines and tabs stay, as does bold text that ends on the line on which it starts.
    """
    # The fast check: nearly all names are ASCII, and deleting characters takes 1 ns for each.
    if piece.isascii() and not piece.encode().translate(None, _HARMLESS):
        return piece
    parts = _BOLD_TEXT.split(piece)
    parts = [escaped(part, keep=_LAYOUT) for part in parts]
    parts[1::2] = [f"{BOLD[0]}{part}{BOLD[1]}" for part in parts[1::2]]
    return "".join(parts)
