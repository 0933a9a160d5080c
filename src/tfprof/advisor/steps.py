"""Times of a step as findings show them."""

from __future__ import annotations

from tfprof.advisor.finding import Gain
from tfprof.measures.steps import Step
from tfprof.model.clock import NANOS_PER_MICRO
from tfprof.units import Unit


def gain(step: Step, nanos: int) -> Gain:
    """The gain of shortening a step by `nanos`."""
    return Gain(whole_micros(nanos), whole_micros(step.nanos), Unit.MICROS, "of the step")


def whole_micros(nanos: int) -> int:
    """A time rounded to the nearest microsecond."""
    return round(nanos / NANOS_PER_MICRO)
