"""What a file holds, told without the others."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tfprof.columns import distinct
from tfprof.formats import op_log
from tfprof.formats.recognise import FileKind
from tfprof.formats.records import Records
from tfprof.model.builder import ProfileBuilder
from tfprof.sources.reading import Reading
from tfprof.sources.registry import InputFile, merge, open_checkpoint, read_records


@dataclass(frozen=True, slots=True)
class FileSummary:
    """What one file is, and what it contains."""

    path: str
    kind: FileKind
    facts: dict[str, int]
    devices: tuple[str, ...] = ()


def summarise(file: InputFile, reading: Reading = Reading()) -> FileSummary:  # noqa: B008 -- a value
    """Read one file by itself and count what is in it."""
    if file.kind is FileKind.CHECKPOINT:
        return FileSummary(file.path, file.kind, _checkpoint_facts(file))
    if file.kind is FileKind.OP_LOG:
        return FileSummary(file.path, file.kind, _log_facts(read_records(file)))
    builder = ProfileBuilder()
    merge([file], builder, reading=reading)
    profile = builder.build()
    facts = {"ops": len(profile.ops)}
    if file.kind not in (FileKind.GRAPH, FileKind.SAVED_MODEL):
        facts |= {"steps": len(profile.steps), "runs": int(profile.records.runs.sum())}
    return FileSummary(file.path, file.kind, facts, tuple(sorted(profile.devices.name)))


def _checkpoint_facts(file: InputFile) -> dict[str, int]:
    tensors = open_checkpoint(file).tensors
    return {"tensors": len(tensors), "values": sum(tensor.size for tensor in tensors)}


def _log_facts(records: Records) -> dict[str, int]:
    log = op_log.decode(records)
    has_lines = np.array([*map(bool, log.stacks), False])  # the last one for "says nothing", -1
    return {
        "entries": len(log.name),
        "with types": len(distinct(log.type_entry)),
        "with float ops": int((log.float_ops != 0).sum()),
        "with code lines": int(has_lines[log.stack].sum()),
    }
