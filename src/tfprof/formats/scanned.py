"""What the scanners of `scan` find: arrays of numbers, and spans of text in the file's bytes."""

from __future__ import annotations

from typing import NamedTuple

from tfprof.columns import Ints


class GraphScan(NamedTuple):
    """See `graph_def.GraphColumns`; `op` counts the distinct ops by their first use."""

    start: Ints
    end: Ints
    name_start: Ints
    name_end: Ints
    op: Ints
    op_start: Ints
    op_end: Ints
    input_offsets: Ints
    input_start: Ints  # of the name of the op alone, without `^` and slot
    input_end: Ints
    input_slot: Ints
    shape_known: Ints
    dim_offsets: Ints
    dims: Ints
    output_offsets: Ints
    output_known: Ints
    output_dim_offsets: Ints
    output_dims: Ints


class RunScan(NamedTuple):
    """See `run_metadata.RunColumns`; `allocator` counts the distinct names by their first use."""

    has_step_stats: bool
    device_start: Ints  # of its name, which may be no UTF-8
    device_end: Ints
    device: Ints
    name_start: Ints
    name_end: Ints
    start_micros: Ints
    end_rel_micros: Ints
    temp_bytes: Ints
    persistent_bytes: Ints
    allocator_entry: Ints
    allocator: Ints
    allocator_start: Ints
    allocator_end: Ints
    total: Ints
    peak: Ints
    live: Ints
    in_use: Ints
    allocation_owner: Ints
    allocation_micros: Ints
    allocation_bytes: Ints
    output_entry: Ints
    output_slot: Ints
    has_memory: Ints
    requested: Ints
    allocated: Ints
    address: Ints
    shape_known: Ints
    dim_offsets: Ints
    dims: Ints


class LogScan(NamedTuple):
    """See `op_log.LogColumns`; `type` and `stack` count distinct ones by their first use."""

    name_start: Ints
    name_end: Ints
    float_ops: Ints
    type_entry: Ints
    type: Ints
    type_start: Ints
    type_end: Ints
    stack: Ints
    stack_start: Ints
    stack_end: Ints
