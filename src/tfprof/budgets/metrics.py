"""The metrics that can have a budget."""

from __future__ import annotations

from enum import Enum
from typing import NamedTuple

from tfprof.budgets.amounts import Quantity
from tfprof.metrics import METRICS, Metric, Need
from tfprof.units import Unit

_OPS = "definitions"  # counts ops


class Source(Enum):
    """Where a number comes from."""

    VIEW = "the totals of a view"
    GRAPH = "the ops of the graph"
    STEPS = "the recorded steps"
    MEMORY = "memory over time"


class BudgetMetric(NamedTuple):
    """A metric that can have a budget, and the command that shows it."""

    key: str
    quantity: Quantity
    meaning: str
    needs: Need
    source: Source
    command: tuple[str, ...]  # for the whole model; parts are shown by their own view
    number: str = ""  # the key of the number in a view
    is_of_parts: bool = True  # scopes and layers have it too

    @property
    def is_time(self) -> bool:
        """Whether it differs from run to run, so that only changes can be judged."""
        return self.quantity is Quantity.TIME

    @property
    def weight(self) -> str:
        """The number by which the lines of code of a part are ranked.

        A framework may create variables elsewhere than the layer, so these are not ranked by size.
        """
        is_work = self.counts_work or self.needs is Need.RUNS
        return self.number if self.number and is_work else _OPS

    @property
    def counts_work(self) -> bool:
        """Whether it is counted from the shapes of ops, which may be unknown."""
        return self.key.endswith(("float_ops", "macs"))


_QUANTITIES = {
    Unit.COUNT: Quantity.COUNT,
    Unit.BYTES: Quantity.BYTES,
    Unit.MICROS: Quantity.TIME,
}


def _of_view(metric: Metric) -> BudgetMetric:
    assert metric.unit is not None  # noqa: S101 -- a number has a unit
    return BudgetMetric(
        metric.key,
        _QUANTITIES[metric.unit],
        metric.meaning,
        metric.needs,
        Source.VIEW,
        ("layers", "-select", metric.key, "-order_by", metric.key),
        number=metric.exact or metric.key,
    )


_ROWS = (
    *(_of_view(metric) for metric in METRICS if metric.is_number),
    # Replaces the metric of views of that name, which adds up the peaks of single ops.
    BudgetMetric(
        "peak_bytes",
        Quantity.BYTES,
        "the most memory held at one time in a step, on the device and allocator with the most.",
        Need.RUNS,
        Source.MEMORY,
        ("memory",),
    ),
    BudgetMetric(
        "ops",
        Quantity.COUNT,
        "the number of ops in the graph or SavedModel.",
        Need.DEFINITIONS,
        Source.GRAPH,
        ("op", "-select", "occurrence", "-order_by", "occurrence"),
    ),
    BudgetMetric(
        "uncounted_ops",
        Quantity.COUNT,
        "the ops in the graph whose float operations are unknown.",
        Need.DEFINITIONS,
        Source.GRAPH,
        ("flops",),
    ),
    BudgetMetric(
        "op_runs",
        Quantity.COUNT,
        "runs of ops per step, on all devices; the median step.",
        Need.RUNS,
        Source.STEPS,
        ("steps",),
        number="runs",
    ),
    BudgetMetric(
        "kernels",
        Quantity.COUNT,
        "kernels launched on accelerators per step; the median step.",
        Need.RUNS,
        Source.STEPS,
        ("steps",),
    ),
    BudgetMetric(
        "step_time",
        Quantity.TIME,
        "wall time of a step; the median step.",
        Need.RUNS,
        Source.STEPS,
        ("steps",),
        is_of_parts=False,
    ),
)

BUDGET_METRICS: dict[str, BudgetMetric] = {row.key: row for row in _ROWS}
