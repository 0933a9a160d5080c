"""Checks that traces given together are of one program, so that no answer mixes two programs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tfprof.errors import OptionError
from tfprof.formats.kineto.columns import Trace
from tfprof.model.between_files import TracedProgram
from tfprof.model.recordings import UNKNOWN_RANK
from tfprof.sources.kineto.python_calls import Instances
from tfprof.sources.kineto.scopes import kinds_of_modules
from tfprof.units import counted

_MOST_RANKS = 1 << 31

# Traces of one program share this part of the modules of the smaller one: steps may differ in the
# branches that they take, or evaluate instead of train.
_LEAST_SHARED = 0.5

_ADVICE = "ask about one at a time, or compare them with `tfprof diff`"


def program_of(trace: Trace, instances: Instances, path: str) -> TracedProgram:
    """What a trace states about its program."""
    info = trace.header.get("distributedInfo")
    stated = info if isinstance(info, dict) else {}
    return TracedProgram(
        path,
        rank=_number(stated.get("rank"), UNKNOWN_RANK),
        ranks=max(_number(stated.get("world_size"), 1), 1),
        modules=kinds_of_modules(instances),
    )


def _number(value: Any, default: int) -> int:
    is_number = isinstance(value, int) and not isinstance(value, bool)
    return value if is_number and 0 <= value < _MOST_RANKS else default


def require_same(known: Sequence[TracedProgram], new: TracedProgram) -> None:
    """Raise `OptionError` if a trace is of another program than those before it."""
    for one in known:
        if trouble := _difference(one, new):
            raise OptionError(
                f"{one.path} and {new.path} are traces of different programs: {trouble}; {_ADVICE}."
            )


def _difference(one: TracedProgram, other: TracedProgram) -> str:
    """Why two traces are of different programs, or nothing."""
    if one.ranks != other.ranks:
        return f"the first has {counted(one.ranks, 'rank')} and the second {other.ranks:,}"
    if one.rank != other.rank:
        return ""  # each rank may run a part of the model
    shared = len(one.modules & other.modules)
    counts = len(one.modules), len(other.modules)
    if shared >= _LEAST_SHARED * min(counts):
        return ""
    return f"they share {shared:,} of {counts[0]:,} and {counts[1]:,} kinds of modules"
