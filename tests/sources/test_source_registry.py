"""Files are recognised, and merged in the order that makes sense of them."""

from itertools import permutations
from pathlib import Path

import pytest

from sources.tf_files import CHECKPOINTS, CPU, graph, node, op_log, packed, run_metadata, stats
from tfprof.errors import InputError, UnknownFormatError
from tfprof.formats.recognise import FileKind
from tfprof.model.builder import ProfileBuilder
from tfprof.sources.registry import InputFile, detect, merge

RUN, GRAPH, LOG = FileKind.RUN_META, FileKind.GRAPH, FileKind.OP_LOG


def merged(files):
    builder = ProfileBuilder()
    merge(files, builder)
    return builder.build()


@pytest.fixture
def files(tmp_path):
    """A graph, a run with an op of its own, a log that speaks of both, and a checkpoint."""
    contents = {
        GRAPH: graph(node("in_graph", "Add")),
        RUN: run_metadata((CPU, [stats("only_ran"), stats("in_graph")])),
        LOG: op_log({"name": "in_graph", "types": ["x"]}, {"name": "only_ran", "types": ["x"]}),
    }
    for kind, data in contents.items():
        (tmp_path / kind.name).write_bytes(data)
    checkpoint = InputFile(str(CHECKPOINTS / "v1" / "model.ckpt"), FileKind.CHECKPOINT)
    return [*(InputFile(str(tmp_path / kind.name), kind) for kind in contents), checkpoint]


# Detecting


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        (packed("mlp_tiny/graph.pb"), FileKind.GRAPH),
        (packed("mlp_tiny/profile.pb"), FileKind.PROFILE),
        (str(CHECKPOINTS / "v1" / "model.ckpt"), FileKind.CHECKPOINT),
        (str(CHECKPOINTS / "v1_shards" / "model.ckpt"), FileKind.CHECKPOINT),
        (str(CHECKPOINTS / "v2" / "model.ckpt"), FileKind.CHECKPOINT),
        (str(CHECKPOINTS / "v2" / "model.ckpt.index"), FileKind.CHECKPOINT),
    ],
)
def test_a_file_is_detected_by_its_content(path, kind):
    assert detect(path) is kind


def test_a_file_of_another_program_is_refused_with_what_is_read():
    path = str(CHECKPOINTS / "README.md")

    with pytest.raises(UnknownFormatError) as caught:
        detect(path)

    assert str(caught.value) == (
        f"{path}: is none of the files tfprof reads: a graph (GraphDef), "
        "run metadata (RunMetadata), an op log (OpLogProto), a saved profile (ProfileProto), "
        "a SavedModel, a checkpoint, a profiler's recording (XSpace)."
    )


@pytest.mark.parametrize("name", ["missing", ".", "zero\0byte", "x" * 5000])
def test_what_is_no_file_cannot_be_detected(tmp_path, name):
    with pytest.raises(InputError):
        detect(str(tmp_path / name))


# Merging


def test_files_say_the_same_in_whatever_order_they_are_given(files):
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


def test_runs_are_steps_in_the_order_they_are_given():
    paths = [packed("mlp_tiny/run_meta_9"), packed("mlp_tiny/run_meta_1")]
    profile = merged([InputFile(path, RUN) for path in paths])
    only = merged([InputFile(paths[0], RUN)])

    assert profile.steps.numbers() == [0, 1]
    assert (profile.records.step == 0).sum() == len(only.records)


def test_runs_with_a_step_keep_it():
    path = packed("mlp_tiny/run_meta_1")

    profile = merged([InputFile(path, RUN, 7), InputFile(path, RUN, 3), InputFile(path, RUN)])

    assert profile.steps.numbers() == [3, 4, 7]


def test_the_first_of_two_graphs_defines_an_op(tmp_path):
    for name, kind in (("one", "First"), ("two", "Second")):
        (tmp_path / name).write_bytes(graph(node("a", kind)))

    profile = merged([InputFile(str(tmp_path / name), GRAPH) for name in ("one", "two")])

    assert profile.ops.kind[0] == "First"


def test_each_path_is_announced_before_it_is_read(files, tmp_path):
    announced = []
    missing = InputFile(str(tmp_path / "missing"), LOG)

    with pytest.raises(InputError):
        merge([missing, files[0]], ProfileBuilder(), announced.append)

    assert announced == [files[0].path, missing.path]


# Refusing


def refusal(path, kind):
    with pytest.raises(InputError) as caught:
        merged([InputFile(str(path), kind)])
    return caught.value


def test_a_file_of_another_kind_is_refused_with_both_kinds():
    path = packed("mlp_tiny/graph.pb")

    error = refusal(path, RUN)

    assert isinstance(error, UnknownFormatError)
    assert str(error) == (
        f"{path}: is a graph (GraphDef), not run metadata (RunMetadata); "
        "check which option it is for."
    )


def test_a_file_of_no_kind_is_refused_with_the_kind_that_was_wanted(tmp_path):
    (tmp_path / "file").write_bytes(b"\x00\x00")

    error = refusal(tmp_path / "file", GRAPH)

    assert isinstance(error, UnknownFormatError)
    assert error.trouble == "is not a graph (GraphDef), nor anything tfprof reads."


@pytest.mark.parametrize("name", ["v1/model.ckpt", "v2/model.ckpt.index"])
def test_a_checkpoint_is_refused_as_a_graph(name):
    error = refusal(CHECKPOINTS / name, GRAPH)

    assert isinstance(error, UnknownFormatError)
    assert error.trouble == "is a checkpoint, not a graph (GraphDef); check which option it is for."


def test_a_graph_is_refused_as_a_checkpoint():
    error = refusal(packed("mlp_tiny/graph.pb"), FileKind.CHECKPOINT)

    assert isinstance(error, UnknownFormatError)
    assert error.trouble == "is a graph (GraphDef), not a checkpoint; check which option it is for."


def test_a_missing_checkpoint_is_told_as_such(tmp_path):
    error = refusal(tmp_path / "model.ckpt", FileKind.CHECKPOINT)

    assert not isinstance(error, UnknownFormatError)
    assert error.trouble.startswith("no checkpoint has this prefix")


def test_a_damaged_checkpoint_is_told_as_such(tmp_path):
    data = bytearray(Path(CHECKPOINTS / "v1" / "model.ckpt").read_bytes())
    data[-60] ^= 0xFF
    (tmp_path / "model.ckpt").write_bytes(data)

    assert not isinstance(refusal(tmp_path / "model.ckpt", FileKind.CHECKPOINT), UnknownFormatError)
