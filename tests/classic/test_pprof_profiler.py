"""`pprof_profiler`: a pprof profile for each device of a traced run."""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

import pytest

from classic.live_models import needs_tensorflow, tensorflow
from pprof_reader import PprofFile
from tfprof import contrib, pprof_profiler
from tfprof.formats.messages import message_class


class Op(NamedTuple):
    """The attributes of a `tf.Operation` that `pprof_profiler` reads."""

    name: str
    type: str
    traceback: list[tuple[str, int, str, str]]


class Graph(NamedTuple):
    """The method of a `tf.Graph` that `pprof_profiler` calls."""

    ops: list[Op]

    def get_operations(self):
        return self.ops


STACK = [
    ("train.py", 30, "<module>", "main()"),
    ("train.py", 20, "main", "x * y"),
    ("math.py", 7, "mul", "apply_op()"),
    ("library.py", 5, "apply_op", "create_op()"),
    ("ops.py", 1, "create_op", "Operation()"),
]


def run_metadata(**devices):
    """Run metadata with the runs `(name, start, end, end of all work)` of each device."""
    message = message_class("tensorflow.RunMetadata")()
    for device, runs in devices.items():
        found = message.step_stats.dev_stats.add(device=device)
        for name, start, end, all_end in runs:
            found.node_stats.add(
                node_name=name,
                op_start_rel_micros=start,
                op_end_rel_micros=end,
                all_end_rel_micros=all_end,
            )
    return message


def stacks(profile):
    """The stack of each op, innermost first: called functions and the lines that call them."""
    texts = profile.string_table
    names = {function.id: texts[function.name] for function in profile.function}
    calls = {
        place.id: (names[place.line[0].function_id], place.line[0].line)
        for place in profile.location
    }
    return {
        texts[sample.label[0].str]: [calls[place] for place in sample.location_id]
        for sample in profile.sample
    }


def test_a_profile_has_a_sample_for_each_op_that_ran():
    graph = Graph([Op("a/b", "Mul", STACK), Op("never", "Mul", STACK)])

    profiles = pprof_profiler.get_profiles(graph, run_metadata(gpu=[("a/b", 3, 5, 9)]))

    assert list(profiles) == ["gpu"]
    assert (
        str(profiles["gpu"])
        == """\
sample_type {
  type: 9
  unit: 9
}
sample_type {
  type: 10
  unit: 11
}
sample_type {
  type: 12
  unit: 11
}
sample {
  location_id: 1
  location_id: 2
  value: 1
  value: 9
  value: 2
  label {
    key: 5
    str: 6
  }
  label {
    key: 7
    str: 8
  }
}
location {
  id: 1
  line {
    function_id: 1
    line: 20
  }
}
location {
  id: 2
  line {
    function_id: 2
    line: 30
  }
}
function {
  id: 1
  name: 1
  filename: 2
  start_line: -1
}
function {
  id: 2
  name: 3
  filename: 4
  start_line: -1
}
string_table: ""
string_table: "mul"
string_table: "math.py"
string_table: "main"
string_table: "train.py"
string_table: "node_name"
string_table: "a/b"
string_table: "op_type"
string_table: "Mul"
string_table: "count"
string_table: "all_time"
string_table: "microseconds"
string_table: "op_time"
string_table: "Device 1 of 1: gpu"
comment: 13
"""
    )


def test_runs_of_an_op_add_up_and_have_one_stack():
    graph = Graph([Op("a", "Mul", STACK)])
    runs = [("a", 0, 2, 3), ("_SOURCE", 0, 1, 1), ("a", 4, 5, 9)]

    profile = pprof_profiler.get_profiles(graph, run_metadata(cpu=runs))["cpu"]

    assert [list(sample.value) for sample in profile.sample] == [[2, 12, 3]]
    assert stacks(profile) == {"a": [("mul", 20), ("main", 30)]}


@pytest.mark.parametrize(
    "maker", ["apply_op", "_apply_op_helper", "create_op", "_create_op_internal"]
)
def test_functions_that_create_ops_are_left_out_of_stacks(maker):
    stack = [*STACK[:3], ("library.py", 5, maker, ""), ("ops.py", 1, "from_node_def", "")]

    profile = pprof_profiler.get_profiles(
        Graph([Op("a", "Mul", stack)]), run_metadata(cpu=[("a", 0, 1, 1)])
    )["cpu"]

    assert stacks(profile) == {"a": [("mul", 20), ("main", 30)]}


def test_a_stack_without_functions_that_create_ops_is_kept_whole():
    profile = pprof_profiler.get_profiles(
        Graph([Op("a", "Mul", STACK[:3])]), run_metadata(cpu=[("a", 0, 1, 1)])
    )["cpu"]

    assert stacks(profile) == {"a": [("mul", 20), ("main", 30)]}


def test_each_device_has_its_own_profile():
    graph = Graph([Op("a", "Mul", STACK), Op("b", "Add", STACK)])
    runs = run_metadata(cpu=[("a", 0, 1, 1)], gpu=[("b", 0, 4, 5)])

    profiles = pprof_profiler.get_profiles(graph, runs)

    assert {device: list(stacks(found)) for device, found in profiles.items()} == {
        "cpu": ["a"],
        "gpu": ["b"],
    }
    assert "a" not in profiles["gpu"].string_table


