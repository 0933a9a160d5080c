"""A profile states its invariants and finds the column that breaks one."""

from dataclasses import replace

import numpy as np
import pytest

from build import GPU_STREAM, op, profile, run
from tfprof.columns import Coded, Ragged, Shapes, Strings, ints
from tfprof.model.builder import ProfileBuilder


@pytest.fixture
def whole():
    """Two ops and three records, with code, memory and devices."""
    return profile(
        op("a", "Add", shape=(2,), inputs=["b"], outputs=[(2,)], code=["x.py:1:f", "y.py:2:g"]),
        op("b", "Mul", types=["t"]),
        run("a", 5, step=1, memory={"requested": 8}),
        run("a", 6, step=2),
        run("a", 3, step=1, device=GPU_STREAM),
        run("b", 7, step=1),
    )


def broken(profile, table, **columns):
    return replace(profile, **{table: replace(getattr(profile, table), **columns)})


def shuffled(column):
    return ints(column[::-1].copy())


def test_a_built_profile_is_whole(whole):
    whole.check()


def test_an_empty_profile_is_whole():
    ProfileBuilder().build().check()


@pytest.mark.parametrize(
    ("damage", "complaint"),
    [
        (lambda p: broken(p, "ops", name=Strings(["b", "a"])), "ops are in name order"),
        (lambda p: broken(p, "ops", name=Strings(["a", "a"])), "ops are in name order"),
        (lambda p: broken(p, "ops", name=Strings(["a"])), "columns are equally long"),
        (lambda p: broken(p, "ops", defined=ints([0])), "columns are equally long"),
        (lambda p: broken(p, "ops", defined=ints([0, 0])), "ops became known one by one"),
        (lambda p: broken(p, "placements", device=ints([0, 9])), "a code names a row"),
        (lambda p: broken(p, "placements", op=ints([0, 0])), "an op has one device per recording"),
        (lambda p: broken(p, "devices", recording=ints([0, 1])), "a code names a row"),
        (lambda p: broken(p, "ops", code=ints([2, -1])), "a code names a row"),
        (
            lambda p: broken(p, "ops", kind=Coded(ints([0, 7]), Strings(["x"]))),
            "a code names a row",
        ),
        (lambda p: broken(p, "ops", shape=Shapes.of([None])), "columns are equally long"),
        (
            lambda p: broken(p, "ops", shape=replace(p.ops.shape, values=())),
            "a code names a row",
        ),
        (
            lambda p: broken(p, "ops", types=replace(p.ops.types, members=Ragged.of([[0]]))),
            "columns are equally long",
        ),
        (
            lambda p: broken(p, "ops", types=replace(p.ops.types, names=Strings())),
            "a code names a row",
        ),
        (
            lambda p: broken(p, "ops", inputs=replace(p.ops.inputs, source=ints([2]))),
            "a code names a row",
        ),
        (
            lambda p: broken(p, "ops", inputs=replace(p.ops.inputs, slot=ints([]))),
            "columns are equally long",
        ),
        (
            lambda p: broken(p, "ops", inputs=replace(p.ops.inputs, offsets=ints([0, 2, 1]))),
            "rows follow on",
        ),
        (
            lambda p: broken(p, "ops", inputs=replace(p.ops.inputs, offsets=ints([0, 1, 2]))),
            "every value belongs to a row",
        ),
        (
            lambda p: broken(p, "ops", outputs=replace(p.ops.outputs, offsets=ints([1, 1, 1]))),
            "rows begin at the first value",
        ),
        (lambda p: broken(p, "steps", number=ints([1])), "columns are equally long"),
        (lambda p: broken(p, "steps", number=ints([2, 1])), "steps are in order"),
        (lambda p: broken(p, "steps", recording=ints([0, 1])), "a code names a row"),
        (lambda p: broken(p, "records", step=ints([0, 0, 2])), "a code names a row"),
        (lambda p: broken(p, "records", op=shuffled(p.records.op)), "records are in order"),
        (lambda p: broken(p, "records", op=ints([0, 0, 5])), "a code names a row"),
        (lambda p: broken(p, "records", step=ints([1, 1, 1])), "records are in order"),
        (lambda p: broken(p, "records", runs=ints([1])), "columns are equally long"),
        (lambda p: broken(p, "records", devices=Ragged.of([[0]])), "columns are equally long"),
        (
            lambda p: broken(p, "records", devices=Ragged.of([[9], [], []])),
            "a code names a row",
        ),
        (
            lambda p: broken(p, "executions", record=shuffled(p.executions.record)),
            "rows follow their records",
        ),
        (
            lambda p: broken(p, "executions", record=ints([0, 0, 1, 3])),
            "a code names a row",
        ),
        (lambda p: broken(p, "executions", start_ns=ints([1])), "columns are equally long"),
        (lambda p: broken(p, "memory", record=ints([2, 1, 0])), "rows follow their records"),
        (lambda p: broken(p, "memory", peak=ints([])), "columns are equally long"),
        (lambda p: broken(p, "allocator_uses", level=ints([1])), "columns are equally long"),
        (lambda p: broken(p, "allocator_events", time_ns=ints([1])), "columns are equally long"),
        (lambda p: broken(p, "copies", start_ns=ints([1])), "columns are equally long"),
        (lambda p: broken(p, "code", caller=ints([1, -1])), "callers come first"),
        (lambda p: broken(p, "code", line=ints([1])), "columns are equally long"),
        (lambda p: broken(p, "devices", host=Strings()), "columns are equally long"),
        (lambda p: broken(p, "steps", number=np.array([0, 1])), "nothing can be written"),
        (lambda p: broken(p, "steps", number=ints(np.array([0, 1]))), "nothing can be written"),
    ],
)
def test_a_broken_column_is_found(whole, damage, complaint):
    with pytest.raises(AssertionError, match=f"broken profile: {complaint}"):
        damage(whole).check()
