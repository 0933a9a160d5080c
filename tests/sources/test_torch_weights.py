"""Weights of PyTorch models as ops: parameters, buffers, layers and values."""

import gzip
import json
import shutil
from pathlib import Path

import pytest

import tfprof
from formats.test_safetensors import written
from tfprof.errors import InputError, OptionError
from tfprof.model.builder import ProfileBuilder
from tfprof.model.layers import Layer
from tfprof.sources import registry

SAMPLES = Path(__file__).parents[1] / "samples" / "pytorch"
NET = SAMPLES / "net.safetensors"
INDEX = "model.safetensors.index.json"


def params(profile, **options):
    return profile.scope(select=["params"], **options)["_TFProfRoot"]["total_params"]


def table(profile):
    ops = profile.columns.ops
    return {ops.name[row]: (ops.kind[row], ops.shape[row]) for row in range(len(ops))}


@pytest.fixture
def sharded(tmp_path):
    shutil.copytree(SAMPLES / "sharded", tmp_path / "model")
    return tmp_path / "model"


def with_index(folder, **listed):
    (folder / INDEX).write_text(json.dumps({"metadata": {}, "weight_map": listed}))
    return folder


def refusal(path):
    with pytest.raises(InputError) as caught:
        tfprof.load(path)
    assert "\n" not in str(caught.value)
    return caught.value.trouble


def test_tensors_are_ops_named_by_the_modules_they_belong_to():
    found = table(tfprof.load(NET))

    assert found["embed/weight"] == ("Parameter", (10, 4))
    assert found["blocks/0/bias"] == ("Parameter", (4,))
    assert found["norm/running_mean"] == ("Buffer", (4,))


def test_statistics_of_normalisation_layers_are_not_parameters():
    profile = tfprof.load(NET)

    assert params(profile) == 88
    assert params(profile, account_type_regexes=["_trainable_variables"]) == 88
    assert "does not say which tensors are trained" in " ".join(profile.notes)


def test_each_module_is_a_layer():
    columns = tfprof.load(NET).columns

    assert columns.layers.rows() == [
        Layer("embed"),
        Layer("blocks"),
        Layer("0", 1),
        Layer("1", 1),
        Layer("norm"),
    ]


def test_values_can_be_shown():
    answer = tfprof.load(NET).scope(
        select=["tensor_value"], show_name_regexes=["norm/num_batches_tracked"]
    )

    assert "[1 ]" in str(answer)


def test_weights_in_several_files_are_read_by_their_index(sharded):
    assert table(tfprof.load(sharded / INDEX)) == table(tfprof.load(NET))


def test_the_folder_of_a_model_stands_for_its_weights(sharded):
    profile = tfprof.load(sharded)

    assert [file.path for file in profile.files] == [str(sharded / INDEX)]
    assert params(profile) == 88


def test_a_missing_file_is_named(sharded):
    (sharded / "model-00002-of-00002.safetensors").unlink()

    with pytest.raises(InputError, match=r"model-00002-of-00002.safetensors: no such file") as one:
        tfprof.load(sharded)
    assert "\n" not in str(one.value)


def test_a_tensor_that_is_only_in_the_index_is_named(sharded):
    with_index(sharded, lost="model-00001-of-00002.safetensors")

    assert refusal(sharded).startswith("lacks the tensor `lost` that ")


@pytest.mark.parametrize(
    "name",
    ["../net.safetensors", "/etc/passwd", "a/b", "..", "", "a\\b", "c:d", "a\0b", 7, None, ["a"]],
)
def test_an_index_names_only_files_in_its_folder(name, sharded):
    with_index(sharded, w=name)

    assert refusal(sharded).startswith("names a file outside of its folder, ")


@pytest.mark.parametrize("text", ['{"weight_map": {', '{"weight_map": {"a": 1}}x'])
def test_a_damaged_index_is_refused(text, sharded):
    (sharded / INDEX).write_text(text)

    assert refusal(sharded) == ("is a damaged index of weights; save it again or fetch it again.")


def test_an_index_of_other_files_is_refused(sharded):
    with_index(sharded, w="config.json")

    assert refusal(sharded) == "is not a file of weights; fetch it again."


def test_a_gzipped_file_is_refused(tmp_path):
    (tmp_path / "a.gz").write_bytes(gzip.compress(NET.read_bytes()))

    assert refusal(tmp_path / "a.gz") == "is gzipped; unpack it first."


def test_two_models_are_refused(sharded):
    with pytest.raises(OptionError, match="are 2 models"):
        tfprof.load(NET, sharded)


def test_tensors_whose_names_become_the_same_are_numbered(tmp_path):
    entries = {
        name: {"dtype": "U8", "shape": [1], "data_offsets": [at, at + 1]}
        for at, name in enumerate(("a.b", "a/b", "a..b", ""))
    }
    found = table(tfprof.load(written(tmp_path / "w", entries, bytes(4))))

    assert list(found) == ["_", "a/_/b", "a/b", "a/b#2"]


CHECKPOINTS = ["checkpoint.pt", "module.pt", "old.pt", "script.pt"]


@pytest.mark.parametrize("name", CHECKPOINTS)
def test_a_checkpoint_has_the_parameters_of_its_model(name):
    profile = tfprof.load(SAMPLES / name)

    assert params(profile) == 88
    assert "shared tensors count once: head.weight (as embed.weight)." in " ".join(profile.notes)


