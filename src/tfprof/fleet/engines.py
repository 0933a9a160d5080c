"""Engines that run one function on many jobs: local processes, a Dask cluster or any executor."""

from __future__ import annotations

import logging
import multiprocessing
import os
import signal
import sys
import threading
import warnings
from collections.abc import Callable, Collection, Iterable, Iterator
from concurrent.futures import (
    FIRST_COMPLETED,
    BrokenExecutor,
    Executor,
    Future,
    ProcessPoolExecutor,
    wait,
)
from contextlib import contextmanager
from itertools import islice
from multiprocessing.connection import Connection
from types import FrameType, ModuleType
from typing import Any, Protocol, Self, TypeVar

from tfprof.errors import TfprofError
from tfprof.fleet.extras import needed

Job = TypeVar("Job")
Result = TypeVar("Result")

_JOBS_PER_WORKER = 2  # submitted at a time: one that runs, and the next
_CONNECT_SECONDS = 10
_GRACE_SECONDS = 1.0
_POLL_SECONDS = 0.1
_STOPPING = ("SIGINT", "SIGTERM", "SIGHUP")
_KILLED = "KilledWorker"  # the error of Dask for a job whose workers died several times


class Engine(Protocol):
    """Runs jobs, several at a time."""

    @property
    def width(self) -> int:
        """The number of jobs to submit at a time."""

    def submit(self, function: Callable[[Job], Result], job: Job) -> Future[Result]:
        """Start a job."""

    def done_of(self, futures: Collection[Future[Result]]) -> Iterable[Future[Result]]:
        """Wait until at least one of these is done, and return those that are."""

    def restart(self) -> None:
        """Start new workers after one of them died."""


def completed(
    engine: Engine, function: Callable[[Job], Result], jobs: Iterable[Job]
) -> Iterator[tuple[Job, Future[Result]]]:
    """Each job with its future, as they complete; only a few jobs are submitted at a time.

    If a worker dies, the jobs that were submitted are run again, one at a time. The future of one
    whose worker dies again has a `BrokenExecutor` as its exception.
    """
    queue, suspects = iter(jobs), list[Job]()
    waiting: dict[Future[Result], Job] = {}
    while True:
        if not suspects:
            for job in islice(queue, max(engine.width - len(waiting), 0)):
                waiting[_submitted(engine, function, job)] = job
        if waiting:
            for future in engine.done_of(waiting):
                job = waiting.pop(future)
                if _is_broken(future):
                    suspects.append(job)
                else:
                    yield job, future
        elif suspects:
            yield from _alone(engine, function, suspects)
            suspects = []
        else:
            return


def is_loss(error: BaseException) -> bool:
    """Whether an error means that the process died which ran the job."""
    return isinstance(error, BrokenExecutor) or type(error).__name__ == _KILLED


def _submitted(engine: Engine, function: Callable[[Job], Result], job: Job) -> Future[Result]:
    try:
        return engine.submit(function, job)
    except BrokenExecutor as error:
        future: Future[Result] = Future()
        future.set_exception(error)
        return future


def _is_broken(future: Future[Any]) -> bool:
    if future.cancelled():
        raise TfprofError("The workers were shut down before all files were collected.")
    return isinstance(future.exception(), BrokenExecutor)


def _alone(
    engine: Engine, function: Callable[[Job], Result], jobs: Iterable[Job]
) -> Iterator[tuple[Job, Future[Result]]]:
    engine.restart()
    for job in jobs:
        future = _submitted(engine, function, job)
        engine.done_of([future])
        if _is_broken(future):
            engine.restart()
        yield job, future


def cores() -> int:
    """The number of processor cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


# Local processes.


class _Processes:
    """A pool of processes, which is replaced if one of them dies."""

    def __init__(self, count: int, signals: _Postponed) -> None:
        self._count = count
        self._signals = signals
        self.width = _JOBS_PER_WORKER * count
        self._start()

    def _start(self) -> None:
        # Started afresh: a copy of this process would have its memory, and locks of its threads.
        context = multiprocessing.get_context("spawn")
        reader, self._alive = context.Pipe(duplex=False)
        self._pool = ProcessPoolExecutor(self._count, context, _prepare, (reader,))

    def submit(self, function: Callable[[Job], Result], job: Job) -> Future[Result]:
        # This may start a worker.
        with _without_interrupts(), _without_main():
            return self._pool.submit(_run, function, job)

    def done_of(self, futures: Collection[Future[Result]]) -> Iterable[Future[Result]]:
        while True:
            done = wait(futures, _POLL_SECONDS, FIRST_COMPLETED).done
            self._signals.handle()
            if done:
                return done

    def restart(self) -> None:
        self.stop()
        self._start()

    def finish(self) -> None:
        """Wait until the workers have ended."""
        self._pool.shutdown()
        self._alive.close()

    def stop(self) -> None:
        """End the workers now; they remove their temporary files."""
        self._alive.close()
        self._pool.shutdown(cancel_futures=True)


@contextmanager
def processes(count: int) -> Iterator[Engine]:
    """Processes on this machine, which end with this one, whatever ends it."""
    with _Postponed() as signals:
        engine = _Processes(count, signals)
        try:
            yield engine
        except BaseException:
            engine.stop()
            raise
        engine.finish()


class _Postponed:
    """Signals that stop the program, kept until `handle` is called.

    An exception that a handler raises inside the executor can leave locks behind for which its
    threads then wait forever.
    """

    def __init__(self) -> None:
        self._handlers: dict[int, Callable[[int, FrameType | None], Any]] = {}
        self._received: list[tuple[int, FrameType | None]] = []

    def __enter__(self) -> Self:
        if threading.current_thread() is threading.main_thread():  # others have no handlers
            for number in (getattr(signal, name) for name in _STOPPING if hasattr(signal, name)):
                handler = signal.getsignal(number)
                if callable(handler):  # neither the default nor ignored
                    self._handlers[number] = handler
                    signal.signal(number, self._receive)
        return self

    def __exit__(self, *_: object) -> None:
        for number, handler in self._handlers.items():
            signal.signal(number, handler)
        self.handle()

    def _receive(self, number: int, frame: FrameType | None) -> None:
        self._received.append((number, frame))

    def handle(self) -> None:
        """Call the handlers of the signals that were received."""
        received, self._received = self._received, []
        for number, frame in received:
            self._handlers[number](number, frame)


@contextmanager
def _without_interrupts() -> Iterator[None]:
    """Block Ctrl-C, which a terminal sends to all processes; those that start inherit that."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextmanager
