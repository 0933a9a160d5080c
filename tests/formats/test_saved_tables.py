"""Saved profiles that are damaged, hostile or from a later version are refused with a reason."""

import io
import json
import random
import zipfile

import numpy as np
import pytest

from build import GPU, copy, layer, op, profile, run
from floors import checked_unless, floor
from tfprof.columns import Strings
from tfprof.errors import InputError, TfprofError
from tfprof.formats import parquet
from tfprof.formats.profile_tables import TABLES
from tfprof.outputs import profile_file
from tfprof.sources.profile_file import loaded


def saved(notes=()):
    found = profile(
        layer("m"),
        layer("m/a", "Conv2D", (-1, 3)),
        op(
            *("a", "Conv2D", (2, 3)),
            outputs=[(2,)],
            code=["m.py:1:f"],
            attributes={"k": 1},
            layer="m/a",
        ),
        op("b", inputs=["a", "gone"], outputs=[None]),
        run("a", 3, device=GPU, memory={"requested": 4}),
        run("b", 3, step=2),
        copy("x", 3),
    )
    return b"".join(profile_file.encode(found, notes))


def members(data):
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def archived(contents, kind=zipfile.ZIP_STORED):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", kind) as archive:
        for name, content in contents.items():
            archive.writestr(name, content)
    return out.getvalue()


def with_manifest(**facts):
    contents = members(saved())
    manifest = json.loads(contents["tfprof.json"]) | facts
    return archived(contents | {"tfprof.json": json.dumps(manifest)})


def with_column(table, name, column):
    contents = members(saved())
    found = parquet.read(contents[f"{table}.parquet"])
    found[name] = column(found[name]) if callable(column) else column
    contents[f"{table}.parquet"] = b"".join(parquet.write(found))
    return archived(contents)


def refusal(data):
    with pytest.raises(InputError) as caught:
        loaded("file", data)
    assert caught.value.path == "file"
    assert "\n" not in str(caught.value)
    return caught.value.trouble


def test_a_whole_file_is_read():
    found = loaded("file", saved(["a remark"]))

    assert list(found.profile.ops.name) == ["a", "b"]
    assert found.notes == ("a remark",)


def test_a_file_of_a_later_version_asks_for_an_upgrade():
    assert refusal(with_manifest(version=2)) == (
        "has version 2 of the format, and this tfprof reads versions up to 1: upgrade tfprof."
    )


@pytest.mark.parametrize(
    "facts",
    [{"version": "1"}, {"has_code": 1}, {"notes": [3]}, {"notes": "x", "remedies": []}],
)
def test_a_manifest_with_values_of_other_types_is_refused(facts):
    assert refusal(with_manifest(**facts)).startswith("is cut short or damaged: ")


def test_missing_facts_of_a_manifest_have_defaults():
    contents = members(saved())
    found = loaded("file", archived(contents | {"tfprof.json": '{"version": 1}'}))

    assert found.profile.counts_float_ops
    assert not found.profile.has_code


def test_unknown_facts_of_a_later_version_are_ignored():
    assert len(loaded("file", with_manifest(colour="red")).profile.ops) == 2


def test_a_compressed_archive_is_refused():
    trouble = refusal(archived(members(saved()), zipfile.ZIP_DEFLATED))

    assert "a member is compressed" in trouble


@pytest.mark.parametrize("name", ["ops", "records", "tensors"])
def test_a_file_without_one_of_the_tables_is_refused(name):
    contents = members(saved())
    del contents[f"{name}.parquet"]

    assert f"no item named '{name}.parquet'" in refusal(archived(contents)).replace('"', "")


def test_a_file_without_a_column_is_refused():
    contents = members(saved())
    table = parquet.read(contents["ops.parquet"])
    del table["kind"]
    contents["ops.parquet"] = b"".join(parquet.write(table))

    assert "the table ops has no column kind" in refusal(archived(contents))


def test_a_file_from_before_layers_were_saved_is_read_without_layers():
    contents = members(saved())
    del contents["layers.parquet"]
    found = parquet.read(contents["ops.parquet"])
    del found["layer"]
    contents["ops.parquet"] = b"".join(parquet.write(found))

    profile_ = loaded("file", archived(contents)).profile

    profile_.check()
    assert len(profile_.layers) == 0
    assert profile_.ops.layer.tolist() == [-1, -1]


def test_a_file_from_before_kernels_were_saved_has_none():
    contents = members(saved())
    del contents["kernel_runs.parquet"]

    profile_ = loaded("file", archived(contents)).profile

    profile_.check()
    assert len(profile_.kernel_runs) == 0


@pytest.mark.parametrize(
    ("column", "values", "trouble"),
    [
        ("parent", np.array([1, -1]), "layers are out of order"),
        ("name", Strings(["m", "m"]), "two layers have the same name"),
    ],
)
def test_contradicting_layers_are_refused(column, values, trouble):
    assert trouble in refusal(with_column("layers", column, values))


@pytest.mark.parametrize("column", ["start_ns", "duration_ns"])
def test_an_impossible_time_is_refused(column):
    trouble = refusal(with_column("executions", column, lambda old: np.full(len(old), 2**63 - 1)))

    assert "a time is impossible" in trouble


def test_a_column_of_another_type_is_refused():
    trouble = refusal(with_column("ops", "name", np.zeros(2, np.int64)))

    assert "another type than the format says" in trouble


def references():
    """The columns of the sample that refer to rows of a table."""
    contents = members(saved())
    for table, format_ in TABLES.items():
        found = parquet.read(contents[f"{table}.parquet"])
        for name, field in format_.fields.items():
            if field.table and len(found[name]):
                yield table, name


