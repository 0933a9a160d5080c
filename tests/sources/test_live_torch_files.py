"""Files that PyTorch writes now have the parameters and values of their models."""

import numpy as np
import pytest

import tfprof
from live_programs import only_own_warnings
from tfprof.errors import InputError

torch = pytest.importorskip("torch", reason="PyTorch is not installed")
nn = torch.nn

pytestmark = [pytest.mark.live, only_own_warnings]


def cnn():
    parts = [nn.Conv2d(3, 8, 3), nn.BatchNorm2d(8), nn.ReLU(), nn.Flatten(), nn.LazyLinear(5)]
    model = nn.Sequential(*parts)
    model(torch.zeros(2, 3, 8, 8))
    return model


def lstm():
    return nn.LSTM(4, 6, num_layers=2, bidirectional=True)


def transformer():
    layer = nn.TransformerEncoderLayer(16, 2, 32, batch_first=True)
    return nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)


def mixed():
    """Types other than float32, a transposed weight, and a frozen layer."""
    model = nn.ModuleDict({"a": nn.Linear(3, 4).half(), "b": nn.Linear(4, 2).to(torch.bfloat16)})
    model["a"].weight = nn.Parameter(torch.arange(12.0).reshape(3, 4).t())
    model["b"].requires_grad_(False)
    model.register_buffer("mask", torch.tensor([True, False]))
    return model


MODELS = [cnn, lstm, transformer, mixed]
every_model = pytest.mark.parametrize("make", MODELS, ids=[make.__name__ for make in MODELS])


def params(profile, **options):
    return profile.scope(select=["params"], **options)["_TFProfRoot"]["total_params"]


def count(parameters):
    return sum(one.numel() for one in parameters)


@every_model
@pytest.mark.parametrize("is_zip", [True, False])
def test_a_state_dict_has_the_parameters_of_the_model(make, is_zip, tmp_path):
    model = make()
    torch.save(model.state_dict(), tmp_path / "m.pt", _use_new_zipfile_serialization=is_zip)

    assert params(tfprof.load(tmp_path / "m.pt")) == count(model.parameters())


@every_model
def test_a_whole_model_has_its_trained_parameters(make, tmp_path):
    model = make()
    torch.save(model, tmp_path / "m.pt")
    trained = [one for one in model.parameters() if one.requires_grad]

    profile = tfprof.load(tmp_path / "m.pt")

    assert params(profile) == count(model.parameters())
    assert params(profile, account_type_regexes=["_trainable_variables"]) == count(trained)


@every_model
def test_values_are_those_of_the_model(make, tmp_path):
    model = make()
    torch.save(model.state_dict(), tmp_path / "m.pt")
    tensors = tfprof.load(tmp_path / "m.pt").columns.tensors

    for name, value in model.state_dict().items():
        expected = value.float().numpy() if value.is_floating_point() else value.numpy()
        np.testing.assert_array_equal(tensors.read(name.replace(".", "/")), expected)


@pytest.mark.parametrize("name", ["SGD", "AdamW", "Adagrad", "Adafactor"])
def test_the_state_of_optimizers_is_that_of_their_parameters(name, tmp_path):
    model = cnn()
    optimizer = getattr(torch.optim, name)(model.parameters(), lr=0.1)
    model(torch.zeros(2, 3, 8, 8)).sum().backward()
    optimizer.step()
    torch.save({"net": model.state_dict(), "optimizer": optimizer.state_dict()}, tmp_path / "m.pt")
    profile = tfprof.load(tmp_path / "m.pt")
    kept = [
        value
        for state in optimizer.state.values()
        for value in state.values()
        if torch.is_tensor(value)
    ]

    assert profile.scope(select=["slots"])["_TFProfRoot"]["total_slots"] == count(kept)
    names = [name for name in profile.columns.ops.name if name.startswith("optimizer/")]
    assert all(name.endswith(("weight", "bias")) for name in names)


def test_conjugates_and_negatives_of_stored_values_are_counted_but_not_read(tmp_path):
    pair = torch.tensor([1 + 2j, 3 - 1j])
    torch.save({"plain": pair, "conjugate": pair.clone().conj()}, tmp_path / "m.pt")
    profile = tfprof.load(tmp_path / "m.pt")

    assert params(profile) == 4
    assert profile.columns.tensors.read("plain").tolist() == pair.tolist()
    with pytest.raises(InputError, match="the values of `conjugate`"):
        profile.columns.tensors.read("conjugate")


def test_a_negative_of_stored_values_is_not_read(tmp_path):
    negative = torch.tensor([1 + 2j]).conj().imag
    assert negative.is_neg()
    torch.save({"w": negative}, tmp_path / "m.pt")

    with pytest.raises(InputError, match="the values of `w`"):
        tfprof.load(tmp_path / "m.pt").columns.tensors.read("w")
