"""The tables for SQL that are made from the columns of a profile, and the names that views need."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from tfprof.columns import Coded, Ints, Strings
from tfprof.fleet.row_index import StoreIndex
from tfprof.measures.layers import model_layers
from tfprof.measures.numbers import EVERYTHING, float_ops_per_run, per_op
from tfprof.model.devices import Role
from tfprof.model.ops import Phase
from tfprof.model.profile import ProfileColumns

Texts = npt.NDArray[np.object_]

_RANK = "nullif(rank, -1) AS rank"


class Made(NamedTuple):
    """The columns of a table, and the SQL that replaces numbers for unknown values by NULL."""

    columns: dict[str, Any]
    replaced: str = ""


def tables(
    columns: ProfileColumns, index: StoreIndex, troubles: Mapping[str, str | None]
) -> dict[str, Made]:
    """The tables, by name; those without a schema are not for users."""
    found = _where(columns)
    recording = columns.steps.recording
    counts = {
        "steps": np.bincount(recording, minlength=len(columns.recordings)),
        "devices": np.bincount(columns.devices.recording, minlength=len(columns.recordings)),
    }
    facts = {name: _texts(getattr(columns.recordings, name)) for name in ("framework", "file")}
    return {
        "main.hosts": Made({**found, **facts, **counts}, _RANK),
        "main.files": Made({"file": _objects(troubles), "trouble": _objects(troubles.values())}),
        "main.devices": _devices(columns, found),
        "main.ops": _ops(columns),
        "recorded_steps": _recorded_steps(columns, index, found),
        "op_names": _op_names(columns, index),
        "device_names": Made(
            {
                "part": index.device_part,
                "row": index.device,
                "device": _texts(columns.devices.name)[index.device_row],
            }
        ),
    }


def _where(columns: ProfileColumns) -> dict[str, Any]:
    recordings = columns.recordings
    label, host = _texts(recordings.label), _texts(recordings.host)
    return {
        "host": np.where(host == "", label, host),
        "rank": recordings.rank,
        "recording": label,
    }


def _devices(columns: ProfileColumns, found: Mapping[str, Any]) -> Made:
    devices = columns.devices
    roles = _objects([role.name.lower() for role in Role])
    table = {
        **{name: column[devices.recording] for name, column in found.items()},
        "device": _texts(devices.name),
        "role": roles[devices.role],
        "model": _texts(devices.model),
    }
    return Made(table, f"{_RANK}, nullif(model, '') AS model")


def _ops(columns: ProfileColumns) -> Made:
    ops, layers = columns.ops, model_layers(columns)
    found = float_ops_per_run(columns)
    is_known = found.is_logged | found.is_counted
    table = {
        "op": np.arange(len(ops)),
        "name": _texts(ops.name),
        "kind": _words(ops.kind),
        "phase": _objects([phase.name.lower() for phase in Phase])[columns.phase],
        "layer": _chosen(list(layers.table.name), layers.of_ops),
        "code": _lines(columns),
        "params": per_op(columns, EVERYTHING)["params"],
        "float_ops": np.where(is_known, found.per_run, -1),
        "is_covered": ops.is_covered,
    }
    return Made(table, "nullif(float_ops, -1) AS float_ops")


def _lines(columns: ProfileColumns) -> Texts:
    """The line that created each op."""
    code = columns.code
    files, lines = code.file.codes.tolist(), code.line.tolist()
    names = list(code.file.values)
    texts = [f"{names[file]}:{line}" for file, line in zip(files, lines, strict=True)]
    return _chosen(texts, columns.ops.code)


def _recorded_steps(columns: ProfileColumns, index: StoreIndex, found: Mapping[str, Any]) -> Made:
    """The host, number and model of each step of a partition."""
    recording = columns.steps.recording[index.step_row]
    table = {
        "part": index.step_part,
        "row": index.step,
        "model": index.model[np.searchsorted(index.part, index.step_part)],
        **{name: column[recording] for name, column in found.items()},
        "step": columns.steps.number[index.step_row],
    }
    return Made(table, _RANK)


def _op_names(columns: ProfileColumns, index: StoreIndex) -> Made:
    """The row and name in the store of each op of a model."""
    table = {
        "model": index.op_model,
        "op": index.op,
        "row": index.op_row,
        "name": _texts(columns.ops.name)[index.op_row],
    }
    return Made(table)


def _texts(column: Strings) -> Texts:
    return _objects(list(column))


def _words(column: Coded) -> Texts:
    return _texts(column.values)[column.codes]


def _chosen(texts: Sequence[str], rows: Ints) -> Texts:
    """The text of each row, or None for -1."""
    return _objects([*texts, None])[rows]


def _objects(values: Any) -> Texts:
    found = list(values)
    result = np.empty(len(found), object)
    result[:] = found
    return result
