"""Show answers, through the user's pager if they do not fit on the terminal."""

from __future__ import annotations

import os
import shlex
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from itertools import chain
from typing import IO, cast

# -R keeps bold text, -X leaves the text on the terminal, -F quits if the text fits after all.
_LESS = "FRX"
_LONG = 100_000


def show(pieces: Iterable[str]) -> None:
    """Print `pieces` if they fit on the terminal, otherwise pass them to the user's pager."""
    rest = iter(pieces)
    width, height = _size()
    first: list[str] = []
    rows = 0
    for piece in rest:
        first.append(piece)
        rows += rows_of(piece, width)
        if rows >= height:  # the prompt needs a row as well
            break
    sys.stdout.flush()
    if rows < height or not _page(chain(first, rest)):
        sys.stdout.writelines(chain(first, rest))


def _size() -> tuple[int, int]:
    """The columns and rows of the terminal, or 80 by 24 if it does not report them."""
    try:
        width, height = os.get_terminal_size(sys.stdout.fileno())
    except OSError:  # standard output is not a real file
        return 80, 24
    return width or 80, height or 24


def rows_of(piece: str, width: int) -> int:
    """The number of terminal rows that a text takes; for long texts, a lower bound."""
    if len(piece) > _LONG:
        return piece.count("\n")
    return sum(max(len(line) - 1, 0) // width + 1 for line in piece.split("\n")[:-1])


def _page(pieces: Iterable[str]) -> bool:
    """Run the pager on a text until the user quits it; False if there is no pager."""
    words = command(os.environ)
    if not words:
        return False
    with _ctrl_c_for_the_pager():
        try:
            pager = subprocess.Popen(  # noqa: S603 -- the user chose it
                words, stdin=subprocess.PIPE, env={"LESS": _LESS} | os.environ
            )
        except OSError:
            return False
        try:
            _feed(cast("IO[bytes]", pager.stdin), pieces)
        finally:
            pager.wait()
    return True


def _feed(pipe: IO[bytes], pieces: Iterable[str]) -> None:
    try:
        with pipe:
            for piece in pieces:
                pipe.write(piece.encode(sys.stdout.encoding, "backslashreplace"))
    except BrokenPipeError:
        pass  # the user quit the pager


def command(environment: Mapping[str, str]) -> list[str]:
    """The command of the user's pager, or of an installed one; empty for none."""
    chosen = environment.get("TFPROF_PAGER", environment.get("PAGER", "less"))
    try:
        words = shlex.split(chosen, posix=os.name != "nt")
    except ValueError:  # an unclosed quote
        words = []
    if words in ([], ["cat"]):
        return []
    known = [words, ["less"], ["more"]]
    return next((found for found in known if shutil.which(found[0])), [])


@contextmanager
def _ctrl_c_for_the_pager() -> Iterator[None]:
    """Leave Ctrl-C, which the terminal sends to both processes, to the pager."""
    # An empty handler rather than SIG_IGN, which the pager would inherit.
    before = signal.signal(signal.SIGINT, lambda *_: None)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
