"""The recording of a program on a GPU that compiles, checkpoints and replays parts of itself."""

import gzip
import json
from decimal import Decimal

import pytest

import tfprof
from h200 import FOLDER
from kineto_programs import nanos
from tfprof.model.executions import Purpose

STEPS = FOLDER / "steps"
FACTS = json.loads((FOLDER / "steps_facts.json").read_text())


@pytest.fixture(scope="module")
def profile():
    return tfprof.load(STEPS)


@pytest.fixture(scope="module")
def layers(profile):
    return profile.layers(select="params,macs,accelerator_micros,held_bytes", max_depth=5)


def test_the_time_of_the_gpu_is_that_of_all_kernels(profile):
    events = json.loads(
        gzip.decompress((STEPS / "trace.json.gz").read_bytes()), parse_float=Decimal
    )["traceEvents"]
    kernels = sum(1000 * event["dur"] for event in events if event.get("cat") == "kernel")

    assert sum(nanos(profile, on_accelerator=True).values()) == kernels


def test_parameters_and_float_operations_are_those_that_pytorch_counts(layers):
    total = layers["_TFProfRoot"]

    assert total["total_params"] == FACTS["parameters"]
    # The compiled block calls the same products as before.
    assert 2 * total["total_macs"] == FACTS["flops"]


def test_blocks_cost_the_same_and_a_checkpoint_most_of_the_forward_pass_again(layers):
    plain, again, fused = (
        layers[f"Net/{name}"]["total_macs"] for name in ("plain", "again", "fused")
    )
    tokens, width = 8 * 128, 128

    assert plain == fused
    # Computing again ends before the last product, whose result is not needed.
    products = tokens * (3 + 4) * width * width
    attention = 2 * 8 * 128 * 128 * width
    assert again - plain == products + attention


def test_modules_have_kernels_of_their_own_and_the_loss_is_one(layers):
    modules = [f"Net/{name}" for name in ("words", "plain", "again", "fused", "head")]
    times = [
        layers[name]["total_accelerator_micros"] for name in (*modules, "Net/CrossEntropyLoss")
    ]

    assert min(times) > 20
    assert sum(times) == pytest.approx(layers["Net"]["total_accelerator_micros"], rel=0.01)


def test_kernels_that_no_op_launches_are_kinds_of_their_own(profile):
    rows = profile.op(select="accelerator_micros", max_depth=300)
    times = {row["name"]: row["accelerator_micros"] for row in rows}

    assert 0 < times["add_one"] < 2
    assert times["cutlass::Kernel2"] > 1  # of the graph
    assert any("6 kernels of CUDA graphs" in note for note in profile.notes)


def test_memory_is_divided_as_pytorch_states_it(profile, layers):
    columns = profile.columns
    held, events = columns.allocator_uses, columns.allocator_events
    on_gpu = held.device[events.use] == columns.devices.name.index("cuda:0")
    first = columns.steps.number[held.step[events.use]] == min(profile.steps)
    earlier = {Purpose.PARAMETERS: "parameter_bytes", Purpose.OPTIMIZER_STATE: "optimizer_bytes"}
    for purpose, fact in earlier.items():
        chosen = on_gpu & first & (held.purpose[events.use] == purpose)
        assert events.bytes[chosen].sum() == FACTS[fact]

    assert layers["_TFProfRoot"]["held_bytes"] == FACTS["peak_bytes"]


def test_the_time_of_a_step_without_recording_is_noted(profile):
    [note] = [note for note in profile.step_times().notes if "recording Python calls" in note]

    usual = json.loads((STEPS / "modules.json").read_text())["usual_step_ns"]
    assert note.endswith(f"Before the recording, a step took {usual / 1e6:.2f}ms.")
