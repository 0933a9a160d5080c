"""The shell as a front: lines to calls of commands, and the options kept between them."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tfprof.api import Profile
from tfprof.commands.command import Call, Command, Place, Words
from tfprof.commands.table import available
from tfprof.errors import OptionError, nearest
from tfprof.metrics import BY_KEY
from tfprof.options import Option, Options
from tfprof.options.words import take_options
from tfprof.shell.screen import Screen
from tfprof.sources.source import FileSummary

_HERE = Place.SHELL
_VERBATIM = (Words.TOPIC, Words.OPTION_NAMES)


@dataclass(slots=True)
class Session:
    """A profile, the options in force, and where answers are shown."""

    profile: Profile
    options: Options
    screen: Screen
    hinted: set[str] = field(default_factory=set)

    @property
    def place(self) -> Place:
        """Which front this is."""
        return _HERE

    @property
    def commands(self) -> Mapping[str, Command]:
        """The commands that are available here."""
        return available(_HERE)

    def load(self, _: Call) -> Profile:
        """The profile of the session."""
        return self.profile

    def files(self, _: Call) -> Sequence[FileSummary]:
        """The files that the profile was read from."""
        return self.profile.files

    def open_shell(self, *_: object) -> int:
        """Refuse: this is the shell."""
        raise OptionError("The shell is open already.")

    def answer(self, line: str) -> None:
        """Carry out one line; an empty one shows the options in force."""
        words = line.split()
        if not words:
            self.screen.show(self.screen.listing(self.options))
            return
        call = self.parse(*words)
        call.command.run(call)

    def parse(self, name: str, *words: str) -> Call:
        """The call that the words of a line make."""
        commands = self.commands
        if name not in commands:
            raise OptionError(f"No command `{name}`. {nearest(name, commands)}")
        command = commands[name]
        if command.takes[_HERE] in _VERBATIM:
            return Call(command, self, words)
        given = _given(command, words, commands)
        command.require(given, _HERE, commands.values())
        return Call(command, self, (), given)


def _given(
    command: Command, words: Sequence[str], commands: Mapping[str, Command]
) -> dict[str, Any]:
    """The options that `words` set, spelled as in the shell."""
    tables = (other.options_in(_HERE) for other in (*commands.values(), command))
    known = {name: option for table in tables for name, option in table.items()}
    _require_shell_spelling(words, known)
    given, rest = take_options(words, known, dashes=("-",), loose=False)
    if command.takes[_HERE] is Words.OUTFILE:
        if len(rest) > 1 or (rest and "outfile" in given):
            raise OptionError(f"`{command.name}` writes one file; its name cannot contain spaces.")
        if path := "".join(rest) or given.get("outfile"):
            given["outfile"] = os.path.expanduser(path)  # noqa: PTH111 -- text, as it was typed
    elif rest:
        raise OptionError(f"`{rest[0]}` belongs to no option. {_advice(rest[0], command)}")
    return given


def _advice(stray: str, command: Command) -> str:
    """What the user may have meant by a word that is not part of an option."""
    if stray in command.options:
        return f"Did you mean -{stray}?"
    if stray in BY_KEY and "select" in command.options:
        return f"Did you mean -select {stray}?"
    if not command.options:
        return f"Type {command.name} alone."
    return "Options begin with a dash and lists have no spaces: -select params,micros."


def _require_shell_spelling(words: Sequence[str], known: Mapping[str, Option]) -> None:
    """Refuse the spellings of the command line: options have one dash and no equals sign here."""
    for word in words:
        name, equals, value = word.lstrip("-").partition("=")
        if word.startswith("-") and name in known and (equals or word.startswith("--")):
            raise OptionError(f"`{word}` is spelled -{name} {value or 'VALUE'} in the shell.")
