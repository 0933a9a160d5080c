"""tfprof reproduces recorded pprof profiles of TensorFlow's own `pprof_profiler`.

They were recorded with a transcription of that module, which TensorFlow's wheels do not contain.
The graphs are those of the recorded models, with the code lines of their op logs. TensorFlow 2
renamed `apply_op`, which the original searches for, so the graphs have its old name.
"""

from __future__ import annotations

import gzip
import io
import json
import lzma
from contextlib import redirect_stdout
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tfprof.classic.pprof_profiler import get_profiles
from tfprof.formats.messages import message_class

HERE = Path(__file__).parent
RECORDED = HERE / "recorded"
PROFILES = HERE / "pprof_profiles.json.xz"
RUNS = {
    "mlp_tiny": "run_meta_1",
    "func_session": "run_meta_0",
    "gpu_synth": "run_meta_0",
    "ps_worker": "run_meta_1",
    "attn_seq2seq": "run_meta_1",
}
OLD_NAMES = {"_apply_op_helper": "apply_op"}
UNITS = {"count": "count", "all_time": "microseconds", "op_time": "microseconds"}


class LoggedOp(NamedTuple):
    """The part of an op that `pprof_profiler` uses."""

    name: str
    type: str
    traceback: list[tuple[str, int, str, str]]


class LoggedGraph:
    """The part of a graph that `pprof_profiler` uses, from the files of a recorded model."""

    def __init__(self, model: str) -> None:
        nodes = message("tensorflow.GraphDef", model, "graph.pb").node
        log = message("tensorflow.tfprof.OpLogProto", model, "tfprof_log")
        traces = {entry.name: entry.code_def.traces for entry in log.log_entries}
        text = log.id_to_string
        self._ops = [
            LoggedOp(
                node.name,
                node.op,
                [
                    (text[frame.file_id], frame.lineno, old_name(text[frame.function_id]), "")
                    for frame in traces.get(node.name, ())
                ],
            )
            for node in nodes
        ]

    def get_operations(self) -> list[LoggedOp]:
        return self._ops


def old_name(function: str) -> str:
    return OLD_NAMES.get(function, function)


def message(name: str, model: str, file: str) -> Any:
    with gzip.open(RECORDED / model / "inputs" / f"{file}.gz") as opened:
        return message_class(name).FromString(opened.read())


def run_metadata(model: str) -> Any:
    return message("tensorflow.RunMetadata", model, RUNS[model])


@cache
def recorded() -> dict[str, dict[str, Any]]:
    """The original's profile of each device, by model."""
    profile = message_class("perftools.profiles.Profile")
    with lzma.open(PROFILES, "rt", encoding="utf-8") as file:
        return {
            model: {device: profile.FromString(bytes.fromhex(data)) for device, data in found}
            for model, found in json.load(file)
        }


class Sample(NamedTuple):
    """A sample with ids replaced by names; calls are (function, file, start line, line)."""

    labels: dict[str, str]
    values: list[int]
    calls: list[tuple[str, str, int, int]]


def resolved(profile: Any) -> list[Sample]:
    texts = profile.string_table
    functions = {one.id: one for one in profile.function}
    calls = {}
    for location in profile.location:
        (line,) = location.line
        called = functions[line.function_id]
        place = texts[called.name], texts[called.filename], called.start_line, line.line
        calls[location.id] = place
    return [
        Sample(
            {texts[label.key]: texts[label.str] for label in sample.label},
            list(sample.value),
            [calls[place] for place in sample.location_id],
        )
        for sample in profile.sample
    ]


def sample_types(profile: Any) -> dict[str, str]:
    texts = profile.string_table
    return {texts[one.type]: texts[one.unit] for one in profile.sample_type}


@pytest.fixture(scope="module", params=RUNS)
def profiles(request):
    """The profiles of each device: ours and the original's."""
    with redirect_stdout(io.StringIO()):
        ours = get_profiles(LoggedGraph(request.param), run_metadata(request.param))
    theirs = recorded()[request.param]

    assert list(ours) == list(theirs)
    return [(ours[device], theirs[device]) for device in theirs]


def test_the_samples_of_every_device_match_the_original(profiles):
    for ours, theirs in profiles:
        assert [(sample.labels, sample.values) for sample in resolved(ours)] == [
            (sample.labels, sample.values) for sample in resolved(theirs)
        ]


def test_calls_match_the_original_without_its_repetitions(profiles):
    for ours, theirs in profiles:
        for mine, other in zip(resolved(ours), resolved(theirs), strict=True):
            # It adds the calls once per run except the first, and finds none for ops that were
            # created without `apply_op`.
            assert other.calls in ([], mine.calls * (mine.values[0] - 1))


def test_the_original_has_calls_to_compare_with():
    found = [
        sample for device in recorded()["attn_seq2seq"].values() for sample in resolved(device)
    ]

    assert sum(bool(sample.calls) for sample in found) > 100


def test_times_are_labelled_microseconds_not_nanoseconds_as_in_the_original(profiles):
    for ours, theirs in profiles:
        assert sample_types(ours) == UNITS
        assert list(sample_types(theirs)) == list(UNITS)


def test_the_comment_names_the_device_as_in_the_original(profiles):
    for ours, theirs in profiles:
        assert [ours.string_table[place] for place in ours.comment] == [
            theirs.string_table[place] for place in theirs.comment
        ]


def test_every_op_has_calls(profiles):
    for ours, _ in profiles:
        assert all(sample.calls for sample in resolved(ours))
