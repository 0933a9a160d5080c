"""The screens of the shell, which also list the current options."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

from tfprof.commands import screen
from tfprof.options import Options
from tfprof.shell import listing

PROMPT = "tfprof> "


class Screen(screen.Screen, Protocol):
    """Shows answers, notes and the current options."""

    def listing(self, options: Options) -> Iterable[str]:
        """The current options, one per line."""


class Pipe(screen.Pipe):
    """A pipe or a file: text is written verbatim."""

    def listing(self, options: Options) -> Iterable[str]:
        return listing.plain(options)


class Terminal(screen.Terminal):
    """A terminal: long answers go to a pager, and control characters are escaped."""

    def listing(self, options: Options) -> Iterable[str]:
        return listing.marked(options, self.bold)
