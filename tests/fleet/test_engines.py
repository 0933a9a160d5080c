"""The engines that run jobs: bounded, and unharmed by workers that die."""

from __future__ import annotations

import os
import signal
import sys
import time
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from pathlib import Path

import pytest

from command_runs import SECONDS, wait_until
from tfprof.errors import TfprofError
from tfprof.fleet import engines

_prepare = engines._prepare


def prepare_patiently(alive):
    """Prepare a worker that has time to clean up, however busy the machine is."""
    engines._GRACE_SECONDS = SECONDS
    _prepare(alive)


@pytest.fixture(autouse=True)
def _patience(monkeypatch):
    monkeypatch.setattr(engines, "_prepare", prepare_patiently)


def squared(number):
    return number * number


def killed_by_odd(number):
    if number % 2:
        os.kill(os.getpid(), signal.SIGKILL)
    return number


def killed_once(path):
    """Kill the process that runs this for the first time."""
    try:
        Path(path).touch(exist_ok=False)
    except FileExistsError:
        return "done"
    os.kill(os.getpid(), signal.SIGKILL)
    return None


def terminated_once(path):
    """Tell the process that runs this for the first time to stop."""
    try:
        Path(path).touch(exist_ok=False)
    except FileExistsError:
        return "done"
    mark = Path(f"{path}.temporary")
    mark.touch()
    try:
        os.kill(os.getpid(), signal.SIGTERM)
        time.sleep(SECONDS)
    finally:
        mark.unlink()


def waiting(path):
    """Write a file that is removed in any orderly end, wait, and write that nothing intervened."""
    mark = Path(path)
    try:
        mark.touch()
        time.sleep(SECONDS)
        mark.with_suffix(".finished").touch()
    finally:
        mark.unlink()


def results(engine, function, jobs):
    return {job: future.result() for job, future in engines.completed(engine, function, jobs)}


def test_processes_run_all_jobs():
    with engines.processes(2) as engine:
        assert results(engine, squared, range(20)) == {n: n * n for n in range(20)}


@pytest.mark.process
def test_a_job_whose_process_dies_again_is_reported_and_the_others_are_done():
    with engines.processes(2) as engine:
        futures = dict(engines.completed(engine, killed_by_odd, [0, 2, 1, 4, 6]))

    assert {job for job, future in futures.items() if future.exception() is None} == {0, 2, 4, 6}
    assert engines.is_loss(futures[1].exception())


@pytest.mark.process
def test_a_job_whose_process_dies_once_is_done(tmp_path):
    with engines.processes(2) as engine:
        done = results(engine, killed_once, [str(tmp_path / "a")])

    assert done == {str(tmp_path / "a"): "done"}


@pytest.mark.process
def test_an_error_stops_the_processes_in_order_at_once(tmp_path):
    def stop_when_running():
        with engines.processes(1) as engine:
            engine.submit(waiting, str(tmp_path / "running"))
            wait_until((tmp_path / "running").exists, "job that runs")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        stop_when_running()

    assert not (tmp_path / "running").exists()
    assert not (tmp_path / "running.finished").exists()


@pytest.mark.process
def test_a_worker_that_is_told_to_stop_ends_after_cleaning_up_and_its_job_is_done_again(tmp_path):
    with engines.processes(2) as engine:
        done = results(engine, terminated_once, [str(tmp_path / "a")])

    assert done == {str(tmp_path / "a"): "done"}
    assert not (tmp_path / "a.temporary").exists()


@pytest.mark.process
def test_a_signal_is_handled_between_jobs_and_not_inside_the_executor():
    def stop(number, _):
        raise InterruptedError(number)

    def stop_while_it_runs():
        with engines.processes(1) as engine:
            future = engine.submit(squared, 3)
            signal.raise_signal(signal.SIGTERM)
            assert future.result() == 9
            engine.done_of([future])

    before = signal.signal(signal.SIGTERM, stop)
    try:
        with pytest.raises(InterruptedError):
            stop_while_it_runs()
        assert signal.getsignal(signal.SIGTERM) is stop
    finally:
        signal.signal(signal.SIGTERM, before)


class Counting(ThreadPoolExecutor):
    """An executor that counts the jobs that were submitted."""

    submitted = 0

    def submit(self, function, /, *args):
        self.submitted += 1
        return super().submit(function, *args)


def test_only_a_few_jobs_are_submitted_at_a_time():
    open_jobs = []
    with Counting(3) as executor, engines.given(executor) as engine:
        for done, _ in enumerate(engines.completed(engine, squared, range(1000))):
            open_jobs.append(executor.submitted - done)

    assert executor.submitted == len(open_jobs) == 1000
    assert max(open_jobs) == 6


def test_an_executor_of_the_program_stays_open():
    with ThreadPoolExecutor(1) as executor:
        with engines.given(executor) as engine:
            assert results(engine, squared, [2]) == {2: 4}
        assert executor.submit(squared, 3).result() == 9


def test_an_executor_that_cancels_its_jobs_gives_one_line():
    class Closed(Executor):
        def submit(self, *_, **__):
            future = Future()
            future.cancel()
            future.set_running_or_notify_cancel()
            return future

    with engines.given(Closed()) as engine, pytest.raises(TfprofError, match="shut down"):
        results(engine, squared, [1])


def test_a_cluster_without_dask_gives_the_command_that_installs_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)

    with (
        pytest.raises(TfprofError, match=r"requires distributed: pip install 'tfprof\[fleet\]'"),
        engines.dask("tcp://127.0.0.1:1"),
    ):
        pass
