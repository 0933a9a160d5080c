"""Asking many questions does not accumulate memory."""

import gc
import tracemalloc

from build import op, profile, run
from own_process import result_in_own_process
from tfprof.api import Profile
from tfprof.options import Options

OPS, STEPS = 1000, 24
FEW = 9  # more than there are results that are kept


def test_asking_for_many_steps_uses_no_more_memory_than_for_a_few():
    held = result_in_own_process(held_after_each_step)

    column = OPS * 8
    assert held[-1] - held[FEW] < 10 * column  # each step has dozens of columns


def held_after_each_step():
    """The bytes that Python has allocated after the questions about each step."""
    names = [f"net/{place}" for place in range(OPS)]
    runs = [run(name, 1 + step, step=step) for step in range(STEPS) for name in names[::50]]
    asked = Profile(profile(*(op(name, shape=(2,)) for name in names), *runs))
    tracemalloc.start()
    return [_held_after(asked, step) for step in range(STEPS)]


def _held_after(asked, step):
    for kind in ("scope", "graph", "op"):
        assert asked.view(kind, _options(step)).table
    gc.collect()
    return tracemalloc.get_traced_memory()[0]


def _options(step):
    return Options.of(step=step, select="micros,bytes,float_ops,params", order_by="micros")
