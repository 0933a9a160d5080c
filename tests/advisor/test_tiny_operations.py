"""Many tiny ops."""

from build import GPU_STREAM, op, profile, run
from tfprof.advisor import tiny_operations


def tiny_runs(count, micros=5, every=10):
    return [
        op("a", "Switch"),
        *(run("a", micros, start=1000 + every * place) for place in range(count)),
    ]


def test_a_step_of_tiny_ops_is_found():
    (finding,) = tiny_operations.check(profile(*tiny_runs(1000)))

    assert finding.evidence.to_dicts() == [
        {"kind": "Switch", "tiny_runs": 1000, "their_time_micros": 5000}
    ]
    # What was not computing is won with them at most: all of the step.
    assert (finding.gain.amount, finding.gain.of) == (9995, 9995)


def test_larger_work_is_not_won():
    p = profile(*tiny_runs(1000), run("b", 4000, start=1000))

    (finding,) = tiny_operations.check(p)

    assert finding.gain.amount == 9995 - 4000


def test_fewer_runs_are_left_alone():
    assert list(tiny_operations.check(profile(*tiny_runs(999)))) == []


def test_longer_runs_are_left_alone():
    assert list(tiny_operations.check(profile(*tiny_runs(1000, micros=11, every=20)))) == []


def test_tiny_ops_behind_larger_work_are_left_alone():
    assert list(tiny_operations.check(profile(*tiny_runs(1000), run("b", 9000)))) == []


def test_a_kernel_is_no_dispatch():
    kernels = [run("a", 5, start=1000 + 10 * n, device=GPU_STREAM) for n in range(1000)]

    assert list(tiny_operations.check(profile(*kernels))) == []
