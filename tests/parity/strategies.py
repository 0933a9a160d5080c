"""Small, nasty profiles and questions about them, for hypothesis.

Values come from short pools on purpose: ties, shared prefixes, thresholds that are just met and
ops that meet again on another device are what tells two profilers apart.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Any

from hypothesis import strategies as st
from parity.original import Inputs

from tfprof.formats.messages import Message, message_class
from tfprof.metrics import BY_KEY, ORDER_KEYS, THRESHOLD_KEYS

GraphDef = message_class("tensorflow.GraphDef")
RunMetadata = message_class("tensorflow.RunMetadata")
OpLogProto = message_class("tensorflow.tfprof.OpLogProto")

_PARTS = ("a", "a", "a", "b", "b", "w", "a-b", "a.b", "A", "long_scope_name", "é")
_ODD_NAMES = ("x//y", "x/", "/a", "a/", "/", "//", "a//b/w", "a/b//", "x")
_NOT_OPS = ("RecvTensor", "_SOURCE", "edge_1_MEMCPYDtoH", "b/MEMCPY/w")
_KINDS = (
    "VariableV2",
    "Conv2D",
    "MatMul",
    "AddN",
    "Identity",
    "Placeholder",
    "ResourceApplyGradientDescent",
)
_TYPES = ("_trainable_variables", "my_type", "MatMul", "type with space", "_kTFScopeParent")
_DIMS = (-1, 0, 1, 2, 3, 8, 1000, 70_000)
_DEVICES = (
    "/job:localhost/replica:0/task:0/device:CPU:0",
    "/JOB:localhost/Replica:0/task:0/Device:cpu:0",
    "/device:GPU:0",
    "/gpu:0",
    "/gpu:0/stream:all",
    "/device:GPU:0/Stream:ALL",
    "/gpu:0/stream:13",
    "/gpu:0/memcpy",
    "/job:worker/gpu:1",
    "/device:TPU:0",
    "cpu:0",
    "/cpu:12",
    "/cpu:x",
    "",
)
_ALLOCATORS = ("cpu", "GPU_0_bfc", "gpu_host_bfc", "GPU_1_bfc", "")
_BYTES = (0, 1, 8, 64, 999, 1000, 4096, 999_995, 3_000_000_000_000)
_MICROS = (0, 0, 1, 2, 3, 7, 1000, 2675, 999_995, 4_000_000)
_STARTS = (0, 5, 100, 101, 1_500_000_000_000_000)
_FLOAT_OPS = (0, 1, 3, 110, 1005, 2675, 999_995, 17_630_000_000)
_STEPS = (0, 1, 5, 9, 200)

# The strings of an op log, by id; long names are cut, two of them to the same beginning.
_STRINGS = {
    1: "/home/user/model.py",
    2: "model.py",
    3: "C:\\code\\net.py",
    4: "lib/é.py",
    5: "",
    10: "f",
    11: "a_function_of_twenty",
    12: "a_function_of_more_letters",
    13: "nineteen_characters",
    14: "<lambda>",
    15: "fünfzehn_und_mehr_zeichen",
    20: "x = f(y)",
}
_FILES = (1, 2, 3, 4, 5)
_FUNCTIONS = (10, 11, 12, 13, 14, 15)


@dataclass(frozen=True)
class Case:
    """A question and the files it is about."""

    graph: Message
    run_meta: dict[int, Message]
    op_log: Message | None
    view: str
    options: dict[str, Any]

    @property
    def inputs(self) -> Inputs:
        return Inputs(
            self.graph.SerializeToString(deterministic=True),
            {step: run.SerializeToString(deterministic=True) for step, run in self.run_meta.items()},
            self.op_log.SerializeToString(deterministic=True) if self.op_log is not None else None,
        )

    def asking(self, **options: Any) -> Case:
        """The same files, asked differently."""
        return replace(self, options=self.options | options)


@st.composite
def cases(draw, view: str, *, steps: int = 3) -> Case:
    """A case of `view`; for the code view there are code lines to show."""
    graph = draw(graphs())
    names = [node.name for node in graph.node]
    run_meta = {
        step: draw(runs(names))
        for step in draw(st.lists(st.sampled_from(_STEPS), unique=True, max_size=steps))
    }
    seen = {entry.node_name for run in run_meta.values() for entry in _entries(run)}
    log = op_logs([*names, *sorted(seen)], wants_code=view == "code")
    op_log = draw(log if view == "code" else st.none() | log)
    types = {*_KINDS, *_TYPES, *(device.lower() for device in _DEVICES)}
    asked = draw(options(_row_names(view, names, op_log), sorted(types), list(run_meta)))
    return Case(graph, run_meta, op_log, view, asked)


def names() -> st.SearchStrategy[str]:
    """Names of ops: scopes, odd slashes, shared beginnings, gradients."""
    scoped = st.lists(st.sampled_from(_PARTS), min_size=1, max_size=4).map("/".join)
    gradient = st.builds(
        "{}gradients/{}_grad/{}".format,
        st.sampled_from(("", "", "a/", "train/")),
        scoped | st.sampled_from(("", "a_grad/b")),
        st.sampled_from(_PARTS),
    )
    backwards = st.builds("a_grad/{}/gradients/{}".format, scoped, scoped)
    return st.one_of(scoped, scoped, scoped, st.sampled_from(_ODD_NAMES), gradient, backwards)


@st.composite
def graphs(draw) -> Message:
    """A GraphDef of up to 25 nodes, some defined twice."""
    graph = GraphDef()
    defined = draw(st.lists(names(), min_size=8, max_size=25) | st.lists(names(), max_size=8))
    sources = st.sampled_from([*defined, "missing", "gone/away"])
    edges = st.builds(
        "{}{}{}".format,
        st.sampled_from(("", "", "", "^")),
        sources,
        st.sampled_from(("", "", "", ":0", ":1", ":1:2")),
    )
    for name in defined:
        node = graph.node.add(name=name, op=draw(st.sampled_from(_KINDS)))
        node.input.extend(draw(st.lists(edges, max_size=3)))
        _add_shapes(draw, node)
    return graph


def _add_shapes(draw, node: Message) -> None:
    own = draw(st.none() | st.just("a number") | st.just("unknown") | _dims)
    if own == "a number":
        node.attr["shape"].i = 3
    elif own is not None:
        _set_shape(node.attr["shape"].shape, own)
    outputs = draw(st.none() | st.lists(st.just("unknown") | _dims, max_size=2))
    if outputs is not None:
        node.attr["_output_shapes"].list.SetInParent()
        for dims in outputs:
            _set_shape(node.attr["_output_shapes"].list.shape.add(), dims)


_dims = st.lists(st.sampled_from(_DIMS), max_size=3)


def _set_shape(shape: Message, dims: str | list[int]) -> None:
    shape.SetInParent()
    if dims == "unknown":
        shape.unknown_rank = True
        return
    for size in dims:
        shape.dim.add(size=size)


@st.composite
def runs(draw, known: list[str]) -> Message:
    """A RunMetadata with entries for known and unknown ops on a few devices."""
    run = RunMetadata()
    run.step_stats.SetInParent()
    entry_names = st.builds(
        "{}{}".format,
        st.sampled_from([*known, "extra", "extra/op", "a/b/extra", *_NOT_OPS]),
        st.sampled_from(("", "", "", ":MatMul", ":a:b")),
    )
    for name in draw(st.lists(st.sampled_from(_DEVICES), max_size=4)):
        device = run.step_stats.dev_stats.add(device=name)
        for node_name in draw(st.lists(entry_names, max_size=8)):
            entry = device.node_stats.add(
                node_name=node_name,
                all_start_micros=draw(st.sampled_from(_STARTS)),
                op_end_rel_micros=draw(st.sampled_from(_MICROS)),
            )
            if draw(st.booleans()):
                _add_memory(draw, entry)
    return run


def _add_memory(draw, entry: Message) -> None:
    size = st.sampled_from(_BYTES)
    for allocator in draw(st.lists(st.sampled_from(_ALLOCATORS), max_size=2)):
        entry.memory.add(
            allocator_name=allocator,
            total_bytes=draw(size),
            peak_bytes=draw(size),
            live_bytes=draw(size | st.sampled_from((-1, -64, -5000))),
        )
    for slot in draw(st.lists(st.integers(0, 2), max_size=2)):
        output = entry.output.add(slot=slot)
        if draw(st.booleans()):
            memory = output.tensor_description.allocation_description
            memory.SetInParent()
            memory.requested_bytes, memory.allocated_bytes = draw(size), draw(size)
    if draw(st.booleans()):
        entry.memory_stats.temp_memory_size = draw(size)
        entry.memory_stats.persistent_memory_size = draw(size)


def _entries(run: Message) -> list[Message]:
    return [entry for device in run.step_stats.dev_stats for entry in device.node_stats]


@st.composite
def op_logs(draw, known: list[str], *, wants_code: bool) -> Message:
    """An OpLogProto with entries for known and unknown ops, a few lines of code among them."""
    log = OpLogProto()
    frames = draw(st.lists(_frames, min_size=1, max_size=6))
    stacks = st.lists(st.sampled_from(frames), max_size=5)
    logged = st.sampled_from([*known, "stranger"])
    for name in draw(st.lists(logged, min_size=6 if wants_code else 0, max_size=25)):
        entry = log.log_entries.add(name=name, float_ops=draw(st.sampled_from(_FLOAT_OPS)))
        entry.types.extend(draw(st.lists(st.sampled_from(_TYPES), max_size=2)))
        if draw(st.booleans()) or wants_code:
            entry.code_def.SetInParent()
            for file, line, function in draw(stacks):
                entry.code_def.traces.add(
                    file_id=file, lineno=line, function_id=function, line_id=20, func_start_line=-1
                )
    log.id_to_string.update(_STRINGS)
    return log


_frames = st.tuples(
    st.sampled_from(_FILES), st.sampled_from((1, 2, 12, -1)), st.sampled_from(_FUNCTIONS)
)


def _row_names(view: str, names: list[str], op_log: Message | None) -> list[str]:
    """Names that rows of `view` may have, and beginnings of some."""
    if view == "op":
        return [*_KINDS, "extra"]
    if view == "code" and op_log is not None:
        return ["model.py:1:f", "net.py", "model.py:12:a_function_of_twe...", ":1:f (gradient)"]
    return [*names, "extra", "_TFProf", *(name.rpartition("/")[0] for name in names)]


@st.composite
def options(draw, row_names: list[str], types: list[str], steps: list[int]) -> dict[str, Any]:
    """Every option that a question has."""
    amounts = st.integers(-1, 3) | st.sampled_from((*_BYTES, *_MICROS, *_FLOAT_OPS))
    raised = st.dictionaries(st.sampled_from(THRESHOLD_KEYS), amounts, min_size=1, max_size=2)
    thresholds = dict.fromkeys(THRESHOLD_KEYS, 0) | draw(seldom(raised, {}))
    mostly_all, mostly_none = (seldom(regex_lists(row_names), usual) for usual in ([".*"], []))
    return {
        "max_depth": draw(seldom(st.integers(-1, 3), 12)),
        **{f"min_{key}": amount for key, amount in thresholds.items()},
        "step": draw(st.sampled_from((-1, -1, -7, *steps))),
        "order_by": draw(st.sampled_from(ORDER_KEYS)),
        "account_type_regexes": draw(seldom(regex_lists(types), [".*"])),
        "start_name_regexes": draw(mostly_all),
        "trim_name_regexes": draw(mostly_none),
        "show_name_regexes": draw(mostly_all),
        "hide_name_regexes": draw(mostly_none),
        "account_displayed_op_only": draw(st.booleans()),
        "select": draw(st.lists(st.sampled_from(tuple(BY_KEY)), unique=True)),
    }


def seldom(strategy: st.SearchStrategy[Any], usual: Any) -> st.SearchStrategy[Any]:
    """One in four times a draw from `strategy`, else `usual`; `one_of` has no weights."""
    return st.integers(0, 3).flatmap(lambda n: strategy if n == 3 else st.just(usual))


def regex_lists(texts: list[str]) -> st.SearchStrategy[list[str]]:
    """Lists of regexes that match some of `texts`, all of them, or nothing."""
    literal = st.sampled_from(texts).map(re.escape)
    regex = st.one_of(
        literal,
        literal.map("{}.*".format),
        literal.map(".*{}".format),
        literal.map("({}|b)/.*".format),
        st.sampled_from((".*", "", "[a-c].*", ".*/.*", "(?i)A.*", ".", r"\w+", "nothing")),
    )
    return st.lists(regex, max_size=3)
