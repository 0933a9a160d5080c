"""Times that cannot be subtracted in 64 bits are replaced, with a note, or refused."""

import numpy as np
import pytest

import tfprof
from sources.tf_files import CPU, run_metadata, stats
from sources.xplane_files import event, host, recording
from tfprof.columns import ints
from tfprof.errors import InputError
from tfprof.formats.records import Records
from tfprof.formats.xplane import decode
from tfprof.model.clock import limits_of
from tfprof.sources.xspace_events import Space

NOTE = "run_meta has impossible times, which count as the nearest possible ones"
FAR = 10**18  # microseconds


def load(folder, *runs):
    path = folder / "run_meta"
    path.write_bytes(run_metadata((CPU, runs)))
    return tfprof.load(path)


@pytest.mark.parametrize("micros", [FAR, -FAR, 2**63 - 1, -(2**63)])
def test_an_impossible_time_is_replaced_with_a_note(tmp_path, micros):
    loaded = load(tmp_path, stats("a", 10**15, 5), stats("b", micros, 5))

    assert sum(NOTE in note for note in loaded.notes) == 1


def test_possible_times_have_no_note(tmp_path):
    assert not load(tmp_path, stats("a", 10**15, 5), stats("b", 4 * 10**15, 5)).notes


def test_a_step_with_the_first_and_the_last_possible_time_is_measured(tmp_path):
    loaded = load(tmp_path, stats("a", -FAR, FAR), stats("b", FAR, FAR), stats("c", 5, -FAR))
    loaded.write_timeline(tmp_path / "timeline")

    (step,) = loaded.step_times()
    assert step.wall_ns > 2**62
    assert sum(step.phases.values()) == step.wall_ns
    assert loaded.report().to_html()


@pytest.mark.parametrize("name", ["start_ns", "first_start_ns", "time_ns"])
def test_any_start_can_be_subtracted_from_any_end(name):
    start, end = limits_of(name), limits_of("last_end_ns")

    assert end.last - start.first < 2**63
    assert end.first - start.last >= -(2**63)
    assert start.last + limits_of("duration_ns").last <= end.last


def test_other_columns_have_no_limits():
    assert limits_of("bytes") is None


@pytest.mark.parametrize("stamp", [2**63 - 1, -(2**63)])
def test_a_recording_outside_of_the_possible_years_is_refused(stamp):
    plane = host()
    plane.line("tf_Compute", event("a:Mul", 0, 5), timestamp_ns=stamp)

    with pytest.raises(InputError, match="146 years"):
        Space("file", decode(Records("file", recording(plane))))


def test_limits_hold_for_an_empty_column():
    assert limits_of("start_ns").holds(ints([]))
    assert not limits_of("start_ns").holds(np.array([2**63 - 1]))
