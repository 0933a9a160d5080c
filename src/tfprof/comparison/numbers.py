"""The numbers that are compared."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from tfprof.errors import OptionError
from tfprof.measures.numbers import has_number
from tfprof.metrics import AUTO, BY_KEY, METRICS, Metric, selected_columns
from tfprof.model.profile import ProfileColumns
from tfprof.options import Options
from tfprof.units import Unit
from tfprof.views.registry import VIEWS, Trait

# What is compared if no metric is selected, as far as both sides have it.
_DEFAULT = ("micros", "float_ops", "params")


class Number(NamedTuple):
    """A number that is compared: its key in `metrics.NUMBERS`, what it is, and its unit."""

    key: str
    metric: str  # the metric that selects it
    label: str
    unit: Unit
    is_time: bool  # in nanoseconds, and measured anew in each step

    @property
    def name(self) -> str:
        """Its name in JSON, where times are in microseconds."""
        return self.metric if self.is_time else self.key


# The numbers of facts that are counts.
_COUNTS = {
    "occurrence": (
        Number("runs", "occurrence", "op runs", Unit.COUNT, is_time=False),
        Number("definitions", "occurrence", "ops", Unit.COUNT, is_time=False),
    )
}


# Labels that do not depend on the heading beside them.
_LABELS = {
    **{metric.key: metric.label for metric in METRICS if not metric.heading},
    "trainable_params": "trainable parameters",
    "other_params": "other parameters",
    "slots": "optimizer values",
    **{
        f"{phase}_{key}": f"{phase} {label}"
        for phase in ("forward", "backward")
        for key, label in (("float_ops", "FLOPs"), ("macs", "MACs"), ("micros", "time"))
    },
}


def numbers_named(keys: Iterable[str]) -> list[Number]:
    """The numbers of metrics."""
    return [number for key in keys for number in _of_metric(BY_KEY[key])]


def selected(
    base: ProfileColumns, new: ProfileColumns, kind: str, options: Options
) -> tuple[Number, ...]:
    """The numbers that a question compares."""
    keys = [key for key in options.select if key != AUTO]
    if AUTO in options.select:
        keys += [key for key in _DEFAULT if key not in keys and _is_known(base, new, key)]
    if wrong := [key for key in keys if not BY_KEY[key].is_number and key not in _COUNTS]:
        raise OptionError(
            f"`{wrong[0]}` is not a number, so it cannot be compared: -select params, float_ops, "
            "micros, bytes, occurrence or another number."
        )
    if AUTO in options.select:
        return tuple(numbers_named(keys))
    is_gathered = Trait.GATHERED in VIEWS[kind].traits
    metrics = selected_columns(tuple(keys), gathered=is_gathered)
    return tuple(number for metric in metrics for number in _of_metric(metric))


def _of_metric(metric: Metric) -> tuple[Number, ...]:
    if metric.key in _COUNTS:
        return _COUNTS[metric.key]
    unit, label = metric.unit or Unit.COUNT, _LABELS.get(metric.key, metric.heading)
    return (Number(metric.exact or metric.key, metric.key, label, unit, bool(metric.exact)),)


def _is_known(base: ProfileColumns, new: ProfileColumns, key: str) -> bool:
    return all(has_number(side, key) for side in (base, new))


def one_sided(base: ProfileColumns, new: ProfileColumns) -> Iterator[str]:
    """Notes on numbers that are compared by default, but only one side has."""
    for key in _DEFAULT:
        if (old := has_number(base, key)) != has_number(new, key):
            which = "the base" if old else "the new profile"
            yield f"only {which} has `{key}`, so it is not compared."
