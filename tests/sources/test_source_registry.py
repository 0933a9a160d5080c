"""Files are recognised by content and merged stage by stage, whatever their order."""

from itertools import permutations
from pathlib import Path
from threading import current_thread

import pytest

import tfprof
from sources.tf_files import CHECKPOINTS, CPU, graph, node, op_log, packed, run_metadata, stats
from tfprof.errors import InputError, OptionError, UnknownFormatError
from tfprof.formats import content
from tfprof.formats.content import Content
from tfprof.metrics import Need
from tfprof.model.builder import ProfileBuilder
from tfprof.options import INPUT_OPTIONS
from tfprof.sources.registry import (
    BY_NAME,
    SOURCES,
    merge,
    of_options,
    open_as,
    open_file,
    remedies,
)
from tfprof.sources.source import InputFile

RUN, GRAPH, LOG = "run_meta", "graph", "op_log"

UNKNOWN = (
    "unknown file format; tfprof reads checkpoint, saved profile, store, safetensors, weights "
    "index, ExportedProgram, PyTorch checkpoint, ProfileProto, GraphDef, SavedModel, Keras model, "
    "RunMetadata, XSpace, Kineto trace, execution trace, memory snapshot, modules.json of a "
    "recording, Inductor provenance, OpLogProto, layers.json of a recording."
)


def merged(files):
    builder = ProfileBuilder()
    merge(files, builder)
    return builder.build()


@pytest.fixture
def files(tmp_path):
    """A graph, a run with an op that is not in it, a log with entries for both, a checkpoint."""
    contents = {
        GRAPH: graph(node("in_graph", "Add")),
        RUN: run_metadata((CPU, [stats("only_ran"), stats("in_graph")])),
        LOG: op_log({"name": "in_graph", "types": ["x"]}, {"name": "only_ran", "types": ["x"]}),
    }
    for kind, data in contents.items():
        (tmp_path / kind).write_bytes(data)
    checkpoint = open_file(str(CHECKPOINTS / "v1" / "model.ckpt"))
    return [*(open_as(kind, str(tmp_path / kind)) for kind in contents), checkpoint]


# Recognising


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        (packed("mlp_tiny/graph.pb"), "graph"),
        (packed("mlp_tiny/profile.pb"), "profile_proto"),
        (str(CHECKPOINTS / "v1" / "model.ckpt"), "checkpoint"),
        (str(CHECKPOINTS / "v1_shards" / "model.ckpt"), "checkpoint"),
        (str(CHECKPOINTS / "v2" / "model.ckpt"), "checkpoint"),
        (str(CHECKPOINTS / "v2" / "model.ckpt.index"), "checkpoint"),
    ],
)
def test_a_file_is_recognised_by_its_content(path, kind):
    assert open_file(path).source.name == kind


def test_the_error_for_an_unknown_file_lists_the_formats():
    path = str(CHECKPOINTS / "README.md")

    with pytest.raises(UnknownFormatError) as caught:
        open_file(path)

    assert str(caught.value) == (f"{path}: {UNKNOWN}")


@pytest.mark.parametrize("name", ["missing", ".", "zero\0byte", "x" * 5000])
def test_a_path_that_is_not_a_file_is_rejected(tmp_path, name):
    with pytest.raises(InputError):
        open_file(str(tmp_path / name))


# Merging


def test_the_order_of_files_does_not_matter(files):
    for order in permutations(files):
        profile = merged(order)

        assert list(profile.ops.name) == ["in_graph", "only_ran"]
        assert profile.ops.defined.tolist() == [0, 1]
        assert [profile.ops.kind[row] for row in range(2)] == ["Add", "only_ran"]
        assert profile.ops.types.of(0) == [
            "/job:localhost/replica:0/task:0/device:cpu:0",
            "Add",
            "x",
        ]
        assert "x" in profile.ops.types.of(1)
        assert profile.covered_ops == 1
        assert len(profile.tensors) > 0


def test_runs_without_a_step_number_are_steps_in_the_given_order():
    paths = [packed("mlp_tiny/run_meta_9"), packed("mlp_tiny/run_meta_1")]
    profile = merged([open_as(RUN, path) for path in paths])
    only = merged([open_as(RUN, paths[0])])

    assert profile.steps.numbers() == [0, 1]
    assert (profile.records.step == 0).sum() == len(only.records)


def test_runs_with_a_step_number_keep_it():
    path = packed("mlp_tiny/run_meta_1")

    profile = merged([open_as(RUN, path, step=7), open_as(RUN, path, step=3), open_as(RUN, path)])

    assert profile.steps.numbers() == [3, 4, 7]


def test_an_op_in_two_partitions_of_a_graph_is_defined_by_the_first(tmp_path):
    for name, kind in (("one", "First"), ("two", "Second")):
        (tmp_path / name).write_bytes(graph(node("a", kind), node("b", "_Send")))

    profile = merged([open_as(GRAPH, str(tmp_path / name)) for name in ("one", "two")])

    assert profile.ops.kind[0] == "First"


def test_each_path_is_announced_before_it_is_read(files, tmp_path):
    announced = []
    missing = InputFile(Content(str(tmp_path / "missing")), BY_NAME[LOG])

    with pytest.raises(InputError):
        merge([missing, files[0]], ProfileBuilder(), announced.append)

    assert announced == [files[0].path, missing.path]


