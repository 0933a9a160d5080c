"""Answers that are longer than the terminal, read a page at a time."""

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

# Pass on what is bold, leave the text on the terminal, do not stay where it fits after all.
_LESS = "FRX"
_LONG = 100_000


def show(pieces: Iterable[str]) -> None:
    """Print what fits on the terminal, and hand to the user's pager what does not."""
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
    """The columns and rows of the terminal; some do not tell."""
    width, height = os.get_terminal_size(sys.stdout.fileno())
    return width or 80, height or 24


def rows_of(piece: str, width: int) -> int:
    """How many rows of a terminal a text takes; of a long one, how many at least."""
    if len(piece) > _LONG:
        return piece.count("\n")
    return sum(max(len(line) - 1, 0) // width + 1 for line in piece.split("\n")[:-1])


def _page(pieces: Iterable[str]) -> bool:
    """Let the reader page through a text, to its end or until they quit; False without a pager."""
    words = command(os.environ)
    if not words:
        return False
    with _interrupts_left_to_the_pager():
        try:
            pager = subprocess.Popen(  # noqa: S603 -- it is the user's own
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
        pass  # the reader has enough


def command(environment: Mapping[str, str]) -> list[str]:
    """The user's pager, or one that is there; nothing where they want or have none."""
    chosen = environment.get("PAGER", "less")
    try:
        words = shlex.split(chosen, posix=os.name != "nt")
    except ValueError:  # a quote without its other half
        words = []
    if words in ([], ["cat"]):
        return []
    known = [words, ["less"], ["more"]]
    return next((found for found in known if shutil.which(found[0])), [])


@contextmanager
def _interrupts_left_to_the_pager() -> Iterator[None]:
    """Let Ctrl-C, which reaches both, mean what the pager takes it for."""
    # A handler that does nothing: to be told to ignore it, the pager would inherit.
    before = signal.signal(signal.SIGINT, lambda *_: None)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
