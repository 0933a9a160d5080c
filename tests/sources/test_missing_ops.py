"""Gaps in the numbers of ops show what a trace lacks."""

import gzip
import json
from pathlib import Path

import pytest

import tfprof
from h200 import GPT, ddp, gpt
from kineto_programs import loaded, op

BLOCK = 512


def note_of(profile):
    return next((note for note in profile.notes if " missing" in note), "")


def numbered(numbers):
    """Ops with these numbers, one every 10 microseconds."""
    return [op("aten::mm", 10 * at, 5, **{"External id": number}) for at, number in numbers]


def test_recordings_of_pytorch_have_no_gaps():
    assert not note_of(gpt())
    assert not note_of(ddp())


def test_a_part_that_is_missing_is_noted_with_its_time(tmp_path):
    numbers = [*range(10), *range(30, 40)]
    profile = loaded(tmp_path, *numbered((at, at + 1) for at in numbers))

    assert "at least 20 ops are missing between 90us and 300us" in note_of(profile)


def test_ops_that_were_filtered_out_are_counted(tmp_path):
    trace = json.loads(gzip.decompress(Path(GPT).read_bytes()))
    kept = [one for one in trace["traceEvents"] if one.get("name") != "aten::transpose"]
    path = tmp_path / "trace.json"
    path.write_text(json.dumps(trace | {"traceEvents": kept}))

    removed = len(trace["traceEvents"]) - len(kept)
    assert f"at least {removed:,} ops are missing" in note_of(tfprof.load(path))


@pytest.mark.parametrize(
    ("numbers", "count"),
    [
        ([1, 2, BLOCK + 1, BLOCK + 2], 0),  # the thread of the first two used only these
        ([BLOCK * 36 + 1, BLOCK * 36 + 2], 0),  # recorded later
        ([1, 2, BLOCK + 4], 3),
        ([1, 1, 2], 0),
    ],
)
def test_only_the_end_of_a_block_may_be_unused(tmp_path, numbers, count):
    profile = loaded(tmp_path, *numbered(enumerate(numbers)))

    assert (f"at least {count} ops are missing" in note_of(profile)) == (count > 0)
