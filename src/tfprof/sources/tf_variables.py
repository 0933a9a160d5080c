"""The tensors of a checkpoint as variables: their names, and which belong to the model."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum

from tfprof.formats.checkpoint import Checkpoint
from tfprof.formats.object_graph import OBJECT_GRAPH, ObjectVariable, Owner, object_variables
from tfprof.formats.tensors import TensorEntry


class Role(Enum):
    """The purpose of a saved tensor."""

    PARAMETER = "parameter"
    OPTIMIZER = "optimizer"  # such as a moment of a parameter
    STATE = "state"  # such as a counter, a metric or the seed of a random layer


@dataclass(frozen=True, slots=True)
class SavedVariable:
    """A tensor of a checkpoint, with a name for readers."""

    name: str
    entry: TensorEntry
    role: Role
    is_trainable: bool | None = None  # None if unknown


def variables_of(path: str, checkpoint: Checkpoint) -> list[SavedVariable]:
    """The variables of a checkpoint, sorted by name; `path` is for error messages."""
    entries = {entry.name: entry for entry in checkpoint.tensors}
    if OBJECT_GRAPH in entries:
        data = bytes(checkpoint.read(OBJECT_GRAPH).item())
        found = _of_objects(entries, list(object_variables(path, data)))
    else:
        found = _of_names(checkpoint.tensors)
    return sorted(found, key=lambda variable: variable.name)


_ROLES = {Owner.OPTIMIZER: Role.OPTIMIZER, Owner.METRIC: Role.STATE, Owner.MODEL: Role.PARAMETER}

# Names of variables that TensorFlow and Keras save beside the parameters.
_STATE = re.compile(r"(?:.*/)?(?:save_counter|global_step|seed_generator_state)", re.DOTALL)
_OF_OPTIMIZER = re.compile(
    r"(?:.*/)?(?:beta[12]_power(?:_[0-9]+)?|training/[^/]+/.+|.+_slot_(?:v|vr|vc|m))", re.DOTALL
)
_NUMBERS = ("float", "bfloat", "int", "uint", "complex", "bool", "qint", "quint")


def _of_objects(
    entries: Mapping[str, TensorEntry], objects: Sequence[ObjectVariable]
) -> Iterator[SavedVariable]:
    """Variables saved by object: named by their own name if it is unique, else by their path."""
    saved = {one.key: one for one in objects if one.key in entries}
    named = Counter(name for one in saved.values() for name in {one.full_name, one.path, one.key})
    for one in saved.values():
        unique = (name for name in (one.full_name, one.path) if name and named[name] == 1)
        name = next(unique, one.key)
        entry = entries[one.key]
        is_state = _is_state(entry, one.full_name) or _is_state(entry, one.path)
        role = Role.STATE if is_state else _ROLES[one.owner]
        yield SavedVariable(name, entry, role, one.is_trainable)


def _of_names(entries: Sequence[TensorEntry]) -> Iterator[SavedVariable]:
    """Variables saved by name; a variable below another one of the same shape is a slot of it."""
    shapes = {entry.name: entry.shape for entry in entries}
    for entry in entries:
        is_slot = shapes.get(entry.name.rpartition("/")[0]) == entry.shape
        role = Role.PARAMETER
        if is_slot or _OF_OPTIMIZER.fullmatch(entry.name):
            role = Role.OPTIMIZER
        if _is_state(entry, entry.name):
            role = Role.STATE
        yield SavedVariable(entry.name, entry, role)


def _is_state(entry: TensorEntry, name: str) -> bool:
    return not entry.dtype.startswith(_NUMBERS) or _STATE.fullmatch(name) is not None
