"""The op log of a live graph: float ops as TensorFlow counts them, lines of code, own types."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable
from os import PathLike
from typing import Any

from tfprof.classic.default_graph import graph_or_default
from tfprof.classic.files import write
from tfprof.classic.option_builder import TRAINABLE_VARIABLES
from tfprof.classic.question import tell
from tfprof.classic.seen_graph import SeenGraph
from tfprof.formats.messages import Message, message_class
from tfprof.frameworks import tensorflow

OP_LOG = "tensorflow.tfprof.OpLogProto"
FILE_NAME = "tfprof_log"

_UNKNOWN = "none"  # a file, a function or a line of which nothing is known
_ID_FIELDS = ("file_id", "function_id", "line_id")


def write_op_log(
    graph: Any,
    log_dir: str | PathLike[str],
    op_log: Any = None,
    run_meta: Any = None,
    add_trace: bool = True,
) -> None:
    """Write `tfprof_log` to the folder `log_dir`: what the graph alone does not tell of its ops.

    That is float ops, with `run_meta` also where shapes are known at run time only, which variables
    are trainable, with `add_trace` the lines of code, and what `op_log` says beside.
    """
    graph = graph_or_default(graph)
    log = message_class(OP_LOG)()
    if graph is not None:
        seen = SeenGraph(graph)
        if run_meta is not None:
            seen.see(run_meta)
        log = build(seen, op_log, add_trace=add_trace)
    write(log_dir, FILE_NAME, log.SerializeToString())


def build(
    seen: SeenGraph,
    op_log: Any = None,
    *,
    add_trace: bool = True,
    is_traced: Container[str] = (),
    tells: bool = True,
) -> Message:
    """The log of a graph, added to what `op_log` says, which wins and stays as it is.

    `is_traced` holds ops whose lines of code are known already and need not be said again; how many
    float ops could not be counted is told if it `tells`.
    """
    strings = _Strings()
    entries = _entries(seen, strings, add_trace=add_trace, is_traced=is_traced, tells=tells)
    if op_log is not None:
        entries = _merged(op_log, entries, strings)
    log = message_class(OP_LOG)(log_entries=entries.values())
    for text, number in strings.ids.items():
        log.id_to_string[number] = text
    return log


class _Strings:
    """Texts and their numbers, in the order of use."""

    def __init__(self) -> None:
        self.ids = {_UNKNOWN: 0}

    def id(self, text: str | None) -> int:
        return self.ids.setdefault(text, len(self.ids)) if text else 0


def _entries(
    seen: SeenGraph,
    strings: _Strings,
    *,
    add_trace: bool,
    is_traced: Container[str],
    tells: bool,
) -> dict[str, Message]:
    """What is known of the ops by itself; without lines of code, of few of them."""
    found: dict[str, Message] = {}
    shapeless = 0
    nodes = {node.name: node for node in seen.definition().node}
    count = _registered_statistics()
    new = message_class("tensorflow.tfprof.OpLogEntry")
    for op in seen.get_operations():
        float_ops = _float_ops(count, seen, nodes[op.name])
        shapeless += float_ops is None
        wants_code = add_trace and op.name not in is_traced
        if not float_ops and not wants_code:
            continue
        entry = found[op.name] = new(name=op.name, float_ops=float_ops or 0)
        if wants_code:
            _add_code(entry, op.traceback or (), strings)
    collections = tensorflow().compat.v1.GraphKeys
    for variable in seen.get_collection(collections.TRAINABLE_VARIABLES):
        name = variable.op.name
        found.setdefault(name, new(name=name)).types.append(TRAINABLE_VARIABLES)
    if shapeless and tells:
        ops, their = ("1 op", "its") if shapeless == 1 else (f"{shapeless:,} ops", "their")
        tell(
            f"float ops of {ops} are not counted: {their} shapes or data format are unknown to "
            "TensorFlow's rules; a traced run tells most shapes."
        )
    return found


def _registered_statistics() -> Callable[..., Any]:
    """What counts by the rules that TensorFlow has, and those that a program registered."""
    from tensorflow.python.framework import ops  # noqa: PLC0415 -- the one table of them
    from tensorflow.python.profiler.internal import flops_registry  # noqa: F401, PLC0415 -- fills it

    count: Callable[..., Any] = ops.get_stats_for_node_def
    return count


def _float_ops(count: Callable[..., Any], seen: SeenGraph, node: Any) -> int | None:
    """The float ops of an op, None where a shape is unknown."""
    try:
        return int(count(seen, node, "flops").value or 0)
    except ValueError:
        return None


def _add_code(entry: Message, frames: Iterable[Any], strings: _Strings) -> None:
    """Say which calls made an op, the outermost first."""
    for file, line, function, text in frames:
        entry.code_def.traces.add(
            file_id=strings.id(file),
            lineno=line or -1,
            function_id=strings.id(function),
            line_id=strings.id(text),
            func_start_line=-1,
        )


def _merged(op_log: Any, found: dict[str, Message], strings: _Strings) -> dict[str, Message]:
    """The entries of a user's log, completed by what was found, and then the others."""
    log = message_class(OP_LOG).FromString(op_log.SerializeToString())
    _renumber(log, strings)
    merged: dict[str, Message] = {entry.name: entry for entry in log.log_entries}
    for name, entry in found.items():
        own: Message = merged.setdefault(name, entry)
        if own is entry:
            continue
        own.types.extend(entry.types)
        own.float_ops = own.float_ops or entry.float_ops
        if entry.code_def.traces and not own.code_def.traces:
            own.code_def.MergeFrom(entry.code_def)
    return merged


def _renumber(log: Message, strings: _Strings) -> None:
    """Let the lines of code of a log with strings of its own refer to ours."""
    if not log.id_to_string:
        return
    texts = dict(log.id_to_string)
    for entry in log.log_entries:
        for trace in entry.code_def.traces:
            for field in _ID_FIELDS:
                setattr(trace, field, strings.id(texts.get(getattr(trace, field))))
