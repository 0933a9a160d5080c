"""Where a model's parameters, float operations, time and memory go."""

from tfprof.api import Answer, Info, LoadedProfile, info, load
from tfprof.errors import (
    InputError,
    MissingInputError,
    OptionError,
    OutputError,
    TfprofError,
    UnknownFormatError,
)

__all__ = [
    "Answer",
    "Info",
    "InputError",
    "LoadedProfile",
    "MissingInputError",
    "OptionError",
    "OutputError",
    "TfprofError",
    "UnknownFormatError",
    "info",
    "load",
]
__version__ = "0.1.0"
