"""Execution traces of PyTorch: edges between the ops of a Kineto trace of the same program.

An edge leads from the op that made a tensor to each op that used it. Of ops inside each other, the
outermost one made it. The optimizer changes the parameters in place, which is no edge to the ops
that use them in the next step.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator
from typing import NamedTuple

from tfprof.columns import ints
from tfprof.errors import MissingInputError
from tfprof.formats import execution_trace
from tfprof.formats.execution_trace import ExecutionTrace, Node
from tfprof.model.builder import ProfileBuilder
from tfprof.model.notes import Note, Subject
from tfprof.model.ops import Phase
from tfprof.sources.source import FileSummary, InputFile, summary


def read(file: InputFile) -> ExecutionTrace:
    """The ops, and the tensors that they made and used."""
    return execution_trace.read(file.content)


def add(found: ExecutionTrace, builder: ProfileBuilder, file: InputFile) -> FileSummary:
    """Add the edges between ops that a Kineto trace of the same process has."""
    calls = builder.between.recorded_calls.get(found.process)
    if calls is None:
        processes = ", ".join(builder.between.recorded_calls) or "none"
        raise MissingInputError(
            f"{file.path} has the edges of process {found.process}: give the Kineto trace of the "
            f"same run as well (processes given: {processes})."
        )
    recorded = [node for node in found.nodes if node.record_id > 0]
    columns = (column.tolist() for column in calls)
    known = {record: _Call(op, phase) for record, op, phase in zip(*columns, strict=True)}
    call_of = {node.id: known[node.record_id] for node in recorded if node.record_id in known}
    edges = sorted({edge for edge in _edges(found.nodes, call_of) if edge[0] != edge[1]})
    target, source, slot = zip(*edges, strict=True) if edges else ((), (), ())
    builder.add_edges(ints(target), ints(source), ints(slot))
    if missing := len(recorded) - len(call_of):
        ops = f"{missing:,} of {len(recorded):,} ops"
        text = f"{file.path}: {ops} are not in the Kineto trace and have no edges."
        builder.notes.append(Note(text, Subject.OPS))
    return summary(file, ops=len(recorded), joined=len(call_of), edges=len(edges))


class _Call(NamedTuple):
    op: int  # -1 for an annotation
    phase: int


def _edges(nodes: list[Node], call_of: dict[int, _Call]) -> Iterator[tuple[int, int, int]]:
    """The target, source and slot of each edge, as ids of ops."""
    by_id = {node.id: node for node in nodes}
    made: dict[int, list[int]] = {}  # the ids of the nodes that made each tensor, ascending
    for node in sorted(nodes, key=lambda one: one.id):
        for tensor in dict.fromkeys(node.outputs):
            made.setdefault(tensor, []).append(node.id)
    for node in nodes:
        user = call_of.get(node.id)
        if user is None or user.op < 0:
            continue
        for tensor in node.inputs:
            maker = _maker(by_id, made.get(tensor, []), node, tensor)
            source = call_of.get(maker.id) if maker is not None else None
            if maker is None or source is None or source.op < 0:
                continue
            if user.phase == Phase.OPTIMIZER or source.phase != Phase.OPTIMIZER:
                yield user.op, source.op, maker.outputs.index(tensor)


def _maker(by_id: dict[int, Node], makers: list[int], user: Node, tensor: int) -> Node | None:
    """The outermost node that made a tensor before `user` began; None if that was not recorded."""
    above = _above(by_id, user)
    for place in range(bisect_left(makers, user.id) - 1, -1, -1):
        if makers[place] not in above:
            break
    else:
        return None
    node = by_id[makers[place]]
    while (outer := by_id.get(node.parent)) is not None:
        if outer.id in above or tensor not in outer.outputs or outer.id >= node.id:
            break
        node = outer
    return node


def _above(by_id: dict[int, Node], node: Node) -> set[int]:
    """The nodes that contain a node."""
    found: set[int] = set()
    while node.parent in by_id and node.parent not in found:
        found.add(node.parent)
        node = by_id[node.parent]
    return found
