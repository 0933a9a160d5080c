"""A session: options that stay, commands that use them, a line at a time."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import TextIO

from tfprof.api import VIEWS, LoadedProfile
from tfprof.errors import OptionError, TfprofError, nearest
from tfprof.options import VIEW_OPTIONS, Options, take_options
from tfprof.outputs import registry

_NAME_WIDTH = 28


def serve(profile: LoadedProfile, options: Options, lines: TextIO) -> int:
    """Answer each line; the status is 0 if none of them failed."""
    session = Session(profile, options)
    failures = 0
    prompt = "tfprof> " if lines.isatty() else ""
    while True:
        print(prompt, end="", flush=True)
        line = lines.readline()
        if not line:
            return 1 if failures else 0
        try:
            session.answer(line.rstrip("\r\n"))
        except TfprofError as error:
            failures += 1
            print("tfprof:", " ".join(str(error).splitlines()), file=sys.stderr)
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
        given, rest = take_options(words, VIEW_OPTIONS, dashes=("-",), loose=False)
        if rest:
            raise OptionError(f"`{rest[0]}` is no option; they begin with a dash: -{rest[0]}.")
        if "output" in given:
            registry.check(given["output"])
        return self.options.but(**given)

    def _viewer(self, view: str) -> Callable[[list[str]], None]:
        def show(words: list[str]) -> None:
            options = self._changed(words)
            answer = self.profile.view(view, options)
            for note in answer.notes:
                print(f"tfprof: {note}", file=sys.stderr)
            answer.write(options.output)

        return show

    def _set(self, words: list[str]) -> None:
        self.options = self._changed(words)

    def _help(self, _: list[str]) -> None:
        print("Commands:", ", ".join(self.commands))
        print("Options: ", ", ".join(f"-{name}" for name in VIEW_OPTIONS))
        print("An empty line shows what they are set to; `tfprof help WORD` says more of each.")

    def _quit(self, _: list[str]) -> None:
        raise _QuitError


def dump(options: Options) -> str:
    """Every option and its value, a line each."""
    return "\n".join(
        f"{'-' + name:<{_NAME_WIDTH}}{_value_text(getattr(options, name))}" for name in VIEW_OPTIONS
    )


def _value_text(value: object) -> str:
    if isinstance(value, tuple):
        return ",".join(value)
    if isinstance(value, bool):
        return str(value).lower()
    return str(value)