@pytest.mark.parametrize(("table", "name"), list(references()))
def test_a_reference_to_a_missing_row_is_refused(table, name):
    trouble = refusal(with_column(table, name, lambda column: column + 1000))

    assert f"the column {name} of {table} has a number out of range" in trouble


def test_most_references_are_tested():
    assert len(list(references())) > 20


@pytest.mark.parametrize("shape", ["3", "[1.5]", "[true]", '{"a": 1}', "[", f"[{10**30}]"])
def test_a_shape_that_is_not_a_list_of_numbers_is_refused(shape):
    def spoiled(column):
        return type(column)(column.codes, Strings([shape] * len(column.values)))

    assert refusal(with_column("ops", "shape", spoiled)).startswith("is cut short or damaged: ")


@pytest.mark.parametrize(
    ("table", "name", "column", "trouble"),
    [
        ("ops", "defined", np.zeros(2, np.int64), "ops have no definition order"),
        ("ops", "name", Strings(["b", "a"]), "ops are out of order"),
        ("ops", "name", Strings(["a", "a"]), "ops are out of order"),
        ("code", "caller", np.zeros(1, np.int64), "a call comes before its caller"),
        ("steps", "number", np.zeros(2, np.int64), "steps are out of order"),
    ],
)
def test_tables_that_contradict_themselves_are_refused(table, name, column, trouble):
    assert refusal(with_column(table, name, column)) == (
        f"is damaged: {trouble}; save it again or fetch it again."
    )


def two_hosts():
    """A file with two recordings, in each of which an op runs on one device."""
    found = profile(op("a"), run("a", 3, recording="one"), run("a", 3, recording="two"))
    return b"".join(profile_file.encode(found))


def copied():
    """A file with a transfer in the second of two steps."""
    found = profile(op("a"), run("a"), run("a", step=1), copy("x", step=1, op="a"))
    return members(b"".join(profile_file.encode(found)))


def with_copies(change):
    contents = copied()
    table = parquet.read(contents["copies.parquet"])
    change(table)
    contents["copies.parquet"] = b"".join(parquet.write(table))
    return archived(contents)


def test_a_transfer_in_another_step_than_its_op_is_refused():
    def change(table):
        table["step"] = np.zeros(1, np.int64)

    assert "a record includes transfers of another step" in refusal(with_copies(change))


def test_transfers_of_older_files_belong_to_no_op():
    found = loaded("file", with_copies(lambda table: table.pop("record")))

    assert found.profile.copies.record.tolist() == [-1]


def test_two_recordings_with_the_same_label_are_refused():
    contents = members(two_hosts())
    table = parquet.read(contents["recordings.parquet"])
    table["label"] = Strings(["one", "one"])
    contents["recordings.parquet"] = b"".join(parquet.write(table))

    assert "two recordings have the same label" in refusal(archived(contents))


def test_an_op_on_two_devices_of_one_recording_is_refused():
    contents = members(two_hosts())
    table = parquet.read(contents["placements.parquet"])
    table["device"] = np.zeros(2, np.int64)
    contents["placements.parquet"] = b"".join(parquet.write(table))

    assert "placements are out of order" in refusal(archived(contents))


def test_members_that_share_bytes_are_refused():
    contents = members(saved())
    whole = archived(contents)
    # Let every entry of the directory claim the size of the largest member.
    directory = whole.index(b"PK\x01\x02")
    largest = max(map(len, contents.values()))
    spoiled, place = bytearray(whole), directory
    for name in contents:
        spoiled[place + 20 : place + 28] = largest.to_bytes(4, "little") * 2
        place += 46 + len(name)

    assert "members overlap" in refusal(bytes(spoiled))


def test_attributes_in_an_unknown_encoding_are_refused():
    data = with_column("origins", "encoding", Strings(["runes"]))

    assert refusal(data) == (
        "has attributes encoded as 'runes', which this tfprof cannot decode: upgrade tfprof."
    )


def test_the_tables_of_a_file_share_one_limit(monkeypatch):
    monkeypatch.setattr(parquet.reading, "_HARMLESS", 100_000)
    monkeypatch.setattr(parquet.reading, "_MOST_TIMES", 1)
    contents = members(saved())
    for name in ("placements", "record_devices"):
        columns = {key: np.zeros(5_000, np.int64) for key in TABLES[name].fields}
        data = b"".join(parquet.write(columns))
        assert parquet.read(data)  # it is small enough by itself
        contents[f"{name}.parquet"] = data

    assert "far more than the file could hold" in refusal(archived(contents))


def test_a_file_that_was_cut_short_is_refused():
    whole = saved()
    for part in range(20):
        assert refusal(whole[: len(whole) * part // 20]).startswith("is cut short or damaged: ")


def test_damaged_files_are_refused_or_consistent():
    whole, chance = saved(), random.Random(0)  # noqa: S311 -- no secret
    refused = 0
    for _ in range(300):
        damaged = bytearray(whole)
        damaged[chance.randrange(len(damaged))] ^= 1 << chance.randrange(8)
        try:
            loaded("file", bytes(damaged)).profile.check()
        except TfprofError:
            refused += 1
    assert refused > 200


@floor(0.1)  # measured: 0.25
def test_damaged_tables_with_a_correct_checksum_are_refused_or_consistent():
    contents, chance = members(saved()), random.Random(0)  # noqa: S311 -- no secret
    names = [f"{name}.parquet" for name in TABLES]
    for _ in range(300):
        name = chance.choice(names)
        damaged = bytearray(contents[name])
        damaged[chance.randrange(len(damaged))] ^= 1 << chance.randrange(8)
        with checked_unless(TfprofError):
            loaded("file", archived(contents | {name: bytes(damaged)})).profile.check()
