"""Recordings of a GPU are attributed to modules, lines, phases and steps."""

import gzip
import json
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

import tfprof
from h200 import FACTS, GPT, RANKS, ddp, gpt
from tfprof.model.ops import Phase


def kernels_of(path):
    """The kernels in a trace, read with the `json` module."""
    events = json.loads(gzip.decompress(Path(path).read_bytes()))["traceEvents"]
    return [event for event in events if event.get("cat") == "kernel"]


def device_nanos(profile, ops):
    """The time of the kernels of flagged ops."""
    columns = profile.columns
    runs = columns.executions
    chosen = columns.devices.is_accelerator_lane[runs.device]
    chosen = chosen & ops[columns.records.op[runs.record]]
    return int(runs.duration_ns[chosen].sum())


@pytest.mark.parametrize(("load", "paths"), [(gpt, [GPT]), (ddp, RANKS)])
def test_the_device_time_is_that_of_all_kernels(load, paths):
    profile = load()

    found = device_nanos(profile, np.ones(len(profile.columns.ops), np.bool_))

    assert found == sum(round(one["dur"] * 1000) for path in paths for one in kernels_of(path))


@pytest.mark.parametrize(
    ("phase", "share"), [(Phase.FORWARD, 0.313), (Phase.BACKWARD, 0.602), (Phase.OPTIMIZER, 0.085)]
)
def test_every_kernel_of_a_training_step_has_a_phase(phase, share):
    columns = gpt().columns
    fills = int(columns.copies.duration_ns.sum()) if phase is Phase.BACKWARD else 0
    total = device_nanos(gpt(), np.ones(len(columns.ops), np.bool_))
    total += int(columns.copies.duration_ns.sum())  # all are fills of the backward pass

    found = device_nanos(gpt(), np.asarray(columns.phase == phase)) + fills

    assert found / total == pytest.approx(share, abs=0.0006)


def test_device_time_is_under_modules():
    columns = gpt().columns

    inside = device_nanos(gpt(), columns.ops.layer >= 0)

    assert inside / 13_481_025 == pytest.approx(0.914, abs=0.001)


def test_the_time_of_an_op_includes_its_kernels_as_in_pytorchs_own_table():
    columns = gpt().columns
    kinds = columns.ops.kind

    found = {
        kind: device_nanos(gpt(), kinds.codes == code) for code, kind in enumerate(kinds.values)
    }

    expected = {name: row["self_device_ns"] for name, row in FACTS["key_averages"].items()}
    expected["aten::sum"] -= int(columns.copies.duration_ns.sum())  # fills of memory
    assert {name: found[name] for name in expected} == expected


def test_modules_are_those_that_were_called():
    layers = gpt().columns.layers

    assert len(layers) == 45
    assert Counter(layers.kind.values[code] for code in layers.kind.codes)["Linear"] == 17
    assert "GPT/Block_0/Attention_0/Linear_1" in list(layers.name)


def test_a_backward_op_is_at_the_module_and_the_line_of_its_forward_op():
    columns = gpt().columns
    names = list(columns.ops.name)
    op = names.index("GPT/Block_2/Attention_2/Linear_8/AddmmBackward0/aten::mm")

    forward = columns.forward_of[op]

    assert columns.phase[op] == Phase.BACKWARD
    assert names[forward] == "GPT/Block_2/Attention_2/Linear_8/aten::linear/aten::addmm"
    frames = columns.code.stack(int(columns.ops.code[op]))
    assert (frames[-1].file, frames[-1].line, frames[-1].function) == ("train.py", 35, "forward")


def test_the_peak_of_the_memory_is_that_of_the_allocator():
    memory = gpt().memory().to_dict()

    [device] = [one for one in memory["allocators"] if one["device"] == "cuda:0"]

    assert device["peak_bytes"] == FACTS["peak_bytes"]


def test_a_question_about_parameters_says_where_they_are():
    notes = gpt().scope(select=["params"]).notes

    assert any("a trace has no parameters; give the weights too" in note for note in notes)
    assert not any("has no parameters" in note for note in gpt().scope(select=["micros"]).notes)


def test_the_coverage_names_modules_and_other_scopes():
    note = next(note for note in gpt().notes if note.startswith("coverage: "))

    assert note == (
        "coverage: of 110,521 microseconds of op time in all steps, 87.5 % is in modules, 12.1 % "
        "in `optimizer`, 0.2 % in `backward`, 100.0 % has a code line, 97.6 % has a float-op "
        "count; of 13,506 microseconds of kernels, copies and fills, 91.4 % is in modules, 8.5 % "
        "in `optimizer`."
    )


def test_the_same_note_on_several_files_is_one():
    (note,) = [one for one in ddp().notes if one.endswith("record with `with_stack=True`.")]

    assert note.startswith(f"{RANKS[0]} and 3 other files: no modules and no code lines;")


def test_without_stacks_the_code_view_says_how_to_record_them():
    with pytest.raises(
        tfprof.MissingInputError, match="give a trace that was recorded with `with_"
    ):
        tfprof.load(RANKS[0]).code()


def test_each_rank_is_a_recording():
    recordings = ddp().columns.recordings

    assert list(recordings.label) == ["rank0", "rank1", "rank2", "rank3"]
    assert recordings.rank.tolist() == [0, 1, 2, 3]


def test_steps_and_ranks_have_the_notes_on_their_times(tmp_path):
    events = json.loads(gzip.decompress(Path(GPT).read_bytes()))["traceEvents"]
    kernels = [one for one in events if one.get("cat") == "kernel"]
    for one in kernels[:3]:
        one["dur"] = -1
    for one in kernels[3:5]:
        one["args"] = {"device": 0, "stream": 7}
    events.remove(kernels[5])
    path = tmp_path / "trace.json"
    path.write_text(json.dumps(events))
    profile = tfprof.load(path)

    for notes in (" ".join(profile.step_times().notes), " ".join(profile.ranks().notes)):
        assert "a step ends with each call of the optimizer" in notes
        assert "3 events have an impossible duration" in notes
        assert "2 kernels have no recorded launch" in notes
        assert "1 launch has no kernel in the trace" in notes


def test_steps_without_markers_are_explained_for_pytorch(tmp_path):
    path = tmp_path / "trace.json"
    path.write_text(json.dumps(kernels_of(GPT)))

    notes = " ".join(tfprof.load(path).step_times().notes)

    assert "call `step()` after each step, of torch.profiler with a `schedule`" in notes
    assert "its steps last from their first op to their last." in notes
    assert "tf." not in notes.replace("tfprof.", "")
