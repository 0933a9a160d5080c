"""The memory of a profile, as the page has it."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from build import CPU, GPU, allocator, op, profile, run
from h200 import gpt
from profile_strategies import often
from tfprof.columns import ints
from tfprof.errors import MissingInputError
from tfprof.model.memory_curves import MemoryCurve
from tfprof.options import MemoryOptions
from tfprof.page import memory
from tfprof.views.memory import build


def section(p):
    return memory.section(p, build(p, MemoryOptions()))


def allocating(name, *events, step=0, of="host", device=CPU):
    return run(name, step=step, start=1000, device=device, allocators=[allocator(of, events)])


def network():
    return profile(
        op("net/a/conv", "Conv", code=["net.py:3:conv"]),
        op("net/b/conv", "Conv", code=["net.py:3:conv"]),
        op("loss", "Sum", code=["net.py:9:loss"]),
        allocating("net/a/conv", (1010, 100), (1060, -100)),
        allocating("net/b/conv", (1040, 50), (1060, -50)),
        allocating("loss", (1050, 4)),
        allocating("loss", (2050, 7), step=5),
    )


def test_each_allocator_has_its_steps_and_their_peaks():
    (found,) = section(network())["allocators"]

    assert found["title"] == f"host on {CPU}"
    assert found["step_peaks"] == [{"step": 0, "bytes": 154}, {"step": 5, "bytes": 7}]
    assert [(step["step"], step["peak_bytes"]) for step in found["steps"]] == [(0, 154), (5, 7)]
    assert found["steps"][0]["reached_by"] == [{"op": "loss", "bytes": 4}]
    assert (found["steps"][0]["peak_ns"], found["steps"][0]["left_bytes"]) == (50_000, 4)


def test_the_memory_at_the_peak_has_purposes_if_they_are_known():
    (unknown,) = section(network())["allocators"]
    (known, _) = section(gpt().columns)["allocators"]

    assert unknown["steps"][0]["purposes"] == []
    assert known["steps"][0]["purposes"] == [
        {"name": "activations", "bytes": 344_345_088},
        {"name": "allocated before the recording", "bytes": 329_093_120},
        {"name": "temporary", "bytes": 134_218_240},
    ]


def test_allocators_are_sorted_by_their_highest_peak():
    p = profile(allocating("a", (1010, 5)), allocating("b", (1010, 9), of="x", device=GPU))
    found = section(p)["allocators"]

    assert [one["title"] for one in found] == [f"x on {GPU}", f"host on {CPU}"]
    assert [one.peak_bytes for one in build(p, MemoryOptions()).allocators] == [9, 5]


def test_the_changes_of_a_step_name_their_holders():
    found = section(network())
    step, holders = found["allocators"][0]["steps"][0], found["holders"]
    changes = step["changes"]
    names = [holders["scopes"]["name"][row] for row in holders["row"].tolist()]

    assert changes["time"].tolist() == [10_000, 40_000, 50_000, 60_000, 60_000]
    assert [names[holder] for holder in changes["holder"].tolist()] == [
        *("net/a/conv", "net/b/conv", "loss", "net/a/conv", "net/b/conv"),
    ]
    assert changes["bytes"].tolist() == [100, 50, 4, -100, -50]
    assert step["held"] is None


def test_holders_have_kinds_lines_and_the_scopes_around_them():
    holders = section(network())["holders"]

    assert list(holders["scopes"]["name"]) == [
        *("_TFProfRoot", "loss", "net", "net/a", "net/a/conv", "net/b", "net/b/conv"),
    ]
    assert holders["scopes"]["end"].tolist() == [7, 2, 7, 5, 5, 7, 7]
    assert list(holders["kind"]["values"]) == ["Conv", "Sum"]
    assert list(holders["line"]["values"]) == ["net.py:3:conv", "net.py:9:loss"]


def test_ops_without_allocations_are_no_holders():
    p = profile(op("idle/a"), op("b"), allocating("b", (1010, 1)))

    assert list(section(p)["holders"]["scopes"]["name"]) == ["_TFProfRoot", "b"]


def test_lines_are_missing_without_code():
    assert section(profile(allocating("a", (1010, 1))))["holders"]["line"] is None


def test_the_levels_of_the_allocator_are_included_if_it_reported_them():
    used = [allocator("host", [(1010, 1)], level=70)]
    p = profile(run("a", start=1000, memory={"micros": 1020}, allocators=used))
    (step,) = section(p)["allocators"][0]["steps"]

    assert step["levels"]["bytes"].tolist() == [70]


def test_without_its_changes_a_step_has_what_held_its_peak(monkeypatch):
    monkeypatch.setattr(memory, "MOST_CHANGES", 5)
    first, second = section(network())["allocators"][0]["steps"]
    rows = second["held"]["op"]

    assert first["changes"] is not None  # the highest peak comes first
    assert second["changes"] is None
    assert (list(rows["name"]), rows["bytes"].tolist()) == (["Sum"], [7])
    assert sorted(second["held"]) == ["code", "op", "scope"]


def test_of_many_steps_those_with_the_highest_peaks_are_kept_in_order(monkeypatch):
    monkeypatch.setattr(memory, "MOST_STEPS", 2)
    p = profile(*(allocating("a", (1010, n), step=step) for step, n in enumerate((4, 1, 9, 2))))
    (found,) = section(p)["allocators"]

    assert [step["step"] for step in found["steps"]] == [0, 2]
    assert len(found["step_peaks"]) == 4


def test_the_highest_step_has_more_points_than_others(monkeypatch):
    monkeypatch.setattr(memory, "MOST_POINTS", 16)
    monkeypatch.setattr(memory, "FEWER_POINTS", 4)
    p = profile(
        *(
            allocating("a", *((1010 + n, n % 3) for n in range(40)), (1100, step), step=step)
            for step in range(2)
        )
    )
    low, high = (step["curve"] for step in section(p)["allocators"][0]["steps"])

    assert len(low["time"]) <= 4 < len(high["time"]) <= 16
    assert low["points"] == high["points"] == 41


def test_a_profile_without_allocations_says_what_is_missing():
    with pytest.raises(MissingInputError, match="recorded run"):
        section(profile(op("a")))


_curves = st.lists(st.tuples(st.integers(0, 90), st.integers(-9, 30)), min_size=1, max_size=60)


@often
@given(_curves, st.integers(4, 40))
def test_a_thinned_curve_has_the_peak_both_ends_and_few_points(changes, most):
    curve = MemoryCurve.of_changes(*(ints(column) for column in zip(*changes, strict=True)))
    found = curve.thinned(most)
    points = set(zip(curve.time_ns.tolist(), curve.bytes.tolist(), strict=True))

    assert len(found) <= max(most, 1)
    assert set(zip(found.time_ns.tolist(), found.bytes.tolist(), strict=True)) <= points
    assert (found.peak_ns, found.peak_bytes) == (curve.peak_ns, curve.peak_bytes)
    assert found.time_ns[[0, -1]].tolist() == curve.time_ns[[0, -1]].tolist()
    assert found.bytes.min() == curve.bytes.min()


def test_a_short_curve_is_not_thinned():
    curve = MemoryCurve(np.arange(5), np.arange(5))

    assert curve.thinned(5) is curve
