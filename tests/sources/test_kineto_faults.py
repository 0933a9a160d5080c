"""Repeated events and impossible times of a trace are left out, and noted."""

import gzip
import json
from pathlib import Path

import pytest

import tfprof
from formats.kineto_traces import trace_of
from h200 import GPT, RANKS, gpt
from kineto_programs import (
    END,
    annotation,
    copy,
    event,
    kernel,
    kernels,
    launched,
    loaded,
    nanos,
    notes_of,
    op,
)

LONG = 1_600_000


def device_micros(profile):
    return sum(nanos(profile, on_accelerator=True).values()) // 1000


# Impossible times.


def test_a_kernel_that_ends_after_later_ones_on_its_stream_is_left_out_of_times(tmp_path):
    ran = kernels(6)
    for place in (1, 3):
        ran[place]["dur"] = LONG
    profile = loaded(tmp_path, *launched(6), *ran)

    assert device_micros(profile) == 4 * 60
    assert (
        "2 kernels or copies end after later ones on the same stream, which is impossible: their "
        "3.20sec are not counted, so device times are at least what is shown."
    ) in notes_of(profile)


def test_no_step_is_busy_for_longer_than_it_took_because_of_an_impossible_time(tmp_path):
    ran = kernels(6)
    ran[0]["dur"] = LONG
    profile = loaded(tmp_path, annotation("ProfilerStep#1", 0, 1000), *launched(6), *ran)

    [step] = profile.step_times().to_dict()["steps"]
    assert step["op_time_ns"] <= 2 * step["wall_ns"]


def test_kernels_that_overlap_but_end_in_order_are_possible(tmp_path):
    # Programmatic dependent launches: each starts early, waits, and ends after the one before it.
    ran = [kernel("gemm", 1 + place, 20 + 5 * place, 1000) for place in range(4)]
    profile = loaded(tmp_path, *launched(4), *ran)

    assert device_micros(profile) == 4000
    assert "impossible" not in notes_of(profile)


@pytest.mark.parametrize(
    "inner",
    [
        kernel("add", 2, 500, 10, stream=20),  # of another stream
        kernel("add", 2, 500, 10, device=1),
        kernel("add", 2, 500, 0),  # old versions write such kernels inside of others
        kernel("add", 1, 500, 10),  # of the same graph
        kernel("add", 2, 1012, 3),  # rounded
    ],
)
def test_a_kernel_within_another_one_is_possible(tmp_path, inner):
    profile = loaded(tmp_path, *launched(2), kernel("gemm", 1, 20, 1000), inner)

    assert "impossible" not in notes_of(profile)


def test_kernels_that_are_each_a_little_shorter_than_the_one_around_them_are_impossible(tmp_path):
    ran = [kernel("gemm", 1 + place, place, 1000 - 2 * place) for place in range(30)]
    profile = loaded(tmp_path, *launched(30), *ran)

    assert "19 kernels or copies end after later ones" in notes_of(profile)


def test_a_copy_within_a_kernel_of_the_same_stream_is_impossible(tmp_path):
    profile = loaded(
        tmp_path, *launched(2), kernel("gemm", 1, 20, 1000), copy("Memcpy DtoD", 2, 500, 10)
    )

    assert "1 kernel or copy ends after later ones" in notes_of(profile)


# Repeated events.


@pytest.mark.parametrize("path", [GPT, RANKS[0]])
def test_a_file_with_each_event_twice_has_the_times_of_one(tmp_path, path):
    trace = json.loads(gzip.decompress(Path(path).read_bytes()))
    trace["traceEvents"] *= 2
    twice = tmp_path / Path(path).name.removesuffix(".gz")
    twice.write_text(json.dumps(trace))

    once, profile = tfprof.load(path), tfprof.load(twice)

    assert profile.step_times().to_dict()["steps"] == once.step_times().to_dict()["steps"]
    assert profile.scope().to_dict()["rows"] == once.scope().to_dict()["rows"]
    assert "events are in the file more than once, and counted once." in notes_of(profile)


def test_a_file_with_each_event_twice_has_the_memory_of_one(tmp_path):
    trace = json.loads(gzip.decompress(Path(GPT).read_bytes()))
    trace["traceEvents"] *= 2
    twice = tmp_path / "trace.json"
    twice.write_text(json.dumps(trace))

    peaks = [[curve.peak_bytes for curve in one.memory()] for one in (gpt(), tfprof.load(twice))]
    assert peaks[0] == peaks[1]


def test_a_repeated_kernel_counts_once(tmp_path):
    ran = kernels(3)
    profile = loaded(tmp_path, *launched(3), *ran, ran[1])

    assert device_micros(profile) == 3 * 60
    assert "1 event is in the file more than once, and counted once." in notes_of(profile)


def test_equal_events_without_a_number_are_several(tmp_path):
    twice = [event("aten::empty", ts=10, dur=0, args={}), event("aten::empty", ts=10, dur=0)]
    profile = loaded(tmp_path, op("aten::mm", 0, 50), *twice)

    assert "more than once" not in notes_of(profile)


# What was lost in the file.


def test_zero_bytes_in_the_text_are_noted(tmp_path):
    path = tmp_path / "trace.json"
    data = trace_of(op("aten::mm", 0, 10), op("aten::" + "x" * 600, 20, 10), END)
    at = data.index(b"x" * 600)
    path.write_bytes(data[:at] + bytes(512) + data[at + 512 :])

    assert "512 bytes of the file are 0" in " ".join(tfprof.load(path).notes)


@pytest.mark.parametrize(
    ("level", "text", "is_noted"),
    [
        ("WARNING", "Exceeded max GPU buffer count (33 >= 33) - terminating tracing", True),
        ("ERROR", "Device profiling activity collection was stopped early", True),
        ("WARNING", "Requested GPU activity buffer", False),
    ],
)
def test_what_the_profiler_reports_as_lost_is_noted(tmp_path, level, text, is_noted):
    profile = loaded(tmp_path, op("aten::mm", 0, 10), **{level: ["Step 3", text]})

    note = f"PyTorch's profiler lost events: {text}"
    assert any(note in one for one in profile.notes) == is_noted
