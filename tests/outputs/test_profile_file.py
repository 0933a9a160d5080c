"""The file of tables that `tfprof save` writes keeps everything, and others can read it."""

from __future__ import annotations

import io
import json
import zipfile
from dataclasses import fields, replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given

import tfprof
from build import CPU, GPU, copy, op, profile, run
from profile_strategies import profiles
from same_columns import assert_same_columns
from sources.tf_files import CHECKPOINTS, FILES, packed
from tfprof.api import Profile
from tfprof.columns import ints
from tfprof.formats.parquet import read
from tfprof.formats.profile_tables import TABLES
from tfprof.formats.recognise import PROFILE_MANIFEST as MANIFEST
from tfprof.metrics import Need
from tfprof.model.builder import ProfileBuilder
from tfprof.model.executions import Waits
from tfprof.model.merging import add_profile
from tfprof.model.ops import UNKNOWN_REPEATS, Phase
from tfprof.model.profile import ProfileColumns
from tfprof.outputs import profile_file
from tfprof.sources.profile_file import loaded

PARITY = Path(__file__).parent.parent / "parity" / "recorded"
CHECKPOINT = CHECKPOINTS / "v2" / "model.ckpt"


def encoded(columns, notes=()):
    return b"".join(profile_file.encode(columns, notes))


def again(columns):
    """The profile that was saved."""
    return loaded("saved", encoded(columns)).profile


def merged(*parts):
    builder = ProfileBuilder()
    for part in parts:
        add_profile(builder, part)
        builder.remedies |= part.remedies
    return builder.build()


def folder_of(model):
    """All files of a recorded model."""
    paths = sorted((PARITY / model / "inputs").iterdir())
    return tfprof.load(
        *(path for path in paths if path.name.startswith(("graph.pb.", "run_", "t")))
    )


@pytest.mark.parametrize("name", [name for name, kind in FILES.items() if kind != "op_log"])
def test_everything_in_a_sample_is_kept(name):
    before = tfprof.load(packed(name)).columns

    after = again(before)

    after.check()
    assert_same_columns(after, before)


@pytest.mark.parametrize("model", ["gpu_synth", "ps_worker", "attn_seq2seq"])
def test_everything_in_a_recorded_model_is_kept(model):
    before = folder_of(model).columns
    assert len(before.executions) > 100

    assert_same_columns(again(before), before)


@given(profiles())
def test_everything_in_any_profile_is_kept(before):
    if len(before.ops):
        after = again(before)
        after.check()
        assert_same_columns(after, before)


@given(profiles())
def test_adding_a_profile_to_an_empty_one_changes_nothing(before):
    after = merged(before)

    after.check()
    assert_same_columns(after, before)


@pytest.mark.usefixtures("files")
def test_what_is_added_to_a_saved_profile_joins_it():
    tfprof.load("graph.pb", "run_meta_0").save("saved")

    together = tfprof.load("saved", "tfprof_log")

    assert together.columns.has_code
    assert_same_columns(
        together.columns, tfprof.load("graph.pb", "run_meta_0", "tfprof_log").columns
    )


def test_two_saved_profiles_are_two_recordings(tmp_path):
    for name, nanos in (("one", 5), ("two", 7)):
        recorded = profile(op("a"), run("a", nanos, step=3, recording=name), run(name, 1))
        Profile(recorded).save(tmp_path / name)

    both = tfprof.load(tmp_path / "one", tmp_path / "two")

    both.columns.check()
    assert list(both.columns.ops.name) == ["a", "one", "two"]
    labels = [one.label for one in both.recordings]
    assert sorted(labels) == ["here", "here#2", "one", "two"]
    assert both.scope(recording="two")["a"]["micros"] == 7
    assert both.scope(recording="one")["a"]["micros"] == 5


def test_times_below_a_microsecond_are_kept():
    before = profile(op("a"), run("a", 1.4))

    assert again(before).executions.duration_ns.tolist() == [1_400]


