"""Notes on a trace: what it lacks, and what could not be attributed."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from tfprof.columns import Ints
from tfprof.errors import shortened
from tfprof.formats.kineto.columns import MISSING, Trace
from tfprof.model.notes import FileNote, Note, Subject
from tfprof.model.ops import Phase
from tfprof.sources.kineto import launch_notes
from tfprof.sources.kineto.compiled import COMPILED
from tfprof.sources.kineto.host import Role
from tfprof.sources.kineto.interpreted import Interpreted
from tfprof.sources.kineto.lost_threads import NO_THREAD
from tfprof.sources.kineto.missing_ops import of_missing_ops
from tfprof.sources.kineto.sites import Sites
from tfprof.units import counted, format_nanos

# Others are about the program, or about times that are noted anyway.
_LOSS = re.compile(r"exceeded|dropped|lost\b|terminating tracing|stopped early", re.IGNORECASE)
_LONGEST_WARNING = 120
_KERNELS = Subject.TIME | Subject.STEPS
_TIMES = _KERNELS | Subject.MEMORY | Subject.FLOAT_OPS
_NOTABLE = 0.01  # the least share of the device time in unknown phases that a note is about


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
    yield from of_missing_ops(found)
    yield from _slowness(trace, found)
    yield from _missing(trace, found)
    yield from launch_notes.of_launches(found, ops)
    yield from _phases(trace, found, ops)
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
    if trace.zero_bytes:
        yield Note(
            f"{trace.zero_bytes:,} bytes of the file are 0, as if a copy or a disk had failed: "
            "events there are missing, and those beside them may be wrong; fetch it again.",
            _TIMES,
        )
    if trace.clamped_events:
        events = counted(trace.clamped_events, "event has", "events have")
        yield Note(f"{events} an impossible duration, which counts as 0.", _KERNELS)
    if trace.repeated_events:
        events = counted(trace.repeated_events, "event is", "events are")
        yield Note(f"{events} in the file more than once, and counted once.", _TIMES)
    if trace.impossible_activities:
        text = counted(trace.impossible_activities, "kernel or copy ends", "kernels or copies end")
        yield Note(
            f"{text} after later ones on the same stream, which is impossible: their "
            f"{format_nanos(trace.impossible_ns)} are not counted, so device times are at least "
            "what is shown.",
            _KERNELS,
        )
    if trace.unplaced_events:
        events = counted(trace.unplaced_events, "event has", "events have")
        yield Note(
            f"{events} no start time (it is 0): kernels and copies count with their durations, "
            "but others were left out.",
            _TIMES,
        )
    if warning := _warning(trace.header):
        yield Note(f"PyTorch's profiler lost events: {warning}", _TIMES)
    if not trace.is_complete:
        yield Note("no event ends the recording; is it complete?", _TIMES)


def _warning(header: Mapping[str, Any]) -> str:
    """What the profiler reported about events that it could not record, or an empty text."""
    for level in ("ERROR", "WARNING"):
        reported = header.get(level)
        for text in reported if isinstance(reported, list) else ():
            if isinstance(text, str) and _LOSS.search(text):
                return shortened(" ".join(text.split()), _LONGEST_WARNING)
    return ""


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
        yield from _lost_steps(found.marks.number)
        return
    if len(found.marks.start_ns):
        yield Note("no step markers; a step ends with each call of the optimizer.", _TIMES)
    else:
        yield Note(
            "no step markers, so everything counts as one step; call `step()` after each step, of "
            "torch.profiler with a `schedule` or of tfprof.capture.",
            _TIMES,
        )


def _lost_steps(number: Ints) -> Iterator[Note]:
    """A note on steps that are missing between others."""
    lost = np.diff(number) - 1
    if (lost > 0).any():
        before = int(number[np.argmax(lost > 0)])
        count = int(lost[lost > 0].sum())
        steps = counted(count, "step is", "steps are")
        yield Note(
            f"{steps} missing in the middle, the first after step {before:,}; the step before "
            "them seems to last until the next one.",
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


def _phases(trace: Trace, found: Interpreted, ops: Sites) -> Iterator[Note]:
    """Which launched kernels are in no phase, although the trace is of a training step."""
    kernels = np.flatnonzero(found.launched.is_kernel)
    site = ops.of_activity[kernels]
    unknown = kernels[(ops.phase[site] == Phase.OTHER) & (ops.inside[site] >= 0)]
    durations = trace.slices.duration_ns[found.launched.slice]
    if durations[unknown].sum() > _NOTABLE * durations[kernels].sum():
        text = counted(len(unknown), "kernel was", "kernels were")
        yield Note(
            f"{text} launched outside of the known phases of a step: "
            f"{launch_notes.device_time(found, unknown)}; `with record_function('optimizer'):` and "
            "the like around the parts of the program tell their phases.",
            Subject.STEPS,
        )
