"""The memory of a trace: who holds it in each step, and what it is for."""

import pytest

import tfprof
from formats.kineto_traces import trace_of
from h200 import FACTS, gpt
from kineto_programs import END, ENGINE, annotation, loaded, module, op
from tfprof.errors import InputError
from tfprof.model.between_files import TensorPlace
from tfprof.model.executions import Purpose
from tfprof.model.ops import HELD_BEFORE_SCOPE
from tfprof.sources.torch_modules_file import (
    RecordedModule,
    RecordedModules,
    RecordedSlot,
    RecordedWeight,
    encoded,
)

CUDA = {"Device Type": 1, "Device Id": 0}


def change(ts, address, size, total, *, tid=1):
    args = {"Addr": address, "Bytes": size, "Total Allocated": total, "Total Reserved": 0, **CUDA}
    where = {"ph": "i", "cat": "cpu_instant_event", "name": "[memory]", "s": "t"}
    return where | {"pid": 1, "tid": tid, "ts": ts, "args": args}


def backward(name, ts, dur):
    return op(name, ts, dur, tid=ENGINE, **{"Sequence number": 1, "Fwd thread id": 1})


def step(start, held):
    """A training step on top of `held` bytes, of which the optimizer keeps 7 in the first."""
    state = 7 if start == 0 else 0
    return [
        annotation(f"ProfilerStep#{start}", start, 99),
        op("aten::mm", start + 1, 9, **{"Sequence number": 1, "Fwd thread id": 0}),
        change(start + 2, start + 1, 100, held + 100),  # an activation
        change(start + 3, start + 2, 10, held + 110),  # released at once
        change(start + 4, start + 2, -10, held + 100),
        backward("MmBackward0", start + 20, 20),
        change(start + 21, start + 3, 50, held + 150, tid=ENGINE),  # a gradient
        change(start + 25, start + 1, -100, held + 50, tid=ENGINE),
        annotation("Optimizer.step#SGD.step", start + 50, 20),
        op("aten::add_", start + 51, 10),
        *([change(start + 52, start + 4, state, held + 50 + state)] if state else []),
        change(start + 90, start + 3, -50, held + state),
    ]


@pytest.fixture
def program(tmp_path):
    return loaded(tmp_path, *step(0, 1000), *step(100, 1007))


def purposes(profile, number):
    """The bytes that a step was allocated, or began with, by purpose."""
    columns = profile.columns
    held, events = columns.allocator_uses, columns.allocator_events
    found = {}
    for use, size in zip(events.use.tolist(), events.bytes.tolist(), strict=True):
        if size > 0 and columns.steps.number[held.step[use]] == number:
            purpose = Purpose(int(held.purpose[use]))
            found[purpose] = found.get(purpose, 0) + size
    return found


def test_memory_is_for_what_uses_it_later(program):
    assert purposes(program, 0) == {
        Purpose.ACTIVATIONS: 100,
        Purpose.TEMPORARY: 10,
        Purpose.GRADIENTS: 50,
        Purpose.OPTIMIZER_STATE: 7,
        Purpose.EARLIER: 1000,
    }


def test_a_step_begins_with_what_earlier_steps_hold(program):
    assert purposes(program, 100)[Purpose.OPTIMIZER_STATE] == 7
    assert purposes(program, 100)[Purpose.EARLIER] == 1000


def place(address, size):
    return TensorPlace("cuda:0", address, size)


def recorded(tmp_path, *weights, held=4000):
    """A trace on top of `held` bytes beside a model with these weights."""
    found = RecordedModules(
        [
            RecordedModule("Net", "", "Net", "Net_0"),
            RecordedModule("Net", "head", "Linear", "Linear_0"),
        ],
        weights,
        [RecordedSlot("Net", "head.weight", "exp_avg", (300,), "float32", place=place(3000, 1200))],
    )
    (tmp_path / "modules.json").write_bytes(encoded(found))
    events = [*step(0, held), module("Net_0", 0, 15), module("Linear_0", 0.5, 14)]
    (tmp_path / "trace.json").write_bytes(trace_of(*events, END))
    return tfprof.load(tmp_path / "trace.json", tmp_path / "modules.json")


WEIGHT = RecordedWeight(
    "Net", "head.weight", (300,), "float32", True, True, place=place(2000, 1200)
)


