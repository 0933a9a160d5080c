"""Assigns RunMetadata files to recordings: the steps of one process are one recording."""

from __future__ import annotations

import re
from pathlib import PurePath

from tfprof.model.builder import ProfileBuilder
from tfprof.model.recordings import UNKNOWN_RANK, Recording
from tfprof.sources.tf_devices import tasks_of

RUN_META = "run_meta"

_WORKER = "worker"
_SERVER = "ps"


def recording_of(
    builder: ProfileBuilder, path: str, devices: list[str], step: int | None, label: str
) -> int:
    """The recording to which a file belongs, added if new.

    With a `label`, this is the recording with that label. Otherwise the file continues a recording
    unless it contains other tasks, repeats a step, or has the same name as the recording's file
    but is in another folder; such a file belongs to another worker.
    """
    tasks = tasks_of(devices)
    known = [(row, one) for row, one in enumerate(builder.recordings) if one.source == RUN_META]
    # Recordings in the same folder come first, as a folder usually has the files of one worker.
    for row, one in sorted(known, key=lambda pair: _folder(pair[1].file) != _folder(path)):
        if one.label == label or (not label and _continues(builder, row, path, tasks, step)):
            return row
    worker = _only_worker(tasks)
    return builder.add_recording(
        Recording(
            label=label or (f"{_WORKER}:{worker}" if worker >= 0 else _label(path)),
            rank=worker,
            framework="tensorflow",
            source=RUN_META,
            file=path,
            counts_whole_micros=True,
        )
    )


def _continues(
    builder: ProfileBuilder,
    row: int,
    path: str,
    tasks: frozenset[tuple[str, int]],
    step: int | None,
) -> bool:
    known, one = tasks_of(builder.device_names(row)), builder.recordings[row]
    is_same_process = tasks <= known or known <= tasks
    is_twin = _folder(one.file) != _folder(path) and _name(one.file) == _name(path)
    return is_same_process and not is_twin and step not in builder.runs.step_numbers(row)


def _only_worker(tasks: frozenset[tuple[str, int]]) -> int:
    """The number of the worker if, except for parameter servers, it is the only task."""
    others = [task for task in tasks if task[0] != _SERVER]
    return others[0][1] if len(others) == 1 and others[0][0] == _WORKER else UNKNOWN_RANK


def _label(path: str) -> str:
    """The name of the file's folder and of the file, without a step number."""
    name = re.sub(r"[_.-]?[0-9]+$", "", _name(path)) or _name(path)
    folder = PurePath(_folder(path)).name
    return f"{folder}/{name}" if folder else name


def _folder(path: str) -> str:
    return str(PurePath(path).parent)


def _name(path: str) -> str:
    return PurePath(path).name.removesuffix(".gz")
