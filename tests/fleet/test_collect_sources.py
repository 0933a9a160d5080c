"""The files that the sources of `collect` stand for."""

from __future__ import annotations

import gzip
import shutil
from pathlib import Path

import pytest
from collected_stores import recorded

import model_files
from fleets import Job
from h200 import RANKS
from tfprof.errors import InputError, OptionError
from tfprof.fleet.inputs import found

ROOT = Path(__file__).parents[2]


def runs(*sources):
    """The recordings of `sources`, each with its step and the files of the model."""
    return {
        run.source: (run.step, tuple(path for path, _ in run.common))
        for run in found(map(str, sources)).runs
    }


@pytest.fixture
def trace(tmp_path):
    return recorded(tmp_path / "made", Job(hosts=1, steps=2, layers=2))[0].read_bytes()


@pytest.fixture
def recording(tmp_path, trace):
    """A folder with two recordings of two hosts, and the graph of the model."""
    for run in ("2026_01", "2026_02"):
        folder = tmp_path / "run" / "plugins" / "profile" / run
        folder.mkdir(parents=True)
        for host in ("host1", "host10", "host2"):
            (folder / f"{host}.xplane.pb").write_bytes(trace)
    (tmp_path / "run" / "graph.pb").write_bytes(model_files.graph().SerializeToString())
    (tmp_path / "run" / "notes.txt").write_text("not a recording")
    return tmp_path / "run"


def test_a_file_is_a_recording_by_its_content(tmp_path, trace):
    (tmp_path / "anything").write_bytes(trace)

    assert runs(tmp_path / "anything") == {f"{tmp_path}/anything": (None, ())}


def test_files_of_the_model_belong_to_all_recordings(files):
    common = (f"{files}/graph.pb", f"{files}/tfprof_log")

    assert runs("run_meta_1", "tfprof_log", "graph.pb", "run_meta_0") == {
        f"{files}/run_meta_0": (None, common),
        f"{files}/run_meta_1": (None, common),
    }


def test_a_checkpoint_and_a_saved_model_belong_to_all_recordings(files):
    model = ROOT / "examples" / "keras_cnn"
    checkpoint = model / "variables" / "variables"

    assert runs("run_meta_0", model)[f"{files}/run_meta_0"][1] == (str(model),)
    assert runs("run_meta_0", checkpoint)[f"{files}/run_meta_0"][1] == (str(checkpoint),)


def test_a_step_can_be_given_with_its_file(files):
    assert runs("7:run_meta_0", "run_meta_1", "run_meta_0") == {
        f"{files}/run_meta_0": (7, ()),
        f"{files}/run_meta_1": (None, ()),
    }


@pytest.mark.usefixtures("files")
def test_a_file_with_two_steps_is_refused():
    with pytest.raises(OptionError, match="as step 7 and as step 8"):
        runs("7:run_meta_0", "8:run_meta_0")


def test_a_file_whose_name_looks_like_a_step_is_a_file(files):
    (files / "7:run_meta_0").write_bytes((files / "run_meta_0").read_bytes())

    assert runs("7:run_meta_0") == {f"{files}/7:run_meta_0": (None, ())}


def test_a_folder_stands_for_its_latest_recording_in_natural_order(recording):
    folder = recording / "plugins" / "profile" / "2026_02"

    assert list(runs(recording)) == [
        f"{folder}/{host}.xplane.pb" for host in ("host1", "host2", "host10")
    ]
    assert found([str(recording)]).notes == (
        f"{recording}: left out 1 recording older than the latest; name them too.",
    )


def test_a_folder_is_searched_for_traces_of_pytorch(tmp_path):
    for path in ("a/rank0/trace.json.gz", "a/rank0/modules.json", "a/rank1/trace.json.gz"):
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_bytes(b"")
    (tmp_path / "a" / "host_7.1732000000.pt.trace.json").write_bytes(b"")
    (tmp_path / "a" / "host.trace.json.gz").write_bytes(b"")  # of TensorFlow, for TensorBoard

    assert runs(tmp_path / "a") == {
        f"{tmp_path}/a/host_7.1732000000.pt.trace.json": (None, ()),
        f"{tmp_path}/a/rank0/trace.json.gz": (None, (f"{tmp_path}/a/rank0/modules.json",)),
        f"{tmp_path}/a/rank1/trace.json.gz": (None, ()),
    }


