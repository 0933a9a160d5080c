"""Ops of compiled regions are at the lines that they were compiled from, if that is certain."""

import json
import shutil
from pathlib import Path

import pytest

import tfprof
from formats.kineto_traces import event, trace_of
from inductor_logs import cached, graph, kernels, metrics, record, stack, table
from kineto_programs import (
    END,
    ENGINE,
    MAIN,
    annotation,
    kernel,
    launch,
    module,
    nanos,
    op,
    phase_of,
    python,
)
from tfprof.model.ops import Phase
from tfprof.sources.given import files_of
from tfprof.sources.kineto.compiled_graphs import op_name
from tfprof.sources.torch_modules_file import RecordedModules, StatedFacts, encoded

SAMPLES = Path(__file__).parents[1] / "samples" / "pytorch"
FORWARD, BACKWARD = (
    {"Sequence number": 9, "Fwd thread id": 0},
    {
        "Sequence number": 9,
        "Fwd thread id": 1,
    },
)
GELU, NORM, LOSS = "triton_poi_fused_gelu_0", "triton_per_fused_norm_1", "triton_red_fused_sum_2"


def ops(*names, ts, tid=1):
    """Ops of 8 microseconds, each with a kernel; further ones follow."""
    found = []
    for place, name in enumerate(names):
        at = ts + 10 * place
        found += [op(name, at, 8, tid=tid), launch(int(at), at + 1, tid=tid)]
        found.append(kernel(name, int(at), at + 2, 3))
    return found


def called(*names, ts=10, key="fa1", tid=1, inside=()):
    """A call of a compiled graph, as PyTorch records it."""
    length = 10 * len(names) + 5
    name = f"## Call CompiledFxGraph {key} ##"
    return [
        annotation(name, ts + 2, length - 2, tid=tid),
        python("cache/ab/cabc.py(70): call", ts + 3, length - 4, tid=tid),
        *ops(*names, ts=ts + 4, tid=tid),
        *inside,
    ]


def forward(*names, ts=0, begins=4, function="forward", number=FORWARD, region="0/0", **about):
    """A call of a compiled module, whose function begins at a line."""
    length = 10 * len(names) + 30
    return [
        python("train.py(1): <module>", ts, length),
        module("Net_0", ts + 1, length - 2),
        op(f"Torch-Compiled Region: {region}", ts + 2, length - 4),
        python(f"net.py({begins}): {function}", ts + 3, length - 6),
        op("CompiledFunction", ts + 8, length - 12, **number),
        *called(*names, ts=ts + 10, **about),
    ]


def backward(*names, ts=500, key="fb2", tid=ENGINE):
    """The backward pass of the same call."""
    length = 10 * len(names) + 30
    return [
        op("CompiledFunctionBackward", ts, length, tid=tid, **BACKWARD),
        op("aten::copy_", ts + 2, 2, tid=tid),
        *called(*names, ts=ts + 5, key=key, tid=tid),
    ]


def load(tmp_path, *events, log=""):
    """The profile of a trace and, if it is not empty, a log."""
    (tmp_path / "trace.json").write_bytes(trace_of(*events, END))
    (tmp_path / "a.log").write_text(log)
    profile = tfprof.load(tmp_path / "trace.json", *([tmp_path / "a.log"] if log else []))
    profile.columns.check()
    return profile


def stacks(profile, *kinds):
    """The frames of the ops of these kinds, by the order of their names."""
    columns = profile.columns
    rows = zip(columns.ops.kind, columns.ops.code.tolist(), strict=True)
    found = [columns.code.stack(code) for kind, code in rows if kind in kinds]
    return [[f"{one.file}:{one.line}" for one in frames] for frames in found]


def lines(profile, *kinds):
    """The lines of `net.py` among them."""
    return [
        [int(frame.partition(":")[2]) for frame in frames if frame.startswith("net.py:")]
        for frames in stacks(profile, *kinds)
    ]


def notes(profile):
    return [note for note in profile.notes if "compiled" in note]


# What is found.


