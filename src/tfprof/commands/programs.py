"""The command that runs and records a program."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tfprof.capture import run_script
from tfprof.commands.command import Place
from tfprof.errors import OptionError

if TYPE_CHECKING:
    from tfprof.commands.command import Call


def run(call: Call) -> int:
    """Run a program and record it; gives the exit status of the program."""
    if not call.words:
        raise OptionError(f"`run` needs a program: {call.command.usage(Place.COMMAND_LINE)}.")
    program, *arguments = call.words
    return run_script.run(program, arguments, call.value("outfile"))
