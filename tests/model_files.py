"""The files of a small model: a graph, two recorded steps and an op log.

| op        | kind        | parameters | float ops | time, bytes by step |
|-----------|-------------|------------|-----------|---------------------|
| `net/act` | Relu        |            | 8         | 3 us, 4 us          |
| `net/mul` | MatMul      |            | 48        | 10 us, 12 us; 32 B  |
| `net/w`   | VariableV2  | 3x4 = 12   |           | 2 us, 2 us          |
| `prob`    | Softmax     |            | 40        | 1500 us, 1502 us    |
| `x`       | Placeholder | 2x3 = 6    |           | never               |
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from google.protobuf import text_format

from tfprof.formats.messages import Message, message_class

GraphDef = message_class("tensorflow.GraphDef")
RunMetadata = message_class("tensorflow.RunMetadata")
OpLogProto = message_class("tensorflow.tfprof.OpLogProto")

CPU = "/job:localhost/replica:0/task:0/device:CPU:0"

_STRINGS = {1: "model.py", 2: "main", 3: "build", 4: "net = build(x)", 5: "return x @ w"}


def write(folder: Path) -> None:
    """Write `graph.pb`, `graph.pbtxt`, `run_meta_0`, `run_meta_1` and `tfprof_log` to a folder."""
    (folder / "graph.pb").write_bytes(graph().SerializeToString())
    (folder / "graph.pbtxt").write_text(text_format.MessageToString(graph()))
    (folder / "run_meta_0").write_bytes(run({"act": 3, "mul": 10, "w": 2, "prob": 1500}))
    (folder / "run_meta_1").write_bytes(run({"act": 4, "mul": 12, "w": 2, "prob": 1502}))
    (folder / "tfprof_log").write_bytes(log())


def graph() -> Message:
    graph = GraphDef()
    add_node(graph, "x", "Placeholder", shape=(2, 3))
    add_node(graph, "net/w", "VariableV2", shape=(3, 4))
    add_node(graph, "net/mul", "MatMul", ["x", "net/w"], output=(2, 4))
    add_node(graph, "net/act", "Relu", ["net/mul"], output=(2, 4))
    add_node(graph, "prob", "Softmax", ["net/act"], output=(2, 4))
    return graph


def add_node(
    graph: Message,
    name: str,
    op: str,
    inputs: Sequence[str] = (),
    *,
    shape: Sequence[int] | None = None,
    output: Sequence[int] | None = None,
) -> None:
    """Add a node; its own shape, if it has one, is also the shape of its output."""
    node = graph.node.add(name=name, op=op, input=inputs)
    if shape is not None:
        node.attr["shape"].shape.SetInParent()
        for size in shape:
            node.attr["shape"].shape.dim.add(size=size)
    if (dims := shape if output is None else output) is not None:
        put_out = node.attr["_output_shapes"].list.shape.add()
        for size in dims:
            put_out.dim.add(size=size)


def run(micros: dict[str, int], device: str = CPU) -> bytes:
    """One step; ops are named by the last part of their names."""
    metadata = RunMetadata()
    entries = metadata.step_stats.dev_stats.add(device=device).node_stats
    for start, (name, duration) in enumerate(micros.items(), start=1):
        full_name = name if name == "prob" else f"net/{name}"
        entry = entries.add(
            node_name=full_name, all_start_micros=1000 * start, op_end_rel_micros=duration
        )
        if name == "mul":
            entry.memory.add(allocator_name="cpu", total_bytes=32, peak_bytes=32, live_bytes=32)
    return metadata.SerializeToString(deterministic=True)


def log() -> bytes:
    """Types and code lines: all ops except `x` are created in `build`, which `main` calls."""
    log = OpLogProto(id_to_string=_STRINGS)
    lines = {"x": 3, "net/w": 8, "net/mul": 9, "net/act": 10, "prob": 11}
    for name, line in lines.items():
        entry = log.log_entries.add(name=name)
        if name == "net/w":
            entry.types.append("_trainable_variables")
        if name != "x":
            entry.code_def.traces.add(file_id=1, lineno=4, function_id=2, line_id=4)
        function = 2 if name == "x" else 3
        entry.code_def.traces.add(file_id=1, lineno=line, function_id=function, line_id=5)
    return log.SerializeToString(deterministic=True)
