"""Views of a live graph, under the names of the oldest documents."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tfprof.classic import profiler
from tfprof.classic.context import ProfileContext
from tfprof.classic.option_builder import TRAINABLE_VARIABLES, preset
from tfprof.classic.profiler import ALL_ADVICE
from tfprof.formats.messages import Message

__all__ = [
    "ALL_ADVICE",
    "FLOAT_OPS_OPTIONS",
    "PRINT_ALL_TIMING_MEMORY",
    "PRINT_PARAMS_ON_DEVICE",
    "TRAINABLE_VARS_PARAMS_STAT_OPTIONS",
    "ProfileContext",
    "Profiler",
    "advise",
    "print_model_analysis",
]

# The parameters of trainable variables.
TRAINABLE_VARS_PARAMS_STAT_OPTIONS = preset(
    account_type_regexes=[TRAINABLE_VARIABLES],
    account_displayed_op_only=True,
    select=["params"],
    dump_to_file="",
)
# The float operations of ops that have some.
FLOAT_OPS_OPTIONS = preset(
    min_float_ops=1,
    order_by="float_ops",
    account_displayed_op_only=True,
    select=["float_ops"],
    dump_to_file="",
)
# How many parameters the first parameter server has.
PRINT_PARAMS_ON_DEVICE = preset(
    max_depth=1,
    account_type_regexes=[".*ps.*task:0.*"],
    select=["device", "params"],
    dump_to_file="",
)
# The time and the memory of ops that took some.
PRINT_ALL_TIMING_MEMORY = preset(
    min_bytes=1,
    min_micros=1,
    account_displayed_op_only=True,
    select=["micros", "bytes"],
    dump_to_file="",
)


def print_model_analysis(
    graph: Any = None,
    run_meta: Any = None,
    op_log: Any = None,
    tfprof_cmd: str = "scope",
    tfprof_options: Mapping[str, Any] = TRAINABLE_VARS_PARAMS_STAT_OPTIONS,
    *,
    cmd: str | None = None,
    options: Mapping[str, Any] | None = None,
) -> Message:
    """What `tfprof.profile` gives; `cmd` and `options` are later names of the same."""
    return profiler.profile(
        graph,
        run_meta,
        op_log,
        tfprof_cmd if cmd is None else cmd,
        tfprof_options if options is None else options,
    )


def advise(
    graph: Any = None, run_meta: Any = None, tfprof_options: Mapping[str, Any] | None = ALL_ADVICE
) -> Message:
    """What `tfprof.advise` gives."""
    return profiler.advise(graph, run_meta, tfprof_options)


class Profiler(profiler.Profiler):
    """Several runs of a graph; ops by line of code have an older name."""

    def profile_python_codes(self, options: Mapping[str, Any]) -> Message:
        """Ops by the line of code that made them, as a MultiGraphNodeProto."""
        return self.profile_python(options)
