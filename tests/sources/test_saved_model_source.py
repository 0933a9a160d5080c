"""What a SavedModel says, read without TensorFlow: ops, parameters, values and code lines."""

import contextlib
import gzip

import numpy as np
import pytest

import tfprof
from sources.tf_files import content, unpacked_model
from tfprof.errors import InputError

CUTS = 60
FLIPPED_BYTES = 600
NAME = "saved_model/saved_model.pb"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return unpacked_model(tmp_path_factory.mktemp("model"))


@pytest.fixture(scope="module")
def profile(folder):
    return tfprof.load(folder)


def total(profile, metric, **options):
    answer = profile.scope(select=[metric], max_depth=1, **options)
    return answer["_TFProfRoot"][f"total_{metric}"]


def test_parameters_are_those_of_the_variables_that_a_call_reads(profile):
    # kernel 3x4, bias 4, square 4x4; not the 100 of the one that nobody reads, nor x.
    assert total(profile, "params") == 12 + 4 + 16


def test_float_ops_are_those_of_one_call(profile):
    dense = 2 * 2 * 3 * 4 + 2 * 4
    loop = 2 * 2 * 4 * 4 + 1 + 1 + 1  # a round, two counters, the condition
    choice = 7 + 1 + 2 * 2 * 4 * 4 + 2 * 4  # a sum, a comparison, both branches

    assert total(profile, "float_ops") == dense + loop + choice


def test_what_no_result_needs_is_not_counted(profile):
    matmuls = profile.op(select=["occurrence"], show_name_regexes=["MatMul"])["MatMul"]

    assert matmuls["definitions"] == 3


def test_what_the_numbers_leave_open_is_told(profile, folder):
    loop, choice = profile.notes

    assert loop.startswith(f"{folder}/saved_model.pb has 1 loop: float ops are those of one")
    assert choice.startswith(
        f"{folder}/saved_model.pb has 1 conditional: float ops are those of all"
    )


def test_the_file_itself_gives_the_same(profile, folder):
    other = tfprof.load(folder / "saved_model.pb")

    assert list(other.columns.ops.name) == list(profile.columns.ops.name)
    assert other.questions() == profile.questions()


def test_trainable_variables_have_their_type(profile):
    assert total(profile, "params", account_type_regexes=["_trainable_variables"]) == 12 + 16


def test_variables_have_the_values_that_were_saved(profile):
    columns = profile.columns

    assert list(columns.tensors.name) == ["dense/bias", "dense/kernel", "square"]
    assert np.array_equal(columns.tensors.read("dense/kernel"), np.arange(12.0).reshape(3, 4))
    assert total(profile, "params", account_type_regexes=["_checkpoint_variables"]) == 32


def test_ops_are_known_by_the_lines_of_code_that_made_them(profile):
    rows = [row["name"] for row in profile.code(select=["float_ops"], max_depth=9)]

    assert any(name.startswith("record_saved_model.py") and "dense" in name for name in rows)


def test_another_signature_can_be_called(folder):
    other = tfprof.load(folder, signature="any_size")

    assert total(other, "params") == 12 + 4
    assert "`any_size_x` is of any size (?x3)" in other.notes[0]


def test_a_batch_size_settles_what_a_signature_leaves_open(folder):
    other = tfprof.load(folder, signature="any_size", batch_size=5)

    assert total(other, "float_ops") == 5 * (2 * 3 * 4 + 4)
    assert other.notes == ()


def test_an_unknown_signature_is_answered_with_those_there_are(folder):
    with pytest.raises(InputError) as caught:
        tfprof.load(folder, signature="serving")

    assert str(caught.value).startswith(f"{folder}/saved_model.pb: has no signature `serving`.")
    assert "serving_default" in str(caught.value)