@pytest.mark.parametrize(
    "ops",
    [[], [Op("other", "Mul", STACK)], [Op("a", "Mul", [])]],
    ids=["no ops", "another op", "an op without a stack"],
)
def test_a_device_without_samples_is_left_out_and_reported(ops, capsys):
    assert pprof_profiler.get_profiles(Graph(ops), run_metadata(cpu=[("a", 0, 1, 1)])) == {}
    assert capsys.readouterr().out.startswith("cpu has no profile: ")


def test_a_run_without_a_trace_has_no_profiles():
    assert pprof_profiler.get_profiles(Graph([]), run_metadata()) == {}
    assert pprof_profiler.profile(Graph([]), run_metadata()) == []


def test_without_a_folder_profiles_are_printed(capsys):
    graph, runs = Graph([Op("a", "Mul", STACK)]), run_metadata(cpu=[("a", 0, 1, 1)])

    assert pprof_profiler.profile(graph, runs) == []
    printed = capsys.readouterr().out
    assert printed.endswith(f"\n{pprof_profiler.get_profiles(graph, runs)['cpu']}\n")


@pytest.mark.parametrize("name", ["get_profiles", "profile"])
def test_the_functions_of_pprof_profiler_are_the_same_in_contrib(name):
    assert getattr(contrib.pprof_profiler, name) is getattr(pprof_profiler, name)


@pytest.mark.live
@needs_tensorflow
def test_a_profile_of_a_live_run_is_written_for_each_device(tmp_path, capsys):
    graph, run_meta = traced_on_two_devices()

    paths = pprof_profiler.profile(graph, run_meta, tmp_path / "deep")

    # The order of devices in run metadata varies from run to run.
    assert sorted(re.sub(r"\d{14}", "TIME", Path(path).name) for path in paths) == [
        "job_localhost_replica_0_task_0_device_CPU_0_TIME.pb.gz",
        "job_localhost_replica_0_task_0_device_CPU_1_TIME.pb.gz",
    ]
    assert sorted(map(str, (tmp_path / "deep").iterdir())) == sorted(paths)
    assert capsys.readouterr().out == "".join(f"Writing the profile to {p}\n" for p in paths)


@pytest.mark.live
@needs_tensorflow
def test_the_samples_of_a_live_run_add_up_to_its_op_runs(tmp_path):
    graph, run_meta = traced_on_two_devices()
    paths = pprof_profiler.profile(graph, run_meta, tmp_path)
    files = {Path(path).name.split("_2")[0]: PprofFile(Path(path).read_bytes()) for path in paths}
    known = {op.name for op in graph.get_operations()}

    for device in run_meta.step_stats.dev_stats:
        file = files[device.device.strip("/").replace("/", "_").replace(":", "_")]
        runs = [run for run in device.node_stats if run.node_name in known]
        spent = [run.op_end_rel_micros - run.op_start_rel_micros for run in runs]
        assert file.total("count") == len(runs)
        assert file.total("all_time") == sum(run.all_end_rel_micros for run in runs)
        assert file.total("op_time") == sum(spent)
        assert [comment.partition(": ")[2] for comment in file.comments] == [device.device]


@pytest.mark.live
@needs_tensorflow
def test_the_stack_of_a_live_op_leads_to_the_line_that_created_it():
    graph, run_meta = traced_on_two_devices()
    profiles = pprof_profiler.get_profiles(graph, run_meta)

    found = {name: calls for one in profiles.values() for name, calls in stacks(one).items()}

    assert {"build", "traced_on_two_devices"} <= {function for function, _ in found["loop/next"]}
    assert found["product"][0][0] == "mat_mul"
    assert not any(
        function in ("_apply_op_helper", "from_node_def")
        for calls in found.values()
        for function, _ in calls
    )


def build(v1):
    """A matrix product on one device, and a loop of five iterations on another."""
    tf = tensorflow()
    with tf.device("/cpu:0"):
        drawn = tf.random.normal([2, 3])  # TensorFlow folds constants
        product = tf.matmul(drawn, tf.ones([3, 2]), name="product")
    with tf.device("/cpu:1"):
        count = v1.while_loop(
            lambda i: i < 5, lambda i: tf.add(i, 1, name="next"), [0], name="loop"
        )
    return product, count


def traced_on_two_devices():
    """A graph, and the run metadata of one step."""
    v1 = tensorflow().compat.v1
    was_enabled = v1.control_flow_v2_enabled()
    v1.disable_control_flow_v2()
    try:
        with tensorflow().Graph().as_default() as graph:
            fetches = build(v1)
    finally:
        if was_enabled:
            v1.enable_control_flow_v2()
    run_meta = v1.RunMetadata()
    with v1.Session(graph=graph, config=v1.ConfigProto(device_count={"CPU": 2})) as session:
        options = v1.RunOptions(trace_level=v1.RunOptions.FULL_TRACE)
        session.run(fetches, options=options, run_metadata=run_meta)
    return graph, run_meta
