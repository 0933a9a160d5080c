"""Files that claim or contain absurd amounts: memory and time stay in proportion to the file."""

from __future__ import annotations

import gzip
import io
import json
import pickle
import struct
import zipfile
from time import process_time

import h5py
import numpy as np
import pytest

import inductor_logs
import peak_memory
import tfprof
from formats.bundle_builder import entry, header
from formats.kineto_traces import trace_of
from formats.table_builder import number, sealed, table, table_of_blocks
from fuzz import seeds
from fuzz.contract import MOST_MORE, MOST_TIMES
from kineto_programs import annotation, op
from sources.tf_files import CPU, graph, node, op_log, run_metadata, shape, stats
from tfprof.errors import TfprofError
from tfprof.formats import checkpoint

VIEWS = ("scope", "graph", "op", "layers")
MUCH = 10_000_000  # bytes of a long name


def views(profile):
    for view in VIEWS:
        _ = getattr(profile, view)(select=["params", "op_types", "occurrence"]).table


def page(profile):
    for _ in profile.report().encode():
        pass


def code(profile):
    _ = profile.code(select=["params"]).table


def steps(profile):
    _ = profile.step_times().report


def memory(profile):
    _ = profile.memory().report
    page(profile)


def used(allocator, first=100, last=200, count=1):
    """The memory of a run: allocations at times from the first to the last."""
    times = [first + (last - first) * at // count for at in range(count)]
    records = [{"alloc_micros": at, "alloc_bytes": 64} for at in times]
    return {"allocator_name": allocator, "total_bytes": 64, "allocation_records": records}


def everything(profile):
    views(profile)
    page(profile)


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

# Files, by what is absurd about them, and what is asked about them.
ABSURD = {
    "a long name": ([graph(node("x" * MUCH, "MatMul"))], everything),
    "a long name in a text": ([b'node { name: "%s" op: "a" }' % (b"x" * MUCH)], views),
    "a long kind": ([graph(node("a", "x" * MUCH))], everything),
    "deep scopes": ([graph(node("a/" * 1_000_000 + "b"), node("c"))], everything),
    "a deep variable": (
        [graph(node("a/" * 300_000 + "w", "VariableV2", shape={"shape": shape(2)}))],
        everything,
    ),
    "only slashes": ([graph(node("/" * 1_000_000), node("c"))], everything),
    "many inputs": ([graph(node("a"), node("b", "AddN", ["a"] * 1_000_000))], everything),
    "a long chain": (
        [graph(*(node(f"n{at}", "Relu", [f"n{at - 1}"]) for at in range(100_000)))],
        everything,
    ),
    "many dimensions": (
        [graph(node("a", "VariableV2", shape={"shape": shape(*[1] * 500_000)}))],
        views,
    ),
    "many outputs": (
        [graph(node("a", "MatMul", _output_shapes={"list": {"shape": [shape(2)] * 300_000}}))],
        views,
    ),
    "a deep stack": (
        [SMALL, op_log({"name": "a", "code_def": {"traces": stack(300_000)}})],
        code,
    ),
    "many types": (
        [SMALL, op_log({"name": "a", "types": [f"t{at}" for at in range(200_000)]})],
        views,
    ),
    "many allocators": (
        [
            run_metadata(
                (CPU, [stats("a", memory=[used(f"x{at}") for at in range(3000)])]),
            )
        ],
        memory,
    ),
    "allocations far apart": (
        [run_metadata((CPU, [stats("a", memory=[used("x", 1, 10**18, 5000)])]))],
        memory,
    ),
    "a long name of a tensor": ([tensors("x" * MUCH)], everything),
    "deep names of tensors": (
        [tensors(*(f"{at}." + "long_part." * 500 for at in range(1000)))],
        views,
    ),
    "many tensors": ([tensors(*(f"a{at}.w" for at in range(50_000)))], views),
    "many allocations with a deep stack": ([allocations(50_000)], memory),
    "many compiled kernels": ([compiled_kernels(200_000)], everything),
    "a compiled kernel with a deep stack": ([compiled_kernels(3, 200_000)], everything),
    "many compiled calls": (compiled_calls(1000, 120), views),
    "deep names of runs": (
        [SMALL, run_metadata((CPU, [stats("a/" * 500_000 + "b"), stats("x" * MUCH)]))],
        steps,
    ),
}


@peak_memory.needs_resident
@pytest.mark.parametrize("name", ABSURD)
def test_memory_and_time_are_in_proportion_to_an_absurd_file(name, tmp_path):
    contents, ask = ABSURD[name]
    paths = [tmp_path / f"file{at}" for at in range(len(contents))]
    for path, content in zip(paths, contents, strict=True):
        path.write_bytes(content)
    start = process_time()

    peak = peak_memory.resident(lambda: ask(tfprof.load(*paths)))

    assert peak < MOST_TIMES * sum(map(len, contents)) + MOST_MORE
    assert process_time() - start < 60  # measured: at most 1


@pytest.mark.parametrize("view", ["scope", "graph"])
def test_an_answer_that_would_fill_the_disk_is_refused(view, tmp_path):
    nodes = [node("a/" * 200_000 + "b")]
    nodes += [node(f"n{at}", "Relu", [f"n{at - 1}"]) for at in range(100_000)]
    (tmp_path / "graph").write_bytes(graph(*nodes))
    profile = tfprof.load(tmp_path / "graph")

    with pytest.raises(TfprofError, match="more than the limit of 4,294,967,296"):
        getattr(profile, view)(max_depth=10**6)


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


BOMBS = {
    "gzip": gzip.compress(bytes(1 << 29), 9),
    "keras configuration": zipped({"config.json": bytes(1 << 29), "model.weights.h5": b""}),
    "nested zips": nested_zips(3),
    "saved profile": zipped({"tfprof.json": bytes(1 << 29)}),
    "checkpoint of PyTorch": zipped({"a/data.pkl": bytes(1 << 29)}),
    "exported program": zipped({"a/archive_format": "pt2", "a/models/model.json": bytes(1 << 29)}),
}


@pytest.mark.parametrize("name", BOMBS)
def test_a_bomb_is_refused_before_it_fills_the_memory(name, tmp_path):
    path = tmp_path / "bomb"
    path.write_bytes(BOMBS[name])

    assert peak_memory.allocated(lambda: refused(path)) < 400 << 20
    assert path.stat().st_size < 1 << 20


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


def test_seeds_of_the_fuzzer_are_small():
    assert max(len(seed) for seed in seeds.weights()) < 20_000
