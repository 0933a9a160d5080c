"""The kernels of accelerators: how often each ran, for how long, and how it was launched.

The rows are sums over the chosen steps, not averages, so that they add up to what was recorded.
All times are nanoseconds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeVar

import numpy as np

from tfprof import sums
from tfprof.columns import Bools, Coded, Ints, Ragged, Shape, Strings, distinct_rows, offsets_of
from tfprof.errors import MissingInputError
from tfprof.measures.numbers import chosen_steps, require_steps
from tfprof.memo import remembered
from tfprof.metrics import Need
from tfprof.model.kernel_names import readable, short_kernels
from tfprof.model.kernel_runs import UNKNOWN
from tfprof.model.ops import UNATTRIBUTED_SCOPE
from tfprof.model.profile import ProfileColumns
from tfprof.options import KernelOptions
from tfprof.patterns import Patterns
from tfprof.views.facts import shapes_of_inputs
from tfprof.views.view import chosen_by

Value = TypeVar("Value")

_NO_RUN = "Kernels require a recording of a run"
_WITHOUT_KERNELS = (
    "no kernel was recorded: the program ran on the CPU, or its accelerator was not recorded. "
    "Record with ProfilerActivity.CUDA or tfprof.capture (PyTorch), or with tf.profiler on a "
    "machine whose GPU TensorFlow uses."
)
_NOT_STORED = (
    "A store has the times of ops, but no kernels: give the recordings themselves, or profiles "
    "that `tfprof save` wrote."
)
_ONLY_TIMES = (
    "{} the times of ops on accelerators, but no kernels. RunMetadata and saved profiles of "
    "earlier versions of tfprof, or of the format profile_proto, lack them: give a trace of "
    "PyTorch or an *.xplane.pb file."
)


@dataclass(frozen=True, slots=True)
class KernelTime:
    """The launches of a kernel, or those by one op, module or configuration.

    Lists have what took the most time first. Facts that were not recorded are missing from them.
    """

    name: str  # the whole name, as in the source
    short_name: str  # unique among the kernels of the profile
    launches: int
    total_ns: int
    mean_ns: int
    min_ns: int
    max_ns: int
    share: float  # of the time of all kernels in the chosen steps
    occupancy: float | None  # achieved, in percent: the profiler's estimate, weighted by time
    registers: tuple[int, ...]  # per thread
    shared_memory: tuple[int, ...]  # bytes per block
    grids: tuple[tuple[int, ...], ...]
    blocks: tuple[tuple[int, ...], ...]
    streams: tuple[str, ...]
    ops: tuple[str, ...]  # the kinds of the ops that launched it; `UNATTRIBUTED_SCOPE` if unknown
    modules: tuple[str, ...]  # the layers of these ops
    shapes: tuple[tuple[tuple[int, ...] | None, ...], ...]  # of the inputs of these ops


@dataclass(frozen=True, slots=True)
class KernelTimes:
    """The answer: the rows whose names match, and the sums of all kernels in the chosen steps."""

    options: KernelOptions
    kernels: tuple[KernelTime, ...]
    launches: int
    total_ns: int
    hidden_kernels: int  # names that do not match
    notes: tuple[str, ...]

    @property
    def shown(self) -> tuple[KernelTime, ...]:
        """As many rows as the options ask for."""
        most = self.options.max_rows
        return self.kernels if most < 0 else self.kernels[:most]


def build(profile: ProfileColumns, options: KernelOptions) -> KernelTimes:
    """The chosen kernels in the chosen steps."""
    profile.require(Need.RUNS, _NO_RUN)
    chosen = chosen_by(options)
    require_steps(profile, chosen, "adds up all steps")
    notes = tuple(_notes(profile))
    runs = profile.kernel_runs
    rows = np.flatnonzero(np.isin(runs.step, chosen_steps(profile, chosen)))
    total = sums.total(runs.total_duration_ns[rows])
    names = _names(profile)
    is_shown = _matching(names, options)
    of_row = names.of_run[rows]
    grouped = _Grouped.of(profile, rows[is_shown[of_row]], options.group_by)
    kernels = sorted(grouped.rows(total), key=lambda one: (one.short_name, one.ops, one.modules))
    return KernelTimes(
        options=options,
        kernels=tuple(sorted(kernels, key=_ORDERS[options.sort_by])),
        launches=sums.total(runs.launches[rows]),
        total_ns=total,
        hidden_kernels=len(np.unique(of_row[~is_shown[of_row]])),
        notes=notes,
    )


_ORDERS: dict[str, Callable[[KernelTime], float]] = {
    "total": lambda one: -one.total_ns,
    "launches": lambda one: -one.launches,
    "mean": lambda one: -one.mean_ns,
    "min": lambda one: -one.min_ns,
    "max": lambda one: -one.max_ns,
    "occupancy": lambda one: -1.0 if one.occupancy is None else -one.occupancy,
    "name": lambda _: 0,
}


class _Names(NamedTuple):
    """The distinct names of kernels as in the source."""

    whole: list[str]
    short: list[str]
    of_run: Ints  # for each row of `KernelRuns`


@remembered
def _names(profile: ProfileColumns) -> _Names:
    column = profile.kernel_runs.name
    names = Coded.of(readable(column.values))
    whole = list(names.values)
    short = short_kernels(whole)
    return _Names(whole, [short[name] for name in whole], names.codes[column.codes])


def _matching(names: _Names, options: KernelOptions) -> Bools:
    """Which names to show."""

    def match(regexes: Sequence[str]) -> Bools:
        patterns = Patterns(regexes)
        found: Bools = patterns.match_column(Strings(names.whole))
        return found | patterns.match_column(Strings(names.short))

    return match(options.show_name_regexes) & ~match(options.hide_name_regexes)


def _notes(profile: ProfileColumns) -> Iterator[str]:
    """What is missing; raises `MissingInputError` if kernels ran, but none is known."""
    if profile.stored_runs is not None:
        raise MissingInputError(_NOT_STORED)
    devices, runs = profile.devices, profile.kernel_runs
    on_lane = np.zeros(len(profile.recordings) + 1, np.bool_)
    lanes = devices.is_accelerator_lane[profile.executions.device]
    on_lane[devices.recording[profile.executions.device[lanes]]] = True
    on_lane[profile.steps.recording[runs.step]] = False
    labels = [profile.recordings.label[row] for row in np.flatnonzero(on_lane).tolist()]
    if labels and not len(runs):
        raise MissingInputError(_ONLY_TIMES.format("The files have"))
    if labels:
        verb = "has" if len(labels) == 1 else "have"
        yield _ONLY_TIMES.format(f"{', '.join(labels)} {verb}")
    elif not len(runs):
        yield _WITHOUT_KERNELS


@dataclass(frozen=True, slots=True, eq=False)
class _Grouped:
    """Rows of `KernelRuns`, and the row of the table that each belongs to."""

    profile: ProfileColumns
    runs: Ints
    place: Ints
    count: int

    @classmethod
    def of(cls, profile: ProfileColumns, runs: Ints, group_by: str) -> _Grouped:
        """The rows by kernel and what else `group_by` names."""
        table, ops = profile.kernel_runs, profile.ops
        op = table.op[runs]
        facts = [table.grid.codes, table.block.codes, table.registers, table.shared_memory]
        more = {
            "kernel": [],
            "op": [np.append(ops.kind.codes, -1)[op]],
            "module": [np.append(ops.layer, -1)[op]],
            "configuration": [fact[runs] for fact in facts],
        }
        keys, place = distinct_rows([_names(profile).of_run[runs], *more[group_by]])
        return cls(profile, runs, place, len(keys))

    def rows(self, whole_ns: int) -> Iterator[KernelTime]:
        """The rows of the table; `whole_ns` is the time of all kernels."""
        table, names = self.profile.kernel_runs, _names(self.profile)
        name = np.zeros(self.count, np.int64)
        name[self.place] = names.of_run[self.runs]
        launches = sums.group_sums(self.place, table.launches[self.runs], self.count)
        total = sums.group_sums(self.place, table.total_duration_ns[self.runs], self.count)
        low, high = np.full(self.count, sums.LARGEST), np.full(self.count, -sums.LARGEST)
        np.minimum.at(low, self.place, table.min_duration_ns[self.runs])
        np.maximum.at(high, self.place, table.max_duration_ns[self.runs])
        numbers = zip(*(one.tolist() for one in (name, launches, total, low, high)), strict=True)
        occupancy, lists = self.occupancy(), self.lists()
        for row, (code, count, nanos, least, most) in enumerate(numbers):
            yield KernelTime(
                name=names.whole[code],
                short_name=names.short[code],
                launches=count,
                total_ns=nanos,
                mean_ns=(2 * nanos + count) // (2 * count),
                min_ns=least,
                max_ns=most,
                share=nanos / whole_ns if whole_ns > 0 else 0.0,
                occupancy=occupancy[row],
                **{fact: listed[row] for fact, listed in lists.items()},  # type: ignore[arg-type]
            )

    def occupancy(self) -> list[float | None]:
        """The mean occupancy, of each launch for as long as it took."""
        table = self.profile.kernel_runs
        known = table.occupancy[self.runs] != UNKNOWN
        place, rows = self.place[known], self.runs[known]
        # Kernels that took no time count too, if there are no others.
        weight = table.total_duration_ns[rows].astype(np.float64) + 1e-3 * table.launches[rows]
        weights = np.bincount(place, weight, self.count)
        summed = np.bincount(place, weight * table.occupancy[rows], self.count)
        pairs = zip(summed.tolist(), weights.tolist(), strict=True)
        # Rounded, so that kernels with the same estimate for all launches are equal.
        return [round(part / whole, 4) if whole > 0 else None for part, whole in pairs]

    def lists(self) -> dict[str, list[tuple[object, ...]]]:
        """The facts of which a row may have several."""
        profile, table = self.profile, self.profile.kernel_runs
        ops, op = profile.ops, table.op[self.runs]
        kinds = np.append(ops.kind.codes, len(ops.kind.values))[op]
        launching, of_run = np.unique(op, return_inverse=True)
        shapes, known = shapes_of_inputs(ops, np.maximum(launching, 0))
        shapes_of_op = [
            tuple(known[code] for code in shapes[row].tolist()) if launching[row] >= 0 else ()
            for row in range(len(launching))
        ]
        distinct = {shape: code for code, shape in enumerate(dict.fromkeys(shapes_of_op))}
        shape = np.array([distinct[shape] for shape in shapes_of_op], np.int64)[of_run]
        if () in distinct:
            shape[shape == distinct[()]] = -1
        streams = profile.devices.name
        return {
            "registers": self.listed(table.registers[self.runs], int),
            "shared_memory": self.listed(table.shared_memory[self.runs], int),
            "grids": self.listed(
                _known(table.grid.values, table.grid.codes[self.runs]),
                table.grid.values.__getitem__,
            ),
            "blocks": self.listed(
                _known(table.block.values, table.block.codes[self.runs]),
                table.block.values.__getitem__,
            ),
            "streams": self.listed(table.device[self.runs], streams.__getitem__),
            "ops": self.listed(kinds, [*ops.kind.values, UNATTRIBUTED_SCOPE].__getitem__),
            "modules": self.listed(np.append(ops.layer, -1)[op], profile.layers.name.__getitem__),
            "shapes": self.listed(shape, list(distinct).__getitem__),
        }

    def listed(self, codes: Ints, value: Callable[[int], Value]) -> list[tuple[Value, ...]]:
        """The distinct values of each row, those that took the most time first; -1 has none."""
        kept = np.flatnonzero(codes >= 0)
        pairs, place = distinct_rows([self.place[kept], codes[kept]])
        nanos = self.profile.kernel_runs.total_duration_ns[self.runs[kept]]
        time = sums.group_sums(place, nanos, len(pairs))
        order = np.lexsort((pairs[:, 1], -time, pairs[:, 0]))
        offsets = offsets_of(np.bincount(pairs[:, 0], minlength=self.count))
        values = {code: value(code) for code in np.unique(pairs[:, 1]).tolist()}
        found = Ragged(offsets, pairs[order, 1])
        return [tuple(values[code] for code in found[row].tolist()) for row in range(self.count)]


def _known(shapes: Sequence[Shape], codes: Ints) -> Ints:
    """The codes of shapes, -1 for an unknown one."""
    is_known = np.array([shape is not None for shape in shapes], np.bool_)
    return np.where(is_known[codes], codes, -1) if len(is_known) else codes
