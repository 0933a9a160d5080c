"""The benchmark of PyTorch's traces."""

import gzip
import json

import pytest
from phases import Measure
from trace_files import write
from trace_speed import HTA, OURS, PEERS, RECORDED, Row, measured, shortfalls, table

pytestmark = pytest.mark.dist


def row(size, seconds, peak_mb=90.0, program=OURS):
    return Row(size, False, program, Measure(seconds, peak_mb, seconds))


def test_a_written_trace_repeats_the_recorded_one_with_new_times_and_ids(tmp_path):
    recorded = json.loads(gzip.decompress(RECORDED.read_bytes()))["traceEvents"]
    write(RECORDED, tmp_path / "trace.json", 10_000_000)

    events = json.loads((tmp_path / "trace.json").read_bytes())["traceEvents"]

    kernels = [event for event in events if event.get("cat") == "kernel"]
    before = [event for event in recorded if event.get("cat") == "kernel"]
    assert len(kernels) == 3 * len(before)
    assert [event["dur"] for event in kernels] == 3 * [event["dur"] for event in before]
    assert len({event["args"]["correlation"] for event in kernels}) == len(kernels)
    steps = [event for event in events if event["name"].startswith("ProfilerStep#")]
    assert [event["name"] for event in steps] == [f"ProfilerStep#{number}" for number in range(3)]
    assert events[-1]["name"] == "Record Window End"


def test_programs_are_measured_with_plain_and_gzipped_traces():
    rows = list(measured(100_000, 1, "python3", {"`json.load`": PEERS["`json.load`"]}))

    assert [(one.is_packed, one.program) for one in rows] == [
        *((False, OURS), (False, "`json.load`"), (True, OURS), (True, "`json.load`"))
    ]
    assert all(one.taken.cpu_seconds > 0 and one.taken.peak_mb > 5 for one in rows)


@pytest.mark.parametrize(
    ("rows", "missed"),
    [
        ([row(10**8, 2.9), row(10**9, 29.0, 2900.0)], []),
        ([row(10**8, 3.1)], ["takes 3.1 s, not 3 s"]),
        ([row(10**8, 1.0, 601.0)], ["takes 601 MB, not 600 MB"]),
        ([row(10**9, 1.0, 3001.0)], ["takes 3001 MB, not 3000 MB"]),
        ([row(10**8, 1.0), row(10**9, 14.0)], ["takes 14.0 times as long as a tenth"]),
        ([row(10**8, 1.0), row(10**8, 9.0, program=HTA)], ["only 9.0 times as fast as Holistic"]),
    ],
)
def test_missed_targets_are_listed(rows, missed):
    found = list(shortfalls(rows))

    assert len(found) == len(missed)
    assert all(part in text for part, text in zip(missed, found, strict=True))


def test_the_table_has_the_ratios_of_times():
    found = table([row(10**8, 0.5), row(10**8, 9.0, 1200.0, HTA)])

    assert found.endswith("| 100 MB | HolisticTraceAnalysis | 9.00 | 9.00 | 1,200 | 18.0 |")