@pytest.mark.parametrize("kept", [again, merged])
def test_stated_inputs_and_communication_are_kept(kept):
    p = profile(
        op("b", "aten::mm", stated_inputs=[(2, 3), None]), op("a", phase=Phase.COMMUNICATION)
    )

    found = kept(p)

    assert found.ops.stated_inputs.of_op(1) == [(2, 3), None]
    assert found.phase.tolist() == [Phase.COMMUNICATION, Phase.FORWARD]
    assert_same_columns(found, p)


def test_files_from_before_inputs_were_stated_have_none():
    out = io.BytesIO()
    saved = io.BytesIO(encoded(profile(op("a"))))
    with zipfile.ZipFile(saved) as new, zipfile.ZipFile(out, "w") as old:
        for name in new.namelist():
            if name != "stated_inputs.parquet":
                old.writestr(name, new.read(name))

    assert loaded("file", out.getvalue()).profile.ops.stated_inputs.count(0) == 0


@pytest.mark.parametrize("kept", [again, merged])
def test_the_bounds_of_steps_and_waits_for_input_are_kept(kept):
    p = profile(run("a", step=3), run("a", step=4))
    before = replace(
        p,
        steps=replace(p.steps, start_ns=ints([5, -1]), end_ns=ints([9, -1])),
        waits=Waits(step=ints([1]), start_ns=ints([6]), duration_ns=ints([2])),
    ).freeze()

    assert_same_columns(before, kept(before))


def test_allocations_on_the_host_are_kept():
    before = folder_of("gpu_synth").columns
    assert len(before.allocator_events) > len(before.allocations.record)

    after = Profile(again(before))

    assert after.memory().to_dict() == Profile(before).memory().to_dict()


@pytest.mark.usefixtures("files")
def test_a_checkpoint_is_described_without_its_values():
    before = tfprof.load("graph.pb", CHECKPOINT)

    missing = before.save("saved")

    after = tfprof.load("saved")
    tensors = after.columns.tensors
    assert list(tensors.name) == list(before.columns.tensors.name)
    assert list(tensors.dtype) == list(before.columns.tensors.dtype)
    assert not after.columns.has(Need.VALUES)
    assert missing == ("values stay in the checkpoint: give it together with the saved profile.",)
    assert any("checkpoint" in note for note in after.scope(select="tensor_value").notes)
    with pytest.raises(tfprof.MissingInputError, match="are in a checkpoint: give the"):
        tensors.read(tensors.name[0])


@pytest.mark.usefixtures("files")
def test_values_are_there_if_the_checkpoint_is_named_again():
    tfprof.load("graph.pb", CHECKPOINT).save("saved")

    after = tfprof.load("saved", CHECKPOINT)

    assert after.columns.has(Need.VALUES)
    assert after.columns.tensors.read("scalars/step").shape == ()


def test_a_checkpoint_alone_can_be_saved(tmp_path):
    tfprof.load(CHECKPOINT).save(tmp_path / "saved")

    assert len(tfprof.load(tmp_path / "saved").columns.tensors) > 0


def test_remarks_on_files_are_kept_once(tmp_path):
    before = tfprof.load(packed("mlp_tiny/run_meta_1"), packed("mlp_tiny/tfprof_log"))
    before = Profile(before.columns, ["a remark"])

    before.save(tmp_path / "saved")

    assert tfprof.load(tmp_path / "saved").notes == before.notes


@pytest.mark.usefixtures("files")
def test_float_operations_can_be_left_uncounted():
    tfprof.load("graph.pb").save("saved")

    counted = tfprof.load("saved").scope(select="float_ops")
    uncounted = tfprof.load("saved", count_float_ops=False).scope(select="float_ops")

    assert counted["net/mul"]["float_ops"] == 48
    assert uncounted["net/mul"]["float_ops"] == 0


def test_errors_of_a_saved_profile_name_the_same_files_to_give(tmp_path):
    Profile(profile(op("a"))).save(tmp_path / "saved")

    with pytest.raises(tfprof.MissingInputError, match="RunMetadata"):
        tfprof.load(tmp_path / "saved").memory()


