"""The JSON Schema of the times of steps."""

from __future__ import annotations

from tfprof.outputs.schema_types import (
    INTEGER,
    TEXT,
    Schema,
    described,
    list_of,
    map_of,
    object_of,
    or_null,
)


def _device_time() -> dict[str, Schema]:
    waiting = or_null(INTEGER)
    return {
        "start_ns": described(INTEGER, "On the program's clock."),
        "wall_ns": described(INTEGER, "The parts add up to it."),
        "computing_ns": map_of(INTEGER, "In which a kernel computed, by the phase of its op."),
        "exposed_communication_ns": described(INTEGER, "In which none did, but a collective."),
        "waiting_ns": described(waiting, "The part of it until the last rank arrived."),
        "exposed_copies_ns": described(INTEGER, "In which only copies and fills ran."),
        "idle_ns": map_of(INTEGER, "In which nothing ran, by what the host did meanwhile."),
        "unassigned_ns": described(INTEGER, "Idle while the host was not recorded."),
        "overlapped_communication_ns": described(
            INTEGER, "Collectives while something computed: not a part."
        ),
    }


def _accelerator() -> dict[str, Schema]:
    return {
        "device": TEXT,
        "own": described(
            object_of(_device_time()),
            "The step on the device: what it launched, wherever that ran.",
        ),
        "on_host": described(
            object_of(_device_time()), "Its time on the host: what ran in it, whoever launched it."
        ),
        "kernels": described(INTEGER, "How many the step launched."),
        "kernel_ns": map_of(INTEGER, "Their time by phase; several may run at once."),
        "transfers": described(INTEGER, "How many copies and fills it launched."),
        "transfer_ns": map_of(
            INTEGER,
            "Their time by the phase of the ops that launched them; `unattributed` if those are "
            "unknown.",
        ),
    }


def properties() -> dict[str, Schema]:
    """The keys of the times of steps besides their options and notes."""
    times = {
        "wall_ns": "From the start of the step to the start of the next one.",
        "step_ns": "How long it took on the accelerators; without any, the wall time.",
        "busy_ns": "In which at least one op or transfer ran, on an accelerator if there is any.",
        "idle_ns": "In which none ran.",
        "input_wait_ns": "Waiting for input, also while ops ran.",
        "idle_input_wait_ns": "Waiting for input while no op ran.",
        "op_time_ns": "The time of all ops added up.",
        "parallel_ns": "The part of `op_time_ns` that ran in parallel to other ops.",
        "pipeline_ns": "The part of `op_time_ns` in iterators of the input pipeline.",
        "outside_ns": "The part of `op_time_ns` after the end of the step.",
        "early_ns": "From the first op to the start of the step that the program marked.",
    }
    phases = {
        "forward": "Ops of the forward pass.",
        "backward": "Gradients.",
        "optimizer": "Updates of variables.",
        "input": "Ops that prepare or fetch input.",
        "other": "Ops of none of these phases, or of an unknown one.",
        "communication": "Ops in which several hosts or ranks take part.",
        "transfers": "Transfers between devices.",
        "idle_input_wait": "Waiting for input while nothing ran.",
        "idle_other": "Idle for other reasons, such as Python or tracing a function.",
    }
    step = {
        "recording": TEXT,
        "step": INTEGER,
        "start_ns": described(INTEGER, "On the program's clock."),
        **{key: described(INTEGER, f"{text} Nanoseconds.") for key, text in times.items()},
        "phases": described(
            object_of({key: described(INTEGER, text) for key, text in phases.items()}),
            "Parts of `step_ns` that add up to it, in nanoseconds. While several runs are active "
            "on a host, each gets an equal share of the time.",
        ),
        "devices": map_of(INTEGER, "How long each device was busy, in nanoseconds."),
        "accelerators": list_of(
            object_of(_accelerator()), "What each did; all together come first, with an empty name."
        ),
        "is_warm_up": described({"type": "boolean"}, "Summaries leave it out."),
        "ops": described(INTEGER, "Runs of ops, without iterators of the input pipeline."),
        "kernels": described(INTEGER, "Runs on accelerators."),
    }
    unusual = {
        "step": INTEGER,
        "step_ns": INTEGER,
        "causes": list_of(TEXT, "What was different, the largest difference first."),
    }
    summary = {
        "recording": TEXT,
        "steps": described(INTEGER, "The number of steps."),
        "median_step": described(INTEGER, "The step that took the median time."),
        **dict.fromkeys(("median_ns", "p10_ns", "p90_ns"), described(INTEGER, "Of `step_ns`.")),
        "unusual": list_of(object_of(unusual), "Steps far from the median."),
        "accelerators": map_of(
            object_of(_device_time()), "From the first kernel of each to its last, in all steps."
        ),
    }
    return {
        "steps": list_of(object_of(step), "The chosen steps."),
        "summaries": list_of(object_of(summary), "One per recording."),
    }
