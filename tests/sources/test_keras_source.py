"""Keras files: the layers of a model with their output shapes, and its weights."""

import json
import zipfile
from pathlib import Path

import h5py
import numpy as np
import pytest

import tfprof
from tfprof.errors import OptionError

SAMPLES = Path(__file__).parents[1] / "samples" / "keras"
FILES = [SAMPLES / "small.keras", SAMPLES / "small.h5"]


@pytest.fixture(params=FILES, ids=lambda path: path.name)
def profile(request):
    found = tfprof.load(request.param)
    found.columns.check()
    return found


@pytest.fixture
def weights_file(tmp_path):
    """The weights of the model alone, as `model.save_weights` writes them."""
    with zipfile.ZipFile(SAMPLES / "small.keras") as archive:
        archive.extract("model.weights.h5", tmp_path)
    return tmp_path / "model.weights.h5"


def total(profile, **options):
    select = options.pop("select", "params")
    return profile.scope(select=[select], **options)["_TFProfRoot"][f"total_{select}"]


def test_layers_have_their_class_and_output_shape_in_the_order_of_the_model(profile):
    layers = profile.columns.layers

    assert [
        (layers.name[row], layers.kind[row], layers.output_shape[row]) for row in range(len(layers))
    ] == [
        ("image", "InputLayer", (-1, 8, 8, 3)),
        ("flip", "RandomFlip", (-1, 8, 8, 3)),
        ("conv", "Conv2D", (-1, 6, 6, 4)),
        ("norm", "BatchNormalization", (-1, 6, 6, 4)),
        ("drop", "Dropout", (-1, 6, 6, 4)),
        ("pool", "GlobalAveragePooling2D", (-1, 4)),
        ("inner", "Sequential", (-1, 3)),
        ("inner/first", "Dense", (-1, 3)),
        ("frozen", "Dense", (-1, 3)),
        ("head", "Dense", (-1, 2)),
    ]


def test_weights_are_ops_of_their_layers(profile):
    ops, layers = profile.columns.ops, profile.columns.layers
    owned = {
        name: (layers.name[ops.layer[row]], ops.shape[row])
        for row, name in enumerate(ops.name)
        if ops.layer[row] >= 0
    }

    assert owned == {
        "conv/kernel": ("conv", (3, 3, 3, 4)),
        "conv/bias": ("conv", (4,)),
        "norm/gamma": ("norm", (4,)),
        "norm/beta": ("norm", (4,)),
        "norm/moving_mean": ("norm", (4,)),
        "norm/moving_variance": ("norm", (4,)),
        "inner/first/kernel": ("inner/first", (4, 3)),
        "inner/first/bias": ("inner/first", (3,)),
        "frozen/kernel": ("frozen", (3, 3)),
        "frozen/bias": ("frozen", (3,)),
        "head/kernel": ("head", (3, 2)),
        "head/bias": ("head", (2,)),
    }


def test_parameters_are_those_of_the_model_without_the_optimizer(profile):
    assert total(profile) == 163
    assert total(profile, account_type_regexes=["_trainable_variables"]) == 143
    assert total(profile, select="slots") == 288


def test_the_layers_view_adds_up(profile):
    assert profile.layers()["_TFProfRoot"]["total_params"] == 163
    assert profile.layers()["inner"]["total_params"] == 15


def test_a_question_about_float_operations_is_answered_with_a_note(profile):
    assert any("contains no ops, so there are no float op" in one for one in profile.flops().notes)
    assert profile.layers().notes == ()


def test_a_file_of_weights_has_the_same_parameters(weights_file):
    profile = tfprof.load(weights_file)

    assert total(profile) == 163
    assert "norm/moving_mean" in profile.columns.ops.name
    assert "inner/first" in profile.columns.layers.name
    assert "contains weights only" in profile.notes[0]


