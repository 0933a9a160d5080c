"""A whole profile as a file of tables, from which it can be loaded without any loss."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from tfprof.columns import Coded, Ragged, Strings, joined
from tfprof.errors import OutputError
from tfprof.formats import profile_file
from tfprof.formats.parquet import Blobs
from tfprof.formats.profile_file import Facts, SavedProfile, Table
from tfprof.formats.profile_tables import TABLES
from tfprof.kernels.rows import grouped
from tfprof.metrics import Need
from tfprof.model.notes import names_of
from tfprof.model.ops import Ops, OutputShapes
from tfprof.model.profile import ProfileColumns
from tfprof.version import __version__

_SHAPE_LISTS = ("outputs", "seen_outputs", "stated_inputs")


def encode(profile: ProfileColumns, notes: Sequence[str] = ()) -> Iterator[bytes]:
    """The file; `notes` are remarks on the files that the profile was made from."""
    if not len(profile.ops) and not len(profile.tensors):
        raise OutputError("The profile has no ops: there is nothing to save.")
    yield encoded(profile, notes)


def encoded(profile: ProfileColumns, notes: Sequence[str] = ()) -> bytes:
    """The bytes of the file, even of a profile that has nothing."""
    facts = Facts(
        has_code=profile.has_code,
        lacks_accelerator_time=profile.lacks_accelerator_time,
        lacks_host_allocations=profile.lacks_host_allocations,
        counts_float_ops=profile.counts_float_ops,
        has_zero_repeats=True,
        notes=tuple(notes),
        subjects=tuple(map(names_of, notes)),
        remedies={need.value: phrase for need, phrase in profile.remedies.items()},
    )
    return profile_file.encode(SavedProfile(tables(profile), facts), f"tfprof {__version__}")


def lacks(profile: ProfileColumns) -> Iterator[str]:
    """What the file leaves out, in sentences."""
    if profile.has(Need.VALUES):
        yield "values stay in the checkpoint: give it together with the saved profile."


def tables(profile: ProfileColumns) -> dict[str, Table]:
    """All tables of the format."""
    with ThreadPoolExecutor(1) as pool:
        # Attributes take the most time, and scanning them releases the GIL.
        attributes = pool.submit(_attribute_tables, profile.ops)
        special = {
            **_op_tables(profile),
            "record_devices": _of_ragged("record", "device", profile.records.devices),
            **attributes.result(),
        }
    return {
        name: special[name] if name in special else _copied(name, getattr(profile, name))
        for name in TABLES
    }


def _copied(name: str, columns: object) -> Table:
    """A table that has the same columns in a profile."""
    return {field: getattr(columns, field) for field in TABLES[name].fields}


def _op_tables(profile: ProfileColumns) -> dict[str, Table]:
    ops = profile.ops
    inputs = _of_ragged("op", "source", Ragged(ops.inputs.offsets, ops.inputs.source))
    types = ops.types
    return {
        "ops": {
            **_copied_but(ops, ("origin", "phase", "forward_of")),
            "origin": ops.origins.input,
            "phase": profile.phase,
            "forward_of": profile.forward_of,
        },
        "types": {
            "op": types.members.owners,
            "type": Coded(types.members.values, types.names),
        },
        "inputs": {**inputs, "slot": ops.inputs.slot},
        **{name: _shape_lists(getattr(ops, name)) for name in _SHAPE_LISTS},
    }


def _copied_but(ops: Ops, others: Sequence[str]) -> Table:
    return {name: getattr(ops, name) for name in TABLES["ops"].fields if name not in others}


def _of_ragged(owner: str, value: str, column: Ragged) -> Table:
    return {owner: column.owners, value: column.values}


def _shape_lists(column: OutputShapes) -> Table:
    owners = np.repeat(np.arange(len(column.offsets) - 1), np.diff(column.offsets))
    return {"op": owners, "shape": column.shape}


def _attribute_tables(ops: Ops) -> dict[str, Table]:
    """The attributes of ops in the order of ops, their distinct values, and their encodings."""
    owners, names, values, encoded, encodings = [], [], [], [], []
    count = 0
    for place, origin in enumerate(ops.origins.inputs):
        encodings.append("")
        if origin.attributes is None:
            continue
        rows = np.flatnonzero(ops.origins.input == place)
        found = origin.attributes.table(ops.origins.position[rows])
        is_used = np.bincount(found.value, minlength=len(found.values)) > 0
        encodings[place] = found.encoding
        owners.append(rows[Ragged(found.offsets, found.value).owners])
        names.append(found.name)
        values.append((np.cumsum(is_used) - 1 + count)[found.value])
        encoded.append(found.values.take(np.flatnonzero(is_used)).packed())
        count += len(encoded[-1])
    owner, name = joined(owners), Coded.joined(names)
    order = grouped(owner, len(ops)) if len(owners) > 1 else np.arange(len(owner))
    return {
        "origins": {
            "is_defined": np.array([one.is_defined for one in ops.origins.inputs], np.bool_),
            "encoding": Strings(encodings),
        },
        "attributes": {
            "op": owner[order],
            "name": name.take(order),
            "value": joined(values)[order],
        },
        "attribute_values": {"encoded": Blobs(Strings.joined(encoded))},
    }
