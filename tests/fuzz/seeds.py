"""The inputs to start from: small files of every format, most of them made from the samples."""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import pickle
import zipfile
from collections.abc import Iterator
from functools import cache
from itertools import islice
from typing import Any

import h5py
import numpy as np
from google.protobuf import text_format

import tfprof
from formats.kineto_traces import FRAGMENTS, SAMPLES, trace_of
from formats.kineto_traces import event as slice_event
from formats.table_builder import literals
from formats.wire_messages import Maker
from fuzz.hostile import from_seed, saved_model
from sources.tf_files import CHECKPOINTS, FILES, FOLDER, MESSAGES, content, packed
from sources.xplane_files import event, host, recording
from tfprof.budgets.metrics import BUDGET_METRICS
from tfprof.commands.command import Place, options_of
from tfprof.commands.table import available
from tfprof.formats import crc32c
from tfprof.formats.kineto.fields import MEMORY_NUMBERS, SLICE_NUMBERS, SLICE_TEXTS
from tfprof.formats.messages import DecodeError, message_class
from tfprof.formats.recognise import MessageKind
from tfprof.metrics import METRICS
from tfprof.model.layers import Layer
from tfprof.options import GENERAL_OPTIONS
from tfprof.outputs import profile_file
from tfprof.sources import torch_modules_file
from tfprof.sources.layers_file import RecordedLayers, encoded

MADE = 40  # messages that are made of each kind
SHORT = 3000  # bytes of the longest message
KERAS = FOLDER.parent / "keras"
PYTORCH = FOLDER.parent / "pytorch"
COMPILED_TRACE = str(PYTORCH / "compiled.json.gz")


def type_of(source: str) -> str:
    """The type of the message that files of a source contain."""
    return MESSAGES[MessageKind(source)]


