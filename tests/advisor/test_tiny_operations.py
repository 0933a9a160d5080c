"""Many tiny ops."""

from build import GPU_STREAM, op, profile, run
from tfprof.advisor import tiny_operations


def tiny_runs(count, micros=5, every=10):
    return [
        op("a", "Switch"),
        *(run("a", micros, start=1000 + every * number) for number in range(count)),
    ]


def test_a_step_of_tiny_ops_is_found():
    (finding,) = tiny_operations.check(profile(*tiny_runs(1000)))

    assert finding.evidence.to_dicts() == [
        {"kind": "Switch", "tiny_runs": 1000, "their_time_micros": 5000}
    ]
    # Nothing else ran, so the gain is at most the whole step.
    assert (finding.gain.amount, finding.gain.of) == (9995, 9995)


def test_the_gain_does_not_include_longer_ops():
    p = profile(*tiny_runs(1000), run("b", 4000, start=1000))

    (finding,) = tiny_operations.check(p)

    assert finding.gain.amount == 9995 - 4000


def test_fewer_tiny_runs_are_not_reported():
    assert list(tiny_operations.check(profile(*tiny_runs(999)))) == []


def test_longer_runs_are_not_reported():
    assert list(tiny_operations.check(profile(*tiny_runs(1000, micros=11, every=20)))) == []


def test_tiny_ops_that_overlap_with_longer_ops_are_not_reported():
    assert list(tiny_operations.check(profile(*tiny_runs(1000), run("b", 9000)))) == []


def test_tiny_kernels_on_a_stream_do_not_count():
    kernels = [run("a", 5, start=1000 + 10 * n, device=GPU_STREAM) for n in range(1000)]

    assert list(tiny_operations.check(profile(*kernels))) == []
