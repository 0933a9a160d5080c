"""`python -m tfprof`: the command line."""

from tfprof.cli import entry_point

entry_point()
