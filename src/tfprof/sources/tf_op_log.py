"""Op logs (OpLogProto): types, float ops and code lines that a program logged for its ops."""

from __future__ import annotations

import numpy as np

from tfprof.columns import Ints, distinct
from tfprof.formats.op_log import OP_LOG, LogColumns, StackReader, decode
from tfprof.formats.records import Records
from tfprof.model.builder import ProfileBuilder
from tfprof.model.code import Frame
from tfprof.model.notes import Note, Subject
from tfprof.sources.source import Decoded, FileSummary, InputFile, summary


def read(file: InputFile) -> Decoded[LogColumns]:
    """The log as columns."""
    return Decoded.of(file.content.records(OP_LOG), decode)


def add(found: Decoded[LogColumns], builder: ProfileBuilder, file: InputFile) -> FileSummary:
    """Add the entries for known ops; the others are ignored."""
    records, log = found
    ops = builder.ids(log.name)
    is_known = ops >= 0
    given = is_known[log.type_entry]
    builder.add_types(ops[log.type_entry][given], log.type.take(np.flatnonzero(given)))
    stated = is_known & (log.float_ops != 0)
    builder.set_float_ops(ops[stated], log.float_ops[stated])
    missing_strings = _add_code(records, log, ops, builder)
    _note(records.path, builder, int((~is_known).sum()), missing_strings)
    has_lines = np.array([*map(bool, log.stacks), False])  # the last entry is for -1, no stack
    return summary(
        file,
        entries=len(log.name),
        with_types=len(distinct(log.type_entry)),
        with_float_ops=int((log.float_ops != 0).sum()),
        with_code_lines=int(has_lines[log.stack].sum()),
    )


def _add_code(records: Records, log: LogColumns, ops: Ints, builder: ProfileBuilder) -> int:
    """Add the code lines of the ops; returns the number of strings missing from the log."""
    located = (ops >= 0) & (log.stack >= 0)
    if located.any():
        builder.mark_has_code()
    reader = StackReader(records.path, log.strings)
    wanted = distinct(log.stack[located]).tolist()
    rows = np.full(len(log.stacks), -1)
    for stack, traces in zip(
        wanted, reader.read([log.stacks[stack] for stack in wanted]), strict=True
    ):
        rows[stack] = builder.add_stack(Frame(*trace) for trace in traces)
    builder.set_code(ops[located], rows[log.stack[located]])
    return len(reader.unknown_ids)


def _note(path: str, builder: ProfileBuilder, unknown_ops: int, missing_strings: int) -> None:
    if unknown_ops:
        ops = "1 op that is" if unknown_ops == 1 else f"{unknown_ops:,} ops that are"
        builder.notes.append(
            f"{path} has entries for {ops} in no other file; these entries are ignored. "
            "Is it the log of this model?"
        )
    if missing_strings:
        strings = "1 string" if missing_strings == 1 else f"{missing_strings:,} strings"
        text = (
            f"{path} lacks {strings} used in its code lines; the affected files and functions are "
            "shown as `unknown`."
        )
        builder.notes.append(Note(text, Subject.CODE))
