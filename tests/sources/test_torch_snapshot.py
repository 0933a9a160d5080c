"""Memory snapshots: memory over time, what it is for, and who allocated it."""

import gzip
import json
import math
import struct

import pytest

import tfprof
from formats.test_memory_snapshot import SAMPLE, entry, frame, segment, snapshot
from h200 import FACTS, GPT
from tfprof.model.executions import Purpose
from tfprof.model.ops import Phase

FORWARD = [frame("at::_ops::mm::call"), frame("forward", "/home/me/train.py", 7)]
ENGINE = frame("torch::autograd::Engine::thread_main", "??", 0)
BACKWARD = [
    frame("at::_ops::mm::call", "??", 0),
    frame("torch::autograd::generated::MmBackward0::apply", "??", 0),
    ENGINE,
]
OPTIMIZER = [frame("step", "/lib/site-packages/torch/optim/adam.py", 9)]


def loaded(path, *args, **more):
    path.write_bytes(snapshot(*args, **more))
    profile = tfprof.load(path)
    profile.columns.check()
    return profile


def history(*rows):
    """Entries of a history, of actions, addresses, sizes and frames, a microsecond apart."""
    return [
        entry(action, addr, size, time_us=1000 + at, frames=frames)
        for at, (action, addr, size, frames) in enumerate(rows)
    ]


def freed(addr, size=512, frames=()):
    """A release, which the allocator completes at once."""
    return [("free_requested", addr, size, frames), ("free_completed", addr, size, frames)]


def table(breakdown):
    return dict(zip(breakdown.name, breakdown.bytes.tolist(), strict=True))


def purposes(profile):
    """The bytes for each purpose at the peak."""
    (memory,) = profile.memory()
    return table(memory.by_purpose)


def names(profile):
    return list(profile.columns.ops.name)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "snapshot.pickle"


def test_the_peak_is_the_one_that_pytorch_reports():
    (memory,) = tfprof.load(SAMPLE).memory()

    assert memory.allocator == memory.device == "cuda:0"
    assert memory.peak_bytes == FACTS["peak_bytes"] == 807_656_448
    assert memory.left_bytes == 329_093_120


def test_the_peak_is_broken_down_by_purpose_and_line():
    (memory,) = tfprof.load(SAMPLE).memory()
    (traced, *_) = tfprof.load(GPT).memory()

    assert table(memory.by_purpose) == {
        "activations": 344_345_088,
        "allocated before the recording": 329_093_120,
        "temporary": 134_218_240,
    }
    assert table(memory.by_purpose) == table(traced.by_purpose)
    assert table(memory.by_line)["train.py:51:forward"] == 167_837_696


def test_a_trace_with_memory_takes_precedence_and_has_the_same_peak():
    profile = tfprof.load(GPT, SAMPLE)
    memory = {one.device: one.peak_bytes for one in profile.memory()}

    assert memory["cuda:0"] == 807_656_448
    assert len(profile.columns.recordings) == 1
    assert "the peak of the snapshot is 807.66MB" in " ".join(profile.notes)


def test_a_gzipped_snapshot_gives_the_same_answers(tmp_path):
    (tmp_path / "plain.pickle").write_bytes(gzip.decompress(SAMPLE.read_bytes()))

    plain, packed = (
        tfprof.load(one).memory().report for one in (tmp_path / "plain.pickle", SAMPLE)
    )
    assert plain == packed


def test_memory_from_before_the_history_counts_from_its_start(path):
    # Of two old blocks, one is freed in the history and one is still there at its end.
    rows = history(("alloc", 4096, 512, FORWARD), *freed(8192, 1024), ("alloc", 512, 100, FORWARD))
    blocks = [(512, "active_allocated"), (512, "active_allocated"), (1024, "inactive")]
    profile = loaded(path, rows, [segment(*blocks, address=0), segment(blocks[0], address=4096)])
    (memory,) = profile.memory()

    # 512 and 1024 at first; then 512 more, 1024 less and 100, which is rounded up.
    assert memory.curve.bytes.tolist() == [2048, 1024, 1536]
    assert memory.peak_bytes == 2048


def test_memory_that_the_backward_pass_frees_is_an_activation(path):
    rows = history(
        ("alloc", 0, 512, FORWARD),
        ("alloc", 4096, 1024, BACKWARD),
        *freed(0, frames=[ENGINE]),
    )
    profile = loaded(path, rows)

    assert purposes(profile) == {"activations": 512, "gradients": 1024}
    assert names(profile) == ["backward/MmBackward0/aten::mm", "forward/aten::mm"]


def test_memory_that_lives_within_a_phase_is_temporary(path):
    rows = history(
        ("alloc", 0, 512, FORWARD),
        *freed(0, frames=FORWARD),
        ("alloc", 0, 1024, BACKWARD),
        *freed(0, 1024, [ENGINE]),
        ("alloc", 0, 2048, OPTIMIZER),
        *freed(0, 2048, OPTIMIZER),
    )
    uses = loaded(path, rows).columns.allocator_uses

    assert {*uses.purpose.tolist()} == {Purpose.TEMPORARY}


