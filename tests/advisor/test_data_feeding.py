"""Steps that wait for data."""

import pytest

from build import op, profile, run
from tfprof.advisor import data_feeding


@pytest.mark.parametrize(
    "kind", ["QueueDequeueManyV2", "IteratorGetNext", "PyFunc", "DecodeJpeg", "ReaderReadV2"]
)
def test_a_step_that_waits_for_data_is_found(kind):
    p = profile(op("fetch", kind), run("fetch", 400), run("work", 700, start=1300))

    (finding,) = data_feeding.check(p)

    assert finding.sentence.startswith("Nothing but data feeding ran for 300us of step 0")
    assert finding.evidence.to_dicts() == [{"op": "fetch", "kind": kind, "time_micros": 400}]
    # Without it the work might have begun at once: that is more than it was alone.
    assert (finding.gain.amount, finding.gain.of) == (400, 1000)


def test_feeding_beside_the_work_is_left_alone():
    p = profile(op("fetch", "IteratorGetNext"), run("fetch", 900), run("work", 1000))

    assert list(data_feeding.check(p)) == []


def test_short_feeding_is_left_alone():
    p = profile(op("fetch", "IteratorGetNext"), run("fetch", 99), run("work", 500, start=1100))

    assert list(data_feeding.check(p)) == []


def test_a_step_without_feeding_is_left_alone():
    assert list(data_feeding.check(profile(op("a", "MatMul"), run("a", 5000)))) == []