def messages(source: str) -> Iterator[bytes]:
    """Messages of one kind: those of hostile models, short samples, and made ones."""
    found = [
        one.content
        for seed in range(MADE)
        for one in from_seed(seed).files()
        if one.source == source
    ]
    maker, odd = Maker(1), Maker(2, oddity=0.03)
    descriptor = message_class(type_of(source)).DESCRIPTOR
    found += [maker.message(descriptor) for _ in range(MADE)]
    found += [odd.message(descriptor) for _ in range(MADE // 4)]
    found += [content(file) for file, kind in FILES.items() if kind == source and "txt" not in file]
    yield from (data for data in found if len(data) <= SHORT)


def numbered() -> Iterator[bytes]:
    """Messages of all kinds, each after the number of its kind; some are cut short."""
    for number, kind in enumerate(MESSAGES):
        for data in islice(messages(kind) if kind != "saved_model" else saved_models(), 15):
            yield bytes([number]) + data[:SHORT]
            yield bytes([number]) + data[: len(data) // 2][:SHORT]


def texts(source: str) -> Iterator[bytes]:
    """The same messages as text, in two styles."""
    for data in messages(source):
        try:
            built = message_class(type_of(source)).FromString(data)
        except DecodeError:
            continue
        yield text_format.MessageToString(built).encode()[:SHORT]
        yield text_format.MessageToString(built, as_one_line=True, pointy_brackets=True).encode()[
            :SHORT
        ]


def recordings() -> Iterator[bytes]:
    """A real recording, and small ones with steps, kernels, allocations and input."""
    yield content("../capture/plugins/profile/sample/host.xplane.pb")
    run = event("a/MatMul:MatMul", 5, 10, group_id=1, tf_op="a/MatMul:MatMul")
    step = event("train", 0, 50, step_num=1, group_id=1, _r=1)
    wait = event("Iterator::Prefetch::Map", 1, 3, id=7, parent_id=1)
    allocation = event(
        "MemoryAllocation",
        6,
        0,
        bytes_allocated=64,
        allocator_name="GPU_0_bfc",
        peak_bytes_in_use=64,
    )
    yield recording(host(python=[step], tf_Compute=[run, wait, allocation]))
    yield recording(host(python=[step, run]), host(tf_data_iterator_get_next=[wait]))
    yield recording(host(tf_Compute=[run]))


def functions() -> Iterator[bytes]:
    """Graphs of which most call functions."""
    for seed in range(4 * MADE):
        files = [one.content for one in from_seed(seed).files() if one.source == "graph"]
        yield from (data for data in files if len(data) <= SHORT and b"\nf" in data)


def saved_models() -> Iterator[bytes]:
    """The SavedModel among the samples, and others with the graphs of hostile models."""
    model = content("saved_model/saved_model.pb")
    yield model
    yield from (saved_model(data, ["a:0", "net/n1:0"]) for data in islice(functions(), MADE))


def debug_infos() -> Iterator[bytes]:
    yield gzip.decompress((FOLDER / "saved_model/debug/saved_model_debug_info.pb.gz").read_bytes())


def objects() -> Iterator[bytes]:
    """The objects of the checkpoints among the samples."""
    for path in (KERAS / "training" / "ckpt-1", KERAS / "archive" / "variables" / "variables"):
        saved = tfprof.formats.checkpoint.open_checkpoint(str(path))
        yield bytes(saved.read("_CHECKPOINTABLE_OBJECT_GRAPH").item())


def checkpoints_v1() -> Iterator[bytes]:
    yield (CHECKPOINTS / "v1" / "model.ckpt").read_bytes()
    for file in sorted((CHECKPOINTS / "v1_shards").glob("model.ckpt-*")):
        yield file.read_bytes()


def checkpoints_v2() -> Iterator[bytes]:
    """Checkpoints of one shard: the length of the index, the index and the values."""
    files = [
        (
            CHECKPOINTS / "v2" / "model.ckpt.index",
            CHECKPOINTS / "v2" / "model.ckpt.data-00000-of-00002",
        ),
        (KERAS / "training" / "ckpt-1.index", KERAS / "training" / "ckpt-1.data-00000-of-00001"),
    ]
    pairs = [(index.read_bytes(), values.read_bytes()) for index, values in files]
    made = [from_seed(seed).checkpoint() for seed in range(MADE)]
    for index, values in (*pairs, *filter(None, made)):
        yield len(index).to_bytes(2, "little") + index + values


@cache
def _saved() -> dict[str, bytes]:
    """The members of a small saved profile."""
    names = ("graph.pb", "run_meta_1", "tfprof_log")
    columns = tfprof.load(*(packed(f"mlp_tiny/{name}") for name in names)).columns
    with zipfile.ZipFile(io.BytesIO(profile_file.encoded(columns))) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def with_member(number: int, data: bytes) -> bytes:
    """A saved profile of which one member is replaced."""
    members = _saved()
    changed = list(members)[number % len(members)]
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for name, old in members.items():
            archive.writestr(name, data if name == changed else old)
    return out.getvalue()


def members() -> Iterator[bytes]:
    """The members of a saved profile, each after its number."""
    for number, data in enumerate(_saved().values()):
        yield bytes([number]) + data


def tables() -> Iterator[bytes]:
    """The Parquet files of a saved profile."""
    yield from (data for name, data in _saved().items() if name.endswith(".parquet"))


def saved_profiles() -> Iterator[bytes]:
    yield with_member(0, next(iter(_saved().values())))


def weights() -> Iterator[bytes]:
    """Small HDF5 files: of weights, and of an old model."""
    for libver in ("earliest", "latest"):
        out = io.BytesIO()
        with h5py.File(out, "w", libver=libver) as file:
            variables = file.create_group("layers/dense/vars")
            variables["0"] = np.zeros((2, 3), np.float32)
            variables["1"] = np.zeros(3, np.float16)
            file["layers/dense"].attrs["name"] = "dense"
            file.create_dataset("optimizer/vars/0", (4, 4), "f4", chunks=(2, 2))
        yield out.getvalue()
    out = io.BytesIO()
    with h5py.File(out, "w") as file:
        file.attrs["model_config"] = json.dumps(_CONFIG)
        dense = file.create_group("model_weights/dense")
        dense["dense/kernel:0"] = np.zeros((2, 3), np.float32)
        dense.attrs["weight_names"] = [b"dense/kernel:0"]
        file["model_weights"].attrs["layer_names"] = [b"dense"]
    yield out.getvalue()


_CONFIG = {
    "module": "keras",
    "class_name": "Functional",
    "config": {
        "name": "m",
        "trainable": True,
        "layers": [
            {
                "module": "keras.layers",
                "class_name": "InputLayer",
                "config": {"batch_shape": [None, 2], "name": "in"},
                "name": "in",
                "inbound_nodes": [],
            },
            {
                "module": "keras.layers",
                "class_name": "Dense",
                "config": {"name": "dense", "units": 3, "trainable": True},
                "name": "dense",
                "inbound_nodes": [{"args": [{"config": {"keras_history": ["in", 0, 0]}}]}],
                "build_config": {"input_shape": [None, 2]},
            },
        ],
        "input_layers": [["in", 0, 0]],
        "output_layers": [["dense", 0, 0]],
    },
}


def configs() -> Iterator[bytes]:
    """Configurations of Keras models."""
    yield json.dumps(_CONFIG).encode()
    with zipfile.ZipFile(KERAS / "small.keras") as archive:
        yield archive.read("config.json")


@cache
def _weights() -> bytes:
    return next(weights())


def archive(config: bytes, kind: int = zipfile.ZIP_STORED) -> bytes:
    """A `.keras` file with small weights."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", kind) as file:
        file.writestr("metadata.json", "{}")
        file.writestr("config.json", config)
        file.writestr("model.weights.h5", _weights())
    return out.getvalue()


def archives() -> Iterator[bytes]:
    config = json.dumps(_CONFIG).encode()
    yield archive(config)
    yield archive(config, zipfile.ZIP_DEFLATED)


def safetensors() -> Iterator[bytes]:
    """Files of tensors, and an index that lists itself."""
    yield (PYTORCH / "net.safetensors").read_bytes()
    yield from (path.read_bytes() for path in sorted((PYTORCH / "sharded").glob("*.safetensors")))
    yield b'{"metadata": {}, "weight_map": {"a": "w", "b.c": "v"}}'


def torch_checkpoints() -> Iterator[bytes]:
    yield from (path.read_bytes() for path in sorted(PYTORCH.glob("*.pt")))


def distributed_checkpoints() -> Iterator[bytes]:
    yield (PYTORCH / "distributed" / ".metadata").read_bytes()


def exported_programs() -> Iterator[bytes]:
    yield from (path.read_bytes() for path in sorted(PYTORCH.glob("*.pt2")))


def graphs_in_json() -> Iterator[bytes]:
    """The graph of an exported program, whole and with few ops."""
    with zipfile.ZipFile(PYTORCH / "net.pt2") as archive:
        whole = archive.read("net/models/model.json")
    program = json.loads(whole)
    program["graph_module"]["graph"]["nodes"] = program["graph_module"]["graph"]["nodes"][:2]
    yield from (json.dumps(program).encode(), whole)


def exported_archive(graph: bytes) -> bytes:
    """An exported program without values."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as file:
        file.writestr("m/models/model.json", graph)
        file.writestr("m/archive_format", "pt2")
    return out.getvalue()


def snapshots() -> Iterator[bytes]:
    """Small memory snapshots."""
    frames = [
        {"name": "at::_ops::mm::call", "filename": "??", "line": 0},
        {"name": "forward", "filename": "/home/train.py", "line": 7},
    ]
    actions = ("alloc", "alloc", "free_requested", "free_completed", "oom")
    entries = [
        {"action": action, "addr": at // 2, "size": 700, "time_us": 9 + at, "frames": frames}
        for at, action in enumerate(actions)
    ]
    block = {"size": 1024, "state": "active_allocated", "frames": frames, "address": 0}
    segments = [{"device": 0, "address": 0, "blocks": [block, {**block, "address": 9}]}]
    start = {"stage": "START", "name": "backward", "device": 0, "time_us": 5}
    for protocol in (2, 4):
        content = {"segments": segments, "device_traces": [entries, entries]}
        yield pickle.dumps({**content, "external_annotations": [start]}, protocol)


def structures() -> Iterator[bytes]:
    """The pickles in checkpoints."""
    for path in sorted(PYTORCH.glob("*.pt")):
        if zipfile.is_zipfile(path):
            with zipfile.ZipFile(path) as archive:
                yield archive.read(f"{path.stem}/data.pkl")


def checkpoint_archive(structure: bytes) -> bytes:
    """A checkpoint with small values."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as file:
        file.writestr("a/data.pkl", structure)
        for key in range(20):
            file.writestr(f"a/data/{key}", bytes(160))
    return out.getvalue()


def traces() -> Iterator[bytes]:
    """Traces with a few events of a recording, of each kind."""
    for path in SAMPLES[::4]:
        recorded = json.loads(gzip.decompress(path.read_bytes()))
        kinds: dict[tuple[str, ...], list[Any]] = {}
        for one in recorded["traceEvents"]:
            kinds.setdefault((one["ph"], one.get("cat", one["name"])), []).append(one)
        for events in kinds.values():
            yield json.dumps({"schemaVersion": 1, "traceEvents": events[:3]}).encode()[:SHORT]
        header = {key: value for key, value in recorded.items() if key != "traceEvents"}
        yield json.dumps(header | {"traceEvents": recorded["traceEvents"][-3:]}, indent=1).encode()
    args = {"Collective name": "allreduce", "Group size": 4, "In msg nelems": 8}
    yield trace_of(slice_event(args=args), slice_event("[memory]", ph="i", args={"Bytes": 4}))
    yield json.dumps([slice_event()]).encode()


def trace_words() -> Iterator[bytes]:
    yield from FRAGMENTS
    yield from (f'"{key}"'.encode() for key in (*SLICE_NUMBERS, *SLICE_TEXTS, *MEMORY_NUMBERS))


def modules() -> Iterator[bytes]:
    """A file of modules."""
    weight = torch_modules_file.RecordedWeight("Net", "a.weight", (2, 3), "float32", True, True)
    yield torch_modules_file.encoded(
        torch_modules_file.RecordedModules(
            [torch_modules_file.RecordedModule("Net", "a", "Linear", "Linear_0")],
            [weight, weight._replace(path="b.weight", same_as=0)],
            [torch_modules_file.RecordedSlot("Net", "a.weight", "exp_avg", (2, 3), "float32")],
            ["a note"],
        )
    )


def compile_logs() -> Iterator[bytes]:
    """A log of PyTorch, whole and its records one by one, and a table of kernels."""
    whole = (PYTORCH / "compiled.log").read_bytes()
    yield whole
    yield from (b"V" + one for one in whole.split(b"\nV")[1:])
    yield b'{"triton_poi_0:1": [], "extern_kernels.mm:2": ["  File \\"a.py\\", line 3, in f"]}'


def layers() -> Iterator[bytes]:
    """Files of layers, of a model and of hostile ones."""
    layers_ = [Layer("m", kind="Model"), Layer("dense", 0, "Dense", (-1, 3))]
    yield encoded(RecordedLayers(layers_, {"dense/w": 1}, repeats={"a": 3}))
    for seed in range(MADE):
        yield from (one.content for one in from_seed(seed).files() if one.source == "layers")


def gzipped() -> Iterator[bytes]:
    for data in (b"", b"a", bytes(5000), content("mlp_tiny/graph.pb")):
        yield gzip.compress(data, mtime=0)
        yield gzip.compress(data, mtime=0) + gzip.compress(b"more", mtime=0)


def snappy() -> Iterator[bytes]:
    yield b"\x00"
    yield b"\x41\x00x\xfe\x01\x00"
    yield b"\x09\x08abc\x16\x02\x00"
    yield literals(b"some text " * 20)
    yield b"\x06\x0cabcd\x07\x03\x00\x00\x00"


def starts() -> Iterator[bytes]:
    """The starts of files of all formats, including some that tfprof does not read."""
    for file in FILES:
        yield content(file)[:400]
    for data in (b"\x80\x04\x95", b"PAR1", b"\x93NUMPY", b"%PDF-", b"\x1f\x8b", b"BZh", b"\x7fELF"):
        yield data + bytes(40)
    for data in (b"brain.Event:2", b"data"):
        yield _record(data)
    yield next(archives())[:400]
    yield b'{"traceEvents": [{"ph": "X"}]}'
    yield b"HloModule a, entry"
    yield b"\x08\x07\x12\x07pytorch\x3a\x04\x12\x02ab"
    yield bytes(8) + b'{"a": {"dtype": "F32"}}'
    yield b'{"weight_map": {"a": "b"}}'
    yield b'V1118 03:01:44.612000 9741 torch/a.py:16] {"artifact": {}}'


def _record(data: bytes) -> bytes:
    """A TFRecord, as in TensorBoard's event files."""
    length = len(data).to_bytes(8, "little")
    parts = (length, data)
    return b"".join(
        part + crc32c.masked(crc32c.checksum(part)).to_bytes(4, "little") for part in parts
    )


def lines() -> Iterator[bytes]:
    """Command lines; each line is a word."""
    yield b"scope\ngraph.pb\n-select\nparams,micros\n-max_depth=3"
    yield b"op\n--run_meta_path\n5:run_meta_5,6:b\n-order_by\nmicros\n-output\njson:outfile=F"
    yield b"code\na.pb\n-show_name_regexes\n.*a.*,b\n-define_type\nx=.*\n--my_code"
    yield b"steps\na.pb\n-step\n5\n-rank\n1,2\n--json"
    for name in available(Place.COMMAND_LINE):
        yield name.encode() + b"\na.pb\n--help"


def words() -> Iterator[bytes]:
    """Words of command lines."""
    commands = available(Place.COMMAND_LINE)
    options = GENERAL_OPTIONS | options_of(commands.values(), Place.COMMAND_LINE)
    yield from (name.encode() for name in commands)
    yield from (f"\n-{name}\n".encode() for name in options)
    yield from (metric.key.encode() for metric in METRICS)
    yield from (b"--", b"=", b"auto", b"file:outfile=F", b"timeline:outfile=", b".*", b"core")


def budgets() -> Iterator[bytes]:
    """Budget files."""
    yield b'[model]\nparams = "25.6 M"  # weights\nops = 4_000\nfloat_ops = { exact = 7 }\n'
    yield b'[scope."net"]\nparams = { max = "20", min = 1 }\n[model]\nparams = \'17\'\n'
    yield b'model.params = {value = "17", tolerance = "1 %"}\r\n[layer]\r\nnet.params = 12\r\n'
    yield b'[model]\nstep_time = "+3 %"\npeak_bytes = "12 GiB"\n'
    yield b'[scope.head]\nparams = 0x10\n[model]\nops = 3\n[scope.net]\nmacs = """1"""\n'


def budget_words() -> Iterator[bytes]:
    """Words of budget files."""
    yield from (key.encode() for key in BUDGET_METRICS)
    yield from (b"[model]", b"[scope.net]", b"[layer.net]", b"max", b"min", b"exact", b"value")
    yield from (b"tolerance", b'"+3 %"', b"GiB", b"{", b"}", b"=", b"[[", b'"""', b"1e9", b"inf")


def patterns() -> Iterator[bytes]:
    """A pattern, then names."""
    names = b"\na\nnet/w\naaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab\n"
    for pattern in (
        *(
            b".*",
            b"net/.*",
            b"(a+)+b",
            b"a|b",
            b"[a-z]{2,5}",
            b"(?i)A",
            b"\\Qa.b",
            b"^a$",
            b"\\pL+",
        ),
        *(
            b"(?=a)",
            b"(?P<n>a)",
            b"a{1001}",
            b"[[:alpha:]]+",
            b"\\1",
            b"*",
            b"(",
            b"\\C",
            b"(?s).*",
        ),
    ):
        yield pattern + names


def pieces() -> Iterator[bytes]:
    """Pieces of patterns."""
    yield from (
        b"(?:",
        b"(?i)",
        b"(?-m)",
        b"(?s)",
        b"[^a]",
        b"{2,}",
        b"\\A",
        b"\\z",
        b"\\b",
        b"\\Q",
    )
    yield from (b"[[:word:]]", b"\\x{41}", b"\\p{Greek}", b"(?P<a>", b".*", b"|", b"\\E", b"\\d")


def numbers() -> Iterator[bytes]:
    """Bytes of which hostile models are made."""
    for seed in range(3 * MADE):
        yield hashlib.sha256(b"%d" % seed).digest()
