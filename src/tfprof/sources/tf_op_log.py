"""An OpLogProto: types, float ops and code lines that a program gave its ops."""

from __future__ import annotations

from tfprof.formats import op_log
from tfprof.formats.records import Records
from tfprof.model.builder import ProfileBuilder
from tfprof.model.code import Frame


def add(records: Records, builder: ProfileBuilder) -> None:
    """Add what the log says of known ops; what it says of others is left aside."""
    reader = op_log.StackReader(records.path, op_log.strings(records))
    stacks: dict[bytes, int] = {}
    strangers = 0
    entries = list(op_log.entries(records))
    for entry, op in zip(entries, builder.ids(entry.name for entry in entries), strict=True):
        if op < 0:
            strangers += 1
            continue
        if entry.types:
            builder.add_types(op, entry.types)
        if entry.float_ops:
            builder.set_float_ops(op, entry.float_ops)
        if entry.code is not None:
            builder.mark_has_code()
            if entry.code not in stacks:
                frames = [Frame(*trace) for trace in reader.read(entry.code)]
                stacks[entry.code] = builder.add_stack(frames)
            builder.set_code(op, stacks[entry.code])
    _note(records.path, builder, strangers, len(reader.unknown_ids))


def _note(path: str, builder: ProfileBuilder, strangers: int, unknown_ids: int) -> None:
    if strangers:
        builder.notes.append(
            f"{path} names {strangers:,} ops that are in no other file; "
            "they are left out. Is it the log of this model?"
        )
    if unknown_ids:
        builder.notes.append(
            f"{path} lacks {unknown_ids:,} of the strings its code lines refer to; "
            "those files and functions are called `unknown`."
        )
