"""The tables of a saved profile: their columns, what each says and which rows it refers to.

The reference page of the format is made from this table, and so are the checks of files that are
read: a column that refers to rows of a table has no number that is not a row there.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import NamedTuple


class Kind(StrEnum):
    """What the values of a column are."""

    NUMBER = "whole number"
    FLAG = "true or false"
    TEXT = "text"
    WORD = "text with few distinct values"
    SHAPE = "shape, as JSON"
    BYTES = "bytes"


class Field(NamedTuple):
    """One column of a table."""

    sentence: str
    kind: Kind = Kind.NUMBER
    table: str = ""  # the table whose rows it refers to
    least: int | None = None  # of a reference 0, unless it says otherwise
    most: int | None = None
    is_sorted: bool = False  # rows are in ascending order of this column
    missing: int | None = None  # the value in files from before the column was added


class TableFormat(NamedTuple):
    """One table."""

    sentence: str
    fields: Mapping[str, Field]
    key: str = ""  # the column with the number of each row, by which other tables refer to it
    is_added: bool = False  # files from before the table was added do not have it


def _text(sentence: str) -> Field:
    return Field(sentence, Kind.TEXT)


def _word(sentence: str) -> Field:
    return Field(sentence, Kind.WORD)


def _flag(sentence: str) -> Field:
    return Field(sentence, Kind.FLAG)


def _shape(sentence: str) -> Field:
    return Field(sentence, Kind.SHAPE)


def _int32(sentence: str) -> Field:
    return Field(sentence, least=-(2**31), most=2**31 - 1)


def _row(table: str, sentence: str, least: int = 0, *, is_sorted: bool = False) -> Field:
    return Field(sentence, table=table, least=least, is_sorted=is_sorted)


_BYTES = "Bytes."

TABLES: dict[str, TableFormat] = {
    "ops": TableFormat(
        "One row per op, in the byte order of their names.",
        {
            "name": _text("The name."),
            "kind": _word("What it does, such as `Conv2D`."),
            "defined": Field("Its place in the order in which ops became known.", least=0),
            "shape": _shape("The shape of its parameters."),
            "logged_float_ops": Field("Float operations of one run; 0 if no log has a number."),
            "code": _row("code", "The call that made it, or -1.", -1),
            "layer": _row("layers", "The layer it belongs to, or -1.", -1)._replace(missing=-1),
            "part_of": _row("ops", "The op inside which it runs, or -1.", -1)._replace(missing=-1),
            "signature": Field(
                "A number for what it does, if another op of that name may do something else; "
                "0 if none.",
                missing=0,
            ),
            "repeats": Field(
                "How often one run of the program runs it; -1 if a trip count is unknown.",
                least=-1,
                missing=1,
            ),
            "origin": _row("origins", "The input that defined it."),
            "is_covered": _flag("Whether a recording has it running."),
            "phase": Field(
                "0 forward, 1 backward, 2 optimizer, 3 input pipeline, 4 other, 5 communication.",
                least=0,
                most=5,
            ),
            "forward_of": _row(
                "ops",
                "The op it is a gradient of, or itself if only the code lines of that op are "
                "known; -1: it is no gradient, -2: that op is unknown.",
                -2,
            ),
        },
        key="op",
    ),
    "origins": TableFormat(
        "One row per input that defined ops.",
        {
            "is_defined": _flag(
                "Whether it was a graph or program, rather than a recording alone."
            ),
            "encoding": _text("How the values of its attributes are encoded, such as `json`."),
        },
        key="origin",
    ),
    "types": TableFormat(
        "The types of ops: kinds, devices and what logs and options add.",
        {"op": _row("ops", "The op.", is_sorted=True), "type": _word("A type.")},
    ),
    "inputs": TableFormat(
        "One row per input of an op, in order.",
        {
            "op": _row("ops", "The op.", is_sorted=True),
            "source": _row("ops", "The op it comes from, or -1 if that is unknown.", -1),
            "slot": Field("Which output of that op; -1 if the op only waits for it."),
        },
    ),
    "outputs": TableFormat(
        "One row per output of an op, in order, as the graph states them.",
        {"op": _row("ops", "The op.", is_sorted=True), "shape": _shape("Its shape.")},
    ),
    "seen_outputs": TableFormat(
        "One row per output of an op, in order, as a recording first saw them.",
        {"op": _row("ops", "The op.", is_sorted=True), "shape": _shape("Its shape.")},
    ),
    "stated_inputs": TableFormat(
        "One row per input of an op, in order, if a trace states shapes but no edges.",
        {"op": _row("ops", "The op.", is_sorted=True), "shape": _shape("Its shape.")},
        is_added=True,
    ),
    "attributes": TableFormat(
        "One row per attribute of an op.",
        {
            "op": _row("ops", "The op.", is_sorted=True),
            "name": _word("The name of the attribute."),
            "value": _row("attribute_values", "Its value."),
        },
    ),
    "attribute_values": TableFormat(
        "One row per distinct value of attributes.",
        {"encoded": Field("The value; `origins.encoding` says how it is encoded.", Kind.BYTES)},
        key="value",
    ),
    "code": TableFormat(
        "One row per call that made ops. Callers come first.",
        {
            "caller": _row("code", "The call above it, or -1.", -1),
            "file": _word("The file."),
            "line": _int32("The line in the file."),
            "function": _word("The function."),
            "text": _word("The text of the line."),
            "function_line": _int32("Where the function begins, or -1 if that is unknown."),
        },
        key="code",
    ),
    "layers": TableFormat(
        "One row per layer of the model. A layer is followed by the layers that it contains.",
        {
            "name": _text("The names of the layers that contain it and its own, joined with `/`."),
            "parent": _row("layers", "The layer that contains it, or -1.", -1),
            "kind": _word("The name of its class, such as `Conv2D`; empty if unknown."),
            "output_shape": _shape("The shape of its output; the batch is usually -1."),
            "home": _row(
                "layers", "The layer that is the same module, with its parameters, or -1.", -1
            )._replace(missing=-1),
            "calls": Field(
                "How often the module is called in a step, rounded; 0 if unknown.",
                least=0,
                missing=0,
            ),
        },
        key="layer",
        is_added=True,
    ),
    "recordings": TableFormat(
        "One row per recording: a trace of one host, or the traced runs of one worker.",
        {
            "label": _text("Its unique name."),
            "host": _text("The host; empty if unknown."),
            "rank": Field("The rank, or -1 if unknown.", least=-1),
            "framework": _text("The framework."),
            "source": _text("The kind of file it was read from."),
            "file": _text("The first of those files."),
            "counts_whole_micros": _flag("Whether a run counts whole microseconds."),
        },
        key="recording",
    ),
    "steps": TableFormat(
        "One row per recorded step.",
        {
            "recording": _row("recordings", "The recording.", is_sorted=True),
            "number": Field("The number of the step."),
            "start_ns": Field("When the program began it; -1 if unknown.", missing=-1),
            "end_ns": Field(
                "When the next step began, or the last one ended; -1 if unknown.", missing=-1
            ),
            "setup_ns": Field(
                "In which the program compiled, loaded or tuned code, or reserved memory.",
                missing=0,
            ),
        },
        key="step",
    ),
    "devices": TableFormat(
        "One row per device of a recording, or lane of one.",
        {
            "recording": _row("recordings", "The recording."),
            "name": _text("The name."),
            "role": Field("0 host, 1 accelerator, 2 copy engine, 3 network.", least=0, most=3),
            "is_placement": _flag("Whether ops can be placed on it."),
            "is_accelerator_lane": _flag("Whether it has times of the accelerator itself."),
            "host": _text("The device that dispatches to it."),
            "model": _text("Such as `NVIDIA H200`; empty if unknown."),
        },
        key="device",
    ),
    "placements": TableFormat(
        "One row per op and recording in which it is placed on a device.",
        {
            "op": _row("ops", "The op.", is_sorted=True),
            "device": _row("devices", "The device."),
        },
    ),
    "records": TableFormat(
        "One row per op and step in which it was seen. Times are nanoseconds.",
        {
            "op": _row("ops", "The op.", is_sorted=True),
            "step": _row("steps", "The step."),
            "runs": Field("How often it ran."),
            "first_start_ns": Field("When it first started; -1 if unknown."),
            "last_end_ns": Field("When it last ended; 0 if unknown."),
        },
        key="record",
    ),
    "record_devices": TableFormat(
        "The devices of each record.",
        {
            "record": _row("records", "The record.", is_sorted=True),
            "device": _row("devices", "A device."),
        },
    ),
    "executions": TableFormat(
        "One row per timed run on a device.",
        {
            "record": _row("records", "The record.", is_sorted=True),
            "device": _row("devices", "The device."),
            "start_ns": Field("When it started."),
            "duration_ns": Field("How long it took."),
        },
    ),
    "memory": TableFormat(
        "One row per run whose memory was recorded.",
        {
            "record": _row("records", "The record.", is_sorted=True),
            "time_ns": Field("When it was measured."),
            "host_temp": Field("Temporary bytes on the host."),
            "host_persistent": Field("Bytes on the host that outlive the run."),
            "accelerator_temp": Field("Temporary bytes on the accelerator."),
            "accelerator_persistent": Field("Bytes on the accelerator that outlive the run."),
            "requested": Field("Bytes that were requested."),
            "peak": Field("The most bytes in use at a time."),
            "residual": Field("Bytes in use after the run."),
            "output": Field("Bytes of its outputs."),
            "in_use": Field("Bytes in use in the whole accelerator allocator at that time."),
        },
        key="use",
    ),
    "output_memory": TableFormat(
        "One row per output that a run left in memory.",
        {
            "use": _row("memory", "The run, as a row of `memory`."),
            "slot": _int32("Which output."),
            "bytes": Field(_BYTES),
            "address": Field("The address."),
        },
    ),
    "allocator_uses": TableFormat(
        "One row per run and allocator that it used.",
        {
            "op": _row("ops", "The op."),
            "step": _row("steps", "The step."),
            "device": _row("devices", "Where it ran, or -1 if unknown.", -1),
            "allocator": _word("The name of the allocator; empty if unknown."),
            "time_ns": Field("When `level` was read."),
            "level": Field("Bytes in use in the whole allocator; 0 if not recorded."),
            "record": _row("records", "The record that counts its allocations, or -1.", -1),
            "purpose": Field(
                "0 unknown, 1 parameters, 2 gradients, 3 optimizer state, 4 activations, "
                "5 temporary, 6 input, 7 communication, 8 allocated before the recording.",
                least=0,
                most=8,
                missing=0,
            ),
        },
        key="use",
    ),
    "allocator_events": TableFormat(
        "One row per allocation or release.",
        {
            "use": _row("allocator_uses", "The run, as a row of `allocator_uses`."),
            "time_ns": Field("When it happened; 0 or less if unknown."),
            "bytes": Field("Bytes; negative for a release."),
        },
    ),
    "copies": TableFormat(
        "One row per data transfer between devices, or fill of their memory.",
        {
            "record": _row(
                "records", "The record of the op that launched it, or -1 if unknown.", -1
            )._replace(missing=-1),
            "step": _row("steps", "The step."),
            "name": _word("What was copied."),
            "device": _row("devices", "The device or lane that recorded it."),
            "start_ns": Field("When it started."),
            "duration_ns": Field("How long it took."),
        },
    ),
    "waits": TableFormat(
        "One row per time in which the program waited for the next element of its input pipeline.",
        {
            "step": _row("steps", "The step."),
            "start_ns": Field("When it started."),
            "duration_ns": Field("How long it took."),
        },
        is_added=True,
    ),
    "messages": TableFormat(
        "One row per run of a collective on an accelerator whose message was recorded.",
        {
            "op": _row("ops", "The op."),
            "step": _row("steps", "The step."),
            "start_ns": Field("When the run started."),
            "kind": _word("The kind of collective, such as `allreduce`."),
            "group": _word("The ranks that take part, and their group; empty if unknown."),
            "ranks": Field("How many take part; 0 if unknown.", least=0),
            "bytes": Field("The size of the whole message; 0 if unknown.", least=0),
        },
        is_added=True,
    ),
    "other_kernels": TableFormat(
        "One row per op and recording in which it ran as another kind than its own.",
        {
            "op": _row("ops", "The op.", is_sorted=True),
            "recording": _row("recordings", "The recording."),
            "kind": _word("The kind of the kernel, such as `_FusedMatMul`."),
        },
        is_added=True,
    ),
    "kernel_runs": TableFormat(
        "One row per kernel that an op launched on a lane in a step with a configuration, without "
        "copies and fills.",
        {
            "op": _row("ops", "The op that launched it, or -1 if unknown.", -1),
            "step": _row("steps", "The step."),
            "device": _row("devices", "The lane on which it ran."),
            "name": _word("The whole name of the kernel."),
            "grid": _shape("Its blocks, in each dimension."),
            "block": _shape("The threads of a block, in each dimension."),
            "registers": Field("Registers per thread; -1 if unknown."),
            "shared_memory": Field("Bytes of shared memory per block; -1 if unknown."),
            "occupancy": Field("The estimated achieved occupancy, in percent; -1 if unknown."),
            "launches": Field("How often it was launched.", least=1),
            "total_duration_ns": Field("How long all of them took together."),
            "min_duration_ns": Field("How long the shortest took."),
            "max_duration_ns": Field("How long the longest took."),
        },
        is_added=True,
    ),
    "tensors": TableFormat(
        "One row per tensor of a checkpoint. Its values stay in the checkpoint.",
        {
            "name": _text("The name."),
            "dtype": _text("The type of its values."),
            "shape": _shape("Its shape."),
        },
    ),
}
