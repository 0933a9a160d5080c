"""Memory snapshots are read as columns, without unpickling them."""

import gzip
import pickle
from pathlib import Path

import pytest

from tfprof.errors import InputError
from tfprof.formats import memory_snapshot
from tfprof.formats.memory_snapshot import Annotation, StackFrame
from tfprof.formats.torch_files import is_memory_snapshot

SAMPLE = Path(__file__).parents[1] / "samples" / "h200" / "gpt_memory.pickle.gz"
DATA = gzip.decompress(SAMPLE.read_bytes())


class Evil:
    """Would call a function when it is unpickled."""

    def __reduce__(self):
        return print, ("called",)


def frame(name="f", file="a.py", line=1):
    return {"name": name, "filename": file, "line": line}


def entry(action="alloc", addr=0, size=512, time_us=0, frames=()):
    return {
        "action": action,
        "addr": addr,
        "size": size,
        "stream": 0,
        "time_us": time_us,
        "frames": list(frames),
    }


def segment(*blocks, address=0, device=0):
    sizes = [{"size": size, "state": state, "frames": []} for size, state in blocks]
    return {"device": device, "address": address, "blocks": sizes}


def snapshot(entries=(), segments=(), annotations=(), **more):
    content = {
        "segments": list(segments),
        "device_traces": [list(entries)],
        "external_annotations": list(annotations),
    }
    return pickle.dumps({**content, **more})


def decoded(*args, **more):
    return memory_snapshot.decode("file", snapshot(*args, **more))


def refusal(data):
    with pytest.raises(InputError) as caught:
        memory_snapshot.decode("file", data)
    assert "\n" not in str(caught.value)
    return caught.value.trouble


def test_the_sample_is_read_as_pickle_reads_it():
    found = memory_snapshot.decode("file", DATA)
    content = pickle.loads(DATA)  # noqa: S301 -- our own
    (trace,) = content["device_traces"]

    assert found.events.size.tolist() == [one["size"] for one in trace]
    assert found.events.address.tolist() == [one["addr"] for one in trace]
    assert found.events.time_us.tolist() == [one["time_us"] for one in trace]
    assert [found.events.action[row] for row in range(9)] == [one["action"] for one in trace[:9]]
    for row in (0, 700, 1600):
        frames = [(one["filename"], one["line"], one["name"]) for one in trace[row]["frames"]]
        assert list(found.stacks[found.events.stack[row]]) == frames
    assert len(found.annotations) == len(content["external_annotations"])
    assert int(found.blocks.is_allocated.sum()) == 164


def test_stacks_are_kept_once():
    one, other = frame("one"), frame("other")
    found = decoded([entry(frames=[one, other]), entry(frames=[one, other]), entry()])

    assert found.events.stack.tolist() == [1, 1, 0]
    assert found.stacks[1] == [StackFrame("a.py", 1, "one"), StackFrame("a.py", 1, "other")]


def test_blocks_without_addresses_follow_each_other():
    blocks = decoded(segments=[segment((512, "inactive"), (1024, "active_allocated"))]).blocks

    assert blocks.address.tolist() == [0, 512]
    assert blocks.is_allocated.tolist() == [False, True]


def test_annotations_have_a_start_and_an_end():
    one = {"stage": "START", "name": "forward", "device": 0, "time_us": 5}

    assert decoded(annotations=[one]).annotations == [Annotation("forward", True, 5)]


def test_a_snapshot_is_recognised_by_its_content():
    assert is_memory_snapshot(DATA[:100])
    assert is_memory_snapshot(pickle.dumps({"segments": []}, 2))
    assert not is_memory_snapshot(pickle.dumps({"a": 1}))


@pytest.mark.parametrize("value", [Evil(), print, object(), {1, 2}])
def test_a_pickle_that_would_run_code_is_refused(value, capsys):
    trouble = refusal(snapshot(allocator_settings=value))

    assert trouble.startswith("is not a memory snapshot: it has a forbidden instruction at byte ")
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize(
    "content",
    [
        {"segments": []},
        {"segments": 1, "device_traces": []},
        {"segments": [], "device_traces": [[{}]]},
        {"segments": [], "device_traces": [[entry(size="a")]]},
        {"segments": [], "device_traces": [[entry(size=2**63)]]},
        {"segments": [], "device_traces": [[entry(action=7)]]},
        {"segments": [], "device_traces": [[entry(frames=[1])]]},
        {"segments": [{}], "device_traces": []},
        {"segments": [segment((512, ""), device=2**40)], "device_traces": []},
        {"segments": [segment((-512, ""))], "device_traces": []},
        {"segments": [], "device_traces": [[]] * 2000 + [[entry()]]},
        {"segments": [], "device_traces": [], "external_annotations": [{}]},
    ],
)
def test_other_values_are_refused(content):
    assert refusal(pickle.dumps(content)).startswith("is a damaged memory snapshot; ")


def test_a_snapshot_that_is_cut_short_is_refused():
    for end in range(0, len(DATA), 20_011):
        assert refusal(DATA[:end])


def test_a_list_of_frames_that_all_entries_share_is_read_once():
    frames = [frame(str(number)) for number in range(1000)]
    shared = entry()
    shared["frames"] = frames
    entries = [{**shared} for _ in range(20_000)]

    assert decoded(entries).events.stack.tolist() == [1] * 20_000
