"""Where answers and remarks go: as they are into a pipe, through a pager on a terminal."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterable
from typing import Protocol

from tfprof.errors import one_line
from tfprof.options import Options
from tfprof.shell import listing, pager

PROMPT = "tfprof> "

_BOLD = ("\x1b[1m", "\x1b[0m")
# All that moves the cursor or does worse, but for ends of lines, tabs and what makes text bold.
_CONTROL = re.compile(r"(?!\x1b\[[01]m)[\x00-\x08\x0b-\x1f\x7f-\x9f]")


class Screen(Protocol):
    """Shows answers, and says what does not belong into them."""

    @property
    def has_colour(self) -> bool:
        """Whether a heading may stand out."""

    def show(self, pieces: Iterable[str]) -> None:
        """Put an answer out, piece by piece."""

    def listing(self, options: Options) -> Iterable[str]:
        """What the options are set to."""

    def say(self, sentence: object) -> None:
        """Tell something beside the answers, on one line."""


class Pipe:
    """For whoever reads a pipe or a file: everything as it is."""

    has_colour = False

    def show(self, pieces: Iterable[str]) -> None:
        for piece in pieces:
            print(piece, end="")

    def listing(self, options: Options) -> Iterable[str]:
        return listing.plain(options)

    def say(self, sentence: object) -> None:
        print("tfprof:", one_line(sentence), file=sys.stderr)


class Terminal:
    """For a reader: a page at a time, and nothing that a name could do to a terminal."""

    def __init__(self) -> None:
        self.is_dumb = os.environ.get("TERM") in ("dumb", "unknown")
        self.has_colour = not self.is_dumb and not os.environ.get("NO_COLOR")

    @property
    def bold(self) -> tuple[str, str]:
        """What goes before and behind a text to make it stand out."""
        return _BOLD if self.has_colour else ("", "")

    def show(self, pieces: Iterable[str]) -> None:
        pager.show(map(_harmless, pieces))

    def listing(self, options: Options) -> Iterable[str]:
        return listing.marked(options, self.bold)

    def say(self, sentence: object) -> None:
        before, behind = self.bold if sys.stderr.isatty() else ("", "")
        sys.stdout.flush()  # what was shown stands above
        print(f"{before}tfprof:{behind}", one_line(sentence), file=sys.stderr)


def _harmless(piece: str) -> str:
    return _CONTROL.sub(lambda match: match[0].encode("unicode_escape").decode(), piece)
