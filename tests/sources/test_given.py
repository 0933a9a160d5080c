"""Which files are read for a path: the file itself, or the matching files of a folder."""

import os
import shutil
from pathlib import Path

import pytest

import model_files
import tfprof
from h200 import EXECUTION, GPT, RANKS, SNAPSHOT
from sources.tf_files import CHECKPOINTS, packed, unpacked_model
from tfprof.errors import InputError
from tfprof.sources.given import files_of

SAMPLES = Path(__file__).parents[1] / "samples"
KERAS, PYTORCH = SAMPLES / "keras", SAMPLES / "pytorch"


@pytest.fixture
def folder(tmp_path):
    """A training run with two traced steps and a checkpoint."""
    model_files.write(tmp_path)
    keep = {"graph.pbtxt", "run_meta_0", "tfprof_log"}
    for path in tmp_path.iterdir():
        if path.name not in keep:
            path.unlink()
    shutil.copy(tmp_path / "run_meta_0", tmp_path / "run_meta_10")
    shutil.copy(tmp_path / "run_meta_0", tmp_path / "run_meta_9")
    for path in (KERAS / "training").iterdir():
        shutil.copy(path, tmp_path)
    (tmp_path / "notes.txt").write_text("not a file of tfprof")
    return tmp_path


def names(folder):
    return [str(Path(path).relative_to(folder)) for path in files_of(str(folder))]


def refusal(folder):
    with pytest.raises(InputError) as caught:
        files_of(str(folder))
    return caught.value.trouble


def test_the_files_of_a_training_run_are_found_in_the_order_of_steps(folder):
    assert names(folder) == [
        "graph.pbtxt",
        "run_meta_0",
        "run_meta_9",
        "run_meta_10",
        "tfprof_log",
        "ckpt-1",
    ]


def test_a_training_run_is_read_as_a_whole(folder):
    profile = tfprof.load(folder)

    assert [file.kind for file in profile.files] == [
        "graph",
        "run_meta",
        "run_meta",
        "run_meta",
        "op_log",
        "checkpoint",
    ]
    assert profile.steps == [0, 1, 2]


def test_run_metadata_of_a_training_hook_is_in_a_folder_of_its_own(folder):
    (folder / "metadata").mkdir()
    shutil.copy(folder / "run_meta_0", folder / "metadata" / "run_meta")
    shutil.move(folder / "tfprof_log", folder / "metadata")

    assert names(folder) == ["graph.pbtxt", "metadata/run_meta", "metadata/tfprof_log", "ckpt-1"]


def test_files_may_be_gzipped(tmp_path):
    for name in ("graph.pb", "run_meta_1", "run_meta_9"):
        shutil.copy(packed(f"mlp_tiny/{name}"), tmp_path)

    assert names(tmp_path) == ["graph.pb.gz", "run_meta_1.gz", "run_meta_9.gz"]


def test_a_folder_of_checkpoints_is_its_latest_checkpoint():
    profile = tfprof.load(KERAS / "training")

    assert [file.path for file in profile.files] == [str(KERAS / "training" / "ckpt-1")]


def test_a_saved_model_stands_for_itself(tmp_path):
    model = unpacked_model(tmp_path / "model")

    assert files_of(str(model)) == [str(model)]


def test_a_path_that_is_no_folder_stands_for_itself(tmp_path):
    for path in (tmp_path / "missing", CHECKPOINTS / "v2" / "model.ckpt"):
        assert files_of(str(path)) == [str(path)]


def test_a_folder_of_pytorch_traces_stands_for_all_of_them_in_the_order_of_numbers(tmp_path):
    for number, rank in zip((10, 2, 1, 0), RANKS, strict=True):
        shutil.copy(rank, tmp_path / f"rank{number}.json.gz")
    (tmp_path / "facts.json").write_text("{}")
    (tmp_path / "log.txt").write_text("training")

    assert names(tmp_path) == ["rank0.json.gz", "rank1.json.gz", "rank2.json.gz", "rank10.json.gz"]


def test_a_folder_with_a_pytorch_trace_stands_for_the_other_files_of_the_program_too(tmp_path):
    shutil.copy(GPT, tmp_path / "host_1.20.pt.trace.json.gz")
    shutil.copy(EXECUTION, tmp_path / "execution.json.gz")
    shutil.copy(SNAPSHOT, tmp_path / "memory.pickle.gz")
    for name in ("model", "other"):
        shutil.copy(PYTORCH / "net.safetensors", tmp_path / f"{name}.safetensors")

    assert names(tmp_path) == [
        "execution.json.gz",
        "host_1.20.pt.trace.json.gz",
        "memory.pickle.gz",
        "model.safetensors",
    ]


def test_traces_of_pytorch_and_files_of_tensorflow_do_not_belong_together(tmp_path, folder):
    place = tmp_path / "place"
    (place / "traces").mkdir(parents=True)
    for one in (place, place / "traces"):
        shutil.copy(GPT, one / "trace.json.gz")
    shutil.copy(folder / "graph.pbtxt", place / "mine.pbtxt")

    assert refusal(place) == (
        "is a folder of files that do not belong together; give some of them: mine.pbtxt "
        "(GraphDef), trace.json.gz (Kineto trace), traces (recording)."
    )


def test_an_empty_folder_is_refused(tmp_path):
    assert refusal(tmp_path) == "is an empty folder; check the path."


def test_the_error_for_a_folder_without_known_files_lists_its_content(tmp_path):
    for number in range(10):
        (tmp_path / f"{number}.txt").write_text("hello")

    assert refusal(tmp_path) == (
        "is a folder without files that tfprof reads, such as graph.pbtxt, run_meta, tfprof_log, a "
        "checkpoint, a SavedModel or a recording; it contains 0.txt, 1.txt, 2.txt, 3.txt, 4.txt, "
        "5.txt, 6.txt, 7.txt and more."
    )


def test_a_pipe_in_a_folder_is_not_opened(tmp_path):
    os.mkfifo(tmp_path / "pipe")

    with pytest.raises(InputError, match="it contains pipe"):
        tfprof.load(tmp_path)


def test_the_error_for_a_folder_with_one_known_file_names_it(tmp_path, folder):
    place = tmp_path / "place"
    place.mkdir()
    shutil.copy(folder / "graph.pbtxt", place / "mine.pbtxt")
    (place / "notes.txt").touch()

    assert refusal(place) == (
        "is a folder; give the part of it that tfprof reads: mine.pbtxt (GraphDef)."
    )


def test_the_error_for_a_folder_of_several_models_lists_them(tmp_path, folder):
    place = tmp_path / "place"
    place.mkdir()
    unpacked_model(place / "exported")
    shutil.copytree(CHECKPOINTS.parent / "capture", place / "recorded")
    shutil.copytree(KERAS / "training", place / "trained")
    shutil.copy(folder / "graph.pbtxt", place / "mine.pbtxt")
    (place / "notes.txt").touch()

    assert refusal(place) == (
        "is a folder of files that do not belong together; give some of them: exported "
        "(SavedModel), mine.pbtxt (GraphDef), recorded (recording), trained (training run)."
    )
