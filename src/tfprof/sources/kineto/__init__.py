"""Kineto traces of PyTorch programs: the runs of ops and kernels by module, line and step."""

from __future__ import annotations

from pathlib import PurePath

from tfprof.formats import kineto
from tfprof.metrics import Need
from tfprof.model.between_files import TracedProgram
from tfprof.model.builder import ProfileBuilder
from tfprof.model.recordings import UNKNOWN_RANK, Recording
from tfprof.sources.kineto import notes, runs
from tfprof.sources.kineto.compiled_lines import located
from tfprof.sources.kineto.definitions import add_calls, add_layers, add_ops
from tfprof.sources.kineto.devices import TraceDevices
from tfprof.sources.kineto.groups import group_titles
from tfprof.sources.kineto.interpreted import Interpreted, interpreted
from tfprof.sources.kineto.model import model_of
from tfprof.sources.kineto.momentary import united
from tfprof.sources.kineto.programs import program_of, require_same
from tfprof.sources.kineto.scopes import Scopes
from tfprof.sources.kineto.sites import sites
from tfprof.sources.source import FileSummary, InputFile, summary


def read(file: InputFile) -> Interpreted:
    """The events, and what each of them belongs to."""
    return interpreted(kineto.read(file.content))


def add(found: Interpreted, builder: ProfileBuilder, file: InputFile) -> FileSummary:
    """Add the recording of one rank.

    Raises `OptionError` if it is of another program than the traces before it.
    """
    program = program_of(found.trace, found.calls.instances, file.path)
    require_same(builder.between.traced_programs, program)
    builder.between.traced_programs.append(program)
    if (beside := builder.between.beside.get(str(PurePath(file.path).parent))) is not None:
        found = found.with_facts(beside)
    trace = found.trace
    if builder.between.compiled_graphs:
        found = located(found, builder.between.compiled_graphs)
    model = model_of(found, builder.held, builder.between.module_names, file.path)
    found, model = united(found, model)
    scopes = Scopes(model.paths, group_titles(trace))
    ops = sites(
        trace.slices,
        found.host,
        found.belonging,
        found.launched,
        found.waiting,
        scopes,
        builder.shared_names,
    )
    row = builder.add_recording(_described(program))
    devices = TraceDevices(builder, row, trace)
    ids = add_ops(found, ops, builder, file.path)
    add_layers(found, ops, model, builder)
    add_calls(found, ops, ids, builder)
    if model.root:
        builder.define_held(model.root)
    counted = runs.TraceRuns(found, ops, ids, devices, builder, row).add(file.path)
    if not found.calls.frames:
        builder.remedies[Need.CODE] = "a trace that was recorded with `with_stack=True`"
    if not len(ops):
        builder.remedies[Need.RUNS] = f"a trace with ops; {file.path} contains none"
    builder.notes += notes.of_trace(trace, found, ops, file.path)
    if not builder.held:
        builder.notes.append(notes.without_parameters(file.path))
    builder.notes += model.notes(file.path)
    return summary(
        file,
        builder.device_names(row),
        ops=len(ops) - len(ops.kernel),
        modules=len(found.calls.instances.once),
        steps=len(builder.runs.step_numbers(row)),
        runs=counted,
        kernels=int(found.launched.is_kernel.sum()),
    )


def _described(program: TracedProgram) -> Recording:
    """The recording of the rank that the trace names, or else of the file."""
    name = PurePath(program.path).name
    name = name.removesuffix(".gz").removesuffix(".json").removesuffix(".pt.trace")
    return Recording(
        label=name if program.rank == UNKNOWN_RANK else f"rank{program.rank}",
        rank=program.rank,
        framework="pytorch",
        source="kineto",
        file=program.path,
    )
