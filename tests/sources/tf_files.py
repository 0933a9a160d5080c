"""Builders of TensorFlow files for tests, and access to the real files among the samples."""

import gzip
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path

from tfprof.formats.content import Content
from tfprof.formats.messages import message_class
from tfprof.formats.recognise import MessageKind
from tfprof.model.builder import ProfileBuilder
from tfprof.model.profile import ProfileColumns
from tfprof.sources.registry import BY_NAME
from tfprof.sources.source import InputFile

CPU = "/job:localhost/replica:0/task:0/device:CPU:0"
GPU = "/job:localhost/replica:0/task:0/device:GPU:0"
GPU_LANE = "/device:GPU:0/stream:all"

FOLDER = Path(__file__).parents[1] / "samples" / "tensorflow"
CHECKPOINTS = Path(__file__).parents[1] / "samples" / "checkpoints"

FILES = {
    "mlp_tiny/graph.pb": MessageKind.GRAPH,
    "mlp_tiny/graph.pbtxt": MessageKind.GRAPH,
    "mlp_tiny/run_meta_1": MessageKind.RUN_META,
    "mlp_tiny/run_meta_9": MessageKind.RUN_META,
    "mlp_tiny/tfprof_log": MessageKind.OP_LOG,
    "mlp_tiny/profile.pb": MessageKind.PROFILE,
    "gpu_synth/graph.pb": MessageKind.GRAPH,
    "gpu_synth/run_meta_0": MessageKind.RUN_META,
    "gpu_synth/tfprof_log": MessageKind.OP_LOG,
    "saved_model/saved_model.pb": MessageKind.SAVED_MODEL,
    "../capture/plugins/profile/sample/host.xplane.pb": MessageKind.XSPACE,
}

MESSAGES = {
    MessageKind.GRAPH: "tensorflow.GraphDef",
    MessageKind.RUN_META: "tensorflow.RunMetadata",
    MessageKind.OP_LOG: "tensorflow.tfprof.OpLogProto",
    MessageKind.PROFILE: "tensorflow.tfprof.ProfileProto",
    MessageKind.SAVED_MODEL: "tensorflow.SavedModel",
}

UNKNOWN_RANK = {"unknown_rank": True}


def packed(name: str) -> str:
    """The path of a sample, which is gzipped."""
    return str(FOLDER / f"{name}.gz")


@cache
def content(name: str) -> bytes:
    """The bytes of a sample as TensorFlow wrote them."""
    return gzip.decompress(Path(packed(name)).read_bytes())


def unpacked_model(folder: Path) -> Path:
    """Unpack the SavedModel among the samples into `folder`."""
    samples = FOLDER / "saved_model"
    for file in samples.rglob("*.gz"):
        plain = folder / file.relative_to(samples).with_suffix("")
        plain.parent.mkdir(parents=True, exist_ok=True)
        plain.write_bytes(gzip.decompress(file.read_bytes()))
    return folder


def shape(*dims: int) -> dict[str, object]:
    return {"dim": [{"size": size} for size in dims]}


def node(name: str, op: str = "NoOp", inputs: Sequence[str] = (), **attributes: object):
    """A NodeDef; attributes are given as the fields of their AttrValue: `k={"i": 3}`."""
    value = message_class("tensorflow.AttrValue")
    encoded = {key: value(**fields) for key, fields in attributes.items()}
    return message_class("tensorflow.NodeDef")(name=name, op=op, input=inputs, attr=encoded)


def graph(*nodes: object) -> bytes:
    return message_class("tensorflow.GraphDef")(node=nodes).SerializeToString()


def stats(name: str, start: int = 100, micros: int = 5, **fields: object):
    """One run of a node, as a NodeExecStats."""
    return message_class("tensorflow.NodeExecStats")(
        node_name=name, all_start_micros=start, op_end_rel_micros=micros, **fields
    )


def output(
    slot: int = 0,
    dims: Sequence[int] = (),
    requested: int = 0,
    allocated: int = 0,
    address: int = 0,
) -> dict[str, object]:
    """An output with a description of its memory."""
    memory = {"requested_bytes": requested, "allocated_bytes": allocated, "ptr": address}
    described = {"shape": shape(*dims), "allocation_description": memory}
    return {"slot": slot, "tensor_description": described}


def run_metadata(*devices: tuple[str, Sequence[object]]) -> bytes:
    """RunMetadata of a step, from pairs of a device and its runs."""
    rows = [{"device": name, "node_stats": runs} for name, runs in devices]
    step_stats = {"dev_stats": rows}
    return message_class("tensorflow.RunMetadata")(step_stats=step_stats).SerializeToString()


def op_log(*entries: Mapping[str, object], strings: Mapping[int, str] | None = None) -> bytes:
    return message_class("tensorflow.tfprof.OpLogProto")(
        log_entries=entries, id_to_string=strings or {}
    ).SerializeToString()


def saved(
    *nodes: Mapping[str, object], strings: Mapping[int, str] | None = None, **fields
) -> bytes:
    """A ProfileProto; the `id` of a node defaults to its position."""
    name = "tensorflow.tfprof.ProfileNode"
    numbered = {fact.get("id", place): fact for place, fact in enumerate(nodes)}
    return message_class("tensorflow.tfprof.ProfileProto")(
        nodes={number: message_class(name)(**fact) for number, fact in numbered.items()},
        id_to_string=strings or {},
        **fields,
    ).SerializeToString(deterministic=True)


def add(name, path, data, builder, **about):
    """Read `data` with the source called `name` and add it to `builder`."""
    file = InputFile(Content.of_bytes(path, data), BY_NAME[name], **about)
    return file.source.add(file.source.read(file), builder, file)


def read(
    graph: bytes | None = None,
    runs: Sequence[tuple[int, bytes]] = (),
    log: bytes | None = None,
    notes: list[str] | None = None,
) -> ProfileColumns:
    """The profile of a graph, runs (step and data) and a log; notes are appended to `notes`."""
    builder = ProfileBuilder()
    if graph is not None:
        add("graph", "graph.pb", graph, builder)
    for step, data in runs:
        add("run_meta", "run_meta", data, builder, step=step)
    if log is not None:
        add("op_log", "tfprof_log", log, builder)
    if notes is not None:
        notes.extend(builder.notes)
    profile = builder.build()
    profile.check()
    return profile


def row(profile: ProfileColumns, name: str) -> int:
    """The row of an op."""
    return list(profile.ops.name).index(name)
