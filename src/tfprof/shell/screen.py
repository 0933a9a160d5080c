"""The screens of the shell, which also list its options and page long answers on a terminal."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

from tfprof.commands import screen
from tfprof.options import Options
from tfprof.shell import listing, pager

PROMPT = "tfprof> "


class Screen(screen.Screen, Protocol):
    """Shows answers, notes and the options in force."""

    def listing(self, options: Options) -> Iterable[str]:
        """The options in force, one line each."""


class Pipe(screen.Pipe):
    """A pipe or a file: every byte as it is."""

    def listing(self, options: Options) -> Iterable[str]:
        return listing.plain(options)


class Terminal(screen.Terminal):
    """A terminal: a page at a time, and without control characters."""

    def show(self, pieces: Iterable[str]) -> None:
        pager.show(map(screen.harmless, pieces))

    def listing(self, options: Options) -> Iterable[str]:
        return listing.marked(options, self.bold)
