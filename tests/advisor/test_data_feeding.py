"""Steps that wait for data."""

from dataclasses import replace

import pytest

from build import op, profile, run
from tfprof.advisor import data_feeding
from tfprof.columns import ints
from tfprof.model.executions import Waits


@pytest.mark.parametrize(
    "kind", ["QueueDequeueManyV2", "IteratorGetNext", "PyFunc", "DecodeJpeg", "ReaderReadV2"]
)
def test_a_step_that_waits_for_data_is_found(kind):
    p = profile(op("fetch", kind), run("fetch", 400), run("work", 700, start=1300))

    (finding,) = data_feeding.check(p)

    assert finding.sentence.startswith("Only data feeding ran for 300us of step 0")
    assert finding.evidence.to_dicts() == [{"op": "fetch", "kind": kind, "time_micros": 400}]
    # Without feeding, the work could have started at once, so the gain exceeds the time alone.
    assert (finding.gain.amount, finding.gain.of) == (400, 1000)


def test_feeding_that_overlaps_with_work_is_not_reported():
    p = profile(op("fetch", "IteratorGetNext"), run("fetch", 900), run("work", 1000))

    assert list(data_feeding.check(p)) == []


def test_short_feeding_is_not_reported():
    p = profile(op("fetch", "IteratorGetNext"), run("fetch", 99), run("work", 500, start=1100))

    assert list(data_feeding.check(p)) == []


def test_a_step_without_feeding_is_not_reported():
    assert list(data_feeding.check(profile(op("a", "MatMul"), run("a", 5000)))) == []


def test_a_step_that_waits_for_the_next_element_is_found():
    p = profile(op("tf_data/Root", "Iterator::Root"), run("work", 700, start=1300))
    waits = Waits(step=ints([0]), start_ns=ints([1_000_000]), duration_ns=ints([400_000]))
    steps = replace(p.steps, start_ns=ints([1_000_000]), end_ns=ints([2_000_000]))

    (finding,) = data_feeding.check(replace(p, waits=waits, steps=steps))

    assert finding.sentence.startswith("Only data feeding ran for 300us of step 0")
    assert finding.evidence.to_dicts() == [
        {"op": "(waiting for the next element)", "kind": "tf.data", "time_micros": 400}
    ]
    assert (finding.gain.amount, finding.gain.of) == (400, 1000)
    assert "Iterator::.*" in finding.command
