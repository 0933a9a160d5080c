"""The version of the installed tfprof."""

from importlib.metadata import PackageNotFoundError, version

UNKNOWN = "0+unknown"  # a source tree that was never installed has no metadata

try:
    __version__ = version("tfprof")
except PackageNotFoundError:
    __version__ = UNKNOWN