def test_triton_kernels_are_at_their_lines_in_both_passes(tmp_path):
    log = graph((GELU, [stack(5)]), ("extern_kernels.mm", [stack(6)]), key="fa1")
    log += graph(("extern_kernels.mm", [stack(6)]), (LOSS, [stack(5)]), key="fb2")
    profile = load(tmp_path, *forward(GELU, "aten::mm"), *backward("aten::mm", LOSS), log=log)

    assert lines(profile, GELU) == [[5], [5]]  # the op and its kernel
    assert lines(profile, LOSS) == [[5], [5]]
    assert lines(profile, "aten::mm") == [[6]] * 4
    code = {row["name"]: row for row in profile.code(select=["accelerator_micros"], max_depth=9)}
    assert {
        name: row["accelerator_micros"] for name, row in code.items() if name.startswith("net.py")
    } == {
        "net.py:4:forward": 0,
        "net.py:4:forward (gradient)": 0,
        "net.py:5:forward": 3,
        "net.py:6:forward": 3,
        "net.py:5:forward (gradient)": 3,
        "net.py:6:forward (gradient)": 3,
    }


def test_the_module_stays_the_one_that_was_compiled(tmp_path):
    log = graph((GELU, [stack(5)]), key="fa1") + graph((LOSS, [stack(5)]), key="fb2")
    profile = load(tmp_path, *forward(GELU), *backward(LOSS), log=log)
    region = "Net/Torch-Compiled Region: 0|0/CompiledFunction"

    assert nanos(profile, on_accelerator=True) == {
        f"{region}/{GELU}/{GELU}": 3000,
        f"Net/CompiledFunctionBackward/{LOSS}/{LOSS}": 3000,
    }
    assert phase_of(profile, f"Net/CompiledFunctionBackward/{LOSS}") == Phase.BACKWARD


def test_blocks_that_share_a_kernel_have_their_own_lines(tmp_path):
    log = graph((GELU, [stack(7, 12)]), (NORM, [stack(7)]), (GELU, [stack(8, 12)]), key="fa1")
    profile = load(tmp_path, *forward(GELU, NORM, GELU), log=log)

    assert lines(profile, NORM) == [[7], [7]]
    assert sorted(lines(profile, GELU)) == [[7, 12], [7, 12], [8, 12], [8, 12]]


def test_the_lines_continue_those_of_the_call(tmp_path):
    profile = load(tmp_path, *forward(GELU), log=graph((GELU, [stack(7, 12)]), key="fa1"))

    assert stacks(profile, GELU) == [["train.py:1", "net.py:7", "net.py:12"]] * 2


def test_a_kernel_from_several_lines_is_at_the_one_that_they_have_in_common(tmp_path):
    log = graph(
        (GELU, [stack(7, 12), stack(7, 13)]), (NORM, [stack(7), stack(8)]), (LOSS, []), key="fa1"
    )
    profile = load(tmp_path, *forward(GELU, NORM, LOSS), log=log)

    assert lines(profile, GELU) == [[7], [7]]
    assert lines(profile, NORM) == lines(profile, LOSS) == [[4], [4]]
    assert "1 of 3 ops in compiled regions are shown at the lines" in " ".join(notes(profile))


def test_frames_of_pytorch_are_left_out(tmp_path):
    inner = '  File "/usr/lib/python3/site-packages/torch/nn/modules/a.py", line 3, in forward\n'
    profile = load(tmp_path, *forward(GELU), log=graph((GELU, [stack(5) + inner]), key="fa1"))
    columns = profile.columns

    assert lines(profile, GELU) == [[5], [5]]
    assert not [file for file in columns.code.file.values if "torch" in file]


def test_ops_inside_a_matched_op_are_at_its_lines(tmp_path):
    inner = op("aten::copy_", 17, 2)
    log = graph(("extern_kernels.addmm", [stack(5)]), key="fa1")
    profile = load(tmp_path, *forward("aten::addmm", inside=[inner]), log=log)

    assert lines(profile, "aten::copy_") == [[5]]


def test_ops_that_python_code_of_a_custom_op_calls_stay_there(tmp_path):
    inner = [python("net.py(90): custom", 16, 4), op("aten::copy_", 17, 2)]
    log = graph(("torch.ops.my.custom.default", [stack(5)]), key="fa1")
    profile = load(tmp_path, *forward("my::custom", inside=inner), log=log)

    assert lines(profile, "my::custom") == [[5], [5]]
    assert lines(profile, "aten::copy_") == [[4, 90]]


def test_in_a_recording_they_continue_the_lines_of_calls(tmp_path):
    frames = [("train.py", 12, "<module>")]
    recorded = RecordedModules(lines=StatedFacts(frames, [1000], [0]))
    (tmp_path / "modules.json").write_bytes(encoded(recorded))
    (tmp_path / "a.log").write_text(graph((GELU, [stack(5)]), key="fa1"))
    inner = python("torch/_inductor/output_code.py(700): __call__", 9, 28)
    (tmp_path / "trace.json").write_bytes(trace_of(*forward(GELU), inner, END))

    profile = tfprof.load(*(tmp_path / name for name in ("a.log", "modules.json", "trace.json")))

    assert stacks(profile, GELU) == [["train.py:12", "net.py:5"]] * 2


