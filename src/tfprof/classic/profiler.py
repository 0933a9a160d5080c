"""`profile`, `advise` and `Profiler`: a live graph and its runs, asked as the original is."""

from __future__ import annotations

from collections.abc import Mapping
from os import PathLike, fspath
from typing import Any

from tfprof.api import Profile
from tfprof.classic import op_log as logs
from tfprof.classic.answers import answer
from tfprof.classic.default_graph import graph_or_default
from tfprof.classic.option_builder import ProfileOptionBuilder
from tfprof.classic.question import tell
from tfprof.classic.seen_graph import SeenGraph
from tfprof.formats.content import Content
from tfprof.formats.messages import Message, message_class
from tfprof.frameworks import tensorflow
from tfprof.model.builder import ProfileBuilder
from tfprof.outputs import profile_proto
from tfprof.outputs.registry import write_file
from tfprof.sources.registry import BY_NAME, remedies
from tfprof.sources.source import InputFile

_VIEWS = ("scope", "graph", "code", "op")

# The checkers that the original has; those of tfprof are asked by name.
ALL_ADVICE: dict[str, dict[str, str]] = {
    "ExpensiveOperationChecker": {},
    "AcceleratorUtilizationChecker": {},
    "JobChecker": {},
    "OperationChecker": {},
}

_RECORDING = "session"  # all runs of a profiler are of one program

_DEFAULT = 0  # options that nobody gave, as the original marks them; None is no checkers


def profile(
    graph: Any = None,
    run_meta: Any = None,
    op_log: Any = None,
    cmd: str = "scope",
    options: Any = _DEFAULT,
) -> Message:
    """One answer about a graph, and with `run_meta` about a run of it.

    You get a GraphNodeProto (`scope`, `graph`) or a MultiGraphNodeProto (`op`, `code`); the table
    goes to where `options` say, the standard output unless they say otherwise. Without options it
    shows the parameters of trainable variables.
    """
    if cmd not in _VIEWS:
        raise tensorflow().errors.InvalidArgumentError(None, None, f"unknown cmd: {cmd}\n")
    asked = (
        ProfileOptionBuilder.trainable_variables_parameter() if _is_default(options) else options
    )
    return answer(_once(graph, run_meta, op_log, add_trace=cmd == "code"), cmd, asked)


def advise(graph: Any = None, run_meta: Any = None, options: Any = _DEFAULT) -> Message:
    """What could be better, as an AdviceProto, and printed.

    `options` is a dict of checkers; without it the original's are asked.
    """
    asked = ALL_ADVICE if _is_default(options) else options
    return _advice(_once(graph, run_meta, None, add_trace=True), asked)


def _is_default(options: Any) -> bool:
    return isinstance(options, int) and options == _DEFAULT


def _once(graph: Any, run_meta: Any, op_log: Any, *, add_trace: bool) -> Profile:
    """A profile of a graph and at most one run, which is step 0."""
    graph = graph_or_default(graph)
    inputs = _Inputs()
    if graph is not None:
        seen = SeenGraph(graph)
        if run_meta is not None:
            seen.see(run_meta)
        log = logs.build(seen, op_log, add_trace=add_trace)
        inputs.add("graph", seen.definition())
    if run_meta is not None and run_meta.HasField("step_stats"):
        inputs.add("run_meta", run_meta, step=0)
    if graph is not None:
        inputs.add("op_log", log)
    return inputs.loaded()


