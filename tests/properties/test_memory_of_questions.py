"""Asking many questions does not accumulate memory."""

import gc
import tracemalloc

from build import op, profile, run
from tfprof.api import Profile
from tfprof.options import Options

OPS, STEPS = 3000, 24


def test_asking_for_many_steps_uses_no_more_memory_than_for_a_few():
    names = [f"net/{place}" for place in range(OPS)]
    runs = [run(name, 1 + step, step=step) for step in range(STEPS) for name in names[::50]]
    asked = Profile(profile(*(op(name, shape=(2,)) for name in names), *runs))
    tracemalloc.start()
    try:
        held = [_held_after(asked, step) for step in range(STEPS)]
    finally:
        tracemalloc.stop()

    few = held[STEPS // 3]
    column = OPS * 8
    assert held[-1] - few < 10 * column  # each step has dozens of columns


def _held_after(asked, step):
    for kind in ("scope", "graph", "op"):
        assert asked.view(kind, _options(step)).table
    gc.collect()
    return tracemalloc.get_traced_memory()[0]


def _options(step):
    return Options.of(step=step, select="micros,bytes,float_ops,params", order_by="micros")
