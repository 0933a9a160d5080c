"""Defines the ops of a trace, the lines that called them, and the modules as layers."""

from __future__ import annotations

from collections import Counter

import numpy as np

from tfprof.columns import Coded, Ints, Strings
from tfprof.model.between_files import RecordedCalls
from tfprof.model.builder import OpColumns, ProfileBuilder
from tfprof.model.ops import (
    GENERATED_CODE,
    NOT_A_GRADIENT,
    UNKNOWN_FORWARD,
    WALKED_CALL,
    Phase,
)
from tfprof.model.stated import StatedFacts
from tfprof.sources.kineto.arguments import attributes, stated_inputs
from tfprof.sources.kineto.host import Role
from tfprof.sources.kineto.interpreted import Interpreted
from tfprof.sources.kineto.model import Model
from tfprof.sources.kineto.sites import Sites
from tfprof.sources.saved_attributes import SavedAttributes
from tfprof.sources.torch_modules import Called, add_modules

# The slot of an edge that carries no tensor: an op waits for the ops inside it.
_CONTROL = -1


def add_ops(found: Interpreted, ops: Sites, builder: ProfileBuilder, path: str) -> Ints:
    """Define the ops and where they were called; returns their ids."""
    slices = found.trace.slices
    # An op with a line of its own was called in the backward pass, such as by a checkpoint.
    is_gradient = (ops.phase == Phase.BACKWARD) & (ops.code < 0)
    forward = np.where(is_gradient, UNKNOWN_FORWARD, NOT_A_GRADIENT)
    names = Strings(ops.name)
    builder.add_ops(
        OpColumns.traced(
            ops.name,
            Coded.of(ops.kind),
            stated_inputs=stated_inputs(slices, ops.dims, ops.types),
            attributes=SavedAttributes(path, attributes(slices, ops.kind, ops.values)),
            conventions=StatedFacts(
                phase=ops.phase,
                forward=np.where(ops.forward >= 0, ops.forward, forward),
                names=names,
            ),
        )
    )
    ids = builder.ids(ops.name)
    builder.set_signature(ids, ops.signature)
    kernels = ids[ops.is_kernel]
    builder.add_type(WALKED_CALL, ids[ops.is_part | ops.is_idle | ops.is_call])
    builder.add_type(GENERATED_CODE, ids[ops.is_generated])
    inner = np.flatnonzero(ops.inside >= 0)
    builder.set_part_of(ids[inner], ids[ops.inside[inner]])
    builder.add_edges(ids[ops.inside[inner]], ids[inner], np.full(len(inner), _CONTROL))
    builder.add_types(kernels, Coded.of(ops.kernel))
    _add_code(found, ops, ids, builder)
    builder.mark_covered(ids)
    return ids


def _add_code(found: Interpreted, ops: Sites, ids: Ints, builder: ProfileBuilder) -> None:
    chains, frames = found.calls.chains, found.calls.frames
    if not frames:
        return
    builder.mark_has_code()
    is_used = np.zeros(len(chains.label) + 1, np.bool_)
    is_used[ops.code] = True
    rows = np.full(len(chains.label) + 1, -1)
    for chain in range(len(chains.label) - 1, -1, -1):
        if is_used[chain]:
            is_used[chains.above[chain]] = True
    for chain in np.flatnonzero(is_used[:-1]).tolist():
        above = int(rows[chains.above[chain]])
        rows[chain] = builder.add_call(above, frames[chains.label[chain]])
    builder.set_code(ids, rows[ops.code])


def add_layers(found: Interpreted, ops: Sites, model: Model, builder: ProfileBuilder) -> None:
    """Add a layer for each module, and link the ops to theirs.

    A wrapper, such as that of `torch.compile`, is left out if it is empty: the model is beside it.
    """
    instances = found.calls.instances
    owned = zip(ops.name, ops.instance.tolist(), strict=True)
    scopes = {name: model.paths[instance] for name, instance in owned if instance >= 0}
    used = {*scopes.values(), *(path.rpartition("/")[0] for path in model.paths)}
    classes = {
        path: kind
        for path, kind, above in zip(
            model.paths, instances.class_name, instances.parent, strict=True
        )
        if above >= 0 or path in used or not any(used)
    }
    homes = zip(model.homes, instances.class_name, strict=True)
    shared = {home: kind for home, kind in homes if home not in model.paths}
    add_modules(builder, scopes, shared | classes, _called(found, model))


def _called(found: Interpreted, model: Model) -> dict[str, Called]:
    """How often each module was called in a step, by scope."""
    calls, host = found.calls, found.host
    rows = np.flatnonzero(calls.module_row == np.arange(len(host)))
    steps = len(np.unique(found.marks.of_time(host.start_ns[rows])))
    count = np.bincount(calls.instance[rows], minlength=len(calls.instances)).tolist()
    total: Counter[str] = Counter()
    for path, number in zip(model.paths, count, strict=True):
        total[path] += number
    homes = dict(zip(reversed(model.paths), reversed(model.homes), strict=True))
    return {
        path: Called(homes[path], max(round(number / steps), 1))
        for path, number in total.items()
        if number
    }


def add_calls(found: Interpreted, ops: Sites, ids: Ints, builder: ProfileBuilder) -> None:
    """Keep the op of each call by its number, for files that state more about the calls."""
    slices, host, processes = found.trace.slices, found.host, found.trace.threads.process
    rows = np.flatnonzero((host.role == Role.OP) | (host.role == Role.ANNOTATION))
    rows = rows[slices.record_id[host.slice[rows]] > 0]
    of_row = processes.codes[host.thread[rows]]
    for code in np.unique(of_row).tolist():
        here = rows[of_row == code]
        builder.between.recorded_calls[processes.values[code]] = RecordedCalls(
            record=slices.record_id[host.slice[here]],
            op=np.append(ids, -1)[ops.of_row[here]],
            phase=found.belonging.phase[here],
        )
