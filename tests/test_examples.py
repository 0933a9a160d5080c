"""The recordings in `examples/` are those of the programs beside them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import tfprof

TRANSFORMER = Path(__file__).parent.parent / "examples" / "transformer"
RECORDING = TRANSFORMER / "transformer.tfprof"


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
