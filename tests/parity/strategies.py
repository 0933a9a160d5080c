"""Hypothesis strategies for small, nasty files and questions about them.

Values come from short pools on purpose, because two profilers differ most likely on ties, shared
prefixes, thresholds that are just met, and ops that run on several devices.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Any

from hypothesis import strategies as st

from original_keys import ORDER_KEYS, SELECTABLE, THRESHOLD_KEYS
from parity.original import Inputs
from tfprof.formats.messages import Message, message_class

GraphDef = message_class("tensorflow.GraphDef")
RunMetadata = message_class("tensorflow.RunMetadata")
OpLogProto = message_class("tensorflow.tfprof.OpLogProto")

_PARTS = ("a", "a", "a", "b", "b", "w", "a-b", "a.b", "A", "long_scope_name", "é")
_ODD_SLASHES = ("x//y", "x/", "/a", "a/", "/", "//", "a//b/w", "a/b//", "x")
_ODD_GRADIENTS = (
    "gradients/_grad/a",
    "gradients/a_grad/b_grad/w",
    "train/gradients/a/b_grad/w",
    "a_grad/b/gradients/a",
    "gradients/gradients/a_grad/b_grad/w",
    "gradients/b",
    "a_grad/gradients/",
)
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

# None is an unknown rank, -1 an unknown dimension.
_SHAPES = (None, (), (1,), (8, 4), (-1, 8), (0, 3), (1000,), (3, 3, 16), (70_000, 1000), (-1,))
_OUTPUTS = ((), ((),), ((2, 3),), ((-1, 8), (4,)), (None,), (None, (5,)), ((0,),), ((2, 3), None))

# No device has an empty name: the original confuses it with the device of ops that have none yet.
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
)
_ALLOCATORS = ("cpu", "GPU_0_bfc", "gpu_host_bfc", "GPU_1_bfc", "")
_BYTES = (0, 1, 8, 64, 999, 1000, 4096, 999_995, 3_000_000_000_000)
_MICROS = (0, 0, 1, 2, 3, 7, -3, 1000, 2675, 999_995, 4_000_000)
_STARTS = (0, 5, 100, 101, 102, 300, 1_500_000_000_000_000)
_FLOAT_OPS = (0, 1, 3, 110, 1005, 2675, 999_995, 17_630_000_000)
_STEPS = (0, 1, 5, 9, 200)

# The strings of an op log, by id. Long names are cut, and two of them to the same prefix.
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
_LINES = (1, 2, 12, -1)
_FUNCTIONS = (10, 11, 12, 13, 14, 15)

# What the original can select. An older generation could select one more.


@dataclass(frozen=True)
class Case:
    """A question and its input files."""

    graph: Message
    run_meta: dict[int, Message]
    op_log: Message | None
    view: str
    options: dict[str, Any]

    @property
    def inputs(self) -> Inputs:
        return Inputs(
            self.graph.SerializeToString(deterministic=True),
            {
                step: run.SerializeToString(deterministic=True)
                for step, run in self.run_meta.items()
            },
            self.op_log.SerializeToString(deterministic=True) if self.op_log is not None else None,
        )

    def asking(self, view: str, **options: Any) -> Case:
        """Another question about the same files."""
        return replace(self, view=view, options=self.options | options)


@st.composite
def cases(draw, view: str, *, can_be_saved: bool = False, min_steps: int = 0) -> Case:
    """A case for `view`; a profile that can be saved has an op, and all inputs of ops exist."""
    steps = draw(st.lists(st.sampled_from(_STEPS), unique=True, min_size=min_steps, max_size=3))
    missing = () if can_be_saved else ("missing", "gone/away")
    # At least one file is required.
    graph = draw(graphs(missing, min_size=1 if can_be_saved or not steps else 0))
    known = [node.name for node in graph.node]
    run_meta = {step: draw(runs(known)) for step in steps}
    seen = {entry.node_name for run in run_meta.values() for entry in _entries(run)}
    log = op_logs([*known, *sorted(seen)], wants_code=view == "code")
    op_log = draw(log if view == "code" else st.none() | log)
    types = (*_KINDS, *_TYPES, *(device.lower() for device in _DEVICES))
    asked = draw(options(_row_names(view, known), types, steps))
    return Case(graph, run_meta, op_log, view, asked)


def mostly(
    usual: st.SearchStrategy[Any], otherwise: st.SearchStrategy[Any]
) -> st.SearchStrategy[Any]:
    """Draw from `usual` in seven of eight cases; `one_of` has no weights."""
    return st.integers(0, 7).flatmap(lambda n: otherwise if n == 7 else usual)


_parts = st.sampled_from(_PARTS)
_names = mostly(
    st.lists(_parts, min_size=1, max_size=4).map("/".join),
    st.sampled_from(_ODD_SLASHES + _ODD_GRADIENTS),
)


@st.composite
def graphs(draw, missing: tuple[str, ...], *, min_size: int = 0) -> Message:
    """A GraphDef of up to 25 nodes, some defined twice, some gradients of others."""
    graph = GraphDef()
    few = st.lists(_names, min_size=min_size, max_size=8)
    many = st.lists(_names, min_size=8, max_size=20)
    defined = draw(few | many)
    if defined:
        gradient = st.builds("gradients/{}_grad/{}".format, st.sampled_from(defined), _parts)
        defined += draw(st.lists(gradient, max_size=5))
    written = ("{}", "{}", "^{}", "{}:0", "{}:1", "{}:1:2")
    sources = [form.format(name) for name in (*defined, *missing) for form in written]
    for name in defined:
        node = graph.node.add(name=name, op=draw(st.sampled_from(_KINDS)))
        node.input.extend(draw(st.lists(st.sampled_from(sources), max_size=3)))
        _add_shapes(draw, node)
    return graph


def _add_shapes(draw, node: Message) -> None:
    own = draw(st.sampled_from(("none", "a number", *_SHAPES)))
    if own == "a number":
        node.attr["shape"].i = 3
    elif own != "none":
        _set_shape(node.attr["shape"].shape, own)
    outputs = draw(st.sampled_from(("none", *_OUTPUTS)))
    if outputs != "none":
        shapes = node.attr["_output_shapes"].list
        shapes.SetInParent()
        for dims in outputs:
            _set_shape(shapes.shape.add(), dims)


def _set_shape(shape: Message, dims: tuple[int, ...] | None) -> None:
    shape.SetInParent()
    shape.unknown_rank = dims is None
    for size in dims or ():
        shape.dim.add(size=size)


@st.composite
def runs(draw, known: list[str]) -> Message:
    """A RunMetadata with entries for known and unknown ops on a few devices."""
    run = RunMetadata()
    run.step_stats.SetInParent()
    written = ("{}", "{}", "{}:MatMul", "{}:a:b")
    strangers = ("extra", "extra/op", "a/b/extra", "é/extra", *_NOT_OPS)
    entries = st.sampled_from(
        [form.format(name) for name in (*known, *strangers) for form in written]
    )
    for name in draw(st.lists(st.sampled_from(_DEVICES), max_size=4)):
        device = run.step_stats.dev_stats.add(device=name)
        for node_name in draw(st.lists(entries, max_size=8)):
            entry = device.node_stats.add(
                node_name=node_name,
                all_start_micros=draw(st.sampled_from(_STARTS)),
                op_end_rel_micros=draw(st.sampled_from(_MICROS)),
            )
            if draw(st.booleans()):
                _add_memory(draw, entry)
    return run


_allocations = st.lists(
    st.builds(
        dict,
        alloc_micros=st.sampled_from((-1, 0, 4, 5, 99, 100, 250)),
        alloc_bytes=st.sampled_from((*_BYTES, -8, -4096)),
    ),
    max_size=3,
)


def _add_memory(draw, entry: Message) -> None:
    size = st.sampled_from(_BYTES)
    for allocator in draw(st.lists(st.sampled_from(_ALLOCATORS), max_size=2)):
        entry.memory.add(
            allocator_name=allocator,
            total_bytes=draw(size),
            peak_bytes=draw(size),
            live_bytes=draw(st.sampled_from((*_BYTES, -1, -64, -5000))),
            allocator_bytes_in_use=draw(size),
            allocation_records=draw(_allocations),
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
    """An OpLogProto with entries for known and unknown ops, some with code lines."""
    log = OpLogProto()
    frames = draw(st.lists(_frames, min_size=1, max_size=6))
    stacks = mostly(st.lists(st.sampled_from(frames), min_size=1, max_size=5), st.just([]))
    logged = st.sampled_from([*known, "stranger"])
    for name in draw(st.lists(logged, min_size=6 if wants_code else 0, max_size=25)):
        entry = log.log_entries.add(name=name, float_ops=draw(st.sampled_from(_FLOAT_OPS)))
        entry.types.extend(draw(st.lists(st.sampled_from(_TYPES), max_size=2)))
        if wants_code or draw(st.booleans()):
            entry.code_def.SetInParent()
            for file, line, function in draw(stacks):
                entry.code_def.traces.add(
                    file_id=file, lineno=line, function_id=function, line_id=20, func_start_line=-1
                )
    log.id_to_string.update(_STRINGS)
    return log


_frames = st.tuples(*map(st.sampled_from, (_FILES, _LINES, _FUNCTIONS)))


def _row_names(view: str, known: list[str]) -> list[str]:
    """Names that rows of `view` may have, and parts of such names."""
    if view == "op":
        return [*_KINDS, "extra"]
    if view == "code":
        return ["model.py:1:f", "net.py", "model.py:12:a_function_of_twe...", ":1:f (gradient)"]
    return [*known, "extra", "_TFProf", *(name.rpartition("/")[0] for name in known)]


@st.composite
def options(draw, row_names: list[str], types: tuple[str, ...], steps: list[int]) -> dict[str, Any]:
    """All options of a question; most have their default, or nothing would be shown."""
    amounts = st.integers(-1, 3) | st.sampled_from((-(10**18), *_BYTES, *_MICROS, *_FLOAT_OPS))
    raised = st.dictionaries(st.sampled_from(THRESHOLD_KEYS), amounts, min_size=1, max_size=2)
    thresholds = dict.fromkeys(THRESHOLD_KEYS, 0) | draw(mostly(st.just({}), raised))
    everything, nothing, some = st.just([".*"]), st.just([]), _regexes(row_names)
    return {
        "max_depth": draw(mostly(st.just(12), st.integers(-1, 3))),
        **{f"min_{key}": amount for key, amount in thresholds.items()},
        "step": draw(st.sampled_from((-1, -1, -7, *steps))),
        "order_by": draw(st.sampled_from(ORDER_KEYS)),
        "account_type_regexes": draw(mostly(everything, _regexes(types))),
        "start_name_regexes": draw(mostly(everything, some)),
        "trim_name_regexes": draw(mostly(nothing, some)),
        "show_name_regexes": draw(mostly(everything, some)),
        "hide_name_regexes": draw(mostly(nothing, some)),
        "account_displayed_op_only": draw(st.booleans()),
        "select": draw(st.lists(st.sampled_from(SELECTABLE), unique=True)),
    }


def _regexes(texts: list[str] | tuple[str, ...]) -> st.SearchStrategy[list[str]]:
    """Lists of regexes that match some, all or none of `texts`."""
    literal = st.sampled_from(texts).map(re.escape)
    regex = st.one_of(
        literal,
        literal.map("{}.*".format),
        literal.map(".*{}".format),
        literal.map("({}|b)/.*".format),
        st.sampled_from((".*", "", "[a-c].*", ".*/.*", "(?i)A.*", ".", r"\w+", "nothing")),
    )
    return st.lists(regex, max_size=3)
