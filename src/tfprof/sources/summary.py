"""What a file holds, told without the others."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from tfprof.formats import op_log
from tfprof.formats.recognise import FileKind
from tfprof.formats.records import Records
from tfprof.model.builder import ProfileBuilder
from tfprof.sources.registry import InputFile, merge, open_checkpoint, read_records


@dataclass(frozen=True, slots=True)
class FileSummary:
    """One file: what it is and how much of what it holds."""

    path: str
    kind: FileKind
    facts: dict[str, int]
    devices: tuple[str, ...] = ()


def summarise(file: InputFile) -> FileSummary:
    """Read one file by itself and count what is in it."""
    if file.kind is FileKind.CHECKPOINT:
        return FileSummary(file.path, file.kind, _checkpoint_facts(file))
    if file.kind is FileKind.OP_LOG:
        return FileSummary(file.path, file.kind, _log_facts(read_records(file)))
    builder = ProfileBuilder()
    merge([file], builder)
    profile = builder.build()
    facts = {"ops": len(profile.ops)}
    if file.kind is not FileKind.GRAPH:
        facts |= {"steps": len(profile.steps), "runs": int(profile.records.runs.sum())}
    return FileSummary(file.path, file.kind, facts, tuple(sorted(profile.devices.name)))


def _checkpoint_facts(file: InputFile) -> dict[str, int]:
    tensors = open_checkpoint(file).tensors
    return {"tensors": len(tensors), "values": sum(tensor.size for tensor in tensors)}


def _log_facts(records: Records) -> dict[str, int]:
    counts: dict[str, int] = dict.fromkeys(_LOG_FACTS, 0)
    for entry in op_log.entries(records):
        for fact, holds in _LOG_FACTS.items():
            counts[fact] += holds(entry)
    return counts


_LOG_FACTS: dict[str, Callable[[op_log.LogEntry], bool]] = {
    "entries": lambda _: True,
    "with types": lambda entry: bool(entry.types),
    "with float ops": lambda entry: entry.float_ops != 0,
    "with code lines": lambda entry: bool(entry.code),
}
