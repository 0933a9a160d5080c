"""The records of a memory snapshot are in order, whatever times they have."""

import pytest

import tfprof
from formats.test_memory_snapshot import entry, segment, snapshot

SIZE = 1 << 20


def records(times):
    """Allocations and releases of blocks of a MiB, the blocks left, and the bytes at the peak."""
    held, found, peak = [], [], 0
    for at, time in enumerate(times):
        if held and at * at % 11 < 5:
            found.append(entry("free_requested", held.pop(), SIZE, time_us=time))
        else:
            held.append((at + 1) * SIZE)
            found.append(entry("alloc", held[-1], SIZE, time_us=time))
        peak = max(peak, len(held) * SIZE)
        if time is None:
            del found[-1]["time_us"]
    blocks = [segment((SIZE, "active_allocated"), address=at) for at in held]
    return found, blocks, peak


def memory_of(tmp_path, *args, **more):
    path = tmp_path / "snapshot.pickle"
    path.write_bytes(snapshot(*args, **more))
    return tfprof.load(path).memory()


@pytest.mark.parametrize(
    ("times", "note"),
    [
        ([None] * 60, "has no times: memory is shown over the order of its 60 records"),
        ([0] * 60, "has the same time for all records: memory is shown over the order"),
        ([1_700_000_000_000_000] * 60, "has the same time for all records"),
        ([None, *[1000] * 59], "has the same time for all records"),
        (
            [None if at % 3 else 1000 + at for at in range(60)],
            "40 records have no time, and count at the time of the record before them",
        ),
        ([None] * 30 + list(range(1000, 1030)), "30 records have no time"),
        ([1000 + at // 20 for at in range(60)], ""),
        ([1000 + 10 * at for at in range(60)], ""),
        ([1000] * 3000 + [1001] * 3000, ""),
    ],
)
def test_the_order_of_records_is_the_timeline(tmp_path, times, note):
    found, blocks, peak = records(times)
    memory = memory_of(tmp_path, found, blocks)

    [curve] = memory
    assert curve.peak_bytes == peak
    assert note in " ".join(memory.notes)
    assert note or not any("time" in one for one in memory.notes)


def test_without_times_each_record_takes_a_microsecond(tmp_path):
    found, blocks, _ = records([None] * 10)

    [memory] = memory_of(tmp_path, found, blocks)
    assert (memory.curve.time_ns % 1000 == 0).all()
    assert memory.curve.time_ns.max() < 10_000


def test_each_device_has_its_own_order(tmp_path):
    one, blocks, peak = records([None] * 20)
    other, more, larger = records([None] * 60)
    for block in more:
        block["device"] = 1
    found = memory_of(tmp_path, segments=[*blocks, *more], device_traces=[one, other])

    assert {memory.allocator: memory.peak_bytes for memory in found} == {
        "cuda:0": peak,
        "cuda:1": larger,
    }


@pytest.mark.parametrize("time", [-1, 1 << 61])
def test_impossible_times_are_refused(tmp_path, time):
    with pytest.raises(tfprof.InputError, match="is a damaged memory snapshot"):
        memory_of(tmp_path, [entry(time_us=time)])