def test_kernels_that_a_trace_does_not_have_are_no_obstacle(tmp_path):
    log = graph(
        ("cpp_fused_norm_0", [stack(4)]),
        ("extern_kernels.addmm", [stack(5)]),
        ("cpp_fused_gelu_1", [stack(5)]),
        ("extern_kernels.addmm", [stack(6)]),
        key="fa1",
    )
    profile = load(tmp_path, *forward("aten::addmm", "aten::empty", "aten::addmm"), log=log)

    assert sorted(lines(profile, "aten::addmm")) == [[5], [5], [6], [6]]
    assert lines(profile, "aten::empty") == [[4], [4]]  # where the function begins


@pytest.mark.parametrize("tid", [MAIN, ENGINE])
def test_a_gradient_whose_forward_op_was_not_recorded_has_only_its_lines(tid, tmp_path):
    log = graph((LOSS, [stack(5)]), key="fb2")
    events = [python("train.py(1): <module>", 490, 90), *backward(LOSS, tid=tid)]
    profile = load(tmp_path, *events, log=log)

    assert stacks(profile, LOSS) == [["/home/user/net.py:5"]] * 2
    names = [row["name"] for row in profile.code(select=["accelerator_micros"], max_depth=9)]
    assert "net.py:5:forward (gradient)" in names


@pytest.mark.parametrize(
    "surrounding",
    [
        [op("CompiledFunction", 8, 40)],
        [op("Torch-Compiled Region: 0/0", 8, 40)],
        [op("CompiledFunction", 8, 40), op("## Call CompiledFxGraph fa1 ##", 10, 30)],
        [op("CompiledFunction", 8, 40), annotation("## Call CompiledFxGraph fa1 ##", 10, 30)],
    ],
)
def test_a_call_is_found_as_any_version_records_it(surrounding, tmp_path):
    events = [*surrounding, python("net.py(4): forward", 9, 38), *ops(GELU, ts=12)]
    profile = load(tmp_path, *events, log=graph((GELU, [stack(5)]), key="fa1"))
    plain = load(tmp_path, *events, log=graph((GELU, [stack(5)])))

    assert lines(profile, GELU) == lines(plain, GELU) == [[5], [5]]


@pytest.mark.parametrize(
    ("kernel_name", "name"),
    [
        ("extern_kernels.addmm", "aten::addmm"),
        ("extern_kernels.bias_addmm", "aten::addmm"),
        ("torch.ops.aten._scaled_dot_product_flash_attention.default", None),
        ("torch.ops.mkldnn._linear_pointwise.default", "mkldnn::_linear_pointwise"),
        ("aten.index_put_", "aten::index_put_"),
        ("aten.randint.low_out", "aten::randint"),
        (GELU, GELU),
        ("a.b.c.d.e", "a.b.c.d.e"),
    ],
)
def test_kernels_have_other_names_in_traces(kernel_name, name):
    assert op_name(kernel_name) == (name or "aten::_scaled_dot_product_flash_attention")


# What is not certain.


def unmatched(profile, *kinds):
    """Whether ops stayed in the function that was compiled."""
    return all(found == [4] for found in lines(profile, *kinds)) and lines(profile, *kinds)


@pytest.mark.parametrize(
    "names", [(GELU,), (NORM, GELU), (GELU, NORM, GELU), (GELU, GELU), (GELU, NORM, LOSS)]
)
def test_a_call_with_other_ops_than_the_graph_gets_no_lines(names, tmp_path):
    log = graph((GELU, [stack(5)]), (NORM, [stack(6)]), key="fa1")
    log += graph((LOSS, [stack(7)]), key="fc3")  # so that it is not unknown
    profile = load(tmp_path, *forward(*names), *forward(GELU, NORM, LOSS, ts=200), log=log)

    assert unmatched(profile, GELU, NORM)
    assert "no compiled graph matches" in " ".join(notes(profile))


@pytest.mark.parametrize("key", ["None", "fa1"])
def test_graphs_with_the_same_ops_but_other_lines_give_none_without_keys(key, tmp_path):
    log = graph((GELU, [stack(5)])) + graph((GELU, [stack(6)]))

    assert unmatched(load(tmp_path, *forward(GELU, key=key), log=log), GELU)


