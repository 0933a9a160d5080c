"""Times of a step as findings show them."""

from __future__ import annotations

import numpy as np

from tfprof.advisor.finding import Gain
from tfprof.measures.step_sums import step_nanos, step_totals
from tfprof.measures.steps import Step
from tfprof.model.clock import NANOS_PER_MICRO
from tfprof.model.profile import ProfileColumns
from tfprof.units import Unit


def took(profile: ProfileColumns, step: Step) -> int:
    """How long a step took, on the accelerators if their times were recorded."""
    place = int(np.searchsorted(step_totals(profile).step, step.row))
    return int(step_nanos(profile)[place])


def gain(profile: ProfileColumns, step: Step, nanos: int) -> Gain:
    """The gain of shortening a step by `nanos`, which is at most all of it."""
    whole = took(profile, step)
    return Gain(whole_micros(min(nanos, whole)), whole_micros(whole), Unit.MICROS, "of the step")


def whole_micros(nanos: float) -> int:
    """A time rounded to the nearest microsecond."""
    return round(nanos / NANOS_PER_MICRO)
