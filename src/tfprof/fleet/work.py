"""Makes one partition of a store; this is what the workers of all engines run."""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any

from tfprof.errors import InputError, OutputError, TfprofError, one_line
from tfprof.fleet import layout, partition
from tfprof.fleet.partition import Made, Task
from tfprof.fleet.places import Place, fetched


@dataclass(frozen=True, slots=True)
class Job:
    """A partition to make."""

    task: Task
    store: Place
    common: str  # identifies the versions of the files of the model

    @property
    def manifest(self) -> str:
        """Where its manifest is."""
        return layout.manifest_path(self.task.id)

    def is_finished(self, manifest: Mapping[str, Any]) -> bool:
        """Whether the partition with this manifest is the one to make."""
        return manifest.get("common") == self.common and not manifest.get("trouble")


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of one file; `trouble` is empty if it was collected."""

    source: str
    read_bytes: int
    written_bytes: int = 0
    trouble: str = ""


def work(job: Job) -> Outcome:
    """Make a partition and write it to the store; its manifest comes last.

    A file that cannot be read gets a manifest that says why. Doing it twice changes nothing. Raises
    `OutputError` if the store cannot be written to.
    """
    try:
        found = _made(job.task)
    except OutputError:
        raise
    except Exception as error:  # noqa: BLE001 -- one file must not stop the others
        return record_trouble(job, _reason(job.task, error))
    manifest = {**found.manifest, "common": job.common}
    written = sum(_write(job.store, name, data) for name, data in found.files.items())
    written += _write_manifest(job, manifest)
    return Outcome(job.task.source, job.task.size, written)


def record_trouble(job: Job, trouble: str) -> Outcome:
    """Write the manifest of a file that cannot be read."""
    task = job.task
    manifest = {
        "format": partition.FORMAT,
        "version": layout.VERSION,
        "source": task.source,
        "size": task.size,
        "modified": task.modified,
        "step": task.step,
        "common": job.common,
        "trouble": f"{task.source}: {trouble}",
    }
    return Outcome(task.source, task.size, _write_manifest(job, manifest), trouble)


def _made(task: Task) -> Made:
    with ExitStack() as stack:
        path, *common = (
            stack.enter_context(fetched(address)) for address in (task.source, *task.common)
        )
        return partition.made(task, path, common)


def _reason(task: Task, error: Exception) -> str:
    """What is wrong with a file; not where a copy of it was."""
    if isinstance(error, InputError):
        # A file of the model is named, because it is not the file that the message is about.
        others = [address for address in task.common if address.endswith(f"/{_name(error.path)}")]
        is_other = _name(error.path) != _name(task.source) and others
        return one_line(f"{others[0]}: {error.trouble}" if is_other else error.trouble)
    if isinstance(error, TfprofError):
        return one_line(error)
    if isinstance(error, MemoryError):
        return "not enough memory; use fewer --jobs, or a machine with more memory."
    return one_line(f"cannot be collected: {type(error).__name__}: {error}")


def _name(path: str) -> str:
    return path.rpartition("/")[2]


def _write(store: Place, name: str, data: bytes) -> int:
    """Write a file unless it exists with the same content; returns the bytes that were written."""
    if name.startswith(f"{layout.MODELS}/") and store.exists(name):
        return 0  # named by its content
    store.write(name, data)
    return len(data)


def _write_manifest(job: Job, manifest: Mapping[str, Any]) -> int:
    data = json.dumps(manifest, indent=1, sort_keys=True).encode() + b"\n"
    job.store.write(job.manifest, data)
    return len(data)
