"""Hypothesis strategies for small profiles, and for questions about them.

Values come from short pools on purpose, because views break on ties, shared scopes, cycles, ops
that match twice and thresholds that are just met. Values that belong together are drawn together,
since a draw takes longer than everything that is done with it.
"""

from __future__ import annotations

import os
from dataclasses import replace
from itertools import product

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

from build import CPU, GPU, GPU_STREAM, RunFact, allocator, layer, op, profile, run
from tfprof.metrics import ORDER_KEYS, THRESHOLD_KEYS

STEPS = (0, 5)

# Properties end with `assume`: an example with nothing to check does not count as one of the 25.
# Hypothesis then tries others, and fails the property if none has anything to check.
often = settings(
    max_examples=int(os.environ.get("TFPROF_PROPERTY_EXAMPLES", "25")),
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
)

_NAMES = (
    *("a", "a/b", "a/b/c", "a/c", "b", "b/c/d", "x//y", "/a", "a/", "A", "a-b"),
    *("gradients/a_grad/b", "gradients/a/b_grad/c", "gradients/gone_grad/a"),
)
_FRAMES = ("main.py:1:main", "net.py:2:f", "net.py:12:f", "net.py:2:a_function_of_twenty")
_REGEXES = (
    *("a", "a/.*", ".*c", "b|A", "x.*", ".*grad.*", ".*", "", "nothing"),
    *("Add", ".*M.*", "net.*", ".*:f", "main.py:1:main", "_TFProfRoot", ".*cpu.*", "mine"),
)


def _short_lists(values):
    """Every list of up to two values."""
    return [list(chosen) for length in range(3) for chosen in product(values, repeat=length)]


_KINDS = ("Add", "MatMul", "Var")
_TYPES = ((), ("mine",), ("mine", "Add"))
_LAYERS = (layer("m", "Model"), layer("m/d", "Dense", (-1, 3)), layer("e"))
_SHAPES = (None, (0,), (1,), (3,))
_STACKS = [[_FRAMES[0], *calls] for calls in _short_lists(_FRAMES)]
_MEMORY = [{"requested": n, "residual": m} for n, m in product(range(3), repeat=2)]

# Created once, because a strategy inspects all its values when it is created.
_names = st.lists(st.sampled_from(_NAMES), unique=True, min_size=1, max_size=8)
_traits = st.sampled_from(list(product(_KINDS, _TYPES, _SHAPES, range(3), _STACKS)))
_sources = st.sampled_from(_short_lists(range(10)))
_runs = st.lists(
    st.tuples(
        st.integers(0, 8),
        st.sampled_from(list(product(range(1, 4), STEPS, (CPU, GPU, GPU_STREAM), _MEMORY))),
    ),
    max_size=8,
)
_regexes = st.sampled_from(_short_lists(_REGEXES))
# Half of these keep every row, so that a question with several filters still shows something.
_keeping = st.sampled_from([*_short_lists(_REGEXES), *[[".*"]] * len(_short_lists(_REGEXES))])


@st.composite
def facts(draw):
    """The arguments of `build.profile`: some ops, and runs of some of them."""
    names = draw(_names)
    ops = [_op(name, [*names, "^a", "gone"], draw(_traits), draw(_sources)) for name in names]
    runs = [_run([*names, "a/b/d"], place, traits) for place, traits in draw(_runs)]
    # Only steps in which something ran can be asked for.
    return [*_LAYERS, *ops, *runs, *(run("ran", step=step) for step in STEPS)]


def _op(name, sources, traits, places):
    kind, types, shape, float_ops, code = traits
    inputs = [sources[place % len(sources)] for place in places]
    owner = _LAYERS[len(places)].path if shape else ""
    return op(name, kind, shape, inputs, types=types, float_ops=float_ops, code=code, layer=owner)


def _run(names, place, traits):
    micros, step, device, memory = traits
    return run(names[place % len(names)], micros, step, device=device, memory=memory)


def profiles():
    """Small profiles."""
    return facts().map(lambda found: profile(*found))


# Ties, times before the step or unknown, and frees of memory that was never allocated.
_events = st.lists(st.tuples(st.integers(-1, 6), st.integers(-3, 5)), max_size=4)
_allocators = st.lists(
    st.builds(allocator, st.sampled_from(("x", "y")), _events, st.integers(0, 3)), max_size=2
)


@st.composite
def allocating_profiles(draw):
    """Profiles with at least one allocation."""
    found = [
        replace(fact, start=3, allocators=draw(_allocators)) if isinstance(fact, RunFact) else fact
        for fact in draw(facts())
    ]
    found[-1] = replace(found[-1], allocators=[allocator("x", [(2, 1)])])
    return profile(*found)


_accounts = st.fixed_dictionaries(
    {
        "step": st.sampled_from((-1, *STEPS)),
        "account_type_regexes": st.just([".*"]) | _regexes,
    }
)


def accounts():
    """Options that decide which ops count: a step, and types."""
    return _accounts


_FILTERS = {
    "max_depth": st.integers(0, 5),
    "start_name_regexes": _keeping,
    "trim_name_regexes": _regexes,
    "show_name_regexes": _keeping,
    "hide_name_regexes": _regexes,
}
_filters = st.sampled_from([sorted(set(names)) for names in _short_lists(sorted(_FILTERS))])
_thresholds = st.sampled_from(list(product(THRESHOLD_KEYS, (0, 0, 0, 0, 1, 2, 3))))


@st.composite
def filters(draw):
    """Options that hide rows: a threshold, and up to two others."""
    key, least = draw(_thresholds)
    chosen = {name: draw(_FILTERS[name]) for name in draw(_filters)}
    return {"max_depth": 100, f"min_{key}": least} | chosen


def orders():
    """Keys to sort rows by."""
    return st.sampled_from(ORDER_KEYS)
