"""Where the rows of each partition are in the whole store."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from tfprof.columns import Ints, ints
from tfprof.errors import InputError
from tfprof.fleet import layout
from tfprof.fleet.contents import Contents
from tfprof.fleet.places import Place
from tfprof.fleet.tables import INDEX_TABLES
from tfprof.model.profile import ProfileColumns


@dataclass(frozen=True, slots=True, eq=False)
class StoreIndex:
    """Where the rows of each partition are in the whole store."""

    ops: int  # how many the store has
    recording_of_step: Ints
    part: Ints  # of each partition: its number,
    model: Ints  # its model
    recording: Ints  # and its recording
    step_part: Ints  # of each step of a partition: the partition,
    step: Ints  # its row there
    step_row: Ints  # and in the store
    op_model: Ints  # of each op of a model: the model,
    op: Ints  # its row there
    op_row: Ints  # and in the store
    device_part: Ints  # of each device of a partition: the partition,
    device: Ints  # its row there
    device_row: Ints  # and in the store
    ids: Mapping[int, str]  # the id of each partition

    @property
    def is_one_model(self) -> bool:
        """Whether all partitions have the ops of the store."""
        return np.array_equal(self.op, self.op_row) and len(self.op) == self.ops


def read_index(place: Place, content: Contents, columns: ProfileColumns) -> StoreIndex:
    """The index of a store; raises `InputError` if it refers to rows that do not exist."""
    tables = {
        name: layout.read_table(place, content.files[f"{name}.parquet"], table.fields)
        for name, table in INDEX_TABLES.items()
    }
    steps, ops, devices = tables["steps"], tables["ops"], tables["devices"]
    ids = {layout.number_of(id_): id_ for id_ in content.partitions}
    model_of = {layout.number_of(id_): one.model for id_, one in content.partitions.items()}
    part, first = np.unique(steps["part"], return_index=True)
    is_valid = (
        _are_below(steps["row"], len(columns.steps))
        and _are_below(ops["row"], len(columns.ops))
        and _are_below(devices["row"], len(columns.devices))
        and _are_numbered(ops["model"], ops["op"], content.models)
        and _are_distinct(steps["part"], steps["step"])
        and _are_distinct(devices["part"], devices["device"])
        and all(model_of.get(one, -1) >= 0 for one in part.tolist())
    )
    if not is_valid:
        raise InputError(place.address, f"has a damaged index: {layout.CONTINUE}.")
    recording_of_step = columns.steps.recording
    return StoreIndex(
        ops=len(columns.ops),
        recording_of_step=recording_of_step,
        part=ints(part),
        model=ints([model_of[one] for one in part.tolist()]),
        recording=ints(recording_of_step[steps["row"][first]]),
        step_part=steps["part"],
        step=steps["step"],
        step_row=steps["row"],
        op_model=ops["model"],
        op=ops["op"],
        op_row=ops["row"],
        device_part=devices["part"],
        device=devices["device"],
        device_row=devices["row"],
        ids=ids,
    )


def _are_below(rows: Ints, count: int) -> bool:
    return int(rows.max(initial=-1)) < count


def _are_numbered(owner: Ints, number: Ints, owners: int) -> bool:
    """Whether rows belong to owners in ascending order, and are numbered from 0 in each."""
    if len(owner) and (int(owner[-1]) >= owners or (np.diff(owner) < 0).any()):
        return False
    starts = np.searchsorted(owner, owner)
    return np.array_equal(number, np.arange(len(owner)) - starts)


def _are_distinct(part: Ints, number: Ints) -> bool:
    """Whether each part has each number once."""
    order = np.lexsort((number, part))
    is_same = (np.diff(part[order]) == 0) & (np.diff(number[order]) == 0)
    return not is_same.any()
