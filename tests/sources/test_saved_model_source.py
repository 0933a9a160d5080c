"""Reading SavedModels without TensorFlow: ops, parameters, values and code lines."""

import gzip

import numpy as np
import pytest

import tfprof
from floors import checked_unless, floor
from sources.tf_files import content, unpacked_model
from tfprof.errors import InputError
from tfprof.formats import saved_model
from tfprof.formats.messages import message_class
from tfprof.formats.records import Records
from tfprof.sources import saved_model as source

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


# kernel 3x4, bias 4, square 4x4, and the 100 of a variable that no signature reads
PARAMETERS = 12 + 4 + 16 + 100


def test_parameters_are_those_of_the_model_even_if_a_call_does_not_read_them(profile):
    assert total(profile, "params") == PARAMETERS


def test_parameters_that_only_another_signature_reads_are_not_counted(folder):
    other = tfprof.load(folder, signature="any_size")

    assert total(other, "params") == PARAMETERS - 16


def test_float_ops_are_those_of_one_call(profile):
    dense = 2 * 2 * 3 * 4 + 2 * 4
    loop = 5 * (2 * 2 * 4 * 4 + 1 + 1) + 6  # a product and two counters; the condition
    choice = 7 + 1 + 2 * 2 * 4 * 4 + 2 * 4  # a sum, a comparison, both branches

    assert total(profile, "float_ops") == dense + loop + choice


def test_calls_whose_ops_are_counted_are_listed_as_no_arithmetic(profile):
    ledger = profile.flops()

    assert "StatefulPartitionedCall" in dict(ledger.ledger.idle_kinds)
    assert "as recorded" not in {entry.rule for entry in ledger}


def test_ops_that_contribute_to_no_result_are_not_counted(profile):
    matmuls = profile.op(select=["occurrence"], show_name_regexes=["MatMul"])["MatMul"]

    assert matmuls["definitions"] == 3


def test_a_note_explains_how_conditionals_are_counted(profile, folder):
    assert profile.notes == (
        (
            f"{folder}/saved_model.pb contains 1 conditional: the float ops of all branches are "
            "counted, although only one will run."
        ),
    )


def test_the_path_may_be_that_of_the_file_in_the_folder(profile, folder):
    other = tfprof.load(folder / "saved_model.pb")

    assert list(other.columns.ops.name) == list(profile.columns.ops.name)
    assert other.questions() == profile.questions()


def test_trainable_variables_have_their_type(profile):
    assert total(profile, "params", account_type_regexes=["_trainable_variables"]) == 12 + 16 + 100


def test_the_values_of_variables_are_available(profile):
    columns = profile.columns

    assert list(columns.tensors.name) == ["dense/bias", "dense/kernel", "square", "unused"]
    assert np.array_equal(columns.tensors.read("dense/kernel"), np.arange(12.0).reshape(3, 4))
    assert total(profile, "params", account_type_regexes=["_checkpoint_variables"]) == PARAMETERS


def test_the_code_view_has_the_lines_that_created_the_ops(profile):
    rows = [row["name"] for row in profile.code(select=["float_ops"], max_depth=9)]

    assert any(name.startswith("record_saved_model.py") and "dense" in name for name in rows)


def test_another_signature_can_be_chosen(folder):
    other = tfprof.load(folder, signature="any_size")
    (note,) = other.notes

    assert total(other, "params") == 12 + 4 + 100
    assert total(other, "float_ops") == 2 * 3 * 4 + 4
    assert note == (
        f"{folder}/saved_model.pb: the inputs accept any batch size; everything is counted for a "
        "batch of 1. Set another batch size with --batch_size."
    )


def test_float_ops_of_inputs_without_a_fixed_size_are_counted_for_a_batch_size(folder):
    other = tfprof.load(folder, signature="any_size", batch_size=5)

    assert total(other, "float_ops") == 5 * (2 * 3 * 4 + 4)
    assert other.notes == ()


@pytest.mark.parametrize(
    ("meta_graphs", "complaint"), [([], "without a graph"), ([{}], "lacks one of its graphs")]
)
def test_a_model_without_its_graph_is_refused(meta_graphs, complaint):
    model = message_class("tensorflow.SavedModel")(meta_graphs=meta_graphs)

    with pytest.raises(InputError, match=complaint):
        saved_model.decode(Records("saved_model.pb", model.SerializeToString()))


def test_the_error_for_an_unknown_signature_suggests_others(folder):
    with pytest.raises(InputError) as caught:
        tfprof.load(folder, signature="serving")

    assert str(caught.value).startswith(f"{folder}/saved_model.pb: has no signature `serving`.")
    assert "serving_default" in str(caught.value)