def test_each_file_is_read_in_a_thread_of_its_own(files, monkeypatch):
    threads = []
    whole = Content.read
    monkeypatch.setattr(
        Content, "read", lambda *args: threads.append(current_thread()) or whole(*args)
    )

    merged(files[:3])

    assert len(set(threads)) == 3
    assert current_thread() not in threads


@pytest.mark.usefixtures("files")
def test_a_file_is_recognised_once_and_read_once(tmp_path, monkeypatch):
    recognised, read = [], []
    recognise, whole = content.recognise, Content.read
    monkeypatch.setattr(content, "recognise", lambda data: recognised.append(1) or recognise(data))
    monkeypatch.setattr(Content, "read", lambda *args: read.append(1) or whole(*args))
    paths = [tmp_path / name for name in (GRAPH, RUN, LOG)]

    found = tfprof.info(*paths)

    assert [file.kind for file in found.files] == [GRAPH, RUN, LOG]
    assert (len(recognised), len(read)) == (3, 3)


def test_hints_name_the_files_that_provide_each_capability():
    found = remedies([BY_NAME[RUN]])

    assert found == {
        Need.DEFINITIONS: "GraphDef (--graph_path) or a SavedModel",
        Need.RUNS: "RunMetadata (--run_meta_path) or XSpace",
        Need.CODE: "OpLogProto (--op_log_path) or a SavedModel",
        Need.LAYERS: "layers.json of a recording",
        Need.VALUES: "a checkpoint (--checkpoint_path) or a SavedModel",
    }


def test_source_names_are_unique_and_every_path_option_has_a_source():
    assert len(BY_NAME) == len(SOURCES)
    assert sorted(of_options()) == sorted(name for name in INPUT_OPTIONS if name.endswith("_path"))


# Errors


def refusal(path, kind):
    with pytest.raises(InputError) as caught:
        merged([open_as(kind, str(path))])
    return caught.value


def test_the_error_for_a_file_of_another_kind_names_both_kinds():
    path = packed("mlp_tiny/graph.pb")

    error = refusal(path, RUN)

    assert isinstance(error, UnknownFormatError)
    assert str(error) == (f"{path}: is a GraphDef file, not a RunMetadata file; check the option.")


def test_an_option_with_an_unknown_file_is_rejected(tmp_path):
    (tmp_path / "file").write_bytes(b"\x00\x00")

    error = refusal(tmp_path / "file", GRAPH)

    assert isinstance(error, UnknownFormatError)
    assert error.trouble == UNKNOWN


@pytest.mark.parametrize("name", ["v1/model.ckpt", "v2/model.ckpt.index"])
def test_a_checkpoint_is_rejected_as_a_graph(name):
    error = refusal(CHECKPOINTS / name, GRAPH)

    assert isinstance(error, UnknownFormatError)
    assert error.trouble == "is a checkpoint file, not a GraphDef file; check the option."


def test_a_graph_is_rejected_as_a_checkpoint():
    error = refusal(packed("mlp_tiny/graph.pb"), "checkpoint")

    assert isinstance(error, UnknownFormatError)
    assert error.trouble == "is a GraphDef file, not a checkpoint file; check the option."


def test_a_missing_checkpoint_is_not_an_unknown_format(tmp_path):
    error = refusal(tmp_path / "model.ckpt", "checkpoint")

    assert not isinstance(error, UnknownFormatError)
    assert error.trouble.startswith("no checkpoint has this prefix")


def test_a_damaged_checkpoint_is_not_an_unknown_format(tmp_path):
    data = bytearray(Path(CHECKPOINTS / "v1" / "model.ckpt").read_bytes())
    data[-60] ^= 0xFF
    (tmp_path / "model.ckpt").write_bytes(data)

    assert not isinstance(refusal(tmp_path / "model.ckpt", "checkpoint"), UnknownFormatError)


# Options that say how files are read


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"signature": "serve"}, "`signature` requires a SavedModel file."),
        (
            {"batch_size": 4},
            (
                "`batch_size` requires an ExportedProgram file or a GraphDef file or a "
                "SavedModel file."
            ),
        ),
        ({"functions": True}, "`functions` requires a GraphDef file or a SavedModel file."),
    ],
)
def test_an_option_that_applies_to_no_file_is_rejected(options, problem):
    with pytest.raises(OptionError) as caught:
        tfprof.load(packed("mlp_tiny/run_meta_1"), **options)

    assert str(caught.value) == problem


def test_the_batch_size_of_a_saved_profile_is_set_when_it_is_saved(tmp_path):
    tfprof.load(packed("mlp_tiny/graph.pb")).save(tmp_path / "saved")

    with pytest.raises(OptionError, match="; for a saved profile, use it when you save"):
        tfprof.load(tmp_path / "saved", batch_size=4)


def test_an_option_that_applies_to_one_of_the_files_is_accepted():
    files = packed("mlp_tiny/graph.pb"), packed("mlp_tiny/run_meta_1")

    assert len(tfprof.load(*files, functions=True).columns.ops) > 0
