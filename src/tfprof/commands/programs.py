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
    module: str = call.value("module")
    if not call.words and not module:
        raise OptionError(f"`run` requires a program: {call.command.usage(Place.COMMAND_LINE)}.")
    program, *arguments = (module, *call.words) if module else call.words
    started = run_script.Module(program) if module else run_script.Script(program)
    window = run_script.Window(call.value("skip_steps"), call.value("steps"))
    if min(window) < 0:
        raise OptionError("`skip_steps` and `steps` cannot be negative.")
    return run_script.run(
        started,
        arguments,
        call.value("outfile"),
        overwrite=call.value("overwrite"),
        all_threads=call.value("all_threads"),
        window=window,
    )
