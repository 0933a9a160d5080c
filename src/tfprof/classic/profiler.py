"""`profile`, `advise` and `Profiler` for live graphs, with the interface of the original."""

from __future__ import annotations

from collections.abc import Mapping
from os import PathLike, fspath
from typing import Any

from tfprof import atomic_files, terminal
from tfprof.api import Profile
from tfprof.classic import op_log as logs
from tfprof.classic.answers import answer
from tfprof.classic.default_graph import graph_or_default
from tfprof.classic.option_builder import ProfileOptionBuilder
from tfprof.classic.question import report
from tfprof.classic.seen_graph import SeenGraph
from tfprof.formats.content import Content
from tfprof.formats.messages import Message, message_class
from tfprof.frameworks import tensorflow
from tfprof.model.builder import ProfileBuilder
from tfprof.outputs import profile_proto
from tfprof.sources.registry import BY_NAME, remedies
from tfprof.sources.source import InputFile

_VIEWS = ("scope", "graph", "code", "op")

# The original's checkers; tfprof's own run only if `options` names them.
ALL_ADVICE: dict[str, dict[str, str]] = {
    "ExpensiveOperationChecker": {},
    "AcceleratorUtilizationChecker": {},
    "JobChecker": {},
    "OperationChecker": {},
}

_RECORDING = "session"  # all runs of a profiler belong to one recording

_DEFAULT = 0  # no options given, as in the original; None means no checkers


def profile(
    graph: Any = None,
    run_meta: Any = None,
    op_log: Any = None,
    cmd: str = "scope",
    options: Any = _DEFAULT,
) -> Message:
    """Profile a graph and, if `run_meta` is given, a run of it.

    Returns a GraphNodeProto (`scope`, `graph`) or a MultiGraphNodeProto (`op`, `code`), and writes
    the table to the output set in `options` (default: standard output). Without `options` it shows
    the parameters of trainable variables.
    """
    if cmd not in _VIEWS:
        raise tensorflow().errors.InvalidArgumentError(None, None, f"unknown cmd: {cmd}\n")
    asked = (
        ProfileOptionBuilder.trainable_variables_parameter() if _is_default(options) else options
    )
    return answer(_once(graph, run_meta, op_log, add_trace=cmd == "code"), cmd, asked)


def advise(graph: Any = None, run_meta: Any = None, options: Any = _DEFAULT) -> Message:
    """Suggest optimisations: print them and return them as an AdviceProto.

    The keys of `options` name the checkers to run; by default the original's.
    """
    asked = ALL_ADVICE if _is_default(options) else options
    return _advice(_once(graph, run_meta, None, add_trace=True), asked)


def _is_default(options: Any) -> bool:
    return isinstance(options, int) and options == _DEFAULT


def _once(graph: Any, run_meta: Any, op_log: Any, *, add_trace: bool) -> Profile:
    """The profile of a graph and at most one run, as step 0."""
    graph = graph_or_default(graph)
    inputs = _Inputs()
    if graph is not None:
        seen = SeenGraph(graph)
        if run_meta is not None:
            seen.add_shapes(run_meta)
        log = logs.build(seen, op_log, add_trace=add_trace)
        inputs.add("graph", seen.definition())
    if run_meta is not None and run_meta.HasField("step_stats"):
        inputs.add("run_meta", run_meta, step=0)
    if graph is not None:
        inputs.add("op_log", log)
    return inputs.loaded()


