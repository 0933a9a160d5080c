"""The loop of the shell: answer lines from a pipe, or from a user at a terminal."""

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
from tfprof.units import counted

_INSTALL_HINT = (
    "`pip install 'tfprof[shell]'` adds a menu that explains completions, and suggestions from "
    "your history."
)


class Prompt(Protocol):
    """Reads lines from the user."""

    def read(self, kept: str) -> str:
        """The next line, edited from `kept`; raises `EOFError` at the end of input."""


def serve(profile: Profile, options: Options, lines: TextIO, *, pages: bool = True) -> int:
    """Answer each line; returns 0, or 1 if a line from a pipe failed.

    With `pages`, a user at a terminal gets long answers in a pager.
    """
    if lines.isatty() and sys.stdout is not None and sys.stdout.isatty():
        terminal = Terminal(pages=pages)
        print(greeting(profile))
        session = Session(profile, options, terminal)
        return converse(session, _prompt(session, terminal))
    return answer_all(Session(profile, options, Pipe()), lines)


def greeting(profile: Profile) -> str:
    """What was read, and how to get help."""
    ops, steps = len(profile.columns.ops), len(profile.steps)
    read = f"{counted(ops, 'op')}, {counted(steps, 'recorded step')}."
    if profile.notes:
        read += f" `info` shows {counted(len(profile.notes), 'note')} on the files."
    return f"{read} Tab completes, `help` explains, Ctrl-D leaves."


def _prompt(session: Session, terminal: Terminal) -> Prompt:
    columns, commands = session.profile.columns, available(Place.SHELL)
    completer = Completer(columns, commands, lambda: session.options)
    history = History(place())
    if not terminal.is_dumb:  # a dumb terminal cannot show a menu
        try:
            from tfprof.shell.menu_prompt import MenuPrompt  # noqa: PLC0415 -- for prompt_toolkit

            return MenuPrompt(completer, history, has_colour=terminal.has_colour)
        except ImportError:
            terminal.say(_INSTALL_HINT)
    from tfprof.shell.plain_prompt import PlainPrompt  # noqa: PLC0415 -- for readline

    return PlainPrompt(completer, history)


def answer_all(session: Session, lines: TextIO) -> int:
    """Answer lines from a pipe or file; an error is reported and does not stop the rest."""
    status = 0
    while True:
        print(end="", flush=True)
        if lines.isatty():  # the user types, but answers go to a pipe or file
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
    """Answer a user until they leave; a line with an error is offered for editing."""
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
        except KeyboardInterrupt:  # pressed again while the first one was reported
            kept = ""


def _answered(session: Session, lines: str) -> str:
    """Answer the typed or pasted lines; returns the line to edit, or an empty string."""
    for line in lines.splitlines() or [""]:
        try:
            session.answer(line)
        except TfprofError as error:
            session.screen.say(error)
            # Editing the line does not help if an input file is missing or damaged.
            return line if isinstance(error, OptionError | OutputError) else ""
        except KeyboardInterrupt:
            print()  # start a new line after the terminal's ^C
            session.screen.say("stopped.")
            return ""
    return ""