def test_a_folder_without_known_names_is_searched_for_traces_of_pytorch_by_content(tmp_path):
    for number, path in enumerate(RANKS[:2]):
        shutil.copy(path, tmp_path / f"worker{number}.json.gz")
    (tmp_path / "config.json").write_text("{}")

    assert runs(tmp_path) == {f"{tmp_path}/worker{number}.json.gz": (None, ()) for number in (0, 1)}


def test_older_recordings_are_collected_if_they_are_named(recording):
    assert len(runs(recording, recording / "plugins" / "profile" / "2026_01")) == 6


def test_the_graph_of_a_recording_belongs_to_it(recording, tmp_path, trace):
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "host.xplane.pb").write_bytes(trace)

    found_runs = runs(tmp_path / "run", tmp_path / "other")

    assert found_runs.pop(f"{tmp_path}/other/host.xplane.pb") == (None, ())
    assert set(found_runs.values()) == {(None, (f"{recording}/graph.pb",))}


def test_the_folders_of_workers_share_the_graph_above_them():
    folder = ROOT / "examples" / "two_workers"

    assert runs(folder) == {
        str(folder / worker / f"run_meta_{step}.gz"): (None, (f"{folder}/graph.pb.gz",))
        for worker in ("worker0", "worker1")
        for step in (30, 40)
    }


def test_the_folder_of_a_training_run_has_its_op_log_in_a_folder_of_its_own(files):
    (files / "metadata").mkdir()
    for name in ("run_meta_0", "run_meta_1", "tfprof_log"):
        (files / name).rename(files / "metadata" / name)

    common = (f"{files}/graph.pbtxt", f"{files}/metadata/tfprof_log")
    assert runs(files) == {f"{files}/metadata/run_meta_{step}": (None, common) for step in (0, 1)}


def test_a_pattern_stands_for_files_and_folders(recording, tmp_path):
    assert len(runs(tmp_path / "run*")) == 3
    assert len(runs(recording / "**" / "host1*.xplane.pb")) == 4
    assert len(runs(recording / "plugins" / "profile" / "*" / "host[12].xplane.pb")) == 4


def test_a_pattern_leaves_out_files_of_unknown_format(recording):
    (recording / "host.xplane.pb").write_bytes(b"damaged")

    inputs = found([f"{recording}/*.*"])

    assert [run.source for run in inputs.runs] == [f"{recording}/host.xplane.pb"]
    assert inputs.notes == (f"{recording}/notes.txt: left out, because its format is unknown.",)


def test_the_order_of_sources_does_not_matter(files):
    sources = ["run_meta_0", "graph.pb", "run_meta_1", "tfprof_log"]

    assert (
        found(sources)
        == found(sources[::-1])
        == found([*sources, *sources, str(files / "run_meta_0")])
    )


@pytest.mark.parametrize(
    ("source", "trouble"),
    [
        ("missing", "No such file"),
        ("m" * 10_000, "File name too long"),
        ("a\0b", "null byte"),
        ("missing*", "matches no file"),
        ("empty", "folder without recordings"),
        ("memory://missing/a", "does not exist"),
        ("memory://missing/*", "matches no file"),
    ],
)
def test_a_source_without_files_is_an_error(tmp_path, monkeypatch, source, trouble):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "empty").mkdir()

    with pytest.raises(InputError, match=trouble):
        found([source])


def test_urls_stand_for_the_same_files_as_paths(recording):
    fsspec = pytest.importorskip("fsspec")
    system = fsspec.filesystem("memory")
    system.store.clear()
    system.put(str(recording), "/bucket/run", recursive=True)
    compressed = gzip.compress(model_files.graph().SerializeToString())
    system.pipe_file("/bucket/model", compressed)

    expected = runs(recording)
    files = {
        path.replace(f"{recording}", "memory://bucket/run"): facts
        for path, facts in expected.items()
    }
    assert list(runs("memory://bucket/run")) == list(files)
    assert {common for _, common in runs("memory://bucket/run").values()} == {
        ("memory://bucket/run/graph.pb",)
    }
    assert list(runs("memory://bucket/r*/**/2026_02/*.pb", "memory://bucket/model")) == list(files)
    assert {
        common for _, common in runs("memory://bucket/run", "memory://bucket/model").values()
    } == {("memory://bucket/model", "memory://bucket/run/graph.pb")}


def test_a_store_is_not_a_source(tmp_path):
    (tmp_path / "tfprof-store.json").touch()

    with pytest.raises(OptionError, match="is a store: collect the files"):
        runs(tmp_path)
