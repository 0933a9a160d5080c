"""Notes on a trace: what it lacks, and what could not be attributed."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from tfprof.columns import Bools, Ints
from tfprof.formats.kineto.columns import MISSING, Trace
from tfprof.model.clock import NANOS_PER_MICRO
from tfprof.model.notes import FileNote, Note, Subject
from tfprof.sources.kineto.compiled import COMPILED
from tfprof.sources.kineto.host import Role
from tfprof.sources.kineto.interpreted import Interpreted
from tfprof.sources.kineto.lost_threads import NO_THREAD
from tfprof.sources.kineto.sites import Sites
from tfprof.units import counted, format_nanos

_KERNELS = Subject.TIME | Subject.STEPS
_TIMES = _KERNELS | Subject.MEMORY | Subject.FLOAT_OPS


def of_trace(trace: Trace, found: Interpreted, ops: Sites, path: str) -> Iterator[FileNote]:
    """What a user has to know about the numbers from this trace."""
    for remark in _remarks(trace, found, ops):
        yield FileNote(path, str(remark), remark.about)


def without_parameters(path: str) -> FileNote:
    """A note for a trace without a file that has the parameters."""
    return FileNote(
        path,
        "a trace has no parameters; give the weights too (safetensors, a file of `torch.save` or "
        "`torch.export.save`), or record with tfprof.capture.",
        Subject.PARAMS,
    )


def _remarks(trace: Trace, found: Interpreted, ops: Sites) -> Iterator[Note]:
    yield from _damage(trace)
    yield from _threads(found)
    if not len(ops):
        yield Note("no ops were recorded.", _TIMES)
        return
    yield from _processes(trace, found)
    yield from _steps(found)
    yield from _slowness(trace, found)
    yield from _missing(trace, found)
    yield from _unattributed(trace, found, ops)
    if any(kind.startswith(COMPILED) for kind in ops.kind):
        yield from _compiled(found, ops)


def _compiled(found: Interpreted, ops: Sites) -> Iterator[Note]:
    yield Note(
        "a compiled region has no modules inside; its time and its float operations count for the "
        "module that was compiled.",
        Subject.TIME | Subject.FLOAT_OPS,
    )
    count = len(np.unique(ops.of_row[found.compiled.op]))
    if found.located is None:
        text = "the ops in compiled regions have no lines of the program; run it with "
        text += "INDUCTOR_PROVENANCE=1 and TORCH_TRACE=DIR, and give the log in DIR too."
    elif len(found.located):
        lines = len(np.unique(ops.of_row[found.located]))
        text = f"{lines:,} of {counted(count, 'op')} in compiled regions are shown at the lines "
        text += "that they were compiled from"
        text += (
            "; others come from several lines or from an unknown graph." if lines < count else "."
        )
    else:
        text = f"no compiled graph matches the {counted(count, 'op')} in compiled regions; give "
        text += "the log of the same run, and record with `with_stack=True`."
    yield Note(text, Subject.CODE)


def _damage(trace: Trace) -> Iterator[Note]:
    if trace.damaged_events:
        events = counted(
            trace.damaged_events, "event is damaged and was", "events are damaged and were"
        )
        yield Note(f"{events} left out.", _TIMES)
    if trace.clamped_events:
        events = counted(trace.clamped_events, "event has", "events have")
        yield Note(f"{events} an impossible duration, which counts as 0.", _KERNELS)
    if trace.unplaced_events:
        events = counted(trace.unplaced_events, "event has", "events have")
        yield Note(
            f"{events} no start time (it is 0): kernels and copies count with their durations, "
            "but others were left out.",
            _TIMES,
        )
    if not trace.is_complete:
        yield Note("no event ends the recording; is it complete?", _TIMES)


def _processes(trace: Trace, found: Interpreted) -> Iterator[Note]:
    rows = found.host.rows(Role.OP)
    count = len(np.unique(trace.threads.process.codes[found.host.thread[rows]]))
    if count > 1:
        yield Note(
            f"the ops of {count} processes count as one recording; give one file per rank.",
            _TIMES,
        )


def _steps(found: Interpreted) -> Iterator[Note]:
    if found.marks.is_marked:
        return
    if len(found.marks.start_ns):
        yield Note("no step markers; a step ends with each call of the optimizer.", _TIMES)
    else:
        yield Note(
            "no step markers, so everything counts as one step; call `step()` after each step, of "
            "torch.profiler with a `schedule` or of tfprof.capture.",
            _TIMES,
        )


def _slowness(trace: Trace, found: Interpreted) -> Iterator[Note]:
    if not len(found.host.rows(Role.PYTHON)):
        return
    text = "recording Python calls slows the host: steps, ops on the CPU and idle times take "
    text += "longer than usual; kernels do not."
    # The notes on ranks are one if they are the same.
    if found.usual_step_ns and not _has_ranks(trace):
        text += f" Before the recording, a step took {format_nanos(found.usual_step_ns)}."
    elif not found.usual_step_ns:
        text += " Record later steps only, with tfprof.TorchCallback or tfprof run --skip_steps, "
        text += "to see the usual time of a step."
    yield Note(text, Subject.STEPS)


def _has_ranks(trace: Trace) -> bool:
    info = trace.header.get("distributedInfo")
    return isinstance(info, dict) and info.get("world_size") != 1


def _missing(trace: Trace, found: Interpreted) -> Iterator[Note]:
    if not len(found.host.rows(Role.PYTHON)):
        yield Note(
            "no modules and no code lines; record with `with_stack=True`.",
            Subject.TIME | Subject.FLOAT_OPS | Subject.PARAMS,
        )
    elif not len(found.calls.instances):
        yield Note("no modules were called, only ops.", Subject.PARAMS)
    if (found.calls.frame >= 0).any() and not found.calls.has_lines:
        yield Note(
            "the lines inside functions are not recorded: ops are shown where their functions "
            "begin; recordings of tfprof.capture have the lines.",
            Subject.CODE,
        )
    if not any(trace.slices.input_dims.values):
        yield Note(
            "no shapes, so float operations are unknown; record with `record_shapes=True`.",
            Subject.FLOAT_OPS,
        )
    if not len(trace.memory) and trace.header.get("profile_memory"):
        yield Note("no allocations; PyTorch does not record them with all threads.", Subject.MEMORY)
    elif not len(trace.memory):
        yield Note("no allocations; record with `profile_memory=True`.", Subject.MEMORY)
    elif (trace.memory.allocated == MISSING).all():
        yield Note(
            "what was allocated before the recording is unknown, because the version of PyTorch "
            "did not record it; the memory in use was higher by as much.",
            Subject.MEMORY,
        )


def _threads(found: Interpreted) -> Iterator[Note]:
    """Which threads called modules, but have no ops: PyTorch records them only on request."""
    host, threads = found.host, found.trace.threads
    calls = host.rows(Role.PYTHON)
    if (host.thread[calls] != found.trace.slices.thread[host.slice[calls]]).any():
        yield Note(
            "Python calls were recorded without their thread; they count as those of the only "
            "thread that can have made them.",
            _TIMES,
        )
    calling = np.unique(host.thread[np.flatnonzero(found.calls.instance >= 0)])
    is_lost = np.array([threads.thread[one] == NO_THREAD for one in calling.tolist()], np.bool_)
    if is_lost.any():
        yield Note(
            "Python calls were recorded without their thread (it is 0), so the modules and the "
            "code lines of ops are unknown.",
            _TIMES | Subject.CODE,
        )
    if silent := len(np.setdiff1d(calling[~is_lost], host.thread[host.rows(Role.OP)])):
        silently = counted(silent, "thread", "threads")
        yield Note(
            f"{silently} called modules, but the ops were not recorded; record all threads, for "
            "example with tfprof.capture(all_threads=True).",
            _TIMES,
        )


def _unattributed(trace: Trace, found: Interpreted, ops: Sites) -> Iterator[Note]:
    launched = found.launched
    kernels = np.flatnonzero(launched.is_kernel)
    if count := launched.without_kernel:
        yield Note(_lost(count, has_kernels=bool(len(kernels))), _KERNELS)
    unknown = kernels[ops.inside[ops.of_activity[kernels]] < 0]
    is_early = _started_before_launches(trace, found, unknown)
    if len(rows := unknown[is_early]):
        text = counted(len(rows), "kernel was", "kernels were")
        yield Note(
            f"{text} launched before the recording, so the module is unknown: "
            f"{_device_time(trace, found, rows)}.",
            _KERNELS,
        )
    if len(rows := unknown[~is_early]):
        text = counted(len(rows), "kernel has", "kernels have")
        yield Note(
            f"{text} no recorded launch and no module: {_device_time(trace, found, rows)}.",
            _KERNELS,
        )
    copies = np.flatnonzero(~launched.is_kernel)
    if len(rows := copies[launched.call[copies] < 0]):
        text = counted(len(rows), "copy or fill has", "copies and fills have")
        nanos = int(trace.slices.duration_ns[launched.slice[rows]].sum())
        yield Note(
            f"{text} no recorded launch, and so no op: {nanos // NANOS_PER_MICRO:,} microseconds.",
            _KERNELS,
        )
    if launched.ambiguous:
        text = counted(launched.ambiguous, "kernel or copy has", "kernels and copies have")
        yield Note(
            f"{text} several launches with the same number, and so none; are these the events of "
            "several ranks? Give one file per rank.",
            _KERNELS,
        )
    if len(rows := kernels[launched.in_graph[kernels]]):
        text = counted(len(rows), "kernel", "kernels")
        yield Note(
            f"{text} of CUDA graphs ({_device_time(trace, found, rows)}) count for the op, the "
            "module and the phase that launched the graph; what is inside it is not recorded.",
            _KERNELS,
        )


def _started_before_launches(trace: Trace, found: Interpreted, rows: Ints) -> Bools:
    """Which of these activities started before the first launch in the recording."""
    calls = found.launched.call[found.launched.call >= 0]
    start: Ints = trace.slices.start_ns[found.launched.slice[rows]]
    if not len(calls):
        return np.zeros(len(rows), np.bool_)
    is_early: Bools = (start > 0) & (start < found.host.start_ns[calls].min())
    return is_early


def _lost(count: int, *, has_kernels: bool) -> str:
    """A note on launches whose kernels are missing."""
    if not has_kernels:
        kernels = counted(count, "was", "were")
        return (
            f"no kernels were recorded, although {kernels} launched, so the time of accelerators "
            "is unknown; record with `ProfilerActivity.CUDA`, and no other profiler meanwhile."
        )
    launches = counted(count, "launch has no kernel", "launches have no kernels")
    return (
        f"{launches} in the trace: these were dropped when recording, or captured by a CUDA graph; "
        "their time is not counted."
    )


def _device_time(trace: Trace, found: Interpreted, rows: Ints) -> str:
    """The time of these activities, and its share of that of all kernels."""
    durations = trace.slices.duration_ns[found.launched.slice]
    nanos, total = int(durations[rows].sum()), int(durations[found.launched.is_kernel].sum())
    share = nanos / max(total, 1)
    return f"{nanos // NANOS_PER_MICRO:,} microseconds, {share:.2%} of the device time"
