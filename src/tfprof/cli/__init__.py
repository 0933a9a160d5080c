"""The command line: words to a command, errors to one line and a status."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

from tfprof.cli.commands import run
from tfprof.errors import OptionError, TfprofError

EXIT_OK = 0
EXIT_INPUT = 1
EXIT_USAGE = 2
EXIT_INTERRUPTED = 130


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command line, without the program's name, and give its exit status."""
    try:
        return run(sys.argv[1:] if argv is None else argv)
    except TfprofError as error:
        complain(error)
        return EXIT_USAGE if isinstance(error, OptionError) else EXIT_INPUT
    except KeyboardInterrupt:
        print("tfprof: stopped.", file=sys.stderr)
        return EXIT_INTERRUPTED
    except BrokenPipeError:
        # Whoever read our output has enough; Python must not complain about it at exit either.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return EXIT_OK


def complain(error: TfprofError) -> None:
    """Print an error as one line, whatever a file's name or content put into it."""
    print("tfprof:", " ".join(str(error).splitlines()), file=sys.stderr)


def entry_point() -> None:
    """The `tfprof` program."""
    for stream in (sys.stdout, sys.stderr):
        # A name of an op may hold what the terminal cannot show.
        stream.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]
    sys.exit(main())
