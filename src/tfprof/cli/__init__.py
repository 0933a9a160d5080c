"""The `tfprof` program: run a command line, and turn errors into one line and an exit status."""

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
    """Run a command line, given without the program's name, and return its exit status."""
    try:
        status = _status(sys.argv[1:] if argv is None else argv)
        if sys.stdout is not None:
            sys.stdout.flush()
    except KeyboardInterrupt:
        _drop_output()  # a full pipe would block the exit
        screen.Pipe().say("stopped.")
        return EXIT_INTERRUPTED
    except BrokenPipeError:
        _drop_output()  # the reader has stopped reading, as `head` does
        return EXIT_OK
    except OSError as error:
        # Errors with files are TfprofErrors by now, so this one is from standard output.
        _drop_output()
        message = f"cannot write to standard output: {error.strerror}."
        screen.Pipe().say(OutputError(message))
        return EXIT_INPUT
    return status


def _status(words: Sequence[str]) -> int:
    """Run a command line, report its error if any, and return its exit status."""
    try:
        return run(words)
    except TfprofError as error:
        screen.of_output().say(error)
        return EXIT_USAGE if isinstance(error, OptionError) else EXIT_INPUT


def _drop_output() -> None:
    """Discard buffered output, so that Python neither fails nor blocks on it at exit."""
    try:
        descriptor = sys.stdout.fileno()
    except (AttributeError, OSError):  # closed, or not a real file: nothing to flush
        return
    os.dup2(os.open(os.devnull, os.O_WRONLY), descriptor)


def entry_point() -> None:
    """Entry point of the `tfprof` program."""
    # numpy starts a thread per core for linear algebra, which takes a third of its import time.
    # tfprof does no linear algebra, but a program started by `tfprof run` may.
    if sys.argv[1:2] != ["run"]:
        os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    for stream in (sys.stdin, sys.stdout, sys.stderr):
        # Op names may contain characters that the terminal cannot encode.
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    sys.exit(main())
