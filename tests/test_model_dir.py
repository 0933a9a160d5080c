"""The report on a model directory."""

import gzip
import os
import shutil

import pytest

import model_files
from tfprof import model_dir
from tfprof.errors import InputError, OutputError

TEXTS = ["params.txt", "micro.txt", "flops.txt", "device.txt"]


@pytest.fixture
def folder(tmp_path):
    """A model directory as a training run with a metadata hook leaves it."""
    files, folder = tmp_path / "files", tmp_path / "model"
    files.mkdir()
    model_files.write(files)
    (folder / "metadata").mkdir(parents=True)
    shutil.move(files / "graph.pbtxt", folder)
    shutil.move(files / "run_meta_0", folder / "metadata" / "run_meta")
    shutil.move(files / "tfprof_log", folder / "metadata")
    return folder


def test_four_texts_are_written_into_the_folder(folder):
    told = model_dir.report(str(folder))

    assert told.written == [str(folder / name) for name in TEXTS]
    assert told.not_written == []


def test_the_texts_show_variables_float_ops_slow_ops_and_devices(folder):
    model_dir.report(str(folder))
    cpu = "/job:localhost/replica:0/task:0/device:cpu:0"

    assert {name: (folder / name).read_text() for name in TEXTS[:3]} == {
        "params.txt": ("_TFProfRoot (--/12 params, --/0B)\n  net/w (3x4, 12/12 params, 0B/0B)\n"),
        "micro.txt": f"_TFProfRoot (0us/1.50ms)\n  prob (1.50ms/1.50ms, {cpu})\n",
        "flops.txt": (
            "_TFProfRoot (0/96 flops, 0us/1.51ms)\n"
            f"  net/mul (48/48 flops, 10us/10us, {cpu})\n"
            f"  prob (40/40 flops, 1.50ms/1.50ms, {cpu})\n"
            f"  net/act (8/8 flops, 3us/3us, {cpu})\n"
        ),
    }
    device = (folder / "device.txt").read_text()
    assert f"    net/act (8/8 flops, 3us/3us, {cpu})\n" in device
    assert "  x (0/0 flops, 0us/0us)\n" in device


def test_the_texts_may_go_elsewhere(folder, tmp_path):
    told = model_dir.report(str(folder), str(tmp_path))

    assert told.written == [str(tmp_path / name) for name in TEXTS]
    assert not (folder / "params.txt").exists()


def test_resource_variables_are_variables_too(folder):
    graph = folder / "graph.pbtxt"
    graph.write_text(graph.read_text().replace("VariableV2", "VarHandleOp"))

    model_dir.report(str(folder))

    assert "net/w (3x4, 12/12 params" in (folder / "params.txt").read_text()


def test_without_run_metadata_what_would_be_empty_is_not_written(folder):
    (folder / "metadata" / "run_meta").unlink()

    told = model_dir.report(str(folder))

    assert told.not_written == ["micro.txt", "device.txt"]
    assert told.written == [str(folder / "params.txt"), str(folder / "flops.txt")]
    assert told.missing["run_meta_path"] == str(folder / "metadata" / "run_meta")
    assert any("--run_meta_path" in note for note in told.notes)


def test_files_are_found_packed_and_beside_the_graph(folder):
    log = folder / "metadata" / "tfprof_log"
    (folder / "tfprof_log.gz").write_bytes(gzip.compress(log.read_bytes()))
    log.unlink()

    assert model_dir.report(str(folder)).found["op_log_path"] == str(folder / "tfprof_log.gz")


def test_the_checkpoint_is_the_one_that_the_state_file_names(folder):
    for name in ("model.ckpt-1", "model.ckpt-2"):
        (folder / f"{name}.index").write_bytes(b"")
    (folder / "checkpoint").write_text('model_checkpoint_path: "/elsewhere/model.ckpt-1"\n')

    assert model_dir._latest_checkpoint(folder) == folder / "model.ckpt-1"


def test_without_a_state_file_the_newest_checkpoint_is_taken(folder):
    for age, name in enumerate(("model.ckpt-9", "model.ckpt-10")):
        path = folder / f"{name}.index"
        path.write_bytes(b"")
        os.utime(path, (age, age))

    assert model_dir._latest_checkpoint(folder) == folder / "model.ckpt-10"


def test_a_state_file_that_names_nothing_is_passed_over(folder):
    (folder / "checkpoint").write_bytes(b'\xff model_checkpoint_path: "gone"')

    assert model_dir.report(str(folder)).missing["checkpoint_path"]


def test_a_state_file_of_blank_lines_is_passed_over_at_once(folder):
    (folder / "model.ckpt-1.index").write_bytes(b"")
    (folder / "checkpoint").write_bytes(b"\n" * 200_000)

    assert model_dir._latest_checkpoint(folder) == folder / "model.ckpt-1"


def test_blank_lines_and_spaces_may_come_before_the_name_in_a_state_file(folder):
    for name in ("model.ckpt-1", "model.ckpt-2"):
        (folder / f"{name}.index").write_bytes(b"")
    (folder / "checkpoint").write_bytes(b'\r\n\n \t model_checkpoint_path :\n"model.ckpt-1"')

    assert model_dir._latest_checkpoint(folder) == folder / "model.ckpt-1"


def test_a_folder_without_a_graph_is_refused(tmp_path):
    with pytest.raises(InputError, match=r"has no graph\.pbtxt"):
        model_dir.report(str(tmp_path))


def test_what_is_no_folder_is_refused(folder):
    with pytest.raises(InputError, match="is no folder"):
        model_dir.report(str(folder / "graph.pbtxt"))
    with pytest.raises(OutputError, match="is no folder; make it first"):
        model_dir.report(str(folder), str(folder / "new"))


def test_a_damaged_file_leaves_no_text(folder):
    (folder / "metadata" / "run_meta").write_bytes(b"\x0a\xff")

    with pytest.raises(InputError):
        model_dir.report(str(folder))
    assert not list(folder.glob("*.txt"))