@pytest.mark.parametrize("name", ["checkpoint.pt", "module.pt", "script.pt"])
def test_values_of_checkpoints_are_those_of_the_model(name):
    expected = tfprof.load(NET).columns.tensors
    found = tfprof.load(SAMPLES / name).columns.tensors
    root = "" if name == "checkpoint.pt" else "Net/"

    for tensor in expected.name:
        assert found.read(root + tensor).tolist() == expected.read(tensor).tolist()


def test_values_of_old_checkpoints_are_not_read():
    with pytest.raises(InputError, match=r"the values of `embed\.weight`"):
        tfprof.load(SAMPLES / "old.pt").columns.tensors.read("embed/weight")


def test_the_state_of_an_optimizer_is_no_parameter():
    profile = tfprof.load(SAMPLES / "checkpoint.pt")
    found = table(profile)

    assert profile.scope(select=["slots"])["_TFProfRoot"]["total_slots"] == 2 * 88 + 7
    assert found["optimizer/exp_avg/embed/weight"] == ("Slot", (10, 4))
    assert found["optimizer/exp_avg_sq/blocks/1/bias"] == ("Slot", (4,))
    assert "its parameters are those of `model`" in " ".join(profile.notes)


@pytest.mark.parametrize("name", ["module.pt", "script.pt"])
def test_a_whole_module_has_the_classes_of_its_layers(name):
    columns = tfprof.load(SAMPLES / name).columns

    assert columns.layers.rows() == [
        Layer("Net", kind="Net"),
        Layer("embed", 0, "Embedding"),
        Layer("blocks", 0, "ModuleList"),
        Layer("0", 2, "Linear"),
        Layer("1", 2, "Linear"),
        Layer("norm", 0, "BatchNorm1d"),
        Layer("head", 0, "Linear"),
    ]
    assert table(tfprof.load(SAMPLES / name))["Net/norm/running_var"] == ("Buffer", (4,))


@pytest.mark.parametrize("name", [NET.name, *CHECKPOINTS])
def test_a_saved_profile_gives_the_same_answers(name, tmp_path):
    profile = tfprof.load(SAMPLES / name)
    profile.save(tmp_path / "saved")

    assert str(tfprof.load(tmp_path / "saved").layers()) == str(profile.layers())


def test_very_deep_names_are_answered(tmp_path):
    entry = {"dtype": "U8", "shape": [1], "data_offsets": [0, 1]}
    profile = tfprof.load(written(tmp_path / "w", {"a." * 5000 + "b": entry}, bytes(1)))

    assert len(profile.columns.layers) == 32
    assert params(profile) == 0


def test_a_tensor_in_two_files_counts_in_the_one_that_the_index_lists(tmp_path):
    entry = {"dtype": "F32", "shape": [2, 3], "data_offsets": [0, 24]}
    written(tmp_path / "a", {"w": entry})
    written(tmp_path / "b", {"w": entry | {"data_offsets": [24, 48]}, "v": entry}, bytes(48))
    with_index(tmp_path, w="a", v="b")

    assert table(tfprof.load(tmp_path)) == {
        "v": ("Parameter", (2, 3)),
        "w": ("Parameter", (2, 3)),
    }


def test_a_file_without_tensors_is_refused(tmp_path):
    path = written(tmp_path / "a", {"__metadata__": {"format": "pt"}}, b"")

    assert refusal(path) == "contains no tensors; give a file with the weights of a model."


@pytest.mark.parametrize(
    ("listed", "is_in_order"),
    [
        ([("a.bias", "F32"), ("a.weight", "F32"), ("b.weight", "F32")], False),
        ([("z.steps", "I64"), ("a.bias", "F32"), ("a.weight", "F32")], False),  # by type, then name
        ([("a.weight", "F32"), ("a.bias", "F32"), ("b.weight", "F32")], True),
    ],
)
def test_files_whose_tensors_are_sorted_do_not_have_the_order_of_definition(
    listed, is_in_order, tmp_path
):
    header, start = {}, 0
    for name, dtype in listed:
        end = start + (8 if dtype == "I64" else 4)
        header[name] = {"dtype": dtype, "shape": [1], "data_offsets": [start, end]}
        start = end
    path = tmp_path / "model.safetensors"
    written(path, header, bytes(start))

    assert held(path).is_in_order == is_in_order


def test_each_file_of_several_is_sorted_for_itself(tmp_path):
    listed = {}
    for name, tensors in (("1.safetensors", ("b.x", "b.y")), ("2.safetensors", ("a.x", "a.y"))):
        spans = enumerate(tensors)
        entry = {"dtype": "F32", "shape": [1]}
        header = {one: entry | {"data_offsets": [4 * at, 4 * at + 4]} for at, one in spans}
        written(tmp_path / name, header, bytes(8))
        listed |= dict.fromkeys(tensors, name)

    assert not held(with_index(tmp_path, **listed) / INDEX).is_in_order


def held(path):
    """The tensors of a file, held back until the scope of the model is known."""
    builder = ProfileBuilder()
    registry.merge([registry.open_file(str(path))], builder)
    return builder.held[0]
