"""The command `run`: run a program and record it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tfprof.capture import run_script
from tfprof.commands.command import Place
from tfprof.errors import OptionError

if TYPE_CHECKING:
    from tfprof.commands.command import Call


def run(call: Call) -> int:
    """Run a program and record it; returns the program's exit status."""
    if not call.words:
        raise OptionError(f"`run` requires a program: {call.command.usage(Place.COMMAND_LINE)}.")
    program, *arguments = call.words
    return run_script.run(program, arguments, call.value("outfile"))
