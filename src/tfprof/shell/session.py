"""The shell front: parse lines into command calls, and keep options between them."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from tfprof.api import Profile
from tfprof.commands.command import Call, Command, Place, Words, options_of
from tfprof.commands.table import available
from tfprof.errors import OptionError, nearest
from tfprof.metrics import AUTO, BY_KEY
from tfprof.options import Option, Options
from tfprof.options.words import parsed, take_options, take_texts
from tfprof.shell.screen import Screen
from tfprof.sources.source import FileSummary
from tfprof.views.defaults import resolved
from tfprof.views.registry import VIEWS

_HERE = Place.SHELL
_VERBATIM = (Words.TOPIC, Words.OPTION_NAMES)


@dataclass(slots=True)
class Session:
    """A profile, the current options, and the screen for answers."""

    profile: Profile
    options: Options
    screen: Screen
    hinted: set[str] = field(default_factory=set)

    @property
    def default_order(self) -> str:
        """`auto` for a user; by name for a script, which may have been written for the original."""
        return AUTO if self.screen.is_terminal else "name"

    @property
    def place(self) -> Place:
        """Whether this is the command line or the shell."""
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
        """Raise an error: this is the shell."""
        raise OptionError("The shell is already open.")

    def answer(self, line: str) -> None:
        """Answer one line; an empty line shows the current options."""
        words = line.split()
        if not words:
            self.screen.show(self.screen.listing(self._listed()))
            return
        call = self.parse(*words)
        if call.command.takes[_HERE] is Words.QUERY and call.words:
            # As typed, because spaces in it may be part of a text.
            query = line.split(maxsplit=len(words) - len(call.words))[-1]
            call = replace(call, words=(query,))
        call.command.run(call)

    def _listed(self) -> Options:
        """The options to list; a script sees the values that `auto` stands for."""
        if self.screen.is_terminal:
            return self.options
        options = self.options.sorted_by(self.default_order)
        return resolved(next(iter(VIEWS)), self.profile.columns, options)

    def parse(self, name: str, *words: str) -> Call:
        """Parse the words of a line into a call."""
        commands = self.commands
        if name not in commands:
            raise OptionError(f"Unknown command `{name}`. {nearest(name, commands)}")
        command = commands[name]
        if command.takes[_HERE] in _VERBATIM:
            return Call(command, self, words)
        if command.takes[_HERE] is Words.QUERY:
            given, rest = take_options(words, command.options, dashes=("-",), stops=True)
            return Call(command, self, tuple(rest), given)
        given = _given(command, words, commands)
        command.require(given, _HERE)
        return Call(command, self, (), given)


def _given(
    command: Command, words: Sequence[str], commands: Mapping[str, Command]
) -> dict[str, Any]:
    """Parse the options in `words`, in the syntax of the shell."""
    known = options_of([*commands.values(), command], _HERE)
    _require_shell_spelling(words, known)
    texts, rest = take_texts(words, known, dashes=("-",), loose=False)
    command.require_known([name for name, _ in texts], _HERE, commands.values())
    given = parsed(texts, known)
    if command.takes[_HERE] is Words.OUTFILE:
        if len(rest) > 1 or (rest and "outfile" in given):
            raise OptionError(f"`{command.name}` writes one file; its name cannot contain spaces.")
        if path := "".join(rest) or given.get("outfile"):
            given["outfile"] = os.path.expanduser(path)  # noqa: PTH111 -- keeps the rest as typed
    elif rest:
        raise OptionError(f"Unexpected word `{rest[0]}`. {_hint(rest[0], command)}")
    return given


def _hint(word: str, command: Command) -> str:
    """What the user may have meant by a word that is not part of an option."""
    if word in command.options:
        return f"Did you mean -{word}?"
    if word in BY_KEY and "select" in command.options:
        return f"Did you mean -select {word}?"
    if not command.options:
        return f"`{command.name}` takes no arguments."
    return "Options start with a dash, and lists contain no spaces: -select params,micros."


def _require_shell_spelling(words: Sequence[str], known: Mapping[str, Option]) -> None:
    """Reject the syntax of the command line: in the shell, options have one dash and no `=`."""
    for word in words:
        name, equals, value = word.lstrip("-").partition("=")
        if word.startswith("-") and name in known and (equals or word.startswith("--")):
            raise OptionError(f"In the shell, write -{name} {value or 'VALUE'}, not `{word}`.")