def _without_main() -> Iterator[None]:
    """Hide the script of this process, so that a new process does not run it again.

    Jobs do not need it, and most scripts do not expect it.
    """
    script = sys.modules["__main__"]
    sys.modules["__main__"] = ModuleType("__main__")
    try:
        yield
    finally:
        sys.modules["__main__"] = script


def _prepare(alive: Connection) -> None:
    """Let a worker end when its parent closes `alive` or dies."""
    threading.Thread(target=_watch, args=(alive,), daemon=True).start()


def _run(function: Callable[[Job], Result], job: Job) -> Result:
    """Run a job in a worker; SIGTERM ends the worker once the job has cleaned up."""
    try:
        signal.signal(signal.SIGTERM, _end)
        try:
            return function(job)
        finally:
            signal.signal(signal.SIGTERM, signal.SIG_DFL)
    except SystemExit:
        os._exit(1)  # the pool would take it for a result, and continue with the next job


def _end(*_: object) -> None:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)  # a second signal must not disturb the first
    raise SystemExit(1)  # temporary files are removed on the way


def _watch(alive: Connection) -> None:
    try:
        alive.recv_bytes()  # nothing is ever sent
    except (EOFError, OSError):
        if hasattr(signal, "pthread_kill"):  # unlike `raise_signal`, interrupts a system call
            signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGTERM)
            threading.Event().wait(_GRACE_SECONDS)
        os._exit(1)


# Other engines.


class _Given:
    """An executor that someone else started."""

    def __init__(self, executor: Executor, workers: Callable[[], int]) -> None:
        self._executor = executor
        self._workers = workers

    @property
    def width(self) -> int:
        return max(_JOBS_PER_WORKER * self._workers(), 1)

    def submit(self, function: Callable[[Job], Result], job: Job) -> Future[Result]:
        return self._executor.submit(function, job)

    def done_of(self, futures: Collection[Future[Result]]) -> Iterable[Future[Result]]:
        return wait(futures, return_when=FIRST_COMPLETED).done

    def restart(self) -> None:
        raise TfprofError("A worker of the executor died; start a new one to continue.")


@contextmanager
def given(executor: Executor) -> Iterator[Engine]:
    """An executor of the calling program, which stays open."""
    count = getattr(executor, "_max_workers", None) or cores()
    yield _Given(executor, lambda: count)


@contextmanager
def dask(address: str) -> Iterator[Engine]:
    """The workers of a Dask cluster; a job whose worker is lost is run again by the scheduler."""
    with _quiet("distributed"):
        with needed("distributed", "A Dask cluster"):
            import distributed  # noqa: PLC0415 -- only needed here
        client = _asked(
            address,
            "no Dask scheduler answers",
            lambda: distributed.Client(address, timeout=_CONNECT_SECONDS, set_as_default=False),
        )
        try:
            _asked(
                address,
                "the Dask cluster has no workers",
                lambda: client.wait_for_workers(1, timeout=_CONNECT_SECONDS),
            )
            executor = client.get_executor(pure=False)
            try:
                yield _Given(executor, lambda: _threads(address, client))
            finally:
                executor.shutdown(wait=False)
        finally:
            client.close()


def _threads(address: str, client: Any) -> int:
    """The jobs that a cluster runs at a time now; workers may come and go."""
    return _asked(
        address,
        "the Dask scheduler no longer answers",
        lambda: int(sum(client.nthreads().values())),
    )


def _asked(address: str, trouble: str, ask: Callable[[], Result]) -> Result:
    try:
        return ask()
    except (OSError, ValueError, RuntimeError) as error:
        raise TfprofError(f"{address}: {trouble}: {error}") from None


@contextmanager
def _quiet(name: str) -> Iterator[None]:
    """No warnings, and no log of a package below errors that end everything."""
    log = logging.getLogger(name)
    level = log.level
    log.setLevel(logging.CRITICAL)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        log.setLevel(level)
