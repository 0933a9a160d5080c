"""Files that claim or contain absurd amounts: memory and time stay in proportion to the file."""

from __future__ import annotations

import gzip
import io
import json
import pickle
import struct
import zipfile
from collections.abc import Callable
from typing import NamedTuple

import h5py
import numpy as np
import pytest

import inductor_logs
import peak_memory
import tfprof
from file_questions import code, everything, memory, steps, views
from formats.bundle_builder import entry, header
from formats.kineto_traces import trace_of
from formats.table_builder import number, sealed, table, table_of_blocks
from fuzz.contract import MOST_MORE, MOST_TIMES
from kineto_programs import annotation, op
from sources.tf_files import CPU, graph, node, op_log, run_metadata, shape, stats
from tfprof.errors import TfprofError
from tfprof.formats import checkpoint

MUCH = 10_000_000  # bytes of a long name


class Absurd(NamedTuple):
    """Files with an absurd amount of something, and a question about them."""

    ask: Callable[..., None]
    amount: int
    build: Callable[[int], list[bytes]]  # the files with any amount


def used(allocator, first=100, last=200, count=1):
    """The memory of a run: allocations at times from the first to the last."""
    times = [first + (last - first) * at // count for at in range(count)]
    records = [{"alloc_micros": at, "alloc_bytes": 64} for at in times]
    return {"allocator_name": allocator, "total_bytes": 64, "allocation_records": records}


def runs(*found):
    return run_metadata((CPU, list(found)))


def stack(depth):
    return [{"file": "a.py", "lineno": at % 1000, "function": "f"} for at in range(depth)]


def tensors(*names):
    """A safetensors file with tensors of one value."""
    entries = {
        name: {"dtype": "U8", "shape": [1], "data_offsets": [at, at + 1]}
        for at, name in enumerate(names)
    }
    text = json.dumps(entries).encode()
    return struct.pack("<Q", len(text)) + text + bytes(len(names))


def allocations(count):
    """A memory snapshot in which all allocations have the same deep stack."""
    frames = [{"name": f"f{at}", "filename": "a.py", "line": at} for at in range(5000)]
    entries = [
        {"action": "alloc", "addr": at, "size": 1, "time_us": at, "frames": frames}
        for at in range(count)
    ]
    return pickle.dumps({"segments": [], "device_traces": [entries]})


def compiled_kernels(count, frames=1):
    """A table of generated kernels."""
    stack_ = '  File "a.py", line 3, in f\n' * frames
    return json.dumps({f"kernel{at}:{at}": [stack_] for at in range(count)}).encode()


def compiled_calls(count, graphs):
    """A trace of compiled calls with different ops, and a log in which all graphs have one key."""
    events, names = [], [f"op{at}" for at in range(count)]
    for at, name in enumerate(names):
        events.append(annotation("## Call CompiledFxGraph f ##", 10 * at, 8))
        events.append(op(name, 10 * at + 1, 5))
    logged = [[(name, [inductor_logs.stack(at)]) for name in names] for at in range(graphs)]
    log = "".join(inductor_logs.graph(*kernels, key="f") for kernels in logged)
    return [trace_of(*events), log.encode()]


SMALL = graph(node("a", "MatMul"))

# Files, by what is absurd about them.
ABSURD = {
    "a long name": Absurd(everything, MUCH, lambda size: [graph(node("x" * size, "MatMul"))]),
    "a long name in a text": Absurd(
        views, MUCH, lambda size: [b'node { name: "%s" op: "a" }' % (b"x" * size)]
    ),
    "a long kind": Absurd(everything, MUCH, lambda size: [graph(node("a", "x" * size))]),
    "deep scopes": Absurd(
        everything, 1_000_000, lambda depth: [graph(node("a/" * depth + "b"), node("c"))]
    ),
    "a deep variable": Absurd(
        everything,
        300_000,
        lambda depth: [graph(node("a/" * depth + "w", "VariableV2", shape={"shape": shape(2)}))],
    ),
    "only slashes": Absurd(
        everything, 1_000_000, lambda count: [graph(node("/" * count), node("c"))]
    ),
    "many inputs": Absurd(
        everything, 1_000_000, lambda count: [graph(node("a"), node("b", "AddN", ["a"] * count))]
    ),
    "a long chain": Absurd(
        everything,
        100_000,
        lambda count: [graph(*(node(f"n{at}", "Relu", [f"n{at - 1}"]) for at in range(count)))],
    ),
    "many dimensions": Absurd(
        views,
        500_000,
        lambda rank: [graph(node("a", "VariableV2", shape={"shape": shape(*[1] * rank)}))],
    ),
    "many outputs": Absurd(
        views,
        300_000,
        lambda count: [
            graph(node("a", "MatMul", _output_shapes={"list": {"shape": [shape(2)] * count}}))
        ],
    ),
    "a deep stack": Absurd(
        code,
        300_000,
        lambda depth: [SMALL, op_log({"name": "a", "code_def": {"traces": stack(depth)}})],
    ),
    "many types": Absurd(
        views,
        200_000,
        lambda count: [SMALL, op_log({"name": "a", "types": [f"t{at}" for at in range(count)]})],
    ),
    "many allocators": Absurd(
        memory,
        3000,
        lambda count: [runs(stats("a", memory=[used(f"x{at}") for at in range(count)]))],
    ),
    "allocations far apart": Absurd(
        memory, 5000, lambda count: [runs(stats("a", memory=[used("x", 1, 10**18, count)]))]
    ),
    "a long name of a tensor": Absurd(everything, MUCH, lambda size: [tensors("x" * size)]),
    "deep names of tensors": Absurd(
        views,
        1000,
        lambda count: [tensors(*(f"{at}." + "long_part." * 500 for at in range(count)))],
    ),
    "many tensors": Absurd(
        views, 50_000, lambda count: [tensors(*(f"a{at}.w" for at in range(count)))]
    ),
    "many allocations with a deep stack": Absurd(
        memory, 50_000, lambda count: [allocations(count)]
    ),
    "many compiled kernels": Absurd(everything, 200_000, lambda count: [compiled_kernels(count)]),
    "a compiled kernel with a deep stack": Absurd(
        everything, 200_000, lambda depth: [compiled_kernels(3, depth)]
    ),
    "many compiled calls": Absurd(views, 120, lambda graphs: compiled_calls(8 * graphs, graphs)),
    "deep names of runs": Absurd(
        steps,
        500_000,
        lambda depth: [SMALL, runs(stats("a/" * depth + "b"), stats("x" * 20 * depth))],
    ),
}

# One of each format is enough for the gate.
IN_GATE = (
    "a long name in a text",
    "deep scopes",
    "many types",
    "allocations far apart",
    "a long name of a tensor",
    "many allocations with a deep stack",
    "a compiled kernel with a deep stack",
)
FEW = 3


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=() if name in IN_GATE else pytest.mark.random) for name in ABSURD],
)
@peak_memory.needs_resident
def test_memory_is_in_proportion_to_an_absurd_file(name, tmp_path):
    ask, amount, build = ABSURD[name]
    contents = build(amount)

    peak = peak_memory.resident(
        ask, written(tmp_path / "absurd", contents), before=written(tmp_path / "few", build(FEW))
    )

    assert peak < MOST_TIMES * sum(map(len, contents)) + MOST_MORE


