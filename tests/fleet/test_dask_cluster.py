"""Collecting on a real Dask cluster: a scheduler and two workers on this machine."""

from __future__ import annotations

import json
import socket
import subprocess
import sys

import pytest
from collected_stores import contents, forget_warnings, recorded

from command_runs import SECONDS, is_one_line, tfprof, wait_until
from fleets import Job
from tfprof.errors import TfprofError
from tfprof.fleet import engines
from tfprof.fleet.collect import collect

pytest.importorskip("distributed")

pytestmark = pytest.mark.process

FILES = 12


class Cluster:
    """A scheduler and its workers, each a process; they are killed at the end of a `with` block."""

    def __init__(self, folder, workers):
        self._folder = folder
        self._contact = folder / "scheduler.json"
        self._processes = []
        self._count = workers

    def __enter__(self):
        self._start("scheduler", "--host", "127.0.0.1", "--port", 0)
        try:
            wait_until(self._is_up, "scheduler", *self._processes)
            self.address = json.loads(self._contact.read_text())["address"]
            for _ in range(self._count):
                self.add_worker()
            self.wait_for_workers(self._count)
        except BaseException:
            self.kill()
            raise
        return self

    def __exit__(self, *_):
        self.kill()

    def _is_up(self):
        # Its file is there before all of it is written.
        return self._contact.exists() and self._contact.read_text().endswith("\n}")

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
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            env=forget_warnings(),
            cwd=self._folder,
        )
        self._processes.append(process)
        return process

    def wait_for_workers(self, count):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(engines, "_CONNECT_SECONDS", SECONDS)
            with engines.dask(self.address) as engine:
                wait_until(lambda: engine.width == 2 * count, "workers", *self._processes)

    def kill(self):
        """Kill all processes."""
        for process in self._processes[::-1]:
            process.kill()
            process.wait()
            process.stdout.close()


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    with Cluster(tmp_path_factory.mktemp("cluster"), workers=2) as cluster:
        yield cluster


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
    third = cluster.add_worker()
    cluster.wait_for_workers(3)

    def kill_in_the_middle(state):
        states.append(state.done)
        if state.done == 3:
            third.kill()
            third.wait()

    done = collect(
        traces, tmp_path / "store", scheduler=cluster.address, progress=kill_in_the_middle
    )

    assert (done.collected, done.damaged) == (FILES, ())
    assert states == list(range(FILES + 1))
    assert contents(tmp_path / "store") == whole


# With less patience than the command has.
_COLLECT = """
import sys
from tfprof.cli import main
from tfprof.fleet import engines
engines._CONNECT_SECONDS = 1
sys.exit(main(["collect", *sys.argv[1:]]))
"""


def test_a_cluster_without_a_scheduler_gives_one_line(traces, tmp_path):
    with socket.socket() as reserved:  # without `listen`, connections are refused
        reserved.bind(("127.0.0.1", 0))
        address = f"tcp://127.0.0.1:{reserved.getsockname()[1]}"
        ran = subprocess.run(
            [sys.executable, "-c", _COLLECT, traces, "-o", tmp_path / "s", "--scheduler", address],
            capture_output=True,
            text=True,
            check=False,
        )

    assert ran.returncode == 1
    assert f"{address}: no Dask scheduler answers" in ran.stderr
    *_, message = ran.stderr.splitlines(keepends=True)
    assert is_one_line(message)


def test_a_cluster_that_is_lost_gives_one_line_and_another_one_continues(
    cluster, traces, whole, tmp_path
):
    with Cluster(tmp_path, workers=1) as lost:

        def kill_in_the_middle(state):
            if state.done == 2:
                lost.kill()

        with pytest.raises(TfprofError, match=r"scheduler no longer answers|shut down"):
            collect(traces, tmp_path / "store", scheduler=lost.address, progress=kill_in_the_middle)

    collect(traces, tmp_path / "store", scheduler=cluster.address)

    assert contents(tmp_path / "store") == whole