def test_without_the_usual_signature_one_must_be_chosen(tmp_path):
    message = message_of(content(NAME))
    signatures = message.meta_graphs[0].signature_def
    signatures["one"].CopyFrom(signatures["any_size"])
    del signatures["serving_default"]
    (tmp_path / "saved_model.pb").write_bytes(message.SerializeToString())

    with pytest.raises(
        InputError, match=r"several signatures; choose by --signature: any_size, one"
    ):
        tfprof.load(tmp_path)

    assert total(tfprof.load(tmp_path, signature="one"), "params") == 16


def test_a_model_without_signatures_is_refused(tmp_path):
    message = message_of(content(NAME))
    message.meta_graphs[0].signature_def.clear()
    (tmp_path / "saved_model.pb").write_bytes(message.SerializeToString())

    with pytest.raises(InputError, match=r"has no signature to call"):
        tfprof.load(tmp_path)


def test_the_graph_for_serving_is_taken(tmp_path):
    message = message_of(content(NAME))
    other = message.meta_graphs.add()
    other.CopyFrom(message.meta_graphs[0])
    message.meta_graphs[0].meta_info_def.tags[:] = ["train"]
    message.meta_graphs[0].graph_def.Clear()
    (tmp_path / "saved_model.pb").write_bytes(message.SerializeToString())

    assert total(tfprof.load(tmp_path), "params") == 32


def message_of(data):
    from tfprof.formats.messages import message_class  # noqa: PLC0415 -- for the tests above alone

    return message_class("tensorflow.SavedModel").FromString(data)


def test_a_folder_without_values_and_code_has_all_else(tmp_path):
    (tmp_path / "saved_model.pb").write_bytes(content(NAME))

    profile = tfprof.load(tmp_path)

    assert total(profile, "params") == 32
    assert not profile.columns.has_code
    assert not len(profile.columns.tensors)


@pytest.mark.parametrize("part", ["variables/variables.index", "debug/saved_model_debug_info.pb"])
def test_damage_beside_the_graph_is_told_in_a_line(part, tmp_path):
    unpacked_model(tmp_path)
    data = (tmp_path / part).read_bytes()
    (tmp_path / part).write_bytes(data[:20] + b"\xff" * 40 + data[60:])

    profile = tfprof.load(tmp_path)

    assert total(profile, "params") == 32
    assert str(tmp_path / part).removesuffix(".index") in profile.notes[-1]


def test_a_cut_model_is_refused_in_a_line(tmp_path):
    data = content(NAME)
    for end in range(0, len(data), len(data) // CUTS):
        (tmp_path / "saved_model.pb").write_bytes(data[:end])

        with pytest.raises(InputError) as caught:
            tfprof.load(tmp_path)

        assert str(caught.value).startswith(str(tmp_path))
        assert "\n" not in str(caught.value)


def test_a_damaged_model_is_refused_or_loads(tmp_path):
    data = content(NAME)
    rng = np.random.default_rng(0)
    for place in rng.integers(0, len(data), FLIPPED_BYTES).tolist():
        damaged = bytearray(data)
        damaged[place] ^= 1 << place % 8
        (tmp_path / "saved_model.pb").write_bytes(damaged)
        with contextlib.suppress(tfprof.TfprofError):
            tfprof.load(tmp_path).scope(select=["params", "float_ops"])


def test_a_gzipped_model_is_read_too(tmp_path):
    (tmp_path / "saved_model.pb").write_bytes(gzip.compress(content(NAME)))

    assert total(tfprof.load(tmp_path), "params") == 32


def test_a_saved_profile_of_a_model_gives_the_same_answers(profile, tmp_path):
    profile.save(tmp_path / "profile.pb")
    again = tfprof.load(tmp_path / "profile.pb")

    for view in ("scope", "graph", "code", "op"):
        ask = {"select": ["params", "float_ops"], "max_depth": 100}
        assert getattr(again, view)(**ask).table == getattr(profile, view)(**ask).table
    assert again.scope(select=["float_ops"]).uncounted == profile.scope().uncounted
