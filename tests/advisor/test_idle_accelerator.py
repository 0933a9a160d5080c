"""Idle accelerators."""

from dataclasses import replace

import pytest

from build import CPU, GPU, GPU_STREAM, profile, run
from tfprof.advisor import idle_accelerator
from tfprof.errors import MissingInputError


def step(number, start, *kernels, micros=1000):
    """A step in which the host is always busy; each kernel is (start in the step, micros)."""
    yield run("host", micros, number, start, CPU)
    yield from (run("kernel", took, number, start + at, GPU_STREAM) for at, took in kernels)


def waits(p):
    return [
        {row["waiting"]: row["time_micros"] for row in finding.evidence.to_dicts()}
        for finding in idle_accelerator.check(p)
    ]


def test_idle_time_is_split_by_where_it_occurs():
    p = profile(*step(0, 5000, (200, 300), (600, 100)))

    (finding,) = idle_accelerator.check(p)

    assert waits(p) == [
        {
            "before its first kernel": 200,
            "between kernels": 100,
            "after its last kernel": 300,
        }
    ]
    assert finding.sentence == (
        f"{GPU_STREAM} was idle for 60% of step 0, 300us of that after its last kernel."
    )
    assert (finding.gain.amount, finding.gain.of) == (600, 1000)


def test_the_pause_before_the_next_step_counts_if_that_step_was_recorded():
    p = profile(*step(4, 5000, (0, 1000)), *step(5, 6400, (0, 1000)))

    (finding,) = idle_accelerator.check(p)

    assert waits(p) == [{"between steps": 400}]
    assert (finding.gain.amount, finding.gain.of) == (400, 1400)
    assert finding.sentence.startswith(
        f"{GPU_STREAM} was idle for 29% of the time from step 4 to the next"
    )


@pytest.mark.parametrize(
    ("number", "start"),
    [
        pytest.param(6, 6400, id="not the next number"),
        pytest.param(5, 7000, id="pause as long as a step"),
        pytest.param(5, 5500, id="overlapping"),
    ],
)
def test_the_pause_before_a_step_that_does_not_follow_directly_is_not_counted(number, start):
    assert waits(profile(*step(4, 5000, (0, 1000)), *step(number, start, (0, 1000)))) == []


def test_a_busy_accelerator_is_not_reported():
    assert waits(profile(*step(0, 5000, (50, 800)))) == []


def test_overlapping_kernels_count_as_busy_once():
    assert waits(profile(*step(0, 5000, (0, 500), (0, 500)))) == [{"after its last kernel": 500}]


def test_a_short_step_is_not_reported():
    assert waits(profile(*step(0, 5000, (0, 10), micros=50))) == []


def test_a_profile_without_an_accelerator_is_not_reported():
    assert waits(profile(run("a", 1000))) == []


def test_an_untraced_accelerator_is_an_error():
    untraced = replace(profile(run("a", 1000, device=GPU)), lacks_accelerator_time=True)

    with pytest.raises(MissingInputError, match="CUPTI"):
        waits(untraced)


def test_a_traced_step_is_reported_even_if_another_was_not_traced():
    traced = replace(profile(*step(0, 5000, (0, 500))), lacks_accelerator_time=True)

    assert waits(traced) == [{"after its last kernel": 500}]
