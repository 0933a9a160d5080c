"""Files that tfprof does not read are named for what they are."""

import gzip
import io
import pickle
import struct
import tarfile
import zipfile

import numpy as np
import pytest

import tfprof
from formats.table_builder import message
from tfprof.errors import UnknownFormatError
from tfprof.formats import crc32c
from tfprof.formats.content import Content
from tfprof.formats.foreign import FORMATS, trouble


def zipped(*names):
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w") as archive:
        for name in names:
            archive.writestr(name, "x")
    return held.getvalue()


def tarred(name="a"):
    held = io.BytesIO()
    with tarfile.open(fileobj=held, mode="w") as archive:
        archive.addfile(tarfile.TarInfo(name))
    return held.getvalue()


def record(data):
    """A TFRecord file of one record."""
    length = struct.pack("<Q", len(data))
    checks = [struct.pack("<I", crc32c.masked(crc32c.checksum(part))) for part in (length, data)]
    return length + checks[0] + data + checks[1]


def numpy_array():
    held = io.BytesIO()
    np.save(held, np.zeros(3))
    return held.getvalue()


ONNX_GRAPH = message(
    (1, message((1, b"x"), (2, b"y"), (3, b"relu"), (4, b"Relu"))),
    (2, b"graph"),
    (11, message((1, b"x"))),
)
HLO = message((1, b"a_inference.1"), (2, b"main"), (3, message((1, b"main"), (2, b"body"))), (6, 3))
META_GRAPH = message(
    (1, message((5, b"2.21.0"))), (2, message((1, message((1, b"v"), (2, b"VariableV2")))))
)

FILES = {
    "model.tflite": (b"\x1c\x00\x00\x00TFL3" + bytes(20), "a TensorFlow Lite model"),
    "no_suffix": (b"\x1c\x00\x00\x00TFL3" + bytes(20), "a TensorFlow Lite model"),
    "model.onnx": (message((1, 8), (2, b"pytorch"), (7, ONNX_GRAPH)), "an ONNX model"),
    "large.onnx": (message((1, 8), (7, ONNX_GRAPH + bytes(70_000))), "an ONNX model"),
    "model.pt": (
        zipped("model/data.pkl", "model/version")[:-30],
        "a PyTorch file that is cut short or damaged",
    ),
    "__0_0.distcp": (
        zipped("archive/data.pkl") + zipped("archive/data.pkl"),
        "a part of a distributed checkpoint",
    ),
    "2016.pt": (tarred("sys_info"), "a file of PyTorch before 0.1.10"),
    "a.pkl": (pickle.dumps({"a": [1]}), "a pickle"),
    "b.pkl": (pickle.dumps([1.5], 3), "a pickle"),
    "module.hlo": (b"HloModule jit_f, entry\n", "an XLA program (HLO)"),
    "module.pb": (HLO, "an XLA program (HLO)"),
    "module.hlo_proto.pb": (message((1, HLO)), "an XLA program (HLO)"),
    "events.out.tfevents.1": (record(message((3, b"brain.Event:2"))), "a TensorBoard event file"),
    "data.tfrecord": (record(b"abc"), "a TFRecord file, which contains data and no model"),
    "model.ckpt.meta": (META_GRAPH, "a MetaGraphDef"),
    "checkpoint": (b'model_checkpoint_path: "ckpt-1"\n', "the list of a folder's checkpoints"),
    "a.npy": (numpy_array(), "a numpy array"),
    "a.npz": (zipped("a.npy"), "an archive of numpy arrays"),
    "a.zip": (zipped("graph.pbtxt"), "a zip archive"),
    "a.tar": (tarred(), "a tar archive"),
    "graph.pbtxt.xz": (b"\xfd7zXZ\x00" + bytes(20), "a compressed file"),
    "plot.png": (b"\x89PNG\r\n\x1a\n" + bytes(20), "an image"),
    "photo": (b"\xff\xd8\xff\xe0" + bytes(20), "an image"),
    "paper.pdf": (b"%PDF-1.7\n%\xc2", "a PDF document"),
    "ops.parquet": (b"PAR1" + bytes(20), "a Parquet file"),
    "custom_ops.so": (b"\x7fELF\x02\x01" + bytes(20), "a program"),
    "trace.json": (b'{"displayTimeUnit":"ns","traceEvents":[]}', "a trace for trace viewers"),
}


@pytest.mark.parametrize("name", FILES)
def test_a_file_is_named_for_what_it_is_with_something_to_do(tmp_path, name):
    data, title = FILES[name]
    (tmp_path / name).write_bytes(data)

    with pytest.raises(UnknownFormatError) as caught:
        tfprof.load(tmp_path / name)

    assert caught.value.trouble.startswith(f"is {title}; ")
    assert caught.value.trouble.endswith(".")


def test_every_format_is_tested():
    assert {title for _, title in FILES.values()} == {one.title for one in FORMATS}


def test_a_gzipped_file_is_named_for_its_content(tmp_path):
    (tmp_path / "trace.json.gz").write_bytes(gzip.compress(FILES["trace.json"][0]))

    with pytest.raises(UnknownFormatError, match="is a trace for trace viewers"):
        tfprof.load(tmp_path / "trace.json.gz")


def test_the_values_of_a_checkpoint_name_its_prefix(tmp_path):
    path = tmp_path / "ckpt-7.data-00000-of-00001"
    path.write_bytes(bytes(100))

    assert trouble(str(path), bytes(100)) == (
        f"contains only a checkpoint's values; give its prefix, {tmp_path / 'ckpt-7'}."
    )


@pytest.mark.parametrize("name", ["fingerprint.pb", "debug/other.pb"])
def test_a_part_of_a_saved_model_names_its_folder(tmp_path, name):
    (tmp_path / "saved_model.pb").touch()
    (tmp_path / "debug").mkdir()
    (tmp_path / name).write_bytes(b"\x09" + bytes(8))

    found = trouble(str(tmp_path / name), Content(str(tmp_path / name)).head)

    assert found == f"is a part of the SavedModel {tmp_path}; give that folder."


@pytest.mark.parametrize("data", [b"", b"plain text\n", bytes(20), b"\xff" * 30])
def test_other_files_are_unknown(data):
    assert trouble("somewhere", data) is None