def test_memory_that_the_optimizer_keeps_is_its_state(path):
    profile = loaded(path, history(("alloc", 0, 512, OPTIMIZER)))

    assert purposes(profile) == {"optimizer state": 512}
    assert profile.columns.phase.tolist() == [Phase.OPTIMIZER]


def test_without_stacks_annotations_tell_the_phase(path):
    rows = history(("alloc", 0, 512, ()), ("alloc", 4096, 1024, ()), *freed(0))
    annotations = [
        {"stage": stage, "name": name, "device": 0, "time_us": time}
        for stage, name, time in (
            ("START", "forward", 999),
            ("END", "forward", 1001),
            ("START", "backward", 1001),
            ("END", "backward", 1009),
        )
    ]
    profile = loaded(path, rows, annotations=annotations)

    assert purposes(profile) == {"activations": 512, "gradients": 1024}
    assert "has no stacks" in " ".join(profile.notes)


def test_without_ops_in_stacks_the_line_names_the_site(path):
    stack = [frame("linear", "/lib/site-packages/torch/nn/functional.py", 3), FORWARD[1]]

    assert names(loaded(path, history(("alloc", 0, 512, stack)))) == ["forward/train.py:7:forward"]


def test_frames_of_the_program_are_its_lines(path):
    (memory,) = loaded(path, history(("alloc", 0, 512, FORWARD))).memory()

    assert list(memory.by_line.name) == ["train.py:7:forward"]


def test_a_snapshot_without_a_history_shows_what_is_in_use(path):
    profile = loaded(path, (), [segment((512, "active_allocated"), (512, "inactive"))])
    (memory,) = profile.memory()

    assert memory.peak_bytes == 512
    assert "has no history" in " ".join(profile.notes)


def test_a_question_about_times_is_answered_with_a_note(path):
    profile = loaded(path, history(("alloc", 1, 512, FORWARD)))

    note = f"{path} is a memory snapshot, which has no times and float operations."
    assert note in profile.scope(select=["micros"]).notes
    assert note not in profile.scope(select=["bytes"]).notes


def test_views_show_what_each_op_requested_and_held_at_one_time(path):
    rows = history(
        ("alloc", 1, 512, FORWARD),
        ("alloc", 2, 1024, FORWARD),
        ("free_requested", 1, 512, FORWARD),
        ("alloc", 3, 512, FORWARD),
        ("alloc", 4, 4096, OPTIMIZER),
    )
    profile = loaded(path, rows)

    found = profile.code()
    (line,) = [row for row in found if row["name"].startswith("train.py:7:forward")]
    assert (line["total_bytes"], line["total_peak_bytes"]) == (2048, 1536)
    assert "requested bytes | peak bytes" in str(profile.op())
    assert not [note for note in profile.notes if "microseconds" in note]


def test_running_out_of_memory_is_noted(path):
    rows = history(("alloc", 0, 512, ()), ("oom", 0, 5_000_000, ()))

    assert "ran out of memory, the last time when it asked for 5.00MB" in " ".join(
        loaded(path, rows).notes
    )


def test_several_devices_have_their_own_peaks(path):
    rows = history(("alloc", 0, 512, FORWARD))
    other = history(("alloc", 0, 1024, FORWARD))
    memory = loaded(path, rows, device_traces=[rows, other]).memory()

    assert {one.device: one.peak_bytes for one in memory} == {"cuda:0": 512, "cuda:1": 1024}


def test_a_saved_profile_gives_the_same_answers(tmp_path):
    profile = tfprof.load(SAMPLE)
    profile.save(tmp_path / "saved")

    assert tfprof.load(tmp_path / "saved").memory().report == profile.memory().report


def test_sizes_beyond_any_machine_are_refused(path):
    rows = history(*[("alloc", at, 2**61, ()) for at in range(9)])

    with pytest.raises(tfprof.InputError, match="larger than any machine"):
        loaded(path, rows)


def weights(path, shapes):
    """A file of weights with tensors of these shapes; the values are a hole in the file."""
    header, at = {}, 0
    for name, shape in shapes.items():
        size = 4 * math.prod(shape)
        header[name] = {"dtype": "F32", "shape": shape, "data_offsets": [at, at + size]}
        at += size
    text = json.dumps(header).encode()
    with path.open("wb") as file:
        file.write(struct.pack("<Q", len(text)) + text)
        file.truncate(8 + len(text) + at)
    return path


def test_parameters_and_the_state_of_the_optimizer_are_found_by_the_sizes_of_weights(tmp_path):
    profile = tfprof.load(SAMPLE, weights(tmp_path / "w", FACTS["parameters"]))
    (memory,) = profile.memory()

    assert memory.peak_bytes == 807_656_448
    # 84,520,960 bytes of parameters, in blocks that the allocator did not always split.
    assert table(memory.by_purpose) == {
        "activations": 344_345_088,
        "optimizer state": 174_284_800,
        "temporary": 134_218_240,
        "parameters": 86_618_112,
        "allocated before the recording": 68_190_208,
    }
    assert "two more of each for the state of the optimizer" in " ".join(profile.notes)


def test_weights_of_another_model_are_not_found(tmp_path):
    profile = tfprof.load(SAMPLE, weights(tmp_path / "w", {"a": [7], "b": [9]}))

    assert "parameters" not in purposes(profile)
