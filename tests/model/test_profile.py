"""`ProfileColumns.check` finds columns that violate an invariant."""

from dataclasses import FrozenInstanceError, replace

import numpy as np
import pytest

from build import GPU_STREAM, op, profile, run
from tfprof.columns import Coded, Ragged, Shapes, Strings, ints
from tfprof.model.builder import ProfileBuilder


@pytest.fixture
def valid():
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


def test_a_built_profile_is_valid(valid):
    valid.check()


def test_an_empty_profile_is_valid():
    ProfileBuilder().build().check()


def arrays(value):
    """Every array in a profile, however deep."""
    if isinstance(value, np.ndarray):
        yield value
    for name in getattr(type(value), "__slots__", ()):
        yield from arrays(getattr(value, name, None))


def test_no_column_of_a_profile_can_be_changed(valid):
    found = list(arrays(valid))

    assert len(found) > 50
    assert not any(array.flags.writeable for array in found)
    with pytest.raises(FrozenInstanceError):
        valid.ops = valid.ops


@pytest.mark.parametrize(
    ("damage", "complaint"),
    [
        (lambda p: broken(p, "ops", name=Strings(["b", "a"])), "ops are not sorted by name"),
        (lambda p: broken(p, "ops", name=Strings(["a", "a"])), "ops are not sorted by name"),
        (lambda p: broken(p, "ops", name=Strings(["a"])), "columns differ in length"),
        (lambda p: broken(p, "ops", defined=ints([0])), "columns differ in length"),
        (lambda p: broken(p, "ops", defined=ints([0, 0])), "ops have no definition order"),
        (lambda p: broken(p, "placements", device=ints([0, 9])), "a code is out of range"),
        (lambda p: broken(p, "placements", op=ints([0, 0])), "an op has two devices"),
        (lambda p: broken(p, "devices", recording=ints([0, 1])), "a code is out of range"),
        (lambda p: broken(p, "ops", code=ints([2, -1])), "a code is out of range"),
        (
            lambda p: broken(p, "ops", kind=Coded(ints([0, 7]), Strings(["x"]))),
            "a code is out of range",
        ),
        (lambda p: broken(p, "ops", shape=Shapes.of([None])), "columns differ in length"),
        (
            lambda p: broken(p, "ops", shape=replace(p.ops.shape, values=())),
            "a code is out of range",
        ),
        (
            lambda p: broken(p, "ops", types=replace(p.ops.types, members=Ragged.of([[0]]))),
            "columns differ in length",
        ),
        (
            lambda p: broken(p, "ops", types=replace(p.ops.types, names=Strings())),
            "a code is out of range",
        ),
        (
            lambda p: broken(p, "ops", inputs=replace(p.ops.inputs, source=ints([2]))),
            "a code is out of range",
        ),
        (
            lambda p: broken(p, "ops", inputs=replace(p.ops.inputs, slot=ints([]))),
            "columns differ in length",
        ),
        (
            lambda p: broken(p, "ops", inputs=replace(p.ops.inputs, offsets=ints([0, 2, 1]))),
            "offsets are not ascending",
        ),
        (
            lambda p: broken(p, "ops", inputs=replace(p.ops.inputs, offsets=ints([0, 1, 2]))),
            "offsets do not end at the last value",
        ),
        (
            lambda p: broken(p, "ops", outputs=replace(p.ops.outputs, offsets=ints([1, 1, 1]))),
            "offsets do not start at 0",
        ),
        (lambda p: broken(p, "steps", number=ints([1])), "columns differ in length"),
        (lambda p: broken(p, "steps", number=ints([2, 1])), "steps are not sorted"),
        (lambda p: broken(p, "steps", recording=ints([0, 1])), "a code is out of range"),
        (lambda p: broken(p, "records", step=ints([0, 0, 2])), "a code is out of range"),
        (lambda p: broken(p, "records", op=shuffled(p.records.op)), "records are not sorted"),
        (lambda p: broken(p, "records", op=ints([0, 0, 5])), "a code is out of range"),
        (lambda p: broken(p, "records", step=ints([1, 1, 1])), "records are not sorted"),
        (lambda p: broken(p, "records", runs=ints([1])), "columns differ in length"),
        (lambda p: broken(p, "records", devices=Ragged.of([[0]])), "columns differ in length"),
        (
            lambda p: broken(p, "records", devices=Ragged.of([[9], [], []])),
            "a code is out of range",
        ),
        (
            lambda p: broken(p, "executions", record=shuffled(p.executions.record)),
            "rows are not sorted by record",
        ),
        (
            lambda p: broken(p, "executions", record=ints([0, 0, 1, 3])),
            "a code is out of range",
        ),
        (lambda p: broken(p, "executions", start_ns=ints([1])), "columns differ in length"),
        (lambda p: broken(p, "memory", record=ints([2, 1, 0])), "rows are not sorted by record"),
        (lambda p: broken(p, "memory", peak=ints([])), "columns differ in length"),
        (lambda p: broken(p, "allocator_uses", level=ints([1])), "columns differ in length"),
        (lambda p: broken(p, "allocator_events", time_ns=ints([1])), "columns differ in length"),
        (lambda p: broken(p, "copies", start_ns=ints([1])), "columns differ in length"),
        (lambda p: broken(p, "code", caller=ints([1, -1])), "a call comes before its caller"),
        (lambda p: broken(p, "code", line=ints([1])), "columns differ in length"),
        (lambda p: broken(p, "devices", host=Strings()), "columns differ in length"),
        (lambda p: broken(p, "steps", number=np.array([0, 1])), "an array is writeable"),
        (lambda p: broken(p, "steps", number=ints(np.array([0, 1]))), "an array is writeable"),
    ],
)
def test_an_invalid_column_is_reported(valid, damage, complaint):
    with pytest.raises(AssertionError, match=f"broken profile: {complaint}"):
        damage(valid).check()
