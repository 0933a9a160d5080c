"""The recordings in `examples/` are those of the programs beside them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import tfprof
from live_programs import finished

TRANSFORMER = Path(__file__).parent.parent / "examples" / "transformer"
RECORDING = TRANSFORMER / "transformer.tfprof"
PYTORCH = Path(__file__).parent.parent / "examples" / "pytorch"


def test_the_recorded_transformer_has_steps_layers_and_code_lines():
    profile = tfprof.load(RECORDING)

    assert len(list(profile.step_times())) == 8
    assert layers_of(profile)["transformer"] == (1_109_072, ["Functional"])
    assert "train.py:24:call" in str(profile.code(select=["micros"], max_depth=10))


def test_the_recorded_transformer_is_small():
    assert RECORDING.stat().st_size < 400_000


@pytest.mark.live
def test_the_transformer_can_be_recorded_again(tmp_path):
    pytest.importorskip("tensorflow", reason="TensorFlow is not installed: nothing to record")

    done = finished("-m", "tfprof", "run", "-o", tmp_path / "a", "train.py", cwd=TRANSFORMER)

    assert done.returncode == 0, done.stderr
    assert layers_of(tfprof.load(tmp_path / "a")) == layers_of(tfprof.load(RECORDING))


def layers_of(profile):
    """Parameters and class of each layer, by name."""
    rows = profile.layers(select=["params", "layer_class"])
    return {
        row["name"]: (row["total_params"], row["layer_class"]) for row in rows if row["layer_class"]
    }


@pytest.fixture(scope="module")
def recorded_again(tmp_path_factory):
    """A recording of a step of each PyTorch script, and the loss that the script prints."""
    pytest.importorskip("torch", reason="PyTorch is not installed: nothing to record")
    folder = tmp_path_factory.mktemp("pytorch")
    found = {}
    for name in ("slow", "fast"):
        options = ("--skip_steps", "5", "--steps", "1", "-o", folder / name)
        done = finished("-m", "tfprof", "run", *options, f"{name}.py", cwd=PYTORCH)
        assert done.returncode == 0, done.stderr
        [loss] = re.findall(r"loss (.+)", done.stdout)
        found[name] = tfprof.load(folder / name), float(loss)
    return found


@pytest.mark.live
@pytest.mark.parametrize("name", ["slow", "fast"])
def test_the_recorded_pytorch_scripts_are_those_beside_them(name, recorded_again):
    recorded, (again, _) = tfprof.load(PYTORCH / f"{name}.tfprof"), recorded_again[name]

    assert layers_of(again) == layers_of(recorded)
    assert again.flops().macs == recorded.flops().macs


@pytest.mark.live
def test_the_pytorch_scripts_compute_the_same(recorded_again):
    (_, slow), (_, fast) = recorded_again.values()

    assert slow == pytest.approx(fast, rel=0.01)


@pytest.mark.parametrize("name", ["slow", "fast"])
def test_the_recorded_pytorch_scripts_are_small(name):
    assert (PYTORCH / f"{name}.tfprof").stat().st_size < 450_000
