"""Which metrics and views a profile can provide."""

from __future__ import annotations

from collections.abc import Callable

from tfprof.errors import TfprofError
from tfprof.measures.layers import model_layers
from tfprof.measures.memory import allocator_traces, has_row_peaks
from tfprof.measures.numbers import has_number
from tfprof.metrics import METRICS, Metric
from tfprof.model.profile import ProfileColumns


def questions(profile: ProfileColumns) -> dict[str, bool]:
    """Each question that the files of a profile may answer, and whether these files do."""
    asked = [metric for metric in METRICS if not metric.is_of_answer and not metric.part_of]
    return {
        **{metric.key: _has(profile, metric) for metric in asked},
        "code view": profile.has_code,
        "memory over time": len(allocator_traces(profile)) > 0,
    }


def _has(profile: ProfileColumns, metric: Metric) -> bool:
    """Whether a metric can be shown: weights, for example, have no float operations."""
    if not profile.has(metric.needs):
        return False
    try:
        if metric.is_number:
            return has_number(profile, metric.key)
        return _FACTS[metric.key](profile) if metric.key in _FACTS else True
    except TfprofError:  # it is too large to add up
        return False


def _has_output_shapes(profile: ProfileColumns) -> bool:
    ops, layers = profile.ops, model_layers(profile).table
    columns = (ops.outputs.shape, ops.seen_outputs.shape, layers.output_shape)
    return any(column.are_known().any() for column in columns)


def _has_input_shapes(profile: ProfileColumns) -> bool:
    ops = profile.ops
    has_edges = bool((ops.inputs.source >= 0).any())
    return bool(
        ops.stated_inputs.shape.are_known().any()
        or (has_edges and ops.outputs.shape.are_known().any())
    )


# Facts that the files of a profile may lack though they have what the metric requires.
_FACTS: dict[str, Callable[[ProfileColumns], bool]] = {
    "output_shape": _has_output_shapes,
    "input_shapes": _has_input_shapes,
    "held_bytes": has_row_peaks,
}
