"""A profile saved whole and loaded again."""

from __future__ import annotations

import gzip
from copy import deepcopy
from dataclasses import replace
from pathlib import Path

import pytest

import tfprof
from build import CPU, GPU, GPU_STREAM, MEMCPY, copy, op, profile, run
from tfprof.api import VIEWS, Profile
from tfprof.formats.messages import message_class
from tfprof.metrics import METRICS
from tfprof.model.executions import MEMORY_FACTS
from tfprof.model.notes import FileNote, Subject
from tfprof.outputs import profile_proto
from tfprof.outputs.registry import SAVED_FORMATS

SAMPLES = Path(__file__).parent.parent / "samples" / "tensorflow"
# ProfileProto has no output shapes that were only seen in a run.
EVERYTHING = [metric.key for metric in METRICS if metric.key != "output_shape"]


@pytest.fixture(params=SAVED_FORMATS)
def saved_and_loaded(request, tmp_path):
    """A function that saves a profile in each of the formats, and loads it again."""

    def save_and_load(before):
        before.save(tmp_path / "saved", request.param)
        return tfprof.load(tmp_path / "saved")

    return save_and_load


def lossless(before, folder):
    before.save(folder / "saved")
    return tfprof.load(folder / "saved")


# A ProfileProto has no place for the shapes of a run, from which MACs are counted, and for the
# allocations of hosts.
KEPT = {
    "tfprof": EVERYTHING,
    "profile_proto": [
        key for key in EVERYTHING if not key.endswith("macs") and key != "held_bytes"
    ],
}


def tables(profile_, select=EVERYTHING, **options):
    """What all views answer, for each step and averaged."""
    kinds = [kind for kind in VIEWS if kind != "code" or profile_.columns.has_code]
    return {
        (kind, step): getattr(profile_, kind)(select=select, step=step, **options).table
        for kind in kinds
        for step in (-1, *profile_.steps)
    }


MODELS = {
    "ops that only ran": profile(run("a/b", 3), run("c", 4)),
    "a graph without runs": profile(op("a/w", "VariableV2", shape=(2, 3), outputs=[(2, 3)])),
    "an input that is missing": profile(
        op("a", inputs=["gone", "b:1", "^b"]), op("b", outputs=[(2,), None, ()])
    ),
    "several steps": profile(
        op("a", float_ops=7), run("a", 3, step=2), run("a", 9, step=70), run("b", 1, step=70)
    ),
    "an op that ran many times": profile(op("a", float_ops=7), *[run("a", 3, start=5)] * 4),
    "an op on an accelerator": profile(
        op("a"),
        run("a", 3, device=GPU, memory={"requested": 4, "residual": -3, "in_use": 9}),
        run("a", 20, device=GPU_STREAM),
        run("a", 30, device="/device:tpu:0"),
        run("b", 2, device=CPU),
    ),
    "lines of code": profile(
        op("a", code=["m.py:1:f", "m.py:2:g"]), op("gradients/a_grad/b", code=["m.py:3:h"])
    ),
    "odd names": profile(op("x//y"), op("/"), op("größe/名", types=["ein Typ"])),
}


@pytest.mark.parametrize("model", MODELS)
def test_all_views_answer_the_same_after_saving(model, saved_and_loaded):
    before = Profile(MODELS[model])

    after = saved_and_loaded(before)

    assert tables(after) == tables(before)
    after.columns.check()


@pytest.mark.parametrize(
    "names",
    [
        ["mlp_tiny/graph.pb.gz"],
        ["mlp_tiny/graph.pbtxt.gz", "mlp_tiny/run_meta_1.gz", "mlp_tiny/tfprof_log.gz"],
        ["mlp_tiny/run_meta_1.gz", "mlp_tiny/run_meta_9.gz"],
        ["gpu_synth/graph.pb.gz", "gpu_synth/run_meta_0.gz", "gpu_synth/tfprof_log.gz"],
        ["mlp_tiny/profile.pb.gz"],
    ],
)
@pytest.mark.parametrize("format_", SAVED_FORMATS)
def test_real_models_answer_the_same_after_saving(names, format_, tmp_path):
    before = tfprof.load(*(SAMPLES / name for name in names))

    before.save(tmp_path / "saved", format_)
    after = tfprof.load(tmp_path / "saved")

    assert tables(after, KEPT[format_]) == tables(before, KEPT[format_])