def test_one_of_several_signatures_must_be_chosen_if_there_is_no_default(tmp_path):
    message = message_of(content(NAME))
    signatures = message.meta_graphs[0].signature_def
    signatures["one"].CopyFrom(signatures["any_size"])
    del signatures["serving_default"]
    (tmp_path / "saved_model.pb").write_bytes(message.SerializeToString())

    with pytest.raises(
        InputError, match=r"several signatures; choose one with --signature: any_size, one"
    ):
        tfprof.load(tmp_path)

    assert total(tfprof.load(tmp_path, signature="one"), "params") == PARAMETERS - 16


def test_a_model_without_signatures_is_rejected(tmp_path):
    message = message_of(content(NAME))
    message.meta_graphs[0].signature_def.clear()
    (tmp_path / "saved_model.pb").write_bytes(message.SerializeToString())

    with pytest.raises(InputError, match=r"has no signatures; save the model with"):
        tfprof.load(tmp_path)


def test_the_graph_for_serving_is_used(tmp_path):
    message = message_of(content(NAME))
    other = message.meta_graphs.add()
    other.CopyFrom(message.meta_graphs[0])
    message.meta_graphs[0].meta_info_def.tags[:] = ["train"]
    message.meta_graphs[0].graph_def.Clear()
    (tmp_path / "saved_model.pb").write_bytes(message.SerializeToString())

    assert total(tfprof.load(tmp_path), "params") == PARAMETERS


def message_of(data):
    from tfprof.formats.messages import message_class  # noqa: PLC0415 -- only some tests need it

    return message_class("tensorflow.SavedModel").FromString(data)


def test_values_and_code_lines_are_optional(tmp_path):
    (tmp_path / "saved_model.pb").write_bytes(content(NAME))

    profile = tfprof.load(tmp_path)

    assert total(profile, "params") == PARAMETERS
    assert not profile.columns.has_code
    assert not len(profile.columns.tensors)


@pytest.mark.parametrize("part", ["variables/variables.index", "debug/saved_model_debug_info.pb"])
def test_damaged_values_or_code_lines_are_reported_in_a_note(part, tmp_path):
    unpacked_model(tmp_path)
    data = (tmp_path / part).read_bytes()
    (tmp_path / part).write_bytes(data[:20] + b"\xff" * 40 + data[60:])

    profile = tfprof.load(tmp_path)

    assert total(profile, "params") == PARAMETERS
    assert str(tmp_path / part).removesuffix(".index") in profile.notes[-1]


def test_a_truncated_model_is_rejected_with_a_one_line_error(tmp_path):
    data = content(NAME)
    for end in range(0, len(data), len(data) // CUTS):
        (tmp_path / "saved_model.pb").write_bytes(data[:end])

        with pytest.raises(InputError) as caught:
            tfprof.load(tmp_path)

        assert str(caught.value).startswith(str(tmp_path))
        assert "\n" not in str(caught.value)


@floor(0.1)  # measured: 0.9
def test_a_damaged_model_is_rejected_or_loads(tmp_path):
    data = content(NAME)
    rng = np.random.default_rng(0)
    for place in rng.integers(0, len(data), FLIPPED_BYTES).tolist():
        damaged = bytearray(data)
        damaged[place] ^= 1 << place % 8
        (tmp_path / "saved_model.pb").write_bytes(damaged)
        with checked_unless(tfprof.TfprofError):
            tfprof.load(tmp_path).scope(select=["params", "float_ops"])


def test_a_model_may_be_gzipped(tmp_path):
    (tmp_path / "saved_model.pb").write_bytes(gzip.compress(content(NAME)))

    assert total(tfprof.load(tmp_path), "params") == PARAMETERS


def test_a_saved_profile_of_a_model_gives_the_same_answers(profile, tmp_path):
    profile.save(tmp_path / "profile.pb")
    again = tfprof.load(tmp_path / "profile.pb")

    for view in ("scope", "graph", "code", "op"):
        ask = {"select": ["params", "float_ops"], "max_depth": 100}
        assert getattr(again, view)(**ask).table == getattr(profile, view)(**ask).table
    assert again.scope(select=["float_ops"]).uncounted == profile.scope().uncounted


@pytest.mark.parametrize("size", [-1, -(2**63), 2**31, 2**62])
def test_a_batch_size_that_is_impossible_is_refused(folder, size):
    with pytest.raises(tfprof.OptionError, match=r"`batch_size` takes a number from 1 to"):
        tfprof.load(folder, batch_size=size)


def test_a_note_on_open_sizes_of_images_does_not_suggest_a_batch_size_alone():
    assert "--batch_size" in source._advice((-1, 4))
    assert "fixed input size" in source._advice((1, -1, -1, 3))
