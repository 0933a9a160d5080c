"""Two recordings of a Keras program: the slowed layer is named.

`benchmarks/diff_recordings.py` counts how often that is so, and how often nothing is claimed about
the same program.
"""

import importlib.util
from pathlib import Path

import pytest

import live_programs
import tfprof

pytestmark = pytest.mark.skipif(
    importlib.util.find_spec("tensorflow") is None or importlib.util.find_spec("keras") is None,
    reason="recording needs TensorFlow and Keras",
)

PROGRAM = Path(__file__).parents[2] / "benchmarks" / "slowed_layers.py"
ATTEMPTS = 3  # on a machine that is busy with other tests


@pytest.fixture(scope="module")
def base(tmp_path_factory):
    folder = tmp_path_factory.mktemp("base") / "run"
    live_programs.run(PROGRAM, folder)
    return folder


def line_of(layer):
    lines = PROGRAM.read_text("utf-8").splitlines()
    (found,) = [place for place, line in enumerate(lines, 1) if line.endswith(f"# slow {layer}")]
    return f"{PROGRAM.name}:{found}"


@pytest.mark.parametrize("layer", ["local", "feed_forward"])
def test_a_layer_that_was_slowed_is_named_with_its_line(layer, base, tmp_path):
    named = []
    while (f"model/{layer}", line_of(layer)) not in named:
        assert len(named) < ATTEMPTS, named
        new = tmp_path / f"run{len(named)}"
        live_programs.run(PROGRAM, new, layer)
        cause = tfprof.diff(base, new).summary.cause
        named.append((cause.name, cause.line) if cause else None)