def test_graphs_with_the_same_ops_and_lines_are_as_good_as_one(tmp_path):
    log = graph((GELU, [stack(5)])) + graph((GELU, [stack(5)]), key="fb2")
    profile = load(tmp_path, *forward(GELU, key="None"), log=log)

    assert lines(profile, GELU) == [[5], [5]]


def test_the_key_tells_graphs_with_the_same_ops_apart(tmp_path):
    log = graph((GELU, [stack(5)]), key="fa1") + graph((GELU, [stack(6)]), key="fb2")
    profile = load(tmp_path, *forward(GELU, key="fb2"), *forward(GELU, key="fa1", ts=200), log=log)

    assert sorted(lines(profile, GELU)) == [[5], [5], [6], [6]]


def test_a_graph_with_another_key_is_another_graph(tmp_path):
    log = graph((GELU, [stack(5)]), key="fb2")

    assert unmatched(load(tmp_path, *forward(GELU, key="fa1"), log=log), GELU)


@pytest.mark.parametrize("key", ["fb2", ""])
def test_a_graph_may_list_those_that_were_compiled_before(key, tmp_path):
    first = [(GELU, [stack(5)]), (LOSS, [stack(6)])]
    log = graph(*first, key=key and "fa1") + graph(*first, (GELU, [stack(7)]), key=key)
    events = [*forward(GELU, key="fb2"), *forward(LOSS, ts=200, key="fc3")]
    profile = load(tmp_path, *events, log=log)

    assert lines(profile, GELU) == [[7], [7]]


def test_those_before_may_be_of_another_process(tmp_path):
    log = graph((GELU, [stack(5)]), (LOSS, [stack(6)]), (GELU, [stack(7)]), key="fb2")
    events = [*forward(GELU, key="fb2"), *forward(LOSS, ts=200, key="fc3")]

    assert lines(load(tmp_path, *events, log=log), GELU) == [[7], [7]]


def test_lines_of_another_function_with_an_equal_graph_are_not_used(tmp_path):
    log = graph((GELU, [stack(25)]), key="fa1", frame=0)
    log += graph((GELU, [stack(25)]), key="fa1", frame=1)
    events = [
        *forward(GELU, begins=24),
        *forward(GELU, begins=4, ts=200),
        *forward(GELU, begins=44, ts=400),
        *forward(GELU, begins=4, function="other", ts=600),
    ]
    profile = load(tmp_path, *events, log=log)

    assert sorted(lines(profile, GELU)) == [[4]] * 4 + [[25]] * 2 + [[44]] * 2


def without_functions(*names):
    """A compiled call as it is recorded without stacks."""
    events = [op("CompiledFunction", 2, 60), *called(*names)]
    return [event for event in events if event["cat"] != "python_function"]


@pytest.mark.parametrize(("begins", "found"), [(24, True), (4, False), (44, False)])
def test_a_trace_without_functions_needs_the_one_that_was_compiled(begins, found, tmp_path):
    log = graph((GELU, [stack(25)]), key="fa1", frame=0) + metrics("forward", begins, frame=0)
    log += graph((NORM, [stack(25)]), key="fb2", frame=1) + metrics("forward", 24, frame=1)
    profile = load(tmp_path, *without_functions(GELU), log=log)

    assert profile.columns.has_code == found


def test_a_graph_of_several_functions_gives_no_lines_without_them(tmp_path):
    log = "".join(
        graph((GELU, [stack(5)]), key="fa1", frame=frame) + metrics(name, 4, frame=frame)
        for frame, name in enumerate(("forward", "other"))
    )

    assert not load(tmp_path, *without_functions(GELU), log=log).columns.has_code


def test_ops_outside_of_compiled_calls_are_left_alone(tmp_path):
    log = graph(("extern_kernels.mm", [stack(5)]), key="fa1")
    events = [*forward("aten::mm"), python("train.py(1): <module>", 90, 30), op("aten::mm", 95, 5)]
    profile = load(tmp_path, *events, log=log)

    assert [] in lines(profile, "aten::mm")


# Files of PyTorch, and what users are told.


def test_a_real_program_is_at_its_lines_in_both_passes():
    profile = tfprof.load(SAMPLES / "compiled.json.gz", SAMPLES / "compiled.log")
    columns = profile.columns
    found = {}
    for kind, code, phase in zip(
        columns.ops.kind, columns.ops.code.tolist(), columns.phase.tolist(), strict=True
    ):
        stack_ = columns.code.stack(code)
        found.setdefault((kind, phase), set()).add(tuple(one.line for one in stack_[2:]))

    assert found["aten::addmm", Phase.FORWARD] == {(27, 15), (27, 16), (28,)}
    assert found["aten::mm", Phase.FORWARD] == {(32,)}
    assert found["aten::mm", Phase.BACKWARD] >= {(27, 15), (27, 16), (28,), (32,)}
    assert "11 of 11 ops in compiled regions are shown at the lines" in " ".join(notes(profile))


