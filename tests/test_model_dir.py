"""Reports on a model directory."""

import gzip
import os
import shutil

import pytest

import model_files
from tfprof import model_dir
from tfprof.errors import InputError, OutputError
from tfprof.sources.model_folder import latest_checkpoint

REPORTS = ["params.txt", "micro.txt", "flops.txt", "device.txt"]


@pytest.fixture
def folder(tmp_path):
    """A model directory as written by a training run with a metadata hook."""
    files, folder = tmp_path / "files", tmp_path / "model"
    files.mkdir()
    model_files.write(files)
    (folder / "metadata").mkdir(parents=True)
    shutil.move(files / "graph.pbtxt", folder)
    shutil.move(files / "run_meta_0", folder / "metadata" / "run_meta")
    shutil.move(files / "tfprof_log", folder / "metadata")
    return folder


def test_four_reports_are_written_to_the_folder(folder):
    result = model_dir.report(str(folder))

    assert result.written == [str(folder / name) for name in REPORTS]
    assert result.not_written == []


def test_the_reports_show_variables_float_ops_slow_ops_and_devices(folder):
    model_dir.report(str(folder))
    cpu = "/job:localhost/replica:0/task:0/device:cpu:0"

    assert {name: (folder / name).read_text() for name in REPORTS[:3]} == {
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


def test_the_reports_may_be_written_to_another_folder(folder, tmp_path):
    result = model_dir.report(str(folder), str(tmp_path))

    assert result.written == [str(tmp_path / name) for name in REPORTS]
    assert not (folder / "params.txt").exists()


def test_resource_variables_count_as_variables(folder):
    graph = folder / "graph.pbtxt"
    graph.write_text(graph.read_text().replace("VariableV2", "VarHandleOp"))

    model_dir.report(str(folder))

    assert "net/w (3x4, 12/12 params" in (folder / "params.txt").read_text()


def test_reports_that_would_be_empty_without_run_metadata_are_not_written(folder):
    (folder / "metadata" / "run_meta").unlink()

    result = model_dir.report(str(folder))

    assert result.not_written == ["micro.txt", "device.txt"]
    assert result.written == [str(folder / "params.txt"), str(folder / "flops.txt")]
    assert result.missing["run_meta_path"] == str(folder / "metadata" / "run_meta")
    assert any("--run_meta_path" in note for note in result.notes)


def test_gzipped_files_beside_the_graph_are_found(folder):
    log = folder / "metadata" / "tfprof_log"
    (folder / "tfprof_log.gz").write_bytes(gzip.compress(log.read_bytes()))
    log.unlink()

    assert model_dir.report(str(folder)).found["op_log_path"] == str(folder / "tfprof_log.gz")


def test_the_checkpoint_named_in_the_state_file_is_used(folder):
    for name in ("model.ckpt-1", "model.ckpt-2"):
        (folder / f"{name}.index").write_bytes(b"")
    (folder / "checkpoint").write_text('model_checkpoint_path: "/elsewhere/model.ckpt-1"\n')

    assert latest_checkpoint(folder) == folder / "model.ckpt-1"


def test_without_a_state_file_the_newest_checkpoint_is_used(folder):
    for age, name in enumerate(("model.ckpt-9", "model.ckpt-10")):
        path = folder / f"{name}.index"
        path.write_bytes(b"")
        os.utime(path, (age, age))

    assert latest_checkpoint(folder) == folder / "model.ckpt-10"


def test_a_state_file_without_an_existing_checkpoint_is_ignored(folder):
    (folder / "checkpoint").write_bytes(b'\xff model_checkpoint_path: "gone"')

    assert model_dir.report(str(folder)).missing["checkpoint_path"]


def test_a_state_file_of_blank_lines_is_ignored_quickly(folder):
    (folder / "model.ckpt-1.index").write_bytes(b"")
    (folder / "checkpoint").write_bytes(b"\n" * 200_000)

    assert latest_checkpoint(folder) == folder / "model.ckpt-1"


def test_blank_lines_and_spaces_may_come_before_the_name_in_a_state_file(folder):
    for name in ("model.ckpt-1", "model.ckpt-2"):
        (folder / f"{name}.index").write_bytes(b"")
    (folder / "checkpoint").write_bytes(b'\r\n\n \t model_checkpoint_path :\n"model.ckpt-1"')

    assert latest_checkpoint(folder) == folder / "model.ckpt-1"


def test_a_folder_without_a_graph_is_refused(tmp_path):
    with pytest.raises(InputError, match=r"has no graph\.pbtxt"):
        model_dir.report(str(tmp_path))


def test_a_path_that_is_not_a_folder_is_refused(folder):
    with pytest.raises(InputError, match="is not a folder"):
        model_dir.report(str(folder / "graph.pbtxt"))
    with pytest.raises(OutputError, match="is not a folder; create it first"):
        model_dir.report(str(folder), str(folder / "new"))


def test_no_report_is_written_from_a_damaged_file(folder):
    (folder / "metadata" / "run_meta").write_bytes(b"\x0a\xff")

    with pytest.raises(InputError):
        model_dir.report(str(folder))
    assert not list(folder.glob("*.txt"))
