"""Two recordings of a Keras program: what was added to a layer is found there, and at its line.

Which layer is slower is judged by time, so only for recordings that are always the same, in
`test_recorded_diff.py`. `benchmarks/diff_recordings.py` counts how often it is right for new ones.
"""

import importlib.util
from pathlib import Path

import pytest

import live_programs
import tfprof

pytestmark = [
    pytest.mark.live,
    pytest.mark.skipif(
        importlib.util.find_spec("tensorflow") is None or importlib.util.find_spec("keras") is None,
        reason="recording needs TensorFlow and Keras",
    ),
]

PROGRAM = Path(__file__).parents[2] / "benchmarks" / "slowed_layers.py"
ROWS, WIDTH = 32 * 64, 96  # of a batch


@pytest.fixture(scope="module")
def base(tmp_path_factory):
    folder = tmp_path_factory.mktemp("base") / "run"
    live_programs.run(PROGRAM, folder)
    return folder


@pytest.fixture(scope="module", params=["local", "feed_forward"])
def slowed(request, tmp_path_factory):
    """The name of a layer, and a recording of the program in which it was slowed."""
    folder = tmp_path_factory.mktemp(request.param) / "run"
    live_programs.run(PROGRAM, folder, request.param)
    return request.param, folder


def line_of(layer):
    lines = PROGRAM.read_text("utf-8").splitlines()
    (found,) = [place for place, line in enumerate(lines, 1) if line.endswith(f"# slow {layer}")]
    return f"{PROGRAM.name}:{found}:call"


def test_all_steps_of_both_recordings_are_compared(base, slowed):
    assert tfprof.diff(base, slowed[1]).summary.steps == (30, 30)


def test_only_the_layer_that_was_slowed_has_more_multiply_adds(base, slowed):
    layer, new = slowed
    # Eight more positions of the window, with the gradient of the weights; as many columns again,
    # with the gradients of the weights and the inputs.
    more = {"local": 2 * ROWS * 8 * WIDTH * WIDTH, "feed_forward": 3 * ROWS * WIDTH * 3 * WIDTH}

    rows = tfprof.diff(base, new).layers(select=["macs"], max_depth=9).to_dict()["rows"]

    assert {row["name"]: row["numbers"]["macs"]["change"] for row in rows} == dict.fromkeys(
        ["_TFProfRoot", "model", f"model/{layer}"], more[layer]
    )


def test_the_multiply_adds_of_the_layer_are_at_the_line_that_was_slowed(base, slowed):
    layer, new = slowed
    all_of_line = {
        "local": ROWS * 11 * WIDTH * WIDTH,
        "feed_forward": ROWS * WIDTH * 6 * WIDTH,
    }

    before, after = (
        {row["name"]: row["total_macs"] for row in tfprof.load(one).code(select=["macs"])}
        for one in (base, new)
    )

    assert line_of(layer) not in before
    assert after[line_of(layer)] == all_of_line[layer]
