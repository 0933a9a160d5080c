"""The op log of a live graph: TensorFlow's float-op counts, code lines and user-defined types."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable
from os import PathLike
from typing import Any

from tfprof.classic.default_graph import graph_or_default
from tfprof.classic.files import write
from tfprof.classic.option_builder import TRAINABLE_VARIABLES
from tfprof.classic.question import report
from tfprof.classic.seen_graph import SeenGraph
from tfprof.formats.messages import Message, decode, message_class
from tfprof.frameworks import tensorflow

OP_LOG = "tensorflow.tfprof.OpLogProto"
FILE_NAME = "tfprof_log"

_UNKNOWN = "none"  # the text of an unknown file, function or code line
_ID_FIELDS = ("file_id", "function_id", "line_id")


def write_op_log(
    graph: Any,
    log_dir: str | PathLike[str],
    op_log: Any = None,
    run_meta: Any = None,
    add_trace: bool = True,
) -> None:
    """Write the op log of a graph to `log_dir`, as the file `tfprof_log`.

    The log contains float ops, which variables are trainable and, with `add_trace`, the code lines
    that created each op. `run_meta` supplies shapes that are known only at run time, so that more
    float ops can be counted. Entries of `op_log` are included and take precedence.
    """
    graph = graph_or_default(graph)
    log = message_class(OP_LOG)()
    if graph is not None:
        seen = SeenGraph(graph)
        if run_meta is not None:
            seen.add_shapes(run_meta)
        log = build(seen, op_log, add_trace=add_trace)
    write(log_dir, FILE_NAME, log.SerializeToString())


def build(
    seen: SeenGraph,
    op_log: Any = None,
    *,
    add_trace: bool = True,
    traced_ops: Container[str] = (),
    reports_uncounted: bool = True,
) -> Message:
    """The log of a graph, merged with `op_log`, which takes precedence and is not modified.

    Code lines of `traced_ops` are already known and left out. With `reports_uncounted`, the number
    of ops whose float ops could not be counted is reported.
    """
    strings = _Strings()
    entries = _entries(
        seen,
        strings,
        add_trace=add_trace,
        traced_ops=traced_ops,
        reports_uncounted=reports_uncounted,
    )
    if op_log is not None:
        entries = _merged(op_log, entries, strings)
    log = message_class(OP_LOG)(log_entries=entries.values())
    for text, number in strings.ids.items():
        log.id_to_string[number] = text
    return log


class _Strings:
    """A table of strings, numbered in order of first use."""

    def __init__(self) -> None:
        self.ids = {_UNKNOWN: 0}

    def id(self, text: str | None) -> int:
        return self.ids.setdefault(text, len(self.ids)) if text else 0


def _entries(
    seen: SeenGraph,
    strings: _Strings,
    *,
    add_trace: bool,
    traced_ops: Container[str],
    reports_uncounted: bool,
) -> dict[str, Message]:
    """An entry for each op that has code lines to add, float ops or a trainable variable."""
    found: dict[str, Message] = {}
    shapeless = 0
    nodes = {node.name: node for node in seen.definition().node}
    count = _registered_statistics()
    new = message_class("tensorflow.tfprof.OpLogEntry")
    for op in seen.get_operations():
        float_ops = _float_ops(count, seen, nodes[op.name])
        shapeless += float_ops is None
        wants_code = add_trace and op.name not in traced_ops
        if not float_ops and not wants_code:
            continue
        entry = found[op.name] = new(name=op.name, float_ops=float_ops or 0)
        if wants_code:
            _add_code(entry, op.traceback or (), strings)
    collections = tensorflow().compat.v1.GraphKeys
    for variable in seen.get_collection(collections.TRAINABLE_VARIABLES):
        name = variable.op.name
        found.setdefault(name, new(name=name)).types.append(TRAINABLE_VARIABLES)
    if shapeless and reports_uncounted:
        ops, their = ("1 op", "its") if shapeless == 1 else (f"{shapeless:,} ops", "their")
        report(
            f"float ops of {ops} are not counted: {their} shapes or data format are unknown to "
            "TensorFlow's rules; a traced run provides most shapes."
        )
    return found


def _registered_statistics() -> Callable[..., Any]:
    """The function that counts by TensorFlow's rules and those that the program registered."""
    from tensorflow.python.framework import ops  # noqa: PLC0415 -- holds the rules
    from tensorflow.python.profiler.internal import flops_registry  # noqa: F401, PLC0415 -- fills them

    count: Callable[..., Any] = ops.get_stats_for_node_def
    return count


def _float_ops(count: Callable[..., Any], seen: SeenGraph, node: Any) -> int | None:
    """The float ops of an op; None if a shape is unknown."""
    try:
        return int(count(seen, node, "flops").value or 0)
    except ValueError:
        return None


def _add_code(entry: Message, frames: Iterable[Any], strings: _Strings) -> None:
    """Add the calls that created an op, outermost first."""
    for file, line, function, text in frames:
        entry.code_def.traces.add(
            file_id=strings.id(file),
            lineno=line or -1,
            function_id=strings.id(function),
            line_id=strings.id(text),
            func_start_line=-1,
        )


def _merged(op_log: Any, found: dict[str, Message], strings: _Strings) -> dict[str, Message]:
    """The entries of a user's log, completed from `found`, followed by the rest of `found`."""
    log = decode(OP_LOG, op_log.SerializeToString())
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
    """Make the code lines of a log with its own string table refer to `strings`."""
    if not log.id_to_string:
        return
    texts = dict(log.id_to_string)
    for entry in log.log_entries:
        for trace in entry.code_def.traces:
            for field in _ID_FIELDS:
                setattr(trace, field, strings.id(texts.get(getattr(trace, field))))