def test_weights_without_the_names_of_layers_are_found_by_class(tmp_path, weights_file):
    with h5py.File(weights_file, "a") as file:
        file.visititems(lambda _, part: part.attrs.clear())
    with zipfile.ZipFile(SAMPLES / "small.keras") as old:
        config = old.read("config.json")
    with zipfile.ZipFile(tmp_path / "early.keras", "w") as new:
        new.writestr("config.json", config)
        new.write(weights_file, "model.weights.h5")

    profile = tfprof.load(tmp_path / "early.keras")

    assert total(profile) == 163
    assert "inner/first/kernel" in profile.columns.ops.name


def test_seeds_are_not_parameters(weights_file):
    with h5py.File(weights_file, "a") as file:
        file["layers/dropout/seed_generator/vars/0"] = np.zeros(2, "uint32")

    assert total(tfprof.load(weights_file)) == 163


def test_files_of_keras_2_are_read(tmp_path):
    config = {
        "class_name": "Functional",
        "config": {
            "name": "model",
            "layers": [
                {
                    "class_name": "InputLayer",
                    "name": "x",
                    "config": {"batch_input_shape": [None, 4], "name": "x"},
                    "inbound_nodes": [],
                },
                {
                    "class_name": "Dense",
                    "name": "dense",
                    "config": {"units": 3, "name": "dense", "trainable": False},
                    "inbound_nodes": [[["x", 0, 0, {}]]],
                },
            ],
        },
    }
    with h5py.File(tmp_path / "old.h5", "w") as file:
        file.attrs["model_config"] = json.dumps(config)
        group = file.create_group("model_weights")
        group.attrs["layer_names0"] = [b"x"]
        group.attrs["layer_names1"] = [b"dense"]
        group.create_group("x").attrs["weight_names"] = np.zeros(0)
        group["dense/dense/kernel:0"] = np.zeros((4, 3))
        group["dense/dense/bias:0"] = np.zeros(3)
        group["dense"].attrs["weight_names"] = [b"dense/kernel:0", b"dense/bias:0"]
        file["optimizer_weights/Adam/dense/kernel/m:0"] = np.zeros((4, 3))

    profile = tfprof.load(tmp_path / "old.h5")

    assert list(profile.columns.ops.name) == ["Adam/dense/kernel/m", "dense/bias", "dense/kernel"]
    assert total(profile) == 15
    assert total(profile, account_type_regexes=["_trainable_variables"]) == 0
    assert profile.columns.layers.output_shape[1] == (-1, 3)


def test_a_model_and_its_weights_are_two_models(weights_file):
    with pytest.raises(OptionError, match="are 2 models: ask about one at a time"):
        tfprof.load(FILES[0], weights_file)


@pytest.mark.parametrize(
    "config",
    [
        {},
        {"config": None},
        {"config": {"layers": [None, 3, {}, {"config": {"layers": {}}}]}},
        {"config": {"layers": [{"class_name": "Dense", "inbound_nodes": [{"args": [[[]]]}]}]}},
        {"config": {"layers": [{"class_name": "Conv2D", "config": {"kernel_size": "x"}}]}},
        {"class_name": "Sequential", "config": {"layers": [{"build_config": []}, {"name": 3}]}},
        {"config": {"layers": [{"class_name": "InputLayer", "config": {"batch_shape": 3}}]}},
        {
            "config": {
                "layers": [{"class_name": "InputLayer", "config": {"batch_shape": [1 << 99]}}]
            }
        },
        {
            "config": {
                "layers": [{"class_name": "Dense", "build_config": {"input_shape": [1 << 70]}}]
            }
        },
        {"config": {"layers": [{"class_name": "TimeDistributed", "config": {"layer": []}}]}},
    ],
)
def test_an_unusual_configuration_does_not_matter(tmp_path, weights_file, config):
    with zipfile.ZipFile(tmp_path / "odd.keras", "w") as new:
        new.writestr("config.json", json.dumps(config))
        new.write(weights_file, "model.weights.h5")

    profile = tfprof.load(tmp_path / "odd.keras")

    profile.columns.check()
    assert total(profile) == 163
