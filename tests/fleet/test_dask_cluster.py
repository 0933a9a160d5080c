"""Collecting on a real Dask cluster: a scheduler and two workers on this machine."""

from __future__ import annotations

import json
import subprocess
import sys
import time

import pytest
from collected_stores import contents, forget_warnings, recorded

from command_runs import is_one_line, tfprof
from fleets import Job
from tfprof.errors import TfprofError
from tfprof.fleet import engines
from tfprof.fleet.collect import collect

pytest.importorskip("distributed")

FILES = 12
_PATIENCE_SECONDS = 60


class Cluster:
    """A scheduler and its workers, each a process."""

    def __init__(self, folder, workers):
        self._folder = folder
        self._contact = folder / "scheduler.json"
        self._processes = []
        self._start("scheduler", "--host", "127.0.0.1", "--port", 0)
        self.workers = [self.add_worker() for _ in range(workers)]
        self.wait_for_workers()

    @property
    def address(self):
        until = time.monotonic() + _PATIENCE_SECONDS
        while not (self._contact.exists() and self._contact.stat().st_size):
            assert time.monotonic() < until, "the scheduler did not start"
            time.sleep(0.05)
        return json.loads(self._contact.read_text())["address"]

    def add_worker(self):
        """Start a worker with one thread."""
        return self._start(
            *("worker", "--host", "127.0.0.1", "--no-nanny", "--nthreads", 1),
            *("--local-directory", self._folder, "--memory-limit", 0),
        )

    def _start(self, *words):
        process = subprocess.Popen(
            [
                *(sys.executable, "-m", "dask", *map(str, words), "--no-dashboard"),
                *("--scheduler-file", self._contact),
            ],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env=forget_warnings(),
            cwd=self._folder,
        )
        self._processes.append(process)
        return process

    def wait_for_workers(self):
        with engines.dask(self.address) as engine:
            until = time.monotonic() + _PATIENCE_SECONDS
            while engine.width < 2 * len(self.workers):
                assert time.monotonic() < until, "the workers did not start"
                time.sleep(0.05)

    def kill(self):
        """Kill all processes."""
        for process in self._processes[::-1]:
            process.kill()
            process.wait()


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    cluster = Cluster(tmp_path_factory.mktemp("cluster"), workers=2)
    yield cluster
    cluster.kill()


@pytest.fixture(scope="module")
def traces(tmp_path_factory):
    folder = tmp_path_factory.mktemp("fleet")
    recorded(folder, Job(hosts=FILES, steps=4, layers=3, microbatches=4))
    return folder


@pytest.fixture(scope="module")
def whole(traces, tmp_path_factory):
    """The files of the store that local processes make."""
    store = tmp_path_factory.mktemp("stores") / "local"
    collect(traces, store, jobs=2)
    return contents(store)


def test_a_cluster_makes_the_same_store_as_local_processes(cluster, traces, whole, tmp_path):
    ran = tfprof("collect", traces, "-o", tmp_path / "store", "--scheduler", cluster.address)

    assert ran.returncode == 0
    assert is_one_line(ran.stderr)
    assert contents(tmp_path / "store") == whole


def test_a_worker_that_is_lost_in_the_middle_changes_nothing(cluster, traces, whole, tmp_path):
    states = []

    def kill_in_the_middle(state):
        states.append(state.done)
        if state.done == 3:
            cluster.workers[0].kill()
            cluster.workers[0].wait()

    done = collect(
        traces, tmp_path / "store", scheduler=cluster.address, progress=kill_in_the_middle
    )
    cluster.workers[0] = cluster.add_worker()
    cluster.wait_for_workers()

    assert (done.collected, done.damaged) == (FILES, ())
    assert states == list(range(FILES + 1))
    assert contents(tmp_path / "store") == whole


def test_a_cluster_without_a_scheduler_gives_one_line(traces, tmp_path, monkeypatch):
    monkeypatch.setattr("tfprof.fleet.engines._CONNECT_SECONDS", 1)

    with pytest.raises(TfprofError, match=r"tcp://127.0.0.1:9: no Dask scheduler answers"):
        collect(traces, tmp_path / "store", scheduler="tcp://127.0.0.1:9")


def test_a_cluster_that_is_lost_gives_one_line_and_another_one_continues(
    cluster, traces, whole, tmp_path
):
    lost = Cluster(tmp_path, workers=1)

    def kill_in_the_middle(state):
        if state.done == 2:
            lost.kill()

    with pytest.raises(TfprofError, match=r"scheduler no longer answers|shut down"):
        collect(traces, tmp_path / "store", scheduler=lost.address, progress=kill_in_the_middle)
    lost.kill()

    collect(traces, tmp_path / "store", scheduler=cluster.address)

    assert contents(tmp_path / "store") == whole
