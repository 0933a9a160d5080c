"""The ops of a trace: call sites, not events.

A site is an op in a module (or another scope), at a line, in a phase, with its input shapes, inside
other ops. A thousand calls are one op with a thousand runs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from tfprof.columns import Bools, Ints, Ragged, ints, offsets_of
from tfprof.formats.kineto.columns import Slices
from tfprof.kernels import nesting
from tfprof.model.kernel_names import short_kernel
from tfprof.model.ops import UNATTRIBUTED_SCOPE, Phase
from tfprof.model.variants import FreeNames, SharedNames, signature
from tfprof.sources.kineto.belonging import Belonging
from tfprof.sources.kineto.compiled import COMPILED
from tfprof.sources.kineto.gpu_annotations import annotated_phases
from tfprof.sources.kineto.host import Host, Role
from tfprof.sources.kineto.launches import Launches
from tfprof.sources.kineto.lost_threads import ENGINE
from tfprof.sources.kineto.scopes import Scopes, part
from tfprof.sources.torch_arguments import ARGUMENTS

_ENGINE_SCOPE = "autograd::engine"
_COLLECTIVE = ("ncclDevKernel", "ncclKernel", "rcclGenericKernel")

# What a site consists of, besides the site that contains it.
_PARTS = ("instance", "rest", "phase", "code", "name", "dims", "values", "is_idle")


@dataclass(frozen=True, slots=True, eq=False)
class Sites:
    """One row per site. Sites inside others come after them, and kernels after all other sites."""

    name: list[str]  # unique
    signature: Ints
    kind: list[str]  # of a kernel, that of its op, or its own name if it has none
    kernel: list[str]  # the names of the kernels, which are the last sites
    inside: Ints  # the site of which it is a part, or -1
    instance: Ints
    phase: Ints
    code: Ints
    forward: Ints  # the site of the forward op, as in `Conventions.forward_of`, or -1
    dims: Ints  # the code of `Slices.input_dims`, -1 for none
    types: Ints
    values: Ints
    is_kernel: Bools
    is_idle: Bools  # it was called, but computed nothing itself
    is_call: Bools  # it is a call of the driver, which launches kernels or waits
    of_row: Ints  # the site of each host event, or -1
    of_activity: Ints  # the site of each row of `Launches`

    def __len__(self) -> int:
        return len(self.name)

    @property
    def is_part(self) -> Bools:
        """Which kernels compute what their op stands for."""
        of_op: Bools = np.append(~self.is_call, [False])[self.inside]
        return self.is_kernel & of_op

    @property
    def is_generated(self) -> Bools:
        """Which ops run generated code: the innermost ones that are compiled.

        On an accelerator, generated kernels are mostly launched by ops of their own.
        """
        found = np.array([kind.startswith(COMPILED) for kind in self.kind], np.bool_)
        found &= ~self.is_kernel
        above = self.inside[found]
        while len(above := np.unique(above[above >= 0])):
            found[above] = False
            above = self.inside[above]
        if self.is_kernel.any():
            launches = np.zeros(len(self) + 1, np.bool_)
            launches[self.inside[self.is_kernel]] = True
            found &= launches[:-1]
        return found


def sites(  # noqa: PLR0917 -- what is known about a trace
    slices: Slices,
    host: Host,
    belonging: Belonging,
    launched: Launches,
    waiting: Ints,
    scopes: Scopes,
    shared: SharedNames,
) -> Sites:
    """The call sites of all ops and kernels; `waiting` calls of the driver count as ops.

    `shared` has the names of other recordings, and those of this one are added.
    """
    rows, container = _calling(slices, host, belonging, launched, waiting)
    parts = _parts(slices, host, belonging, rows, scopes)
    labels, firsts = Ragged(
        offsets_of(np.full(len(rows), len(_PARTS))), np.stack(list(parts.values()), 1).ravel()
    ).numbered()
    label = np.full(len(host), -1)
    label[rows] = labels
    found = nesting.chains(container, label)
    of_site = {name: column[firsts][found.label] for name, column in parts.items()}
    first_row = np.empty(len(found.label), np.int64)
    first_row[found.of_row[rows[::-1]]] = rows[::-1]
    texts = [slices.name.values[code] for code in of_site["name"].tolist()]
    free = FreeNames(shared)
    names, signatures = _names(slices, texts, found.above, of_site, scopes, free)
    forward = belonging.forward[first_row]
    kernels = _Kernels.of(slices, host, launched, found.of_row)
    types = slices.input_types.codes[host.slice[first_row]] if len(first_row) else ints([])
    is_call = host.role[first_row] < 0
    own = kernels.owner
    return Sites(
        name=[*names, *kernels.names(names, free)],
        signature=ints([*signatures, *map(signature, kernels.name)]),
        kind=[*texts, *kernels.kinds(texts, is_call)],
        kernel=kernels.name,
        inside=np.concatenate((found.above, own)),
        instance=_both(of_site["instance"], own, -1),
        phase=kernels.phases(of_site["phase"]),
        code=_both(of_site["code"], own, -1),
        forward=_both(np.where(forward >= 0, found.of_row[forward], -1), own, -1),
        dims=np.concatenate((of_site["dims"], np.full(len(own), -1))),
        types=np.concatenate((types, np.full(len(own), -1))),
        values=np.concatenate((of_site["values"], np.full(len(own), -1))),
        is_kernel=np.arange(len(names) + len(own)) >= len(names),
        is_idle=_both(of_site["is_idle"], own, 0) > 0,
        is_call=np.append(is_call, np.zeros(len(own), np.bool_)),
        of_row=found.of_row,
        of_activity=np.where(kernels.of_activity >= 0, kernels.of_activity + len(names), -1),
    )


def _both(column: Ints, owner: Ints, otherwise: int) -> Ints:
    """The column of ops, followed by that of kernels, which have the values of their ops."""
    return np.concatenate((column, np.append(column, otherwise)[owner]))


def _calling(
    slices: Slices, host: Host, belonging: Belonging, launched: Launches, waiting: Ints
) -> tuple[Ints, Ints]:
    """The events that are ops, and for each event of the host the op of the same scope around it.

    A call that launches a kernel without any op around it is among them, and so is one that waits.
    The engine runs the nodes of all modules, so its own ops contain none of them.
    """
    is_op = host.role == Role.OP
    calls = launched.call[launched.call >= 0]
    is_op[calls[host.in_op[calls] < 0]] = True
    is_op[waiting] = True
    rows = np.flatnonzero(is_op)
    container = np.full(len(host), -1)
    around = host.in_op[rows]
    on_engine = np.array([name.startswith(ENGINE) for name in slices.name.values], np.bool_)
    is_same = (around >= 0) & ~on_engine[slices.name.codes[host.slice[around]]]
    is_same &= belonging.instance[around] == belonging.instance[rows]
    is_same &= belonging.phase[around] == belonging.phase[rows]
    container[rows] = np.where(is_same, around, -1)
    return rows, container


def _parts(
    slices: Slices, host: Host, belonging: Belonging, rows: Ints, scopes: Scopes
) -> dict[str, Ints]:
    """What each op is identified by, one column per entry of `_PARTS`."""
    found = host.slice[rows]
    instance = belonging.instance[rows]
    name = slices.name.codes[found]
    has_values = np.array([text in ARGUMENTS for text in slices.name.values], np.bool_)[name]
    return {
        "instance": instance,
        "rest": np.where(instance >= 0, -1, scopes.rest_of(slices, host, belonging, rows)),
        "phase": belonging.phase[rows],
        "code": belonging.code[rows],
        "name": name,
        "dims": slices.input_dims.codes[found],
        "values": np.where(has_values, slices.concrete_inputs.codes[found], -1),
        "is_idle": belonging.is_idle[rows].astype(np.int64),
    }


def _names(  # noqa: PLR0917 -- columns
    slices: Slices,
    kinds: Sequence[str],
    above: Ints,
    of_site: Mapping[str, Ints],
    scopes: Scopes,
    free: FreeNames,
) -> tuple[list[str], list[int]]:
    """The names and signatures of ops; a number is appended to a name that is taken."""
    names: list[str] = []
    signatures: list[int] = []
    rest = [*scopes.rest, ""]
    columns = (of_site[part] for part in _PARTS if part not in {"code", "name"})
    rows = zip(above.tolist(), *(column.tolist() for column in columns), strict=True)
    for kind, row in zip(kinds, rows, strict=True):
        inside, instance, place, phase, dims, values, is_idle = row
        own = part(kind)
        if kind.startswith(ENGINE):
            own = f"{_ENGINE_SCOPE}/{part(kind.removeprefix(ENGINE))}"
        if inside >= 0:
            scope = names[inside]
        else:
            scope = scopes.of_instance[instance] if instance >= 0 else rest[place]
        shapes = slices.input_dims.values[dims]
        arguments = slices.concrete_inputs.values[values] if values >= 0 else ""
        name = f"{scope}/{own}" if scope else own
        signatures.append(signature(kind, phase, shapes, arguments, is_idle))
        names.append(free.take(name, signatures[-1]))
    return names, signatures


@dataclass(frozen=True, slots=True, eq=False)
class _Kernels:
    """The kernels that each op launches, one row per op and name of a kernel.

    Those without an op are divided by the phase that an annotation of the accelerator names.
    """

    owner: Ints  # the site of the op, or -1
    name: list[str]
    phase: Ints  # of those without an op, or -1
    of_activity: Ints  # for each row of `Launches`, the row here, or -1 for copies and fills

    @classmethod
    def of(cls, slices: Slices, host: Host, launched: Launches, site: Ints) -> _Kernels:
        rows = np.flatnonzero(launched.is_kernel)
        call = launched.call[rows]
        site = np.append(site, -1)  # of no call
        around = np.where(site[call] < 0, np.append(host.in_op, -1)[call], call)
        owner = site[around]
        name = slices.name.codes[launched.slice[rows]]
        phase = np.where(owner < 0, annotated_phases(slices, launched)[rows], -1)
        width = len(slices.name.values) or 1
        # An owner is the op, or else the negative phase, from -1 for none.
        group = np.where(owner < 0, -2 - phase, owner) + len(Phase)
        keys, first, place = np.unique(
            (group + 1) * width + name, return_index=True, return_inverse=True
        )
        order = np.argsort(first, kind="stable")  # by first launch
        rank = np.empty(len(order), np.int64)
        rank[order] = np.arange(len(order))
        keys = keys[order]
        of_activity = np.full(len(launched), -1)
        of_activity[rows] = rank[place]
        group = keys // width - 1 - len(Phase)
        return cls(
            owner=np.maximum(group, -1),
            name=[slices.name.values[code] for code in (keys % width).tolist()],
            phase=np.maximum(-2 - group, -1),
            of_activity=of_activity,
        )

    def kinds(self, ops: Sequence[str], is_call: Bools) -> list[str]:
        """The kinds of the ops, so that the numbers of a kind include those of its kernels.

        A kernel that no op launches, such as one of Triton, is of a kind of its own.
        """
        has_op = np.append(~is_call, [False])[self.owner]
        rows = zip(has_op.tolist(), self.owner.tolist(), self.name, strict=True)
        return [ops[owner] if is_of_op else short_kernel(name) for is_of_op, owner, name in rows]

    def phases(self, of_ops: Ints) -> Ints:
        """The phases of ops, followed by those of kernels, which are mostly those of their ops.

        The kernels of NCCL communicate, also in a graph or without a recorded launch.
        """
        communicates = np.array([name.startswith(_COLLECTIVE) for name in self.name], np.bool_)
        own = np.append(of_ops, Phase.OTHER)[self.owner]
        own = np.where(self.phase >= 0, self.phase, own)
        return np.concatenate((of_ops, np.where(communicates, Phase.COMMUNICATION, own)))

    def names(self, ops: Sequence[str], free: FreeNames) -> list[str]:
        """The names of kernels below those of their ops, without the arguments of templates."""
        scopes = [ops[owner] if owner >= 0 else UNATTRIBUTED_SCOPE for owner in self.owner.tolist()]
        return [
            free.take(
                f"{scope}/{part(short_kernel(name))}",
                signature(name) if phase < 0 else signature(name, phase),
            )
            for scope, name, phase in zip(scopes, self.name, self.phase.tolist(), strict=True)
        ]
