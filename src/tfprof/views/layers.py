"""The layers view: ops arranged by the layers of the model, in the model's own order."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import NamedTuple

import numpy as np

from tfprof.columns import Bools, Ints, Ragged, Strings, ints, offsets_of
from tfprof.kernels.rows import grouped
from tfprof.measures.layers import model_layers, output_shapes
from tfprof.measures.memory import has_row_peaks, holders_from_before, peaks_by_row
from tfprof.measures.numbers import EVERYTHING, chosen_steps, per_op
from tfprof.memo import remembered
from tfprof.metrics import BY_KEY
from tfprof.model.layers import NO_LAYER
from tfprof.model.ops import EAGER_SCOPE, STATE_VARIABLE, Ops, Phase
from tfprof.model.profile import ProfileColumns
from tfprof.model.recordings import Chosen
from tfprof.options import Options
from tfprof.views.accounting import account_gathered
from tfprof.views.select import Arrangement, select
from tfprof.views.tree import Tree
from tfprof.views.view import ROOT_NAME, View, chosen_by

# Rows for the ops that belong to no layer.
OPTIMIZER = "optimizer"
INPUT = "input pipeline"
COMMUNICATION = "communication"
STATE = "metrics and state"
EAGER = "eager ops"
OTHER = "other ops"

# The columns that are shown by default if they have values.
_COLUMNS = (
    *("layer_class", "output_shape"),
    *("params", "trainable_params", "other_params", "slots"),
    *("float_ops", "forward_float_ops", "backward_float_ops"),
    *("macs", "forward_macs", "backward_macs"),
    *("micros", "forward_micros", "backward_micros"),
    *("accelerator_micros", "forward_accelerator_micros", "backward_accelerator_micros"),
    *("held_bytes", "output_bytes"),
)


def build(profile: ProfileColumns, options: Options, only: Ints | None = None) -> View:
    """Arrange `profile` by layer, accounting and showing what `options` asks for."""
    policy = options.generation.policy("layers")
    found = arrange(profile)
    accounts = account_gathered(profile, options, found.arrangement)
    view = select(
        "layers",
        profile,
        options,
        arrangement=found.arrangement,
        accounts=accounts,
        policy=policy,
        only=only,
    )
    held = partial(peaks, profile, chosen_by(options))
    return replace(view, layer=found.layer[view.arranged], held=held)


class LayerRows(NamedTuple):
    """All rows, and the layer that each row is, or `NO_LAYER`."""

    arrangement: Arrangement
    layer: Ints


@remembered
def arrange(profile: ProfileColumns) -> LayerRows:
    """One row per layer, then rows for the ops that belong to no layer."""
    table, layer, is_slot = model_layers(profile)
    has_numbers = _has_numbers(profile)
    rows = _Rows([ROOT_NAME, *table.name], [-1, *(table.parent + 1).tolist()])
    row_of_op = layer + 1
    for name, flags in _without_layer(profile, layer, is_slot):
        if has_numbers[flags].any():
            row_of_op[flags] = rows.add(name)
    outside = np.flatnonzero(row_of_op == 0)
    if has_numbers[outside].any():
        row_of_op[outside] = rows.add(OTHER)
        for scope, ops in _by_scope(profile, outside):
            if has_numbers[ops].any():
                row_of_op[ops] = rows.add(scope, rows.last_top)
    count = len(rows.names)
    members = Ragged(offsets_of(np.bincount(row_of_op, minlength=count)), grouped(row_of_op, count))
    arrangement = Arrangement(Tree.of_parents(rows.parents), Strings(rows.names), members)
    layers = np.full(count, NO_LAYER)
    layers[1 : len(table) + 1] = np.arange(len(table))
    return LayerRows(arrangement, ints(layers))


@remembered
def peaks(profile: ProfileColumns, chosen: Chosen) -> Ints:
    """The most memory that each row of the arrangement held at one time, -1 if unknown."""
    arrangement = arrange(profile).arrangement
    row_of_op = np.zeros(len(profile.ops), np.int64)
    row_of_op[arrangement.members.values] = arrangement.members.owners
    steps = chosen_steps(profile, chosen)
    return peaks_by_row(profile, steps, row_of_op, arrangement.tree.parents)


def _has_numbers(profile: ProfileColumns) -> Bools:
    """Whether each op has parameters, float operations, time, or memory from before the recording.

    A row of such ops has values.
    """
    numbers = per_op(profile, EVERYTHING)
    flags = np.zeros(len(profile.ops), np.bool_)
    for key in ("params", "slots", "float_ops", "micros"):
        flags |= numbers[key] != 0
    flags[holders_from_before(profile)] = True
    return flags


class _Rows:
    """Names and parents of rows, in preorder."""

    def __init__(self, names: list[str], parents: list[int]) -> None:
        self.names, self.parents = names, parents
        self.last_top = 0

    def add(self, name: str, parent: int = 0) -> int:
        """Add a row and return its number."""
        self.names.append(name)
        self.parents.append(parent)
        row = len(self.names) - 1
        if parent == 0:
            self.last_top = row
        return row


def _without_layer(
    profile: ProfileColumns, layer: Ints, is_slot: Bools
) -> Iterator[tuple[str, Bools]]:
    """Named groups of the ops that belong to no layer; empty groups are left out."""
    is_left = layer < 0
    groups = {
        OPTIMIZER: (profile.phase == Phase.OPTIMIZER) | is_slot,
        INPUT: profile.phase == Phase.INPUT,
        COMMUNICATION: profile.phase == Phase.COMMUNICATION,
        STATE: _updates_state(profile.ops, is_left & (profile.phase == Phase.FORWARD)),
        EAGER: profile.ops.name.starts_with(f"{EAGER_SCOPE}/"),
    }
    for name, flags in groups.items():
        found = flags & is_left
        is_left = is_left & ~found
        if found.any():
            yield name, found


def _updates_state(ops: Ops, candidates: Bools) -> Bools:
    """Which candidates use variables that are state, such as those of metrics, or feed such ops."""
    state = ops.types.having(STATE_VARIABLE)
    inputs = Ragged(ops.inputs.offsets, ops.inputs.source)
    found = candidates & (state | inputs.any(np.append(state, False)[inputs.values]))
    new = np.flatnonzero(found)
    while len(new):
        sources = inputs.take(new).values
        sources = np.unique(sources[sources >= 0])
        new = sources[candidates[sources] & ~found[sources]]
        found[new] = True
    return found


def _by_scope(profile: ProfileColumns, ops: Ints) -> Iterator[tuple[str, Ints]]:
    """The ops of each top-level scope, in order of definition; other ops are left out."""
    names = profile.ops.name.take(ops)
    slash = names.find("/")
    inside = np.flatnonzero(slash > 0)
    some = names.take(inside)
    scopes = Strings.of_spans(some.data, some.starts, some.starts + slash[inside])
    first: dict[str, list[int]] = {}
    known = {*profile.ops.name.take(ops[slash < 0])}
    by_definition = np.argsort(profile.ops.defined[ops[inside]], kind="stable")
    for place in by_definition.tolist():
        scope = scopes[place]
        if scope not in known:  # an op with constants of its own
            first.setdefault(scope, []).append(int(ops[inside[place]]))
    for scope, members in first.items():
        yield scope, ints(members)


def columns(profile: ProfileColumns) -> Iterator[str]:
    """The metrics that have values and are shown by default."""
    table = model_layers(profile).table
    numbers = per_op(profile, EVERYTHING)
    facts = {
        "layer_class": any(table.kind.values),
        "output_shape": bool(output_shapes(profile).are_known().any()),
        "held_bytes": has_row_peaks(profile),
    }
    filled = facts | {key: bool(numbers[key].any()) for key in _COLUMNS if key not in facts}
    filled["output_bytes"] &= not filled["held_bytes"]
    for key in _COLUMNS:
        whole = BY_KEY[key].part_of
        # A part that is the whole, or nothing of it, says nothing more.
        is_split = not whole or not _is_same(numbers[key], numbers[whole])
        if filled[key] and is_split:
            yield key


def _is_same(part: Ints, whole: Ints) -> bool:
    return int(part.sum()) == int(whole.sum())
