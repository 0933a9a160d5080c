"""Collects recordings into a store: one partition per file, made by the workers of an engine."""

from __future__ import annotations

import hashlib
import json
import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Executor, Future
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from tfprof.errors import OptionError, TfprofError
from tfprof.fleet import engines, index, inputs, layout
from tfprof.fleet.inputs import Run
from tfprof.fleet.partition import Task
from tfprof.fleet.places import Place, is_empty
from tfprof.fleet.work import Job, Outcome, record_trouble, work
from tfprof.outputs import schemas

if TYPE_CHECKING:
    Path = str | os.PathLike[str]

_KILLED = "the processes that read it were killed; is there enough memory?"


@dataclass(frozen=True, slots=True)
class Collected:
    """What was collected so far: numbers of files and bytes, and the files with trouble.

    Of `files`, `finished` were in the store before. Each of `damaged` is a file and what is wrong
    with it; `notes` says what was left out. `total_bytes` is the size of all files to collect.
    """

    store: str
    files: int
    finished: int
    total_bytes: int
    notes: tuple[str, ...] = ()
    collected: int = 0
    read_bytes: int = 0
    written_bytes: int = 0
    damaged: tuple[tuple[str, str], ...] = ()
    seconds: float = 0.0

    @property
    def done(self) -> int:
        """The number of files that need no more work."""
        return self.finished + self.collected + len(self.damaged)

    def to_dict(self) -> dict[str, Any]:
        """What `tfprof collect --json` prints."""
        return {
            "schema": schemas.name_of("collected"),
            "store": self.store,
            "files": self.files,
            "finished": self.finished,
            "collected": self.collected,
            "read_bytes": self.read_bytes,
            "written_bytes": self.written_bytes,
            "seconds": round(self.seconds, 3),
            "damaged": [{"file": file, "trouble": trouble} for file, trouble in self.damaged],
            "notes": list(self.notes),
        }

    def after(self, outcome: Outcome) -> Collected:
        """What was collected after one more file."""
        trouble = ((outcome.source, outcome.trouble),) if outcome.trouble else ()
        return replace(
            self,
            collected=self.collected + (not trouble),
            read_bytes=self.read_bytes + outcome.read_bytes,
            written_bytes=self.written_bytes + outcome.written_bytes,
            damaged=(*self.damaged, *trouble),
        )


def collect(
    sources: Path | Sequence[Path],
    store: Path,
    *,
    executor: Executor | None = None,
    scheduler: str = "",
    jobs: int = 0,
    runs: bool = False,
    overwrite: bool = False,
    progress: Callable[[Collected], None] = lambda _: None,
) -> Collected:
    """Collect recordings into a store, a folder that is then loaded like a file.

    `sources` are files, folders or patterns such as `runs/**/*.xplane.pb`. They may be URLs, and so
    may `store`. Files that are in the store and have not changed are skipped, so a call that was
    interrupted can be repeated. The files are read by `jobs` processes (default: one per core), by
    the Dask cluster with the address `scheduler`, or by `executor`. With `runs`, single runs are
    kept and not only their sums. `overwrite` collects all files again. `progress` is called after
    each file. Damaged files are skipped and listed in the result.
    """
    began = time.monotonic()
    start = _engine(executor=executor, scheduler=scheduler, jobs=jobs)
    given = [sources] if isinstance(sources, str | os.PathLike) else sources
    found = inputs.found([os.fspath(source) for source in given])
    place = Place.of(os.fspath(store))
    _prepare(place, runs=runs, overwrite=overwrite)
    known = layout.manifests(place)
    wanted = [_job(run, place, runs=runs) for run in found.runs]
    waiting = [job for job in wanted if not job.is_finished(known.get(job.task.id, {}))]
    done = Collected(
        store=place.address,
        files=len(wanted),
        finished=len(wanted) - len(waiting),
        total_bytes=sum(job.task.size for job in waiting),
        notes=found.notes,
    )
    progress(done)
    for outcome in _outcomes(waiting, start):
        done = replace(done.after(outcome), seconds=time.monotonic() - began)
        progress(done)
    index.update(place, _obsolete(known, wanted))
    place.tidy()
    return replace(done, seconds=time.monotonic() - began)


def _job(run: Run, store: Place, *, runs: bool) -> Job:
    versions = hashlib.sha256(json.dumps(run.common).encode()).hexdigest()[:24]
    common = tuple(path for path, _ in run.common)
    return Job(Task(run.source, *run.stamp, run.step, common, runs), store, versions)


def _prepare(store: Place, *, runs: bool, overwrite: bool) -> None:
    """Create the store unless it exists; refuse one with other settings, and other folders."""
    wanted = {"format": layout.FORMAT, "version": layout.VERSION, "runs": runs}
    if not store.exists(layout.MARK):
        if not is_empty(store.address):
            raise OptionError(f"{store.address} has other files; name a new or an empty folder.")
    elif overwrite:
        store.remove(layout.INDEX)
        layout.remove(store, layout.manifests(store))
    elif (known := _settings(store)) == wanted:
        return
    elif known == wanted | {"runs": not runs}:
        made = "without" if runs else "with"
        raise OptionError(f"{store.address} was collected {made} --runs; use --overwrite.")
    else:
        raise OptionError(f"{store.address} is of another version of tfprof; use --overwrite.")
    store.write(layout.MARK, (json.dumps(wanted) + "\n").encode())


def _settings(store: Place) -> object:
    try:
        return json.loads(store.read_bytes(layout.MARK))
    except (ValueError, RecursionError):
        return None


Start = Callable[[int], AbstractContextManager[engines.Engine]]


def _engine(*, executor: Executor | None, scheduler: str, jobs: int) -> Start:
    """How to start the chosen engine for a number of files."""
    chosen = {"executor": executor is not None, "scheduler": scheduler, "jobs": jobs}
    given = [f"`{name}`" for name, value in chosen.items() if value]
    if len(given) > 1:
        raise OptionError(f"Choose one of {' and '.join(given)}.")
    if jobs < 0:
        raise OptionError(f"`jobs` takes a number of processes, not {jobs}.")
    if executor is not None:
        return lambda _: engines.given(executor)
    if scheduler:
        return lambda _: engines.dask(scheduler)
    return lambda files: engines.processes(min(jobs or engines.cores(), files))


def _outcomes(waiting: Sequence[Job], start: Start) -> Iterator[Outcome]:
    if not waiting:
        return
    with start(len(waiting)) as engine:
        for job, future in engines.completed(engine, work, waiting):
            yield _outcome(job, future)


def _outcome(job: Job, future: Future[Outcome]) -> Outcome:
    error = future.exception()
    if error is None:
        return future.result()
    if engines.is_loss(error):
        return record_trouble(job, _KILLED)
    if isinstance(error, ModuleNotFoundError):
        raise TfprofError(f"The workers cannot import {error.name}: install it there.")
    raise error


def _obsolete(known: Mapping[str, Mapping[str, Any]], wanted: Sequence[Job]) -> list[str]:
    """The partitions of other versions of the files that were collected."""
    current = {job.task.source: job.task.id for job in wanted}
    return [id_ for id_, one in known.items() if current.get(one["source"], id_) != id_]
