"""The tables of the partitions of a store: their columns, and what each says.

Ops, steps and devices are rows of the partition: `index/ops.parquet` and `index/steps.parquet` map
them to those of the whole store.
"""

from __future__ import annotations

from tfprof.formats.profile_tables import Field, Kind, TableFormat

# The schema of the tables in DuckDB that users of SQL do not see.
INNER = "stored"

# The types of columns in SQL.
SQL_TYPES = {
    Kind.NUMBER: "BIGINT",
    Kind.FLAG: "BOOLEAN",
    Kind.TEXT: "VARCHAR",
    Kind.WORD: "VARCHAR",
}

_PART = Field("The partition.")
_OP = Field("The op.", least=0)
_STEP = Field("The step.", least=0)


def _word(sentence: str) -> Field:
    return Field(sentence, Kind.WORD)


def _flag(sentence: str) -> Field:
    return Field(sentence, Kind.FLAG)


TABLES: dict[str, TableFormat] = {
    "records": TableFormat(
        "One row per op and step in which it was seen: the sum over its runs.",
        {
            "part": _PART,
            "op": _OP,
            "step": _STEP,
            "runs": Field("How often it ran."),
            "accelerator_nanos": Field("Nanoseconds on accelerators."),
            "cpu_nanos": Field("Nanoseconds on its own device."),
            "transfer_nanos": Field("Nanoseconds of copies and fills that it launched.", missing=0),
            "accelerator_micros": Field("Microseconds on accelerators, as RunMetadata counts."),
            "cpu_micros": Field("Microseconds on its own device, as RunMetadata counts."),
            "bytes": Field("Bytes that were requested."),
            "peak_bytes": Field("The most bytes in use at a time."),
            "residual_bytes": Field("Bytes in use after the run."),
            "output_bytes": Field("Bytes of its outputs."),
        },
    ),
    "seen": TableFormat(
        "One row per op that was seen.",
        {
            "part": _PART,
            "op": _OP,
            "device": Field("The device it is placed on, or -1.", least=-1),
            "is_covered": _flag("Whether it counts as seen running."),
            "kernel": _word("The kind as which it ran; empty if unknown."),
        },
    ),
    "steps": TableFormat(
        "One row per recorded step. Times are nanoseconds.",
        {
            "part": _PART,
            "step": _STEP,
            "number": Field("The number of the step in its file."),
            "marked_start_ns": Field("When the program began it; -1 if unknown."),
            "marked_end_ns": Field("When the next one began; -1 if unknown."),
            "setup_ns": Field(
                "In which the program compiled, loaded or tuned code, or reserved memory.",
                missing=0,
            ),
            "first_start_ns": Field("When its first op started; -1 if unknown."),
            "is_timed": _flag("Whether any time was recorded; otherwise what follows is 0."),
            "start_ns": Field("When it began."),
            "wall_ns": Field("How long it took."),
            "busy_ns": Field(
                "In which at least one op or transfer ran, or an accelerator was busy."
            ),
            "input_wait_ns": Field("Waiting for the next input, also while ops ran."),
            "idle_input_wait_ns": Field("The part of it in which no op ran."),
            "forward_ns": Field("Busy time of the forward pass."),
            "backward_ns": Field("Busy time of the backward pass."),
            "optimizer_ns": Field("Busy time of the optimizer."),
            "input_ns": Field("Busy time of the input pipeline."),
            "other_ns": Field("Busy time of other ops."),
            "busy_communication_ns": Field("Busy time of communication.", missing=0),
            "transfers_ns": Field("Busy time of transfers between devices."),
            "communication_ns": Field("In which a collective ran."),
            "exposed_ns": Field("The part of it in which nothing else ran."),
            "ops": Field("Runs of ops, without iterators of the input pipeline."),
            "kernels": Field("Runs on accelerators."),
            "op_time_ns": Field("The time of all ops added up."),
            "parallel_ns": Field("The part of it in which other ops ran too."),
            "pipeline_ns": Field("The part of it in iterators of the input pipeline."),
            "outside_ns": Field("The part of it after the step ended."),
            "early_ns": Field("How long ops ran before the program began the step."),
        },
    ),
    "device_times": TableFormat(
        "One row per step and device that was busy in it.",
        {
            "part": _PART,
            "step": _STEP,
            "device": _word("The name of the device."),
            "busy_ns": Field("How long it was busy, in nanoseconds."),
        },
    ),
    "device_windows": TableFormat(
        "One row per step, accelerator and window of time, in parts that add up to it. Times are "
        "nanoseconds.",
        {
            "part": _PART,
            "step": _STEP,
            "device": _word("The accelerator; empty for all of the recording together."),
            "window": Field(
                "0: the step on the device, which has what it launched; 1: its time on the host, "
                "which has what ran in it; 2: from the first kernel of the recording to the last.",
                least=0,
            ),
            "begin_ns": Field("When it began."),
            "finish_ns": Field("When it ended."),
            "forward_ns": Field("Computing in the forward pass."),
            "backward_ns": Field("Computing in the backward pass."),
            "optimizer_ns": Field("Computing in the optimizer."),
            "input_ns": Field("Computing in the input pipeline."),
            "other_ns": Field("Other computing."),
            "exposed_communication_ns": Field("Communicating while nothing computed."),
            "exposed_copies_ns": Field("Copies and fills while nothing else ran."),
            "idle_input_ns": Field("Idle while the program waited for input."),
            "idle_communication_ns": Field("Idle while the host communicated."),
            "idle_transfers_ns": Field("Idle during other transfers."),
            "idle_waiting_ns": Field("Idle while the host waited for the accelerator."),
            "idle_forward_ns": Field("Idle while the host ran forward ops."),
            "idle_backward_ns": Field("Idle while the host ran backward ops."),
            "idle_optimizer_ns": Field("Idle while the host ran optimizer ops."),
            "idle_other_ns": Field("Idle while the host ran other ops."),
            "idle_nothing_ns": Field("Idle while the host ran no op."),
            "unassigned_ns": Field("Idle while the host was not recorded."),
            "overlapped_communication_ns": Field("Communicating while something computed."),
        },
    ),
    "device_work": TableFormat(
        "One row per step and accelerator: what the step launched there. Times are nanoseconds.",
        {
            "part": _PART,
            "step": _STEP,
            "device": _word("The name of the accelerator."),
            "kernels": Field("How many kernels.", least=0),
            "forward_ns": Field("Kernels of the forward pass, added up."),
            "backward_ns": Field("Kernels of the backward pass."),
            "optimizer_ns": Field("Kernels of the optimizer."),
            "input_ns": Field("Kernels of the input pipeline."),
            "other_ns": Field("Other kernels."),
            "communication_ns": Field("Kernels of collectives."),
            "transfers": Field("How many copies and fills.", least=0),
            "transfer_forward_ns": Field("Copies and fills of the forward pass."),
            "transfer_backward_ns": Field("Copies and fills of the backward pass."),
            "transfer_optimizer_ns": Field("Copies and fills of the optimizer."),
            "transfer_input_ns": Field("Copies and fills of the input pipeline."),
            "transfer_other_ns": Field("Copies and fills of other ops."),
            "transfer_communication_ns": Field("Copies and fills of collectives."),
            "transfer_unattributed_ns": Field("Copies and fills of unknown ops."),
        },
    ),
    "exposed_times": TableFormat(
        "One row per stretch of a step in which only collectives ran.",
        {
            "part": _PART,
            "step": _STEP,
            "start_ns": Field("When it began."),
            "end_ns": Field("When it ended."),
        },
    ),
    "collectives": TableFormat(
        "One row per run of an op in which several hosts take part.",
        {
            "part": _PART,
            "step": _STEP,
            "op": _OP,
            "order": Field("Counts the runs of the op and group in its step from 0.", least=0),
            "start_ns": Field("When it started."),
            "end_ns": Field("When it ended."),
            "kind": _word("Such as `allreduce`; empty if unknown."),
            "group": _word("Who takes part; empty if unknown."),
            "ranks": Field("How many take part; 0 if unknown.", least=0),
            "bytes": Field("The size of the whole message; 0 if unknown.", least=0),
        },
    ),
    "transfers": TableFormat(
        "One row per step, device and kind of transfer between devices.",
        {
            "part": _PART,
            "step": _STEP,
            "name": _word("What was copied."),
            "device": _word("The device or lane that recorded it."),
            "count": Field("How many transfers."),
            "nanos": Field("How long they took together, in nanoseconds."),
        },
    ),
    "allocators": TableFormat(
        "One row per allocator, device and step with recorded allocations.",
        {
            "part": _PART,
            "trace": Field("The number of the row in its partition.", least=0),
            "step": _STEP,
            "device": Field("The device, or -1 if unknown.", least=-1),
            "allocator": _word("The name of the allocator; empty if unknown."),
            "untimed": Field("Allocations without a time.", least=0),
            "first_ns": Field("When the first of them was recorded."),
            "peak_bytes": Field("The most bytes held at one time."),
            "reported_bytes": Field("The most bytes in use that the allocator reported, or 0."),
        },
    ),
    "held": TableFormat(
        "One row per allocator trace and op that holds memory at its peak.",
        {
            "part": _PART,
            "trace": Field("The row of `allocators`.", least=0),
            "op": _OP,
            "held": Field("Bytes that the op holds at the peak."),
            "taken": Field("Bytes that it allocated at the time of the peak."),
        },
    ),
    "levels": TableFormat(
        "Memory over time: a few points of each allocator trace, the peak among them.",
        {
            "part": _PART,
            "trace": Field("The row of `allocators`.", least=0),
            "is_reported": _flag("Whether the allocator itself reported it."),
            "time_ns": Field("When."),
            "bytes": Field("Bytes in use."),
        },
    ),
    "executions": TableFormat(
        "One row per single run on a device; only with `--runs`.",
        {
            "part": _PART,
            "op": _OP,
            "step": _STEP,
            "device": _word("The name of the device or lane."),
            "start_ns": Field("When it started."),
            "duration_ns": Field("How long it took."),
        },
    ),
}

_ROW = Field("Its row in the whole store.", least=0)

# The tables of the index, whose rows are those of partitions.
INDEX_TABLES: dict[str, TableFormat] = {
    "steps": TableFormat("The steps of partitions.", {"part": _PART, "step": _STEP, "row": _ROW}),
    "ops": TableFormat(
        "The ops of models.",
        {
            "model": Field("The model, in the order of `index.json`.", least=0),
            "op": _OP,
            "row": _ROW,
        },
    ),
    "devices": TableFormat(
        "The devices of partitions.",
        {"part": _PART, "device": Field("The device.", least=0), "row": _ROW},
    ),
}
