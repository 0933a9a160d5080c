"""A trace, and what its events mean."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from tfprof.columns import Ints
from tfprof.formats.kineto.columns import Trace
from tfprof.model.between_files import BesideTrace, HeldTensor
from tfprof.model.ops import Phase
from tfprof.sources.kineto.arguments import with_inputs
from tfprof.sources.kineto.belonging import Belonging, belonging
from tfprof.sources.kineto.compiled import CompiledCalls, compiled_calls
from tfprof.sources.kineto.faults import sound
from tfprof.sources.kineto.host import Host, nested
from tfprof.sources.kineto.launches import Launches, launches, waiting_calls
from tfprof.sources.kineto.python_calls import PythonCalls, python_calls, renamed
from tfprof.sources.kineto.steps import StepMarks, step_marks


@dataclass(frozen=True, slots=True, eq=False)
class Interpreted:
    """A trace and what its events mean."""

    trace: Trace
    host: Host
    calls: PythonCalls
    belonging: Belonging
    launched: Launches
    waiting: Ints  # rows of `Host`: calls that wait for an accelerator, except in collectives
    marks: StepMarks
    compiled: CompiledCalls
    usual_step_ns: int = 0  # how long a step took that was not recorded, 0 if unknown
    tensors: Sequence[HeldTensor] = ()  # of the model and its optimizers
    momentary: frozenset[str] = frozenset()  # modules that were deleted, by their names
    located: Ints | None = None  # ops of `compiled` with lines; None if no file has such lines

    def with_facts(self, beside: BesideTrace) -> Interpreted:
        """The same trace with what the file beside it states."""
        found = self
        if len(beside.modules):
            found = interpreted(renamed(self.trace, beside.modules))
        calls = found.calls.at_lines(found.host, found.trace.base_ns, beside.lines)
        return replace(
            found,
            trace=with_inputs(found.trace, beside.inputs),
            calls=calls,
            belonging=found.belonging.at_lines(calls),
            usual_step_ns=beside.usual_step_ns,
            tensors=beside.tensors,
            momentary=beside.momentary,
        )


def interpreted(trace: Trace) -> Interpreted:
    """What each event of a trace belongs to."""
    host = nested(trace)
    if (checked := sound(trace, host)) is not trace:
        trace, host = checked, nested(checked)
    calls = python_calls(trace.slices, host)
    owners = belonging(trace, host, calls)
    launched = launches(trace.slices, host, trace.threads.process.codes)
    waiting = waiting_calls(trace.slices, host, launched)
    return Interpreted(
        trace=trace,
        host=host,
        calls=calls,
        belonging=owners,
        launched=launched,
        waiting=waiting[owners.phase[waiting] != Phase.COMMUNICATION],
        marks=step_marks(trace.slices, host, owners.phase),
        compiled=compiled_calls(trace.slices, host),
    )
