"""Memory over time: the peak of each allocator, and what held its memory at that time."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from tfprof.columns import Coded, Ints, Strings, ints
from tfprof.errors import MissingInputError
from tfprof.measures.memory import allocator_traces
from tfprof.measures.numbers import chosen_steps, require_steps
from tfprof.measures.step_sums import step_starts
from tfprof.memo import remembered
from tfprof.metrics import Need
from tfprof.model.executions import Purpose
from tfprof.model.memory_curves import MemoryCurve, MemoryTrace
from tfprof.model.profile import ProfileColumns
from tfprof.options import MemoryOptions
from tfprof.views import lines, scope
from tfprof.views.select import descending
from tfprof.views.tree import Tree
from tfprof.views.view import chosen_by

_MOST_REACHED_BY = 3
MOST_ALLOCATORS = 256  # each takes time for all ops


@dataclass(frozen=True, slots=True, eq=False)
class MemoryBreakdown:
    """The holders of memory at the peak, largest first, each followed by the rows inside it."""

    name: Strings
    depth: Ints  # 1 for a top-level row
    bytes: Ints  # including the rows inside it
    ops: Ints  # the number of ops that hold them
    hidden_rows: int  # rows beyond `max_rows`
    hidden_bytes: int  # bytes that no shown row includes

    def __len__(self) -> int:
        return len(self.name)


@dataclass(frozen=True, slots=True, eq=False)
class AllocatorMemory:
    """The memory from one allocator that ops on one device held in one step.

    Times count from the start of the step, and bytes from 0 at that time: memory that was already
    held is not included.
    """

    allocator: str  # empty if its name is unknown
    device: str  # empty if unknown
    step: int
    recording: str  # the label of the recording
    step_peaks: Mapping[int, int]  # the peak in each step of the recording
    start_ns: int  # when the step began, on the program's clock
    curve: MemoryCurve
    levels: MemoryCurve  # the bytes in use as the allocator reported them, including other users
    reached_by: tuple[tuple[str, int], ...]  # ops that allocated at the peak, and how many bytes
    by_scope: MemoryBreakdown
    by_kind: MemoryBreakdown
    by_line: MemoryBreakdown | None  # None if no code lines were logged
    by_purpose: MemoryBreakdown | None  # None if it is not known what memory is for

    @property
    def peak_bytes(self) -> int:
        """The most bytes held at one time."""
        return self.curve.peak_bytes

    @property
    def peak_ns(self) -> int:
        """The time of the peak."""
        return self.curve.peak_ns

    @property
    def left_bytes(self) -> int:
        """The bytes not yet released when the recording ended."""
        return int(self.curve.bytes[-1])

    @property
    def breakdowns(self) -> dict[str, MemoryBreakdown]:
        """The available breakdowns, by name."""
        found = {
            "purpose": self.by_purpose,
            "scope": self.by_scope,
            "op": self.by_kind,
            "code": self.by_line,
        }
        return {name: one for name, one in found.items() if one is not None}


@dataclass(frozen=True, slots=True, eq=False)
class Memory:
    """The answer: one entry per allocator, highest peak first."""

    options: MemoryOptions
    allocators: tuple[AllocatorMemory, ...]
    notes: tuple[str, ...]


def build(profile: ProfileColumns, options: MemoryOptions) -> Memory:
    """Break down the memory of each allocator at its peak in the steps that `options` choose."""
    asked = chosen_by(options)
    require_steps(profile, asked, "takes the highest peak")
    found = allocator_traces(profile)
    chosen = _chosen(found, chosen_steps(profile, asked))
    if not chosen:
        raise MissingInputError(_no_records_message(profile, found, options.step))
    chosen.sort(key=lambda one: -one.peak_bytes)
    shown = chosen[:MOST_ALLOCATORS]
    allocators = [of_trace(profile, one, options) for one in shown]
    notes = list(_notes(profile, found, shown))
    if len(shown) < len(chosen):
        notes.append(f"{len(chosen) - len(shown):,} allocators with lower peaks are not shown.")
    return Memory(options, tuple(allocators), tuple(notes))


def _chosen(found: Sequence[MemoryTrace], steps: Ints) -> list[MemoryTrace]:
    """For each allocator on each device, the trace with the highest peak in these steps."""
    best: dict[tuple[str, int], MemoryTrace] = {}
    wanted = set(steps.tolist())
    for one in found:
        if one.step in wanted:
            known = best.setdefault((one.allocator, one.device), one)
            if one.peak_bytes > known.peak_bytes:
                best[one.allocator, one.device] = one
    return list(best.values())


def of_trace(profile: ProfileColumns, one: MemoryTrace, options: MemoryOptions) -> AllocatorMemory:
    """Break down the memory of one allocator in one step at its peak."""
    start = int(_starts(profile)[one.step])
    count = len(profile.ops)
    held = one.held_at_peak(count)
    return AllocatorMemory(
        allocator=one.allocator,
        device=profile.devices.name[one.device] if one.device >= 0 else "",
        step=int(profile.steps.number[one.step]),
        recording=profile.recordings.label[int(profile.steps.recording[one.step])],
        step_peaks=_step_peaks(profile)[one.allocator, one.device],
        start_ns=start,
        curve=_since(one.curve, start),
        levels=_since(one.levels, start),
        reached_by=_largest_allocations(profile, one.taken_at_peak(count)),
        by_scope=_by_scope(profile, held, options),
        by_kind=_by_label(profile.ops.kind, held, options),
        by_line=(_by_label(lines.of_ops(profile), held, options) if profile.has_code else None),
        by_purpose=_by_purpose(one.purposes_at_peak()),
    )


def _largest_allocations(profile: ProfileColumns, taken: Ints) -> tuple[tuple[str, int], ...]:
    """The ops that allocated the most, and how many bytes."""
    ops = np.argsort(descending(taken), kind="stable")[:_MOST_REACHED_BY].tolist()
    return tuple((profile.ops.name[op], int(taken[op])) for op in ops if taken[op] > 0)


@remembered
def _starts(profile: ProfileColumns) -> Ints:
    """The start of each step: that of its first op, or its first allocation if that is earlier."""
    starts = step_starts(profile).copy()
    for one in allocator_traces(profile):
        starts[one.step] = min(starts[one.step], one.first_ns)
    return ints(starts)


@remembered
def _step_peaks(profile: ProfileColumns) -> dict[tuple[str, int], dict[int, int]]:
    """The peaks of each allocator on each device, by the number of the step."""
    peaks: dict[tuple[str, int], dict[int, int]] = {}
    for one in allocator_traces(profile):
        number = int(profile.steps.number[one.step])
        peaks.setdefault((one.allocator, one.device), {})[number] = one.peak_bytes
    return peaks


def _since(curve: MemoryCurve, start: int) -> MemoryCurve:
    return MemoryCurve(ints(curve.time_ns - start), curve.bytes)


def _by_label(labels: Coded, held: Ints, options: MemoryOptions) -> MemoryBreakdown:
    """The memory that the ops with each label hold."""
    sums = np.zeros(len(labels.values), np.int64)
    np.add.at(sums, labels.codes, held)
    ops = np.bincount(labels.codes[held != 0], minlength=len(sums))
    rows = labels.values.order()
    rows = rows[sums[rows] != 0]
    rows = rows[np.argsort(descending(sums[rows]), kind="stable")]
    shown = rows[: _limit(options, len(rows))]
    return MemoryBreakdown(
        name=labels.values.take(shown),
        depth=np.ones(len(shown), np.int64),
        bytes=sums[shown],
        ops=ops[shown],
        hidden_rows=len(rows) - len(shown),
        hidden_bytes=int(held.sum()) - int(sums[shown].sum()),
    )


def _by_purpose(held: Ints) -> MemoryBreakdown | None:
    """The memory that is held for each purpose, or None if none is known."""
    if not held[[purpose for purpose in Purpose if purpose is not Purpose.UNKNOWN]].any():
        return None
    rows = np.flatnonzero(held)
    rows = rows[np.argsort(descending(held[rows]), kind="stable")]
    return MemoryBreakdown(
        name=Strings([Purpose(row).title for row in rows.tolist()]),
        depth=np.ones(len(rows), np.int64),
        bytes=held[rows],
        ops=np.zeros(len(rows), np.int64),
        hidden_rows=0,
        hidden_bytes=0,
    )


def _by_scope(profile: ProfileColumns, held: Ints, options: MemoryOptions) -> MemoryBreakdown:
    """The memory that the ops in each scope hold, without scopes that only contain one other."""
    arrangement = scope.arrange(profile)
    tree, members = arrangement.tree, arrangement.members
    own = np.zeros(len(tree), np.int64)
    own[members.lengths > 0] = held[members.values]
    total, ops = tree.sums_below(own), tree.sums_below((own != 0).astype(np.int64))
    flags = ((total != 0) | (own != 0)) & (tree.depths <= options.max_depth)
    flags[0] = True
    rows = np.flatnonzero(flags)
    tree, rows = _without_chains(tree.keep(rows), rows, own)
    tree, old = tree.ordered(descending(total[rows]))
    rows = rows[old]
    shown = np.argsort(descending(total[rows[1:]]), kind="stable")
    shown = np.sort(shown[: _limit(options, len(shown))]) + 1
    tree = tree.keep(np.concatenate(([0], shown)))
    depth, chosen = tree.depths[1:] - 1, rows[shown]
    return MemoryBreakdown(
        name=arrangement.name.take(chosen),
        depth=depth,
        bytes=total[chosen],
        ops=ops[chosen],
        hidden_rows=len(rows) - 1 - len(shown),
        hidden_bytes=int(held.sum()) - int(total[chosen[depth == 1]].sum()),
    )


def _without_chains(tree: Tree, rows: Ints, own: Ints) -> tuple[Tree, Ints]:
    """A tree and its rows, without nodes that have one child and hold no memory themselves."""
    children = np.bincount(tree.parents[1:], minlength=len(tree))
    flags = (children != 1) | (own[rows] != 0)
    flags[0] = True
    left = np.flatnonzero(flags)
    return tree.keep(left), rows[left]


def _limit(options: MemoryOptions, count: int) -> int:
    return count if options.max_rows < 0 else options.max_rows


def _no_records_message(profile: ProfileColumns, found: Sequence[MemoryTrace], step: int) -> str:
    """The error message: why there is no answer, and what to do."""
    if found:
        numbers = profile.steps.number[[one.step for one in found]]
        steps = ", ".join(map(str, sorted(set(numbers.tolist()))))
        return f"Step {step} has no allocation records; steps with records: {steps}."
    if profile.lacks_host_allocations:
        return (
            "A ProfileProto keeps allocations on accelerators only, and this one has none: "
            "load the graph and the recorded runs that it was made from."
        )
    if _is_of_pytorch(profile):
        return f"Memory over time requires recorded allocations: {_OF_PYTORCH}."
    if len(profile.recordings) and not profile.counts_whole_micros:
        return (
            "The recording has no allocations by ops. TensorFlow 2 records those of GPUs, and on "
            "some CPUs large ones: record a run on a GPU. Without one, `tfprof scope FILES… "
            "-select params` shows the size of the model."
        )
    record = "RunOptions(trace_level=RunOptions.FULL_TRACE)"
    if not profile.has(Need.RUNS):
        given = profile.remedies[Need.RUNS]
        return f"Memory over time requires a recorded run: give {given}, recorded with {record}."
    return f"No step has allocation records: run a session with {record} to record them."


def _is_of_pytorch(profile: ProfileColumns) -> bool:
    """Whether the files are those of a PyTorch program."""
    is_recorded = "pytorch" in profile.recordings.framework
    return is_recorded or "Kineto trace" in profile.remedies[Need.RUNS]


_OF_PYTORCH = (
    "record a trace with torch.profiler.profile(profile_memory=True), or give a memory snapshot"
)


def _notes(
    profile: ProfileColumns, found: Sequence[MemoryTrace], chosen: Sequence[MemoryTrace]
) -> Iterator[str]:
    """Caveats that a reader should know before quoting the numbers."""
    if profile.lacks_host_allocations:
        yield (
            "a ProfileProto keeps allocations on accelerators only, without the names of "
            "allocators: those of the host are missing."
        )
    if untimed := sum(one.untimed for one in chosen):
        record = "record without a time counts" if untimed == 1 else "records without a time count"
        yield f"{untimed:,} allocation {record} from the beginning."
    unrecorded = sorted(set(range(len(profile.steps))) - {one.step for one in found})
    if unrecorded:
        steps = "step" if len(unrecorded) == 1 else "steps"
        numbers = ", ".join(map(str, profile.steps.number[unrecorded].tolist()))
        yield f"{steps} {numbers}: no allocation records."
    names = [one.allocator for one in chosen if one.allocator]
    for name in sorted({name for name in names if names.count(name) > 1}):
        yield (
            f"{names.count(name)} devices use an allocator named `{name}`; devices of the same "
            "process share it, and its memory is the sum of theirs."
        )
    if not profile.has_code:
        yield f"the code lines that hold memory are unknown; give {profile.remedies[Need.CODE]}."
