"""The version of the installed tfprof."""

from importlib.metadata import PackageNotFoundError, version

UNKNOWN = "0+unknown"  # for a source tree that was never installed and has no metadata

try:
    __version__ = version("tfprof")
except PackageNotFoundError:
    __version__ = UNKNOWN
