"""A recording of a GPU that is written in another way, or lacks something, has the same answers."""

import copy
import gzip
import json
from functools import cache
from pathlib import Path

import pytest

import tfprof
from h200 import GPT, gpt

SELECT = ["accelerator_micros", "forward_accelerator_micros", "backward_accelerator_micros"]


@cache
def recorded():
    return json.loads(gzip.decompress(Path(GPT).read_bytes()))


def answers(profile):
    """The time of modules and steps, and the peak of the memory."""
    memory = profile.memory().to_dict()["allocators"]
    steps = profile.step_times().to_dict()["steps"]
    return (
        profile.layers(select=SELECT, max_depth=100).to_dict()["rows"],
        [(step["wall_ns"], step["busy_ns"], step["kernels"]) for step in steps],
        [one["peak_bytes"] for one in memory],
    )


def written(tmp_path, trace):
    path = tmp_path / "trace.json"
    path.write_bytes(trace if isinstance(trace, bytes) else json.dumps(trace).encode())
    return tfprof.load(path)


WAYS = {
    "indented": lambda trace: json.dumps(trace, indent=2).encode(),
    "minified": lambda trace: json.dumps(trace, separators=(",", ":")).encode(),
    "with sorted keys": lambda trace: json.dumps(trace, sort_keys=True).encode(),
    "with a byte order mark": lambda trace: b"\xef\xbb\xbf" + json.dumps(trace).encode(),
    "with the ends of lines of Windows": lambda trace: (
        json.dumps(trace, indent=1).replace("\n", "\r\n").encode()
    ),
    "with a comma after the last event": lambda trace: (
        json.dumps(trace).replace('}], "traceName"', '},], "traceName"').encode()
    ),
    "as members of gzip": lambda trace: b"".join(
        gzip.compress(half.encode()) for half in halves(json.dumps(trace))
    ),
    "as a list": lambda trace: trace["traceEvents"],
    "with the base time at the end": lambda trace: (
        {key: trace[key] for key in trace if key != "baseTimeNanoseconds"}
        | {"baseTimeNanoseconds": trace["baseTimeNanoseconds"]}
    ),
    "backwards": lambda trace: trace | {"traceEvents": trace["traceEvents"][::-1]},
    "by name": lambda trace: trace | {"traceEvents": sorted(trace["traceEvents"], key=str)},
    "with texts for numbers": lambda trace: trace | {"traceEvents": texts(trace["traceEvents"])},
}


def halves(text):
    return text[: len(text) // 2], text[len(text) // 2 :]


def texts(events):
    """Events whose numbers are texts."""
    found = copy.deepcopy(events)
    for event in found:
        for values in (event, event.get("args", {})):
            numbers = {key: value for key, value in values.items() if type(value) in {int, float}}
            values.update({key: str(value) for key, value in numbers.items()})
    return found


@pytest.mark.parametrize("way", WAYS)
def test_the_same_recording_written_in_another_way_has_the_same_answers(tmp_path, way):
    profile = written(tmp_path, WAYS[way](recorded()))

    assert answers(profile) == answers(gpt())


def without_launches(events):
    return [one for one in events if one.get("cat") not in {"cuda_runtime", "cuda_driver"}]


def without_python_threads(events):
    lost = {"pid": 0, "tid": 0}
    return [one | lost if one.get("cat") == "python_function" else one for one in events]


def without_arrows(events):
    return [one for one in events if one["ph"] not in "sf"]


def with_equal_arrows(events):
    return [one | {"id": 1} if one["ph"] in "sf" else one for one in events]


def with_several_streams(events):
    return [
        one | {"args": one["args"] | {"stream": row % 3}} if one.get("cat") == "kernel" else one
        for row, one in enumerate(events)
    ]


def with_names_of_absent_gpus(events):
    return [{"ph": "M", "name": "process_name", "pid": 5, "args": {"name": "GPU 5"}}, *events]


def times(profile):
    """The time of the modules and scopes that have any."""
    rows = profile.layers(select=SELECT, max_depth=100).to_dict()["rows"]
    return [row for row in rows if row["total_accelerator_micros"]]


@pytest.mark.parametrize(
    "change",
    [
        without_launches,
        without_python_threads,
        without_arrows,
        with_equal_arrows,
        with_several_streams,
        with_names_of_absent_gpus,
    ],
)
def test_the_time_of_modules_does_not_depend_on_what_else_is_recorded(tmp_path, change):
    trace = recorded() | {"traceEvents": change(recorded()["traceEvents"])}

    assert times(written(tmp_path, trace)) == times(gpt())


OLD = {
    "cpu_op": "Operator",
    "user_annotation": "Operator",
    "cuda_runtime": "Runtime",
    "cuda_driver": "Runtime",
    "kernel": "Kernel",
    "gpu_memset": "Memset",
}


def test_a_trace_as_old_versions_wrote_it_has_the_same_kernels_and_phases(tmp_path):
    base = recorded()["baseTimeNanoseconds"] // 1000
    events = [
        one | {"cat": OLD[one["cat"]], "ts": one["ts"] + base, "tid": f"{one['tid']}"}
        for one in recorded()["traceEvents"]
        if one.get("cat") in OLD
    ]
    profile = written(tmp_path, {"schemaVersion": 1, "traceEvents": events})

    steps = profile.step_times().to_dict()["steps"][0]["accelerators"][0]

    expected = gpt().step_times().to_dict()["steps"][0]["accelerators"][0]
    assert steps["kernels"] == expected["kernels"]
    # What a call of `backward` runs itself is only known with stacks.
    assert steps["kernel_ns"]["optimizer"] == expected["kernel_ns"]["optimizer"]
    assert steps["kernel_ns"]["backward"] == pytest.approx(
        expected["kernel_ns"]["backward"], rel=0.001
    )