def test_saving_a_profile_proto_says_that_macs_of_the_run_are_lost(tmp_path):
    mlp = SAMPLES / "mlp_tiny"
    graph, run_meta = mlp / "graph.pb.gz", mlp / "run_meta_1.gz"
    lost = "a ProfileProto has no place for shapes of the run, from which MACs are counted."

    assert lost in tfprof.load(graph, run_meta).save(tmp_path / "saved", "profile_proto")
    assert lost not in tfprof.load(graph).save(tmp_path / "saved", "profile_proto")


def test_a_profile_proto_keeps_the_float_ops_of_ops_of_other_frameworks(tmp_path):
    before = profile(
        op("a", "aten::dropout", stated_inputs=[(2, 3)], attributes={"train": True}),
        counts_float_ops=True,
    )

    Profile(before).save(tmp_path / "saved", "profile_proto")

    assert tfprof.load(tmp_path / "saved").flops().float_ops == 12


def rows(columns, *names):
    """The rows of a table, with times in whole microseconds, which is all a ProfileProto has."""
    found = {name: getattr(columns, name) for name in names}
    whole = [column // 1000 if name.endswith("_ns") else column for name, column in found.items()]
    return sorted(zip(*(column.tolist() for column in whole), strict=True))


@pytest.mark.parametrize(
    ("group", "names"),
    [
        ("records", ("op", "step", "runs", "first_start_ns")),
        ("executions", ("record", "start_ns")),
        ("memory", ("record", *MEMORY_FACTS)),
        ("output_memory", ("slot", "bytes", "address")),
        ("allocations", ("record", "time_ns", "bytes")),
        ("copies", ("step", "start_ns", "duration_ns")),
    ],
)
def test_a_profile_proto_keeps_recorded_numbers_to_the_microsecond(group, names, tmp_path):
    gpu = SAMPLES / "gpu_synth"
    before = tfprof.load(gpu / "graph.pb.gz", gpu / "run_meta_0.gz")

    before.save(tmp_path / "profile.pb", "profile_proto")
    after = tfprof.load(tmp_path / "profile.pb")

    wanted = rows(getattr(before.columns, group), *names)
    assert wanted
    assert rows(getattr(after.columns, group), *names) == wanted


def test_transfers_are_kept_with_their_ops(tmp_path):
    before = profile(run("a"), run("b", step=3), copy("x", 7), copy("y", 5, step=3, op="b"))
    Profile(before).save(tmp_path / "saved")

    after = tfprof.load(tmp_path / "saved")

    assert after.columns.copies.record.tolist() == [-1, 1]
    assert after.scope(select=["transfer_micros"], step=3)["b"]["transfer_micros"] == 5


def test_transfers_are_kept_with_their_names_and_devices(saved_and_loaded):
    before = profile(op("a"), copy("edge_1_é", 7), copy("RecvTensor", 5, step=3, device=CPU))

    after = saved_and_loaded(Profile(before)).columns

    assert [after.copies.name[row] for row in range(2)] == ["edge_1_é", "RecvTensor"]
    assert [after.devices.name[code] for code in after.copies.device] == [MEMCPY, CPU]
    assert after.copies.duration_ns.tolist() == [7_000, 5_000]
    assert after.steps.numbers() == [0, 3]
    after.check()


def recorded(model):
    inputs = Path(__file__).parent.parent / "parity" / "recorded" / model / "inputs"
    names = ["graph.pb.gz", "tfprof_log.gz", *(path.name for path in inputs.glob("run_meta_*"))]
    return tfprof.load(*(inputs / name for name in sorted(names)))


@pytest.mark.parametrize("model", ["gpu_synth", "ps_worker"])
def test_a_profile_proto_gives_the_same_advice(model, tmp_path):
    before = recorded(model)

    before.save(tmp_path / "profile.pb", "profile_proto")
    after = tfprof.load(tmp_path / "profile.pb")

    assert len(before.advise()) > 3
    assert after.advise().to_dict()["checkers"] == before.advise().to_dict()["checkers"]


@pytest.mark.parametrize("model", ["gpu_synth", "ps_worker", "attn_seq2seq"])
def test_a_saved_profile_gives_the_same_advice(model, tmp_path):
    before = recorded(model)

    after = lossless(before, tmp_path)

    assert len(before.advise()) > 3
    assert after.advise().to_dict() == before.advise().to_dict()


def test_the_types_a_checkpoint_gave_are_kept(files, saved_and_loaded):
    checkpoint = Path(__file__).parent.parent / "samples" / "checkpoints" / "v2" / "model.ckpt"
    graph = message_class("tensorflow.GraphDef")()
    graph.node.add(name="scalars/step", op="VariableV2")
    (files / "model.pb").write_bytes(graph.SerializeToString())

    after = saved_and_loaded(tfprof.load("model.pb", checkpoint))

    assert after.scope(select="op_types")["scalars/step"]["op_types"] == [
        "VariableV2",
        "_checkpoint_variables",
    ]


def test_the_warning_of_missing_accelerator_time_is_kept(saved_and_loaded):
    before = Profile(replace(profile(op("a")), lacks_accelerator_time=True))

    after = saved_and_loaded(before)

    assert after.scope().report.startswith("Warning: ops ran on a GPU")


@pytest.mark.usefixtures("files")
def test_float_ops_that_were_counted_from_shapes_are_kept(saved_and_loaded):
    before = tfprof.load("graph.pb")

    after = saved_and_loaded(before)

    assert before.scope(select="float_ops")["net/mul"]["float_ops"] == 48
    assert after.scope(select="float_ops")["net/mul"]["float_ops"] == 48


def test_attributes_are_kept(files, saved_and_loaded):
    graph = message_class("tensorflow.GraphDef")()
    graph.node.add(name="conv", op="Conv2D").attr["data_format"].s = b"NCHW"
    (files / "model.pb").write_bytes(graph.SerializeToString())

    after = saved_and_loaded(tfprof.load("model.pb"))

    assert after.columns.ops.origins.attribute(0, "data_format") == "NCHW"


@pytest.mark.usefixtures("files")
@pytest.mark.parametrize("format_", SAVED_FORMATS)
def test_saving_twice_gives_the_same_bytes(format_):
    names = ("graph.pb", "run_meta_0", "run_meta_1", "tfprof_log")

    tfprof.load(*names).save("one", format_)
    tfprof.load(*names).save("two", format_)

    assert Path("one").read_bytes() == Path("two").read_bytes()


@pytest.mark.usefixtures("files")
@pytest.mark.parametrize("format_", SAVED_FORMATS)
def test_saving_a_saved_profile_gives_the_same_bytes(format_):
    tfprof.load("graph.pb", "run_meta_0", "tfprof_log").save("one", format_)

    tfprof.load("one").save("two", format_)

    assert Path("one").read_bytes() == Path("two").read_bytes()


@pytest.mark.parametrize("format_", SAVED_FORMATS)
def test_a_saved_profile_may_be_gzipped(files, format_):
    before = tfprof.load("graph.pb", "run_meta_0")
    before.save("saved", format_)
    Path("saved.gz").write_bytes(gzip.compress(Path("saved").read_bytes()))

    after = tfprof.load(files / "saved.gz")
    assert tables(after, KEPT[format_]) == tables(before, KEPT[format_])


@pytest.mark.parametrize("format_", SAVED_FORMATS)
def test_a_profile_without_ops_is_not_saved(format_, tmp_path):
    with pytest.raises(tfprof.OutputError, match="no ops"):
        Profile(profile()).save(tmp_path / "saved", format_)

    assert list(tmp_path.iterdir()) == []


def test_an_unknown_format_is_answered_with_the_nearest(tmp_path):
    with pytest.raises(tfprof.OptionError, match=r"Unknown format `proto`\. "):
        Profile(profile(op("a"))).save(tmp_path / "saved", "proto")


def test_a_profile_proto_is_written_piece_by_piece():
    pieces = list(profile_proto.encode(profile(op("a"), op("b"))))

    assert len(pieces) == 3


def test_a_profile_proto_refuses_several_recordings(tmp_path):
    two = Profile(profile(op("a"), run("a", 3), run("a", 4, recording="other")))

    with pytest.raises(tfprof.OutputError, match="this profile has 2: save it as"):
        two.save(tmp_path / "saved", "profile_proto")

    assert list(tmp_path.iterdir()) == []


def test_a_note_on_a_file_is_saved(tmp_path):
    note = FileNote("trace.json", "no step markers.", Subject.TIME)
    path = tmp_path / "a.tfprof"

    Profile(profile(run("a")), [note]).save(path)

    (saved, *_) = tfprof.load(path).notes
    assert (saved, saved.about) == ("trace.json: no step markers.", Subject.TIME)
    assert deepcopy(note).sentence == "no step markers."