class Profiler:
    """Profiles several runs of a graph, together or step by step.

    Any number of profilers can exist at once. `op_log` adds types, float ops or code lines to those
    found in the graph.
    """

    def __init__(self, graph: Any = None, op_log: Any = None) -> None:
        self._inputs = _Inputs()
        self._seen: SeenGraph | None = None
        self._version = -1
        self._logs = 0
        self._traced: set[str] = set()
        self._switch_to(graph_or_default(graph))
        self._add_graph()
        self._add_log(op_log)

    def add_step(self, step: int, run_meta: Any) -> None:
        """Add a traced run as `step`; further runs of the same step add up."""
        if not run_meta.HasField("step_stats"):
            report(
                f"step {step} is skipped: its RunMetadata contains no step statistics; "
                "run it with RunOptions(trace_level=FULL_TRACE)."
            )
            return
        if self._seen is not None:
            self._seen.add_shapes(run_meta)
        self._add_graph()
        self._inputs.add("run_meta", run_meta, step=step, label=f"run_meta of step {step}")
        self._add_log(None)

    def profile_python(self, options: Mapping[str, Any]) -> Message:
        """Profile ops by the code line that created them; returns a MultiGraphNodeProto."""
        return answer(self.loaded, "code", options)

    def profile_operations(self, options: Mapping[str, Any]) -> Message:
        """Profile ops by op type; returns a MultiGraphNodeProto."""
        return answer(self.loaded, "op", options)

    def profile_name_scope(self, options: Mapping[str, Any]) -> Message:
        """Profile ops by name scope; returns a GraphNodeProto."""
        return answer(self.loaded, "scope", options)

    def profile_graph(self, options: Mapping[str, Any]) -> Message:
        """Profile ops by graph structure, inputs below each op; returns a GraphNodeProto."""
        return answer(self.loaded, "graph", options)

    def advise(self, options: Mapping[str, Any] | None) -> Message:
        """Run the checkers named in `options`; prints their reports and returns an AdviceProto."""
        return _advice(self.loaded, options)

    def serialize_to_string(self) -> bytes:
        """Everything added so far as a serialised ProfileProto, which `tfprof.load` can read."""
        return b"".join(profile_proto.encode(self.loaded.columns))

    @property
    def loaded(self) -> Profile:
        """Everything added so far as a `Profile`: `profiler.loaded.memory()`."""
        return self._inputs.loaded()

    @property
    def _coverage(self) -> float:
        """The fraction of ops that have run in an added step."""
        columns = self.loaded.columns
        return columns.covered_ops / (len(columns.ops) + 1e-10)

    def _write_profile(self, filename: str | PathLike[str]) -> None:
        """Write everything added so far to one file, atomically."""
        atomic_files.write(fspath(filename), profile_proto.encode(self.loaded.columns))

    def _switch_to(self, graph: Any) -> None:
        """Treat further steps as runs of `graph`; everything added so far is kept."""
        if graph is not None and (self._seen is None or not self._seen.wraps(graph)):
            self._seen, self._version = SeenGraph(graph), -1

    def _add_graph(self) -> None:
        """Add the graph if it has changed since it was last added."""
        if self._seen is not None and self._version != self._seen.version:
            self._version = self._seen.version
            self._inputs.add("graph", self._seen.definition())

    def _add_log(self, op_log: Any) -> None:
        if self._seen is None:
            return
        # Report uncounted ops for the graph alone and after its first run, but not for each run.
        self._logs += 1
        log = logs.build(
            self._seen, op_log, traced_ops=self._traced, reports_uncounted=self._logs <= 2
        )
        self._traced.update(op.name for op in self._seen.get_operations())
        self._inputs.add("op_log", log)


class _Inputs:
    """The inputs of a profile, in the order they were added."""

    def __init__(self) -> None:
        self._read: list[tuple[InputFile, Any]] = []
        self._loaded: Profile | None = None
        self._reported = 0

    def add(self, source: str, message: Any, *, step: int | None = None, label: str = "") -> None:
        """Read a message with the source of that name; later changes to it have no effect."""
        content = Content.of_bytes(label or source, message.SerializeToString())
        file = InputFile(content, BY_NAME[source], step, _RECORDING)
        self._read.append((file, file.source.read(file)))
        self._loaded = None

    def loaded(self) -> Profile:
        """The profile of all inputs; notes on new inputs are reported."""
        if self._loaded is None:
            # The op logs contain the float ops, as TensorFlow counts them.
            builder = ProfileBuilder(counts_float_ops=False)
            builder.remedies |= remedies(file.source for file, _ in self._read)
            for file, found in self._read:
                file.source.add(found, builder, file)
            self._loaded = Profile(builder.build())
            for note in builder.notes[self._reported :]:
                report(note)
            self._reported = len(builder.notes)
        return self._loaded


def _advice(profile: Profile, options: Mapping[str, Any] | None) -> Message:
    """Run the named checkers; unknown names are reported and skipped."""
    from tfprof.advisor import registry  # noqa: PLC0415 -- only advice needs it

    known = {*registry.names(), "JobChecker"}
    for name in options or ():
        if name not in known:
            report(f"unknown checker `{name}` is skipped.")
    asked = [name for name in options or () if name in known]
    if not asked:
        return message_class("tensorflow.tfprof.AdviceProto")()
    found = profile.advise(asked)
    for note in found.notes:
        report(note)
    terminal.write([found.text()])
    print(end="", flush=True)
    return found.to_message()
