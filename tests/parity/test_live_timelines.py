"""The timelines of random steps are the same as those of TensorFlow's Python code, byte for byte.

So are those of any other recorded runs next to this repository. The tests are skipped if TensorFlow
is not installed.
"""

from __future__ import annotations

import gzip
import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from parity.original import IS_INSTALLED
from parity.test_step_timelines import timeline
from tfprof.formats.messages import message_class

pytestmark = [
    pytest.mark.live,
    pytest.mark.skipif(not IS_INSTALLED, reason="TensorFlow is not installed"),
]

MORE = sorted((Path(__file__).parents[3] / "shared" / "golden").glob("*/inputs/run_meta*"))


@pytest.mark.skipif(not MORE, reason="there are no other recorded runs")
@pytest.mark.parametrize("path", MORE, ids=lambda path: f"{path.parts[-3]}/{path.name}")
def test_a_recorded_run_has_the_timeline_of_tensorflow(path, original):
    data = path.read_bytes()
    data = gzip.decompress(data) if path.suffix == ".gz" else data

    assert timeline(data) == original.timeline(data, show_memory=True)


# Few names, so that tensors have several producers and inputs are found; all forms of labels.
NAMES = st.sampled_from(
    ("a", "b", "a:1", "b:2:c", ":", "", "RecvTensor", "RecvTensors", "n/_s", "a/_1", "_SOURCE")
) | st.text('a:é"\\\x7f\n', max_size=3)
INPUTS = st.sampled_from(
    ("a", "b", "^a", "a:1", "a:0", "b:1", "a/_1", "a:1/_22", "/_a", "a/_1/_2", "", "é", "(x", 'q"')
)
CALLS = st.builds(
    "{} = {}({})".format,
    NAMES,
    st.sampled_from(("Add", "", "Mat Mul", "F(x)")),
    st.lists(INPUTS, max_size=4).map(", ".join),
)
KERNELS = st.builds(
    "{}@@{}#{}".format, st.sampled_from(("void k(int)", "#")), NAMES, st.sampled_from(("", "1#2"))
)
LABELS = CALLS | KERNELS | NAMES | st.text('a=() ,\n@#:é"\x00', max_size=24)
DEVICES = st.sampled_from(
    ("/device:CPU:0", "/device:GPU:0", "/device:GPU:0/stream:all", "/device:GPU:0/memcpy", "", 'é"')
)
SIZES = st.sampled_from((0, 0, 8, 8, 64, 1 << 40, -8))
MEMORY = st.fixed_dictionaries(
    {},
    optional={
        "requested_bytes": SIZES,
        "allocated_bytes": SIZES,
        "allocator_name": st.sampled_from(("cpu", "GPU_0_bfc", "", 'odd"\n\\é')),
        "allocation_id": st.integers(-3, 3),
        "has_single_reference": st.booleans(),
        "ptr": st.sampled_from((0, 4096, 2**63, 2**64 - 1)),
    },
)
DIMS = st.fixed_dictionaries({"size": st.integers(-1, 3)}, optional={"name": NAMES})
SHAPES = st.fixed_dictionaries(
    {}, optional={"dim": st.lists(DIMS, max_size=3), "unknown_rank": st.booleans()}
)
TENSORS = st.fixed_dictionaries(
    {},
    optional={
        "dtype": st.sampled_from((0, 1, 3, 101, 999)),
        "shape": SHAPES,
        "allocation_description": MEMORY,
    },
)
OUTPUTS = st.fixed_dictionaries(
    {}, optional={"tensor_description": TENSORS, "slot": st.integers(0, 2)}
)
RUNS = st.fixed_dictionaries(
    {"node_name": NAMES, "all_start_micros": st.integers(-2, 30)},
    optional={
        "all_end_rel_micros": st.integers(-2, 12),
        "op_end_rel_micros": st.integers(0, 9),
        "timeline_label": LABELS,
        "output": st.lists(OUTPUTS, max_size=3),
        "thread_id": st.integers(0, 5),
    },
)
STEPS = st.lists(
    st.fixed_dictionaries({"device": DEVICES, "node_stats": st.lists(RUNS, max_size=6)}),
    max_size=4,
)


@settings(
    max_examples=int(os.environ.get("TFPROF_PARITY_EXAMPLES", "150")),
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
@given(devices=STEPS, show_dataflow=st.booleans(), show_memory=st.booleans())
def test_a_random_step_has_the_timeline_of_tensorflow(
    original, devices, show_dataflow, show_memory
):
    message = message_class("tensorflow.RunMetadata")(step_stats={"dev_stats": devices})
    data = message.SerializeToString()
    options = {"show_dataflow": show_dataflow, "show_memory": show_memory}

    assert timeline(data, **options) == original.timeline(data, **options)