# The tables of the format.


# The columns of these tables of the model that are tables of their own in a file, or not saved.
ELSEWHERE = {"records": {"devices"}, "tensors": {"read", "has_values"}}
TABLES_OF_THE_MODEL = [
    part.name for part in fields(ProfileColumns) if part.name in TABLES and part.name != "ops"
]


@pytest.mark.parametrize("name", TABLES_OF_THE_MODEL)
def test_a_table_of_the_format_has_every_column_of_the_model(name):
    """A column that is added to the model must be added to the format."""
    columns = {part.name for part in fields(getattr(profile(op("a")), name))}

    assert columns - ELSEWHERE.get(name, set()) == set(TABLES[name].fields)


def test_the_table_of_ops_has_every_column_of_the_model():
    separate = {"types", "inputs", "outputs", "seen_outputs", "stated_inputs", "origins"}
    columns = {part.name for part in fields(profile(op("a")).ops)} - separate

    assert columns | {"origin", "phase", "forward_of"} == set(TABLES["ops"].fields)


def test_every_column_of_a_file_is_in_the_format(tmp_path):
    p = profile(op("a", attributes={"k": 1}), run("a", 3, device=GPU), copy("x", 3, device=CPU))
    Profile(p).save(tmp_path / "saved")

    with zipfile.ZipFile(tmp_path / "saved") as archive:
        manifest = json.loads(archive.read("tfprof.json"))
        for name, table in TABLES.items():
            found = read(archive.read(f"{name}.parquet"))
            assert list(found) == [*filter(None, [table.key]), *table.fields]
            assert manifest["tables"][name] == len(next(iter(found.values())))
    assert manifest["version"] == 1


def test_duckdb_answers_questions_about_a_saved_profile(tmp_path):
    duckdb = pytest.importorskip("duckdb")
    before = folder_of("gpu_synth")
    before.save(tmp_path / "saved")
    with zipfile.ZipFile(tmp_path / "saved") as archive:
        archive.extractall(tmp_path)

    ops, runs, executions = (
        f"'{tmp_path / name}.parquet'" for name in ("ops", "records", "executions")
    )
    query = f"""
        select kind, sum(duration_ns) from {executions}
        join {runs} using (record) join {ops} using (op) group by kind
    """  # noqa: S608 -- our own paths
    found = dict(duckdb.sql(query).fetchall())

    columns = before.columns
    kinds = columns.ops.kind.codes[columns.records.op[columns.executions.record]]
    sums = np.bincount(kinds, columns.executions.duration_ns)
    assert len(found) > 5
    assert found == {columns.ops.kind.values[code]: sums[code] for code in set(kinds.tolist())}


@pytest.mark.parametrize(
    ("flags", "read"),
    [({"has_zero_repeats": True}, [0, UNKNOWN_REPEATS, 3]), ({}, [UNKNOWN_REPEATS] * 2 + [3])],
)
def test_repeats_of_zero_mean_unknown_only_in_older_files(flags, read):
    columns = profile(op("a"), op("b"), op("c"))
    columns = replace(columns, ops=replace(columns.ops, repeats=ints([0, UNKNOWN_REPEATS, 3])))

    assert loaded("file", with_facts(encoded(columns), flags)).profile.ops.repeats.tolist() == read


def with_facts(data, facts):
    """The same file, with only these facts in its manifest."""
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as old, zipfile.ZipFile(out, "w") as new:
        for name in old.namelist():
            content = json.dumps({"version": 1, **facts}) if name == MANIFEST else old.read(name)
            new.writestr(name, content)
    return out.getvalue()


def test_pandas_reads_a_table_from_the_file(tmp_path):
    pandas = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    Profile(profile(op("a"), op("b", "Add"))).save(tmp_path / "saved")

    with zipfile.ZipFile(tmp_path / "saved") as archive:
        found = pandas.read_parquet(archive.open("ops.parquet"))

    assert found["name"].tolist() == ["a", "b"]
    assert found["op"].tolist() == [0, 1]
