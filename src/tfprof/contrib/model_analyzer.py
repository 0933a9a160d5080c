"""Views of a live graph, under their `tf.contrib.tfprof` names."""

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
# The float operations of all ops that have any.
FLOAT_OPS_OPTIONS = preset(
    min_float_ops=1,
    order_by="float_ops",
    account_displayed_op_only=True,
    select=["float_ops"],
    dump_to_file="",
)
# The number of parameters on the first parameter server.
PRINT_PARAMS_ON_DEVICE = preset(
    max_depth=1,
    account_type_regexes=[".*ps.*task:0.*"],
    select=["device", "params"],
    dump_to_file="",
)
# The time and memory of all ops that took both.
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
    """Older name of `tfprof.profile`; `cmd` and `options` override the `tfprof_` arguments."""
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
    """Older name of `tfprof.advise`."""
    return profiler.advise(graph, run_meta, tfprof_options)


class Profiler(profiler.Profiler):
    """`tfprof.Profiler` with the older name of `profile_python`."""

    def profile_python_codes(self, options: Mapping[str, Any]) -> Message:
        """Profile ops by the code line that created them; returns a MultiGraphNodeProto."""
        return self.profile_python(options)