def earlier(profile):
    """The bytes from before the recording, by the op that holds them and the purpose."""
    columns = profile.columns
    uses, events = columns.allocator_uses, columns.allocator_events
    rows = zip(events.use.tolist(), events.bytes.tolist(), strict=True)
    found = {columns.ops.name[uses.op[use]]: (size, uses.purpose[use]) for use, size in rows}
    is_run = ("aten::", "Backward0")
    return {name: what for name, what in found.items() if not any(one in name for one in is_run)}


def test_parameters_and_optimizers_hold_their_memory_from_before_the_recording(tmp_path):
    mean = RecordedWeight("Net", "head.mean", (5,), "float32", False, False, place=place(2500, 20))
    profile = recorded(tmp_path, WEIGHT, mean)

    assert earlier(profile) == {
        "Net/head/weight": (1536, Purpose.PARAMETERS),
        "Net/optimizer/exp_avg/head/weight": (1536, Purpose.OPTIMIZER_STATE),
        "Net/head/mean": (512, Purpose.EARLIER),
        HELD_BEFORE_SCOPE: (4000 - 1536 - 1536 - 512, Purpose.EARLIER),
    }
    layers = profile.layers(select="held_bytes", max_depth=3)
    assert layers["Net/head"]["held_bytes"] == 1536 + 512 + 150
    assert layers["_TFProfRoot"]["held_bytes"] == 4000 + 150
    assert "layers include their parameters" in str(layers)


def test_a_storage_that_tensors_share_counts_once(tmp_path):
    shared = WEIGHT._replace(path="wte.weight")
    profile = recorded(tmp_path, WEIGHT, shared)

    assert sum(size for size, _ in earlier(profile).values()) == 4000
    assert earlier(profile)["Net/head/weight"] == (1536, Purpose.PARAMETERS)


def test_a_tensor_that_was_allocated_in_the_recording_is_not_from_before(tmp_path):
    # The step allocates at address 4, and keeps it.
    profile = recorded(tmp_path, WEIGHT._replace(place=place(4, 1200)))

    assert "Net/head/weight" not in earlier(profile)


@pytest.mark.parametrize("other", [{"device": "cuda:1"}, {"bytes": 1 << 40}, {"storage": 0}])
def test_tensors_that_cannot_be_in_the_memory_from_before_do_not_hold_it(tmp_path, other):
    profile = recorded(tmp_path, WEIGHT._replace(place=WEIGHT.place._replace(**other)))

    assert "Net/head/weight" not in earlier(profile)
    assert sum(size for size, _ in earlier(profile).values()) == 4000


def test_memory_that_steps_with_the_same_number_hold_counts_once(tmp_path):
    profile = loaded(
        tmp_path,
        *(annotation("ProfilerStep#4", start, 50) for start in (0, 50)),
        *(op("aten::mm", start, 20) for start in (5, 55)),
        change(10, 1, 100, 1100),
        change(60, 2, 10, 1110),
    )

    [usage] = profile.memory().to_dict()["allocators"]

    assert usage["peak_bytes"] == 1110


def test_blocks_that_absurdly_many_steps_hold_are_refused(tmp_path):
    steps = range(2000)
    marks = [annotation(f"ProfilerStep#{one}", 10 * one, 9) for one in steps]
    kept = [change(10 * one + 1, one + 1, 64, 64 * (one + 1)) for one in steps]

    with pytest.raises(InputError, match=r"2,000 blocks of memory in 2,000 steps, 2,001,000 in"):
        loaded(tmp_path, op("aten::mm", 0, 5), *marks, *kept)


def test_what_the_backward_pass_releases_is_temporary_also_after_zero_grad(tmp_path):
    """Two passes in a step, as those of adversarial networks, each after `zero_grad`."""
    passes = [
        [
            annotation("Optimizer.zero_grad#SGD.zero_grad", start, 2),
            op("aten::mm", start + 10, 9, **{"Sequence number": 1, "Fwd thread id": 0}),
            change(start + 11, start + 1, 100, 100),  # an activation
            change(start + 12, start + 2, 10, 110),
            change(start + 18, start + 2, -10, 100),
            backward("MmBackward0", start + 20, 20),
            change(start + 21, start + 3, 50, 150, tid=ENGINE),  # a gradient
            change(start + 22, start + 4, 30, 180, tid=ENGINE),
            change(start + 30, start + 4, -30, 150, tid=ENGINE),
            change(start + 31, start + 1, -100, 50, tid=ENGINE),
            annotation("Optimizer.step#SGD.step", start + 50, 20),
            op("aten::add_", start + 51, 10),
            change(start + 90, start + 3, -50, 0),
        ]
        for start in (1, 101)
    ]
    profile = loaded(tmp_path, annotation("ProfilerStep#0", 0, 200), *passes[0], *passes[1])

    assert purposes(profile, 0) == {
        Purpose.ACTIVATIONS: 200,
        Purpose.TEMPORARY: 2 * (10 + 30),
        Purpose.GRADIENTS: 100,
    }


