"""The recordings in `examples/` are those of the programs beside them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import tfprof

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


def test_the_transformer_can_be_recorded_again(tmp_path):
    pytest.importorskip("tensorflow", reason="TensorFlow is not installed: nothing to record")
    program = [sys.executable, "-m", "tfprof", "run", "-o", tmp_path / "a", "train.py"]

    subprocess.run(program, cwd=TRANSFORMER, capture_output=True, check=True)

    assert layers_of(tfprof.load(tmp_path / "a")) == layers_of(tfprof.load(RECORDING))


def layers_of(profile):
    """Parameters and class of each layer, by name."""
    rows = profile.layers(select=["params", "layer_class"])
    return {
        row["name"]: (row["total_params"], row["layer_class"]) for row in rows if row["layer_class"]
    }


@pytest.mark.parametrize("name", ["slow", "fast"])
def test_the_recorded_pytorch_scripts_are_those_beside_them(name, tmp_path):
    pytest.importorskip("torch", reason="PyTorch is not installed: nothing to record")
    options = ["--skip_steps", "5", "--steps", "1"]
    program = [sys.executable, "-m", "tfprof", "run", "-o", tmp_path / "a", *options, f"{name}.py"]

    done = subprocess.run(program, cwd=PYTORCH, capture_output=True, text=True, check=True)

    recorded, again = tfprof.load(PYTORCH / f"{name}.tfprof"), tfprof.load(tmp_path / "a")
    assert "loss 1.4" in done.stdout  # both compute the same
    assert layers_of(again) == layers_of(recorded)
    assert again.flops().macs == recorded.flops().macs
    assert (PYTORCH / f"{name}.tfprof").stat().st_size < 450_000
