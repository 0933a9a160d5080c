"""Line after line: from a pipe, or in conversation with somebody at a terminal."""

from __future__ import annotations

import sys
from typing import Protocol, TextIO

from tfprof.api import Profile
from tfprof.commands.command import Place
from tfprof.commands.session import QuitError
from tfprof.commands.table import available
from tfprof.errors import OptionError, OutputError, TfprofError
from tfprof.options import Options
from tfprof.shell.completion import Completer
from tfprof.shell.history import History, place
from tfprof.shell.screen import PROMPT, Pipe, Terminal
from tfprof.shell.session import Session

_POORER = (
    "`pip install 'tfprof[shell]'` brings a menu of completions that says what each means, "
    "and suggestions from your history."
)


class Prompt(Protocol):
    """Asks somebody for lines."""

    def read(self, kept: str) -> str:
        """The next line, edited from `kept`; raises `EOFError` when there are no more."""


def serve(profile: Profile, options: Options, lines: TextIO) -> int:
    """Answer each line; the status is 0, or 1 if one that came from a pipe has failed."""
    if lines.isatty() and sys.stdout is not None and sys.stdout.isatty():
        terminal = Terminal()
        print(greeting(profile))
        return converse(Session(profile, options, terminal), _prompt(profile, terminal))
    return answer_all(Session(profile, options, Pipe()), lines)


def greeting(profile: Profile) -> str:
    """What was read, and how to go on."""
    ops, steps = len(profile.columns.ops), len(profile.steps)
    read = f"{_counted(ops, 'op')}, {_counted(steps, 'recorded step')}."
    return f"{read} Tab completes, `help` explains, Ctrl-D leaves."


def _counted(count: int, thing: str) -> str:
    return f"{count:,} {thing}{'s' * (count != 1)}"


def _prompt(profile: Profile, terminal: Terminal) -> Prompt:
    completer, history = Completer(profile.columns, available(Place.SHELL)), History(place())
    if not terminal.is_dumb:  # such one cannot show a menu, nor a line that is kept
        try:
            from tfprof.shell.menu_prompt import MenuPrompt  # noqa: PLC0415 -- for prompt_toolkit

            return MenuPrompt(completer, history, has_colour=terminal.has_colour)
        except ImportError:
            terminal.say(_POORER)
    from tfprof.shell.plain_prompt import PlainPrompt  # noqa: PLC0415 -- for readline

    return PlainPrompt(completer, history)


def answer_all(session: Session, lines: TextIO) -> int:
    """Answer lines that nobody waits for: a mistake is reported, and the rest still answered."""
    status = 0
    while True:
        print(end="", flush=True)
        if lines.isatty():  # somebody types, whose answers go elsewhere
            print(PROMPT, end="", file=sys.stderr, flush=True)
        line = lines.readline()
        if not line:
            return status
        try:
            session.answer(line.rstrip("\r\n"))
        except QuitError:
            return status
        except TfprofError as error:
            status = 1
            session.screen.say(error)


def converse(session: Session, prompt: Prompt) -> int:
    """Answer somebody until they leave; a line with a mistake in it is theirs to edit."""
    kept = ""
    while True:
        try:
            lines = prompt.read(kept)
        except EOFError:
            return 0
        except KeyboardInterrupt:
            kept = ""
            continue
        try:
            kept = _answered(session, lines)
        except QuitError:
            return 0
        except KeyboardInterrupt:  # pressed again before the first could be told of
            kept = ""


def _answered(session: Session, lines: str) -> str:
    """Answer what was typed, or pasted as several lines; gives back a line to be mended."""
    for line in lines.splitlines() or [""]:
        try:
            session.answer(line)
        except TfprofError as error:
            session.screen.say(error)
            # Another file than those that were read is not to be had by editing.
            return line if isinstance(error, OptionError | OutputError) else ""
        except KeyboardInterrupt:
            print()  # behind the ^C of the terminal
            session.screen.say("stopped.")
            return ""
    return ""
