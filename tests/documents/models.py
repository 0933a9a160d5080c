"""Writes the models of the documents to a folder: real ones, and small ones for one listing."""

from __future__ import annotations

import gzip
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from documents.listed import parts
from documents.made import Model
from formats.bundle_builder import entry, header
from formats.table_builder import table
from model_files import GraphDef, OpLogProto

_ROOT = Path(__file__).parents[2]
_RESNET = _ROOT / "examples" / "resnet32"
_RECORDED = _ROOT / "tests" / "parity" / "recorded"

_GAMMA = {
    "unit_1_0/shared_activation/init_bn/gamma": (
        *(1.80, 2.10, 2.06, 1.91, 2.26, 1.86, 1.81, 1.37),
        *(1.78, 1.85, 1.96, 1.54, 2.04, 2.34, 2.22, 1.99),
    ),
    "unit_1_0/sub2/bn2/gamma": (
        *(1.57, 1.83, 1.30, 1.25, 1.59, 1.14, 1.26, 0.82),
        *(1.19, 1.10, 1.48, 1.01, 0.82, 1.23, 1.21, 1.14),
    ),
}


def made(build: Callable[..., Model], *facts: Any, **more_facts: Any) -> Callable[[Path], None]:
    """A function that builds a model and writes it to a folder."""
    return lambda folder: build(*facts, **more_facts).write(folder)


def resnet32(folder: Path) -> None:
    """The ResNet of the documents, with an op log that counts what was counted at the time."""
    _unpack(_RESNET / "graph.pbtxt.gz", folder / "graph.pbtxt")
    _unpack(_RESNET / "run_meta.gz", folder / "run_meta")
    seed = _RECORDED / "resnet32" / "inputs" / "tfprof_log_seed.gz"
    _unpack(seed, folder / "tfprof_log")


def old_resnet32(folder: Path) -> None:
    """The ResNet when the kind of a variable was still `Variable`, with a checkpoint."""
    resnet32(folder)
    graph = folder / "graph.pbtxt"
    graph.write_bytes(graph.read_bytes().replace(b'op: "VariableV2"', b'op: "Variable"'))
    _write_checkpoint(folder / "model.ckpt")


def attention(folder: Path) -> None:
    """A small sequence model with attention, with one recorded step."""
    _unpack_recorded("attn_seq2seq", folder)


def ps_worker(folder: Path) -> None:
    """A small model on two parameter servers and a worker."""
    _unpack_recorded("ps_worker", folder)


def pool_logit(folder: Path) -> None:
    """The ResNet with a hand-written op log of two entries."""
    old_resnet32(folder)
    log = OpLogProto()
    for name in ("pool_logit/DW", "pool_logit/biases"):
        log.log_entries.add(name=name, types=["pool_logit"])
    (folder / "tfprof_log").write_bytes(log.SerializeToString())


def residual_chain() -> Model:
    """A chain of convolutions, each with a shortcut around it, which is searched first.

    The search is in name order, not by position. The listing has only what feeds `cost`.
    """
    chain = [
        ("unit_1_0/sub2/conv2/Conv2D", 74_140, 3_190_000),
        ("unit_1_3/sub2/conv2/Conv2D", 60_750, 3_340_000),
        ("unit_2_4/sub2/conv2/Conv2D", 73_580, 3_540_000),
        ("unit_3_3/sub2/conv2/Conv2D", 10_260, 3_600_000),
    ]
    model = Model().add("random_shuffle_queue_DequeueMany", micros=3_088_250)
    way_in = "init/init_conv/Conv2D"
    model.add(way_in, micros=11_750, inputs=["random_shuffle_queue_DequeueMany"])
    reached = 3_100_000
    for place, (name, own, total) in enumerate(chain):
        small = _add_small(model, name, total - reached - own)
        model.add(name, micros=own, inputs=[way_in, *small])
        model.add(f"add_{place}", inputs=[name, way_in])
        way_in, reached = f"add_{place}", total
    model.add("cost", inputs=[way_in, *_add_small(model, "cost", 3_610_000 - reached)])
    return model.add("train", inputs=["cost"], micros=1_000_000)


