"""Expensive ops on the host of an accelerator."""

import pytest

from build import CPU, GPU, op, profile, run
from tfprof.advisor import host_operations

ON_GPU = [op("there", "MatMul"), run("there", 5000, device=GPU)]


def test_an_expensive_op_on_the_host_is_found_if_its_kind_ran_on_an_accelerator():
    p = profile(*ON_GPU, op("here", "MatMul"), run("here", 3000, start=6000))

    (finding,) = host_operations.check(p)

    assert finding.sentence == (
        f"`here` ran on {CPU} for 3.00ms of step 0, although an accelerator is available."
    )
    assert finding.evidence.to_dicts() == [
        {"op": "here", "kind": "MatMul", "time_on_the_host_micros": 3000}
    ]
    assert (finding.gain.amount, finding.gain.of) == (3000, 8000)


def test_an_op_that_does_float_arithmetic_is_also_found():
    p = profile(*ON_GPU, op("here", "Conv2D", float_ops=9), run("here", 3000, start=6000))

    (finding,) = host_operations.check(p)

    assert finding.ops == ("here",)


def test_the_time_of_overlapping_ops_counts_once_in_the_gain():
    p = profile(
        *ON_GPU,
        *(op(name, "MatMul") for name in "ab"),
        run("a", 3000, start=6000),
        run("b", 2000, start=6000),
    )

    (finding,) = host_operations.check(p)

    assert finding.ops == ("a", "b")
    assert finding.gain.amount == 3000


@pytest.mark.parametrize(
    "facts",
    [
        pytest.param([op("a", "ParseExample"), run("a", 3000)], id="host-only kind"),
        pytest.param([op("a", "MatMul"), run("a", 99)], id="cheap"),
    ],
)
def test_ops_that_belong_on_the_host_are_not_reported(facts):
    assert list(host_operations.check(profile(*ON_GPU, *facts))) == []


def test_a_host_without_an_accelerator_is_not_reported():
    other = "/job:ps/replica:0/task:0/device:cpu:0"
    p = profile(*ON_GPU, run("x"), op("a", "MatMul"), run("a", 3000, device=other))

    assert list(host_operations.check(p)) == []
