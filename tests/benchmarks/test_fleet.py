import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from fleet_job import Fault, Job, timeline

import fleet
from fleets import loaded, loaded_servers
from tfprof.measures.collectives import collectives
from tfprof.measures.step_sums import step_totals

JOB = Job(hosts=3, steps=4, layers=2)


@pytest.fixture(scope="module")
def columns(tmp_path_factory):
    return loaded(tmp_path_factory.mktemp("fleet"), JOB).columns


def test_every_host_has_a_recording_with_numbered_steps(columns):
    assert list(columns.recordings.label) == ["host-0", "host-1", "host-2"]
    assert columns.steps.numbers() == [100, 101, 102, 103]


def test_files_contain_the_simulated_times(columns):
    times, totals = timeline(JOB), step_totals(columns)
    starts = np.diff(times.begin, axis=1)  # the last step ends with its last op
    walls = totals.wall_ns.reshape(3, 4)[:, :-1]

    assert np.abs(walls - starts).max() < 10
    assert np.abs(totals.input_wait_ns.reshape(3, 4) - times.wait).max() < 10


def test_collectives_end_at_the_same_time_on_all_hosts_but_for_their_clocks(columns):
    found = collectives(columns)
    ends = found.end_ns.reshape(3, -1)
    apart = ends - ends[0]

    assert ends.shape == (3, JOB.steps * JOB.buckets)
    assert np.abs(apart[1]).min() > 1e6  # clocks differ
    assert np.ptp(apart, axis=1).max() < 1e6


def test_the_last_host_to_arrive_does_not_wait(columns):
    found = collectives(columns)
    durations = (found.end_ns - found.start_ns).reshape(3, -1)
    transfer = JOB.step_ms * 1e6 * JOB.transfer / JOB.buckets

    assert durations.min(axis=0).max() < 1.5 * transfer
    assert durations.max() > 2 * transfer


def test_a_straggler_takes_longer_in_its_scope_from_its_step_on(tmp_path):
    fault = Fault("straggler", 1, 3.0, "model/layer_1", since=2)
    profile = loaded(tmp_path, JOB.but(faults=(fault,)))

    def micros(step, host):
        shown = profile.scope(step=step, recording=f"host-{host}", select="micros")
        return shown["model/layer_1"]["total_micros"]

    assert 0.8 < micros(101, 1) / micros(101, 0) < 1.25
    assert 2.5 < micros(102, 1) / micros(102, 0) < 3.5


def test_kernels_and_allocations_of_a_gpu_are_recorded(tmp_path):
    fault = Fault("memory", 2, 2.0)
    profile = loaded(tmp_path, JOB.but(has_gpu=True, faults=(fault,)))

    assert all(step.kernels for step in profile.step_times())
    peaks = {
        one["recording"]: one["peak_bytes"] for one in profile.memory().to_dict()["allocators"]
    }
    assert peaks["host-2"] == 2 * peaks["host-0"]


def test_files_have_about_the_requested_size(tmp_path):
    job = fleet.of_size(Job(hosts=1, steps=10), 0.5)
    (path,) = fleet.generate(tmp_path, job)

    assert 0.4e6 < path.stat().st_size < 0.6e6


@pytest.mark.dist
def test_the_same_options_give_the_same_bytes_with_any_number_of_processes(tmp_path):
    command = [sys.executable, Path(fleet.__file__), "--hosts", "2", "--megabytes", "0.1"]
    for name in ("1", "2"):
        more = [tmp_path / name, "--fault", "straggler", "--processes", name]
        subprocess.run([*command, *more], check=True, capture_output=True)
    one, two = (sorted((tmp_path / name).rglob("*.pb")) for name in ("1", "2"))

    assert len(one) == 2
    assert [path.read_bytes() for path in one] == [path.read_bytes() for path in two]


def test_parameter_servers_are_uneven_only_if_asked(tmp_path):
    even = loaded_servers(tmp_path / "even").advise("ParameterBalanceChecker")
    uneven = loaded_servers(tmp_path / "uneven", skew=0.5).advise("ParameterBalanceChecker")

    assert len(even) == 0
    assert "/job:ps/replica:0/task:0 holds" in str(uneven)