def _add_small(model: Model, name: str, micros: int) -> list[str]:
    """Add inputs of an op that take `micros` together, each less than 10 ms."""
    small = {f"{name}/input_{at}": part for at, part in enumerate(parts(micros, 10_000))}
    for op, part in small.items():
        model.add(op, micros=part)
    return list(small)


def parameter_servers() -> Model:
    """Two large variables on two parameter servers."""
    model = Model()
    for task, rows in enumerate((25_810, 58_840)):
        device = f"/job:ps/replica:0/task:{task}/cpu:0"
        model.add(f"weights_{task}", "Variable", shape=(rows, 1000), micros=1, device=device)
    return model


def model_directory(folder: Path) -> None:
    """The folder of a training run of a sequence model."""
    decoder = "att_seq2seq/attention_decoder/RNN"
    attention = f"{decoder}/while/rnn_step/attention"
    gradient = f"att_seq2seq/OptimizeLoss/gradients/{attention}/inputs_att/MatMul_grad/MatMul"
    model = Model()
    weights = f"{decoder}/rnn_step/logits/weights"
    model.add(weights, "Variable", shape=(384, 103), micros=1, size=158_208)
    model.add(gradient, "MatMul", float_ops=18_870_000, micros=1640)
    model.add("inputs", micros=10_620)
    model.add(f"{attention}/inputs_att/MatMul", "MatMul", inputs=["inputs"], micros=1210)
    model.add(f"{attention}/mul_1", inputs=[f"{attention}/inputs_att/MatMul"], micros=1890)
    model.write(folder)
    (folder / "metadata").mkdir()
    for name in ("run_meta", "tfprof_log"):
        (folder / name).rename(folder / "metadata" / name)


def softmax_on_the_cpu() -> Model:
    """Two op kinds on the devices of a worker; one of them also has an op that did not run."""
    worker = "/job:worker/replica:0/task:0"
    kind = "SoftmaxCrossEntropyWithLogits"
    model = Model().add(kind, kind, micros=1_366_400, device=f"{worker}/cpu:0")
    model.add("MatMul", "MatMul", micros=618_970, device=f"{worker}/cpu:0")
    for gpu in range(4):
        device = f"{worker}/device:GPU:{gpu}"
        model.add(f"MatMul_{gpu}", "MatMul", micros=1, device=device)
    model.add("MatMul_never", "MatMul")
    for part, micros in enumerate(parts(3_750_150 - 1_366_400 - 618_974, 100_000)):
        model.add(f"rest_{part}", f"Rest{part}", micros=micros, device=f"{worker}/cpu:0")
    return model


def _unpack(packed: Path, file: Path) -> None:
    file.write_bytes(gzip.decompress(packed.read_bytes()))


def _unpack_recorded(model: str, folder: Path) -> None:
    inputs = _RECORDED / model / "inputs"
    _unpack(inputs / "graph.pb.gz", folder / "graph.pbtxt")
    _unpack(inputs / "run_meta_1.gz", folder / "run_meta")
    _unpack(inputs / "tfprof_log.gz", folder / "tfprof_log")


def _write_checkpoint(prefix: Path) -> None:
    """Write all variables of the ResNet, with values only for the two that the README shows."""
    packed = _RECORDED / "resnet32" / "inputs" / "graph.pb.gz"
    graph = GraphDef.FromString(gzip.decompress(packed.read_bytes()))
    items = {b"": header()}
    data = b""
    for node in graph.node:
        if node.op == "VariableV2":
            sizes = [dim.size for dim in node.attr["shape"].shape.dim]
            values = np.array(_GAMMA.get(node.name, ()), "<f4").tobytes()
            items[node.name.encode()] = entry(
                1, sizes, values, offset=len(data), size=4 * math.prod(sizes)
            )
            data += values
    prefix.with_name(f"{prefix.name}.index").write_bytes(table(items))
    prefix.with_name(f"{prefix.name}.data-00000-of-00001").write_bytes(data)