def written(folder, contents):
    folder.mkdir()
    paths = [folder / f"file{at}" for at in range(len(contents))]
    for path, content in zip(paths, contents, strict=True):
        path.write_bytes(content)
    return paths


@pytest.fixture(scope="module")
def deep_profile(tmp_path_factory):
    """An op in as many scopes as a chain has ops; either, indented, is over 6 GB of text."""
    path = tmp_path_factory.mktemp("deep") / "graph"
    nodes = [node("a/" * 80_000 + "b")]
    nodes += [node(f"n{at}", "Relu", [f"n{at - 1}"]) for at in range(80_000)]
    path.write_bytes(graph(*nodes))
    return tfprof.load(path)


@pytest.mark.parametrize("view", ["scope", "graph"])
def test_an_answer_that_would_fill_the_disk_is_refused(view, deep_profile):
    with pytest.raises(TfprofError, match="more than the limit of 4,294,967,296"):
        getattr(deep_profile, view)(max_depth=10**6)


def refused(path):
    with pytest.raises(TfprofError) as caught:
        tfprof.load(path)
    return str(caught.value)


# Bombs.


def zipped(members, kind=zipfile.ZIP_DEFLATED):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", kind) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return out.getvalue()


def nested_zips(levels):
    """A Keras file of which every member is a zip archive of zip archives."""
    data = bytes(1 << 20)
    for _ in range(levels):
        data = zipped({"config.json": data, "model.weights.h5": data, "metadata.json": data})
    return data


ZEROS = bytes(1 << 26)

