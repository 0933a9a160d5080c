"""Adds to a generated model what a report shows: allocations, and a second step."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

from generate import Files

from tfprof.formats.messages import message_class

_PERIOD = 10_000_000  # from one step to the next, in microseconds
_METADATA = message_class("tensorflow.RunMetadata")


class Recorded(NamedTuple):
    """The files of a model, the first of its steps, and the number of runs of ops in all."""

    paths: list[Path]
    step: Path
    runs: int


def recorded(files: Files) -> Recorded:
    """Write the recorded step twice, with allocations: every op that runs did so in each."""
    metadata = _METADATA.FromString(files.run_meta.read_bytes())
    (device,) = metadata.step_stats.dev_stats
    _add_allocations(device.node_stats)
    files.run_meta.write_bytes(metadata.SerializeToString())
    for run in device.node_stats:
        _move(run, _PERIOD)
    second = files.run_meta.with_name("run_meta_2")
    second.write_bytes(metadata.SerializeToString())
    paths = [files.graph, files.run_meta, second, files.op_log]
    return Recorded(paths, files.run_meta, 2 * len(device.node_stats))


def _add_allocations(runs: Any) -> None:
    """Each op allocates its outputs when it starts.

    Those of the first half, the forward pass, are released in the reverse order during the second.
    The others are released as soon as the next op has run.
    """
    last = len(runs) - 1
    for place, run in enumerate(runs):
        released = runs[min(max(last - place, place + 1), last)]
        micros = released.all_start_micros + released.all_end_rel_micros
        for memory in run.memory:
            size = memory.total_bytes
            memory.allocation_records.add(alloc_micros=run.all_start_micros, alloc_bytes=size)
            memory.allocation_records.add(alloc_micros=micros, alloc_bytes=-size)


def _move(run: Any, micros: int) -> None:
    run.all_start_micros += micros
    for memory in run.memory:
        for record in memory.allocation_records:
            record.alloc_micros += micros