def test_the_curve_is_the_count_of_the_allocator(program):
    [memory] = program.memory().to_dict()["allocators"]

    assert memory["peak_bytes"] == 1157
    assert {row["name"]: row["bytes"] for row in memory["held_at_peak"]["purpose"]["rows"]} == {
        "allocated before the recording": 1000,
        "activations": 100,
        "gradients": 50,
        "optimizer state": 7,
    }


def test_layers_have_a_row_for_memory_from_before_the_recording(program):
    answer = program.layers(select="held_bytes")

    assert answer["memory"]["held_bytes"] == 1000
    assert "the row `memory` includes what was allocated before the recording" in answer.table


def test_without_a_backward_pass_what_outlives_its_op_is_an_activation(tmp_path):
    profile = loaded(
        tmp_path,
        op("aten::mm", 0, 10),
        change(1, 1, 30, 30),
        change(2, 2, 5, 35),
        change(3, 2, -5, 30),
        change(50, 1, -30, 0),
    )

    assert purposes(profile, 0) == {Purpose.ACTIVATIONS: 30, Purpose.TEMPORARY: 5}


def test_releases_of_unknown_memory_are_of_what_was_held_before(tmp_path):
    profile = loaded(tmp_path, op("aten::mm", 0, 10), change(1, 77, -40, 60), change(2, 1, 30, 90))

    [memory] = profile.memory().to_dict()["allocators"]

    assert memory["peak_bytes"] == 100


def test_the_purposes_of_a_recording_add_up_to_its_peak():
    allocators = gpt().memory().to_dict()["allocators"]
    [device] = [one for one in allocators if one["device"] == "cuda:0"]

    rows = device["held_at_peak"]["purpose"]["rows"]

    assert sum(row["bytes"] for row in rows) == FACTS["peak_bytes"]
    assert rows[0]["name"] == "activations"


def test_impossible_sizes_are_refused(tmp_path):
    events = [op("aten::mm", 0, 10), *(change(at, at, 2**62, 2**62) for at in range(1, 5))]

    with pytest.raises(InputError, match="more bytes than any machine has"):
        loaded(tmp_path, *events)


def test_a_trace_with_only_allocations_is_read(tmp_path):
    profile = loaded(tmp_path, change(1, 1, 100, 100))

    assert any("no ops were recorded" in note for note in profile.notes)


def test_without_addresses_a_release_is_of_the_latest_allocation_of_its_size(tmp_path):
    # Old versions record neither addresses nor what the allocator holds.
    events = [*step(0, 1000), *step(100, 1007)]
    for one in events:
        for key in ("Addr", "Total Allocated", "Total Reserved"):
            one.get("args", {}).pop(key, None)
    profile = loaded(tmp_path, *events)

    [memory] = profile.memory().to_dict()["allocators"]

    assert memory["peak_bytes"] == 157
    assert purposes(profile, 0) == {
        Purpose.ACTIVATIONS: 100,
        Purpose.TEMPORARY: 10,
        Purpose.GRADIENTS: 50,
        Purpose.OPTIMIZER_STATE: 7,
    }
    assert any("what was allocated before the recording is unknown" in n for n in profile.notes)


def test_what_was_not_recorded_is_not_one_of_the_questions(tmp_path):
    keys = ("micros", "input_shapes", "float_ops", "bytes", "held_bytes", "memory over time")
    bare = loaded(tmp_path, op("aten::mm", 5, 10)).questions()
    shaped = op("aten::mm", 5, 10, **{"Input Dims": [[2, 3], [3, 4]]})
    full = loaded(tmp_path, shaped, change(7, 1, 64, 64)).questions()

    assert [key for key in keys if bare[key]] == ["micros"]
    assert [key for key in keys if full[key]] == list(keys)
