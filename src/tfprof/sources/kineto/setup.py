"""When a program set things up: compiled, loaded or tuned code, or reserved device memory.

The first steps do this; `measures.warm_up` decides which. Calls such as `cudaFuncGetAttributes`
are in every step, but only the first one, which loads the code, takes long.
"""

from __future__ import annotations

import re
from collections.abc import Callable

import numpy as np

from tfprof.columns import Bools, Ints
from tfprof.formats.kineto.columns import Slices
from tfprof.sources.kineto.host import is_launch, of_category

_CALL = re.compile(
    r"(cuda|hip)(Malloc(?!.*Async)\w*|Host(Alloc|Malloc|Register)|FuncGetAttributes|GraphInstantiate\w*"
    r"|ModuleLoad\w*|Library(Load\w*|Get\w+))"
    r"|cu(ModuleLoad\w*|Library(Load\w*|Get\w+)|Link\w+|Mem(Create|Alloc|Map|SetAccess))(_v\d+)?",
    re.ASCII,
)
_OVERHEADS = frozenset(
    {"Lazy Function Loading", "Runtime Triggered Module Loading", "Driver Compiler"}
)
_PYTHON = re.compile(
    r".*\btriton/(runtime/autotuner\.py\(\d+\): (_bench|benchmark)"
    r"|compiler/compiler\.py\(\d+\): compile)",
    re.ASCII,
)
_COMPILER = " (dynamo_timed)"  # at the end of the names of the phases of `torch.compile`

# The events of each category that set something up.
_IS_SETUP: tuple[tuple[Callable[[str], bool], Callable[[str], bool]], ...] = (
    (is_launch, lambda name: name.startswith(("cu", "hip")) and bool(_CALL.fullmatch(name))),
    ("overhead".__eq__, _OVERHEADS.__contains__),
    ("python_function".__eq__, lambda name: "triton/" in name and bool(_PYTHON.fullmatch(name))),
    ({"cpu_op", "user_annotation"}.__contains__, lambda name: name.endswith(_COMPILER)),
)


def setup_times(slices: Slices) -> tuple[Ints, Ints]:
    """When the calls that set something up started and ended, in nanoseconds."""
    rows = np.flatnonzero(_is_setup(slices))
    return slices.start_ns[rows], slices.start_ns[rows] + slices.duration_ns[rows]


def _is_setup(slices: Slices) -> Bools:
    flags = np.zeros(len(slices), np.bool_)
    for is_category, is_name in _IS_SETUP:
        named = np.array([is_name(name) for name in slices.name.values], np.bool_)
        flags |= of_category(slices, is_category) & named[slices.name.codes]
    return flags