class Profiler:
    """Several runs of a graph, asked together or step by step; any number may live at once.

    `op_log` gives ops types, float ops or lines of code beside those that are found.
    """

    def __init__(self, graph: Any = None, op_log: Any = None) -> None:
        self._inputs = _Inputs()
        self._seen: SeenGraph | None = None
        self._version = -1
        self._logs = 0
        self._traced: set[str] = set()
        self._look_at(graph_or_default(graph))
        self._add_graph()
        self._add_log(op_log)

    def add_step(self, step: int, run_meta: Any) -> None:
        """Add a traced run as `step`; further runs of the same step add up."""
        if not run_meta.HasField("step_stats"):
            tell(
                f"step {step} is left out: its RunMetadata holds no step statistics; "
                "run it with RunOptions(trace_level=FULL_TRACE)."
            )
            return
        if self._seen is not None:
            self._seen.see(run_meta)
        self._add_graph()
        self._inputs.add("run_meta", run_meta, step=step, label=f"run_meta of step {step}")
        self._add_log(None)

    def profile_python(self, options: Mapping[str, Any]) -> Message:
        """Ops by the line of code that made them, as a MultiGraphNodeProto."""
        return answer(self.loaded, "code", options)

    def profile_operations(self, options: Mapping[str, Any]) -> Message:
        """Ops by kind, as a MultiGraphNodeProto."""
        return answer(self.loaded, "op", options)

    def profile_name_scope(self, options: Mapping[str, Any]) -> Message:
        """Ops by name scope, as a GraphNodeProto."""
        return answer(self.loaded, "scope", options)

    def profile_graph(self, options: Mapping[str, Any]) -> Message:
        """Ops by what feeds them, as a GraphNodeProto."""
        return answer(self.loaded, "graph", options)

    def advise(self, options: Mapping[str, Any] | None) -> Message:
        """What the checkers in `options` find, as an AdviceProto, and printed."""
        return _advice(self.loaded, options)

    def serialize_to_string(self) -> bytes:
        """All that was added, as the bytes of a ProfileProto, which `tfprof.load` reads too."""
        return b"".join(profile_proto.encode(self.loaded.columns))

    @property
    def loaded(self) -> Profile:
        """What was added so far, to be asked as files are: `profiler.loaded.memory()`."""
        return self._inputs.loaded()

    @property
    def _coverage(self) -> float:
        """How large a part of the ops was seen running."""
        columns = self.loaded.columns
        return columns.covered_ops / (len(columns.ops) + 1e-10)

    def _write_profile(self, filename: str | PathLike[str]) -> None:
        """Write all that was added to one file, which appears whole or not at all."""
        write_file(fspath(filename), profile_proto.encode(self.loaded.columns))

    def _look_at(self, graph: Any) -> None:
        """Take steps to be runs of `graph` from now on; what was seen of another stays."""
        if graph is not None and (self._seen is None or not self._seen.is_of(graph)):
            self._seen, self._version = SeenGraph(graph), -1

    def _add_graph(self) -> None:
        """Add the graph, unless it has not grown since; what it said of ops stays."""
        if self._seen is not None and self._version != self._seen.version:
            self._version = self._seen.version
            self._inputs.add("graph", self._seen.definition())

    def _add_log(self, op_log: Any) -> None:
        if self._seen is None:
            return
        # What the graph alone, and what the first run left uncounted, is worth a line each.
        self._logs += 1
        log = logs.build(self._seen, op_log, is_traced=self._traced, tells=self._logs <= 2)
        self._traced.update(op.name for op in self._seen.get_operations())
        self._inputs.add("op_log", log)


class _Inputs:
    """What a profile is made of, in the order in which it was added."""

    def __init__(self) -> None:
        self._read: list[tuple[InputFile, Any]] = []
        self._loaded: Profile | None = None
        self._told = 0

    def add(self, source: str, message: Any, *, step: int | None = None, label: str = "") -> None:
        """Add a message, as it is now, that a source of that name reads."""
        content = Content.of_bytes(label or source, message.SerializeToString())
        file = InputFile(content, BY_NAME[source], step, _RECORDING)
        self._read.append((file, file.source.read(file)))
        self._loaded = None

    def loaded(self) -> Profile:
        """The profile; what is odd about an input is told when it is first read."""
        if self._loaded is None:
            # Float ops are what TensorFlow says, which is in the logs.
            builder = ProfileBuilder(counts_float_ops=False)
            builder.remedies |= remedies(file.source for file, _ in self._read)
            for file, found in self._read:
                file.source.add(found, builder, file)
            self._loaded = Profile(builder.build())
            for note in builder.notes[self._told :]:
                tell(note)
            self._told = len(builder.notes)
        return self._loaded


def _advice(profile: Profile, options: Mapping[str, Any] | None) -> Message:
    """What checkers find; a name that nobody has is told, and asks nobody."""
    from tfprof.advisor import registry  # noqa: PLC0415 -- other questions do without

    known = {*registry.names(), "JobChecker"}
    for name in options or ():
        if name not in known:
            tell(f"there is no checker `{name}`.")
    asked = [name for name in options or () if name in known]
    if not asked:
        return message_class("tensorflow.tfprof.AdviceProto")()
    found = profile.advise(asked)
    for note in found.notes:
        tell(note)
    print(found.text(), end="", flush=True)
    return found.to_message()
