"""The command line: words to a command, errors to one line and a status."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Sequence

from tfprof.cli.commands import run
from tfprof.errors import OptionError, OutputError, TfprofError, one_line

EXIT_OK = 0
EXIT_INPUT = 1
EXIT_USAGE = 2
EXIT_INTERRUPTED = 130


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command line, without the program's name, and give its exit status."""
    try:
        status = run(sys.argv[1:] if argv is None else argv)
        if sys.stdout is not None:
            sys.stdout.flush()
    except TfprofError as error:
        complain(error)
        return EXIT_USAGE if isinstance(error, OptionError) else EXIT_INPUT
    except KeyboardInterrupt:
        print("tfprof: stopped.", file=sys.stderr)
        return EXIT_INTERRUPTED
    except BrokenPipeError:
        _drop_output()  # whoever read it has enough
        return EXIT_OK
    except OSError as error:
        # Trouble with a file comes as a TfprofError that names it: only our own output is left.
        _drop_output()
        complain(OutputError(f"the standard output cannot be written: {error.strerror}."))
        return EXIT_INPUT
    return status


def complain(error: TfprofError) -> None:
    """Print an error as one line, whatever a file's name or content put into it."""
    print("tfprof:", one_line(error), file=sys.stderr)


def _drop_output() -> None:
    """Let what is still to be written go nowhere, so that Python does not fail on it at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def entry_point() -> None:
    """The `tfprof` program."""
    # numpy makes ready for linear algebra on all cores, which takes a third of its start; there is
    # none to be done here, but perhaps in a program that is run.
    if sys.argv[1:2] != ["run"]:
        os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    for stream in (sys.stdin, sys.stdout, sys.stderr):
        # A name of an op may hold what the terminal cannot show, a line what it cannot mean.
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    sys.exit(main())