# Files that unpack to a lot, each with the memory that refusing it may take. A gzipped file says
# only when it is unpacked how much it contains, an archive says it at once.
BOMBS = {
    "gzip": (400 << 20, lambda: gzip.compress(bytes(1 << 24), 9) * 32),
    "keras configuration": (
        32 << 20,
        lambda: zipped({"config.json": ZEROS, "model.weights.h5": b""}),
    ),
    "nested zips": (32 << 20, lambda: nested_zips(3)),
    "saved profile": (32 << 20, lambda: zipped({"tfprof.json": ZEROS})),
    "checkpoint of PyTorch": (32 << 20, lambda: zipped({"a/data.pkl": ZEROS})),
    "exported program": (
        32 << 20,
        lambda: zipped({"a/archive_format": "pt2", "a/models/model.json": ZEROS}),
    ),
}


@pytest.mark.parametrize("name", BOMBS)
def test_a_bomb_is_refused_before_it_fills_the_memory(name, tmp_path):
    most, build = BOMBS[name]
    path = tmp_path / "bomb"
    path.write_bytes(build())

    assert path.stat().st_size < 1 << 20
    assert peak_memory.allocated(lambda: refused(path)) < most


def test_a_block_of_snappy_cannot_unpack_to_more_than_the_format_allows(tmp_path):
    claimed = number(1 << 40) + b"\x00a"
    stored = claimed + bytes([1])
    block = stored + sealed(stored[:-1])[-4:]
    (tmp_path / "c.index").write_bytes(table_of_blocks([(b"z", block)]))

    assert "c.index" in refused(tmp_path / "c")


def test_weights_of_a_claimed_size_take_no_memory(tmp_path):
    path = tmp_path / "a.weights.h5"
    with h5py.File(path, "w") as file:
        file.create_dataset("layers/dense/vars/0", (1 << 30, 1 << 20), "f4", chunks=(1, 1))

    profile = tfprof.load(path)

    assert profile.scope(select=["params"])["_TFProfRoot"]["total_params"] == 1 << 50


# Checkpoints.


@pytest.mark.parametrize("size", [1 << 40, (1 << 63) - 1, 1 << 63])
def test_a_tensor_of_a_claimed_size_is_refused_when_it_is_read(tmp_path, size):
    entries = {b"": header(), b"w": entry(1, (size // 4 % (1 << 62),), b"1234", size=size)}
    (tmp_path / "c.index").write_bytes(table(entries))
    (tmp_path / "c.data-00000-of-00001").write_bytes(b"1234")

    with pytest.raises(TfprofError):
        checkpoint.open_checkpoint(str(tmp_path / "c")).read("w")


@pytest.mark.parametrize("shards", [2**31 - 1, 2**40, 2**62])
def test_a_checkpoint_of_many_claimed_files_is_opened_without_looking_for_them(tmp_path, shards):
    (tmp_path / "c.index").write_bytes(table({b"": header(shards), b"w": entry(1, (1,), b"1234")}))

    with pytest.raises(TfprofError, match="is missing"):
        checkpoint.open_checkpoint(str(tmp_path / "c")).read("w")


@pytest.mark.parametrize("name", [b"../../escaped", b"/etc/passwd", b"a\x00b", b"..", b"a/../b"])
def test_names_in_a_checkpoint_are_never_paths(tmp_path, name):
    inside = tmp_path / "inside"
    inside.mkdir()
    (inside / "c.index").write_bytes(table({b"": header(), name: entry(1, (1,), b"1234")}))
    (inside / "c.data-00000-of-00001").write_bytes(b"1234")

    found = checkpoint.open_checkpoint(str(inside / "c"))

    assert [one.name for one in found.tensors] == [name.decode()]
    assert found.read(name.decode()).tobytes() == b"1234"
    assert sorted(file.name for file in tmp_path.iterdir()) == ["inside"]


def test_a_shard_that_is_a_link_is_read_like_any_file(tmp_path):
    """The user's own file system decides what a path leads to; the files cannot add a path."""
    (tmp_path / "c.index").write_bytes(table({b"": header(), b"w": entry(1, (1,), b"1234")}))
    (tmp_path / "elsewhere").write_bytes(b"1234")
    (tmp_path / "c.data-00000-of-00001").symlink_to(tmp_path / "elsewhere")

    assert checkpoint.open_checkpoint(str(tmp_path / "c")).read("w") == np.frombuffer(b"1234", "f4")


def test_a_list_of_checkpoints_leads_to_no_other_folder(tmp_path):
    folder = tmp_path / "run"
    folder.mkdir()
    (tmp_path / "c.index").write_bytes(table({b"": header(), b"w": entry(1, (1,), b"1234")}))
    (folder / "checkpoint").write_text('model_checkpoint_path: "../c"\n')

    assert "c.index" not in refused(folder)


def test_a_file_that_refers_to_itself_is_refused(tmp_path):
    (tmp_path / "c.index").symlink_to(tmp_path / "c.index")

    assert refused(tmp_path / "c")
