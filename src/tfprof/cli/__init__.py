"""The `tfprof` program: run a command line, and turn errors into one line and an exit status."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

from tfprof.cli import process
from tfprof.cli.command_line import run
from tfprof.commands import screen
from tfprof.errors import OptionError, TfprofError

EXIT_OK = 0
EXIT_INPUT = 1
EXIT_USAGE = 2
EXIT_INTERRUPTED = 130


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command line, given without the program's name, and return its exit status."""
    status = EXIT_OK
    try:
        status = _status(sys.argv[1:] if argv is None else argv)
        if sys.stdout is not None:
            sys.stdout.flush()
    except KeyboardInterrupt:
        return _ended(EXIT_INTERRUPTED, "stopped.")
    except process.Stopped as stopped:
        return _ended(int(str(stopped.code)), "stopped.")
    except BrokenPipeError:  # the reader has stopped reading, as `head` does
        return _ended(status)
    except (MemoryError, ImportError) as error:
        if not (message := process.shortage(error)):
            raise
    except OSError as error:
        # Errors with files are TfprofErrors by now, so this one is from standard output.
        unwritten = f"cannot write to standard output: {error.strerror}."
        message = process.shortage(error) or unwritten
    else:
        return status
    return _ended(EXIT_INPUT, message)  # after `except`, which frees the memory of the failed call


def _ended(status: int, message: str = "") -> int:
    """End without the rest of the output, which might block or fail again."""
    process.drop(sys.stdout)
    if message:
        screen.Pipe().say(message)
    return status


def _status(words: Sequence[str]) -> int:
    """Run a command line, report its error if any, and return its exit status."""
    try:
        return run(words)
    except TfprofError as error:
        screen.of_output().say(error)
        return EXIT_USAGE if isinstance(error, OptionError) else EXIT_INPUT


def entry_point() -> None:
    """Entry point of the `tfprof` program."""
    # numpy starts a thread per core for linear algebra, which takes a third of its import time.
    # tfprof does no linear algebra, but a program started by `tfprof run` may.
    if sys.argv[1:2] != ["run"]:
        os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    process.open_streams()
    process.stop_in_order()
    status = main()
    process.drop_unwritten(sys.stderr)
    if sys.argv[1:2] != ["run"]:  # the threads of a program are its own
        process.leave_threads(status)
    sys.exit(status)