def test_without_provenance_a_note_says_how_to_get_it(tmp_path):
    note = notes(load(tmp_path, *forward(GELU)))[-1]

    assert "run it with INDUCTOR_PROVENANCE=1 and TORCH_TRACE=DIR" in note


def test_programs_that_are_not_compiled_have_no_such_note(tmp_path):
    log = graph((GELU, [stack(5)]))

    assert notes(load(tmp_path, op("aten::mm", 0, 5), log=log)) == []


@pytest.mark.parametrize(
    "events", [[], [event("[memory]", ph="i", cat="cpu_instant_event", args={"Bytes": 4})]]
)
def test_a_trace_without_ops_is_no_error(events, tmp_path):
    profile = load(tmp_path, *events, log=graph((GELU, [stack(5)])))

    assert any("no ops were recorded" in note for note in profile.notes)


def test_a_table_works_like_a_log(tmp_path):
    (tmp_path / "table.json").write_text(json.dumps(table((GELU, [stack(5)]))))
    (tmp_path / "trace.json").write_bytes(trace_of(*forward(GELU), END))

    profile = tfprof.load(tmp_path / "table.json", tmp_path / "trace.json")

    assert lines(profile, GELU) == [[5], [5]]


def test_a_log_alone_says_that_it_needs_a_trace():
    profile = tfprof.load(SAMPLES / "compiled.log")

    assert dict(profile.files[0].facts) == {"graphs": 4, "lines": 5}
    [note] = [note for note in profile.scope().notes if "compiled.log" in note]
    assert "Inductor provenance only adds to a Kineto trace; give that of the same run" in note


def test_a_log_without_provenance_says_what_is_missing(tmp_path):
    log = record(["x"], artifact={"name": "inductor_output_code"})
    profile = load(tmp_path, *forward(GELU), log=log)

    assert "a.log has no lines of compiled kernels; run with INDUCTOR_PROVENANCE=1" in " ".join(
        profile.notes
    )


def test_a_damaged_graph_is_noted(tmp_path):
    log = graph((GELU, [stack(5)]), key="fa1") + kernels([]) + cached("fb2")
    profile = load(tmp_path, *forward(GELU), log=log)

    assert any("a.log: 1 compiled graph is damaged and left out." in one for one in profile.notes)
    assert lines(profile, GELU) == [[5], [5]]


def test_a_saved_profile_keeps_the_lines(tmp_path):
    log = graph((GELU, [stack(5)]), key="fa1") + graph((LOSS, [stack(5)]), key="fb2")
    profile = load(tmp_path, *forward(GELU), *backward(LOSS), log=log)
    profile.save(tmp_path / "a.tfprof")
    saved = tfprof.load(tmp_path / "a.tfprof")

    for answer in (profile, saved):
        answer.columns.check()
    shown = [one.code(select=["micros"], max_depth=9).table for one in (profile, saved)]
    assert shown[0] == shown[1]


def test_the_folder_of_logs_stands_for_them(tmp_path):
    folder = tmp_path / "log"
    folder.mkdir()
    for name in ("b", "a"):
        shutil.copy(SAMPLES / "compiled.log", folder / f"dedicated_log_torch_trace_{name}.log")

    assert [Path(path).name[-5:] for path in files_of(str(folder))] == ["a.log", "b.log"]
    profile = tfprof.load(SAMPLES / "compiled.json.gz", folder)
    assert "11 of 11 ops" in " ".join(notes(profile))


def test_a_folder_with_a_trace_and_logs_stands_for_both(tmp_path):
    shutil.copy(SAMPLES / "compiled.log", tmp_path / "dedicated_log_torch_trace_a.log")
    shutil.copy(SAMPLES / "compiled.json.gz", tmp_path)

    assert "11 of 11 ops" in " ".join(notes(tfprof.load(tmp_path)))


def test_a_folder_with_other_files_besides_logs_is_refused(tmp_path):
    shutil.copy(SAMPLES / "compiled.log", tmp_path / "dedicated_log_torch_trace_a.log")
    shutil.copy(SAMPLES / "net.pt2", tmp_path)

    with pytest.raises(tfprof.InputError, match=r"_a\.log \(Inductor provenance\)"):
        files_of(str(tmp_path))
