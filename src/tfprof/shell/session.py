"""A session: options that stay, commands that use them, a line at a time."""

from __future__ import annotations

import sys
import textwrap
from collections.abc import Callable, Iterable
from typing import TextIO

from tfprof.api import VIEWS, LoadedProfile
from tfprof.errors import OptionError, TfprofError, nearest, one_line
from tfprof.metrics import BY_KEY
from tfprof.options import VIEW_OPTIONS, Options, OutputSpec, default_of, take_options
from tfprof.outputs import registry

_NAME_WIDTH = 28
_LABEL_WIDTH = 10
_WIDTH = 80


def serve(profile: LoadedProfile, options: Options, lines: TextIO) -> int:
    """Answer each line; the status is 0 if none of them failed."""
    session = Session(profile, options)
    failures = 0
    prompt = "tfprof> " if lines.isatty() else ""
    while True:
        print(prompt, end="", flush=True)
        line = lines.readline()
        if not line:
            print(end="\n" if prompt else "")  # what comes next does not belong to the prompt
            return 1 if failures else 0
        try:
            session.answer(line.rstrip("\r\n"))
        except TfprofError as error:
            failures += 1
            _say(error)
        except _QuitError:
            return 1 if failures else 0


class _QuitError(Exception):
    """The user wants to leave."""


class Session:
    """The options as they are set, and the profile they are used on."""

    def __init__(self, profile: LoadedProfile, options: Options) -> None:
        self.profile = profile
        self.options = options
        self.commands: dict[str, Callable[[list[str]], None]] = {
            **{view: self._viewer(view) for view in VIEWS},
            "set": self._set,
            "help": self._help,
            "quit": self._quit,
            "exit": self._quit,
        }

    def answer(self, line: str) -> None:
        """Carry out one line; an empty one shows the options."""
        words = line.split()
        if not words:
            print(dump(self.options))
            return
        command, *rest = words
        if command not in self.commands:
            raise OptionError(f"No command `{command}`. {nearest(command, self.commands)}")
        self.commands[command](rest)

    def _changed(self, words: list[str]) -> Options:
        """The options as they are set, with those that `words` give in their place."""
        _require_shell_spelling(words)
        given, rest = take_options(words, VIEW_OPTIONS, dashes=("-",), loose=False)
        if rest:
            raise OptionError(f"`{rest[0]}` belongs to no option. {_advice(rest[0])}")
        options = self.options.taking(given)
        registry.require(options.destination)
        return options

    def _viewer(self, view: str) -> Callable[[list[str]], None]:
        def show(words: list[str]) -> None:
            options = self._changed(words)
            answer = self.profile.view(view, options)
            answer.write()
            if outfile := options.destination.outfile:
                _say(f"wrote {outfile}")
            for note in answer.notes:
                _say(note)

        return show

    def _set(self, words: list[str]) -> None:
        self.options = self._changed(words)

    def _help(self, _: list[str]) -> None:
        print(_folded("Commands:", self.commands))
        print(_folded("Options:", [f"-{name}" for name in VIEW_OPTIONS]))
        print("An empty line shows what they are set to; `tfprof help WORD` says more of each.")

    def _quit(self, _: list[str]) -> None:
        raise _QuitError


def _advice(stray: str) -> str:
    """What somebody may have meant by a word that stands alone."""
    if stray in VIEW_OPTIONS:
        return f"Did you mean -{stray}?"
    if stray in BY_KEY:
        return f"Did you mean -select {stray}?"
    return "Options begin with a dash and lists have no spaces: -select params,micros."


def _say(sentence: object) -> None:
    """Tell what does not belong into an answer."""
    print("tfprof:", one_line(sentence), file=sys.stderr)


def _require_shell_spelling(words: list[str]) -> None:
    """Refuse an option as the command line spells it: here it has one dash and no equals sign."""
    for word in words:
        name, equals, value = word.lstrip("-").partition("=")
        if word.startswith("-") and name in VIEW_OPTIONS and (equals or word.startswith("--")):
            raise OptionError(f"`{word}` is spelled -{name} {value or 'VALUE'} in the shell.")


def _folded(label: str, words: Iterable[str]) -> str:
    """A list behind its label, folded to the width of a terminal."""
    start = label.ljust(_LABEL_WIDTH)
    return textwrap.fill(
        ", ".join(words),
        _WIDTH,
        initial_indent=start,
        subsequent_indent=" " * _LABEL_WIDTH,
        break_on_hyphens=False,
    )


def dump(options: Options) -> str:
    """The options of the dialect and all others that are set to something, a line each."""
    known = options.generation.options
    others = [name for name in VIEW_OPTIONS if name not in known and _is_set(options, name)]
    return "\n".join(
        f"{'-' + name:<{_NAME_WIDTH}}{_value_text(name, getattr(options, name))}"
        for name in (*known, *others)
    )


def _is_set(options: Options, name: str) -> bool:
    return bool(getattr(options, name) != default_of(name, options.dialect))


def _value_text(name: str, value: object) -> str:
    if name == "output":
        return str(OutputSpec.parse(str(value)))
    if isinstance(value, tuple):
        return ",".join(value)
    if isinstance(value, bool):
        return str(value).lower()
    return str(value)
