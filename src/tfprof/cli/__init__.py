"""The command line: words to a command, errors to one line and a status."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Sequence

from tfprof.cli.command_line import run
from tfprof.commands import screen
from tfprof.errors import OptionError, OutputError, TfprofError

EXIT_OK = 0
EXIT_INPUT = 1
EXIT_USAGE = 2
EXIT_INTERRUPTED = 130


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command line, without the program's name, and give its exit status."""
    try:
        status = _status(sys.argv[1:] if argv is None else argv)
        if sys.stdout is not None:
            sys.stdout.flush()
    except KeyboardInterrupt:
        _drop_output()  # a full pipe would block the exit
        screen.Pipe().say("stopped.")
        return EXIT_INTERRUPTED
    except BrokenPipeError:
        _drop_output()  # the reader has enough
        return EXIT_OK
    except OSError as error:
        # Trouble with a file is a TfprofError that names it: this is the standard output.
        _drop_output()
        trouble = f"the standard output cannot be written: {error.strerror}."
        screen.Pipe().say(OutputError(trouble))
        return EXIT_INPUT
    return status


def _status(words: Sequence[str]) -> int:
    """The exit status of a command line; its error is reported."""
    try:
        return run(words)
    except TfprofError as error:
        screen.of_output().say(error)
        return EXIT_USAGE if isinstance(error, OptionError) else EXIT_INPUT


def _drop_output() -> None:
    """Discard what is still buffered, so that Python neither fails nor waits for it at exit."""
    try:
        descriptor = sys.stdout.fileno()
    except (AttributeError, OSError):  # not a stream of the system: nothing waits for it
        return
    os.dup2(os.open(os.devnull, os.O_WRONLY), descriptor)


def entry_point() -> None:
    """The `tfprof` program."""
    # numpy prepares linear algebra on all cores, which takes a third of its start. tfprof does
    # none, but a program that it runs may.
    if sys.argv[1:2] != ["run"]:
        os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    for stream in (sys.stdin, sys.stdout, sys.stderr):
        # Names of ops may contain characters that the terminal's encoding lacks.
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    sys.exit(main())
