"""Guarantees to live programs besides the numbers, such as never modifying their objects."""

from __future__ import annotations

import io
import re
import threading
import warnings
from contextlib import redirect_stderr, redirect_stdout
from functools import cache

import pytest

import tfprof
from classic.live_models import build, make, needs_tensorflow, tensorflow
from live_programs import only_own_warnings
from tfprof.contrib import model_analyzer, tfprof_logger

pytestmark = [pytest.mark.live, needs_tensorflow, only_own_warnings]

model = cache(make)
FLOPS = tfprof.ProfileOptionBuilder.float_operation() | {"output": "none"}


@pytest.fixture
def session():
    """A session, an op that increments the global step, and a matrix product."""
    v1 = tensorflow().compat.v1
    with tensorflow().Graph().as_default() as graph:
        count = v1.train.get_or_create_global_step()
        product = tensorflow().matmul(tensorflow().ones([2, 3]), tensorflow().ones([3, 2]))
        train = v1.assign_add(count, 1, name="train")
        init = v1.global_variables_initializer()
        with v1.Session(graph=graph) as opened:
            opened.run(init)
            yield opened, train, product


def test_arguments_are_not_modified():
    live = model("perceptron")
    shapes = [tensor.shape.as_list() for op in live.ours.get_operations() for tensor in op.outputs]
    log = tfprof.OpLogProto()
    log.log_entries.add(name="x", types=["mine"])
    options = tfprof.ProfileOptionBuilder.time_and_memory() | {"output": "none"}
    before = log.SerializeToString(), live.runs[0].SerializeToString(), repr(options)

    tfprof.profile(live.ours, live.runs[0], log, "code", options)
    profiler = tfprof.Profiler(live.ours, log)
    profiler.add_step(0, live.runs[0])
    profiler.profile_graph(options)

    assert (log.SerializeToString(), live.runs[0].SerializeToString(), repr(options)) == before
    after = [tensor.shape.as_list() for op in live.ours.get_operations() for tensor in op.outputs]
    assert after == shapes


def test_float_ops_of_a_run_do_not_leak_into_the_graph(capsys):
    live = model("perceptron")

    unseen = tfprof.profile(live.ours, options=FLOPS).total_float_ops
    seen = tfprof.profile(live.ours, live.runs[0], options=FLOPS).total_float_ops
    again = tfprof.profile(live.ours, options=FLOPS).total_float_ops

    assert seen > unseen == again
    assert "a traced run provides most shapes" in capsys.readouterr().err


def test_uncounted_ops_are_reported_once_for_the_graph_and_once_for_its_runs(capsys):
    live = model("perceptron")
    profiler = tfprof.Profiler(live.ours)
    for step in range(4):
        profiler.add_step(step, live.runs[0])

    counts = re.findall(r"float ops of (\d+) ops? are not counted", capsys.readouterr().err)
    assert len(counts) == 2
    assert int(counts[0]) > int(counts[1])


def test_rules_registered_by_the_program_are_used(capsys):
    tf = tensorflow()
    from tensorflow.python.framework import ops  # noqa: PLC0415 -- where programs register

    if "ZerosLike,flops" not in ops._stats_registry.list():
        ops.RegisterStatistics("ZerosLike", "flops")(lambda *_: ops.OpStats("flops", 1234))
    with tf.Graph().as_default() as graph:
        tf.raw_ops.ZerosLike(x=[1.0])

        assert tfprof.profile(graph, options=FLOPS).total_float_ops == 1234
    assert capsys.readouterr().out == ""


def test_several_profilers_can_coexist():
    small, large = model("perceptron"), model("convolution")
    options = tfprof.ProfileOptionBuilder.trainable_variables_parameter() | {"output": "none"}

    first, second = tfprof.Profiler(small.ours), tfprof.Profiler(large.ours)
    del second

    third = tfprof.Profiler(large.ours)
    assert first.profile_name_scope(options).total_parameters == 28
    assert third.profile_name_scope(options).total_parameters == 112


def test_a_profiler_can_be_queried_like_loaded_files():
    live = model("accelerated")
    profiler = tfprof.Profiler(live.ours)
    profiler.add_step(4, live.runs[0])

    assert profiler.loaded.steps == [4]
    products = [op.name for op in live.ours.get_operations() if op.type == "MatMul"]
    ran = [run.node_name for run in live.runs[0].step_stats.dev_stats[0].node_stats]
    found = profiler.loaded.op(select=["occurrence"], max_depth=100)["MatMul"]
    assert found["runs"] == sum(map(ran.count, products)) > 0


def test_a_graph_may_grow_between_steps():
    tf = tensorflow()
    with tf.Graph().as_default() as graph:
        tf.ones([2, 2], name="early")
        profiler = tfprof.Profiler(graph)
        tf.matmul(tf.ones([2, 3]), tf.ones([3, 2]), name="late")
        profiler.add_step(0, tf.compat.v1.RunMetadata(step_stats={}))

    rows = profiler.loaded.scope(max_depth=2, select=["float_ops"])
    assert rows["late"]["float_ops"] == 24
    assert rows["early"]["float_ops"] == 0


def test_a_run_without_a_trace_is_skipped(capsys):
    live = model("perceptron")
    profiler = tfprof.Profiler(live.ours)

    profiler.add_step(3, tensorflow().compat.v1.RunMetadata())

    assert profiler.loaded.steps == []
    assert "step 3 is skipped" in capsys.readouterr().err


def test_code_lines_of_a_user_log_keep_their_strings():
    live = model("devices")
    log = tfprof.OpLogProto(id_to_string={7: "mine.py", 8: "build"})
    entry = log.log_entries.add(name="x")
    entry.code_def.traces.add(file_id=7, lineno=3, function_id=8)
    options = tfprof.ProfileOptionBuilder().with_empty_output().build()

    found = tfprof.profile(live.ours, op_log=log, cmd="code", options=options)

    assert "mine.py:3:build" in [child.name for child in found.children]


def test_an_unknown_view_raises_the_same_error_as_in_the_original():
    with pytest.raises(tensorflow().errors.InvalidArgumentError, match="unknown cmd: nonsense"):
        tfprof.profile(model("devices").ours, cmd="nonsense")


def test_without_a_graph_the_default_graph_is_used():
    tf = tensorflow()
    with tf.Graph().as_default():
        tf.compat.v1.get_variable("w", [3, 4])

        assert tfprof.profile(options=quiet("params")).total_parameters == 12
    assert tfprof.profile(options=quiet("params")).total_parameters == 0  # eager mode has no graph


def quiet(*select):
    return {"select": select, "output": "none", **{name: [".*"] for name in REGEXES}}


REGEXES = ("account_type_regexes", "start_name_regexes", "show_name_regexes")


# Invalid options.


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"step": 7}, "No step 7"),
        ({"output": "nonsense"}, "Unknown output `nonsense`"),
        ({"output": "file:outfile=/no/such/folder/f"}, "there is no folder"),
        ({"select": ["nonsense"]}, "select cannot be `nonsense`"),
        ({"order_by": "nonsense"}, "order_by cannot be `nonsense`"),
        ({"show_name_regexes": ["("]}, "`show_name_regexes`: pattern `(`"),
    ],
)
def test_an_invalid_option_is_reported_in_one_line_without_an_exception(options, message, capsys):
    live = model("devices")

    tfprof.profile(live.ours, live.runs[0], options=quiet("micros") | options)

    (line,) = capsys.readouterr().err.splitlines()
    assert message in line


@pytest.mark.parametrize(
    "options", [{"max_depth": "deep"}, {"select": "micros"}, {"account_type_regexes": [3]}]
)
def test_option_values_of_the_wrong_type_raise_an_error(options):
    with pytest.raises(tfprof.OptionError):
        tfprof.profile(model("devices").ours, options=options)


# Contexts.


def test_a_context_traces_and_dumps_the_requested_steps(session, tmp_path, capsys):
    opened, train, product = session
    with tfprof.ProfileContext(tmp_path / "deep", trace_steps=[1, 3], dump_steps=[3]) as context:
        for _ in range(5):
            opened.run([train, product])

        assert context.profiler.loaded.steps == [1, 3]
    assert tfprof.load(tmp_path / "deep" / "profile_3").steps == [1, 3]
    assert [path.name for path in (tmp_path / "deep").iterdir()] == ["profile_3"]
    assert capsys.readouterr() == ("", "")


def test_a_context_chooses_steps_itself_after_the_warm_up(session, tmp_path):
    opened, train, product = session
    with tfprof.ProfileContext(tmp_path) as context:
        for _ in range(15):
            opened.run(train)
        opened.run(product)

    steps = context.profiler.loaded.steps
    assert steps[0] == 11
    assert 15 in steps


def test_a_context_traces_and_dumps_the_next_step_on_request(session, tmp_path):
    opened, train, _ = session
    with tfprof.ProfileContext(tmp_path, trace_steps=[], dump_steps=[]) as context:
        opened.run(train)
        context.trace_next_step()
        context.dump_next_step()
        opened.run(train)
        opened.run(train)

    assert context.profiler.loaded.steps == [1]
    assert [path.name for path in tmp_path.iterdir()] == ["profile_1"]


def test_a_context_builds_views_of_the_requested_steps(session, tmp_path):
    opened, train, product = session
    with tfprof.ProfileContext(tmp_path, trace_steps=[], dump_steps=[]) as context:
        context.add_auto_profiling("op", quiet("micros"), [1, 2])
        for _ in range(3):
            opened.run([train, product])

        views = context.get_profiles("op")
    assert list(views) == [1, 2]
    runs = runs_of(views[2])
    assert (runs["AssignAddVariableOp"], runs["MatMul"]) == (1, 1)
    with pytest.raises(ValueError, match="No autoprofiler for command: scope, was run"):
        context.get_profiles("scope")


def runs_of(view):
    """How often ops of each kind ran; each row of the op view has the next one below it."""
    below = {name: count for child in view.children for name, count in runs_of(child).items()}
    return below | {view.name: sum(node.run_count for node in view.graph_nodes)}


def test_a_context_fills_the_run_metadata_of_the_caller_and_keeps_its_options(session, tmp_path):
    v1 = tensorflow().compat.v1
    opened, train, _ = session
    options, run_meta = v1.RunOptions(timeout_in_ms=60000), v1.RunMetadata()
    with tfprof.ProfileContext(tmp_path, trace_steps=[0], dump_steps=[]):
        assert opened.run(train, options=options, run_metadata=run_meta) == 1

    assert options == v1.RunOptions(timeout_in_ms=60000)
    assert run_meta.HasField("step_stats")


def test_a_failed_run_does_not_end_a_context(session, tmp_path):
    opened, train, _ = session
    with tfprof.ProfileContext(tmp_path, trace_steps=[0, 1], dump_steps=[]) as context:
        with pytest.raises(TypeError):
            opened.run(3)
        opened.run(train)

    assert context.profiler.loaded.steps == [1]


def test_a_concurrent_run_is_counted_but_not_traced(session, tmp_path):
    opened, train, _ = session
    with tfprof.ProfileContext(tmp_path, trace_steps=[0, 1], dump_steps=[]) as context:
        with context._lock:  # as if another thread were in a run
            opened.run(train)
        thread = threading.Thread(target=opened.run, args=(train,))
        thread.start()
        thread.join()

    assert context.profiler.loaded.steps == [1]


def test_contexts_cannot_be_nested_and_restore_sessions(tmp_path):
    from tensorflow.python.client.session import BaseSession  # noqa: PLC0415

    plain = BaseSession.run
    with (
        tfprof.ProfileContext(tmp_path),
        pytest.raises(tensorflow().errors.InternalError, match="Already in context"),
        tfprof.ProfileContext(tmp_path),
    ):
        pass

    assert BaseSession.run is plain


def test_a_disabled_context_does_nothing(session, tmp_path):
    opened, train, _ = session
    with tfprof.ProfileContext("", enabled=False) as context:
        context.trace_next_step()
        context.dump_next_step()
        context.add_auto_profiling("op", {}, [0])
        opened.run(train)

    assert context.profiler is None
    assert list(tmp_path.iterdir()) == []


def test_a_context_in_debug_mode_reports_its_actions_and_writes_its_runs(session, tmp_path, capsys):
    opened, train, _ = session
    with tfprof.ProfileContext(tmp_path, trace_steps=[0], dump_steps=[0], debug=True):
        opened.run(train)

    assert re.findall("debug: (.+)", capsys.readouterr().err) == [
        "tracing step: 0",
        "dumping file at step: 0",
    ]
    assert tfprof.info(tmp_path / "run_meta_0").files[0].kind == "run_meta"


# Hooks.


def test_a_hook_writes_the_files_of_one_step(tmp_path):
    tf = tensorflow()
    v1 = tf.compat.v1
    folder = tmp_path / "metadata"
    with tf.Graph().as_default(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        count = v1.train.get_or_create_global_step()
        v1.get_variable("w", [2, 3])
        train = v1.assign_add(count, 1)
        hook = tfprof.MetadataCaptureHook(folder, step=2)
        with v1.train.SingularMonitoredSession(hooks=[hook]) as session:
            seen = []
            for _ in range(5):
                session.run(train)
                seen.append(folder.exists())

    assert isinstance(hook, v1.train.SessionRunHook)
    assert isinstance(hook, tfprof.MetadataCaptureHook)
    assert sorted(path.name for path in folder.iterdir()) == [
        *("graph.pbtxt", "run_meta", "tfprof_log", "timeline.json"),
    ]
    assert seen[0] is False
    assert seen[-1] is True
    files = [folder / name for name in ("graph.pbtxt", "run_meta", "tfprof_log")]
    rows = tfprof.load(*files).scope(
        select=["params"], account_type_regexes=["_trainable_variables"]
    )
    assert rows["w"]["params"] == 6


def test_the_timeline_of_a_hook_equals_that_of_tensorflow(tmp_path):
    from tensorflow.python.client.timeline import Timeline  # noqa: PLC0415

    live = model("devices")

    tfprof.MetadataCaptureHook(tmp_path)._write(live.ours, live.runs[0])

    wanted = Timeline(live.runs[0].step_stats).generate_chrome_trace_format(show_memory=True)
    assert (tmp_path / "timeline.json").read_text() == wanted


def test_files_can_be_written_to_any_file_system_that_tensorflow_supports(tmp_path):
    live = model("devices")

    tfprof.MetadataCaptureHook(f"file://{tmp_path}/far/away")._write(live.ours, live.runs[0])

    assert sorted(path.name for path in (tmp_path / "far" / "away").iterdir()) == [
        *("graph.pbtxt", "run_meta", "tfprof_log", "timeline.json"),
    ]


def test_a_hook_without_a_global_step_raises_an_error(tmp_path):
    with tensorflow().Graph().as_default(), pytest.raises(RuntimeError, match="global step"):
        tfprof.MetadataCaptureHook(tmp_path).begin()


def test_a_hook_can_be_subclassed(tmp_path):
    class Mine(tfprof.MetadataCaptureHook):
        pass

    hook = Mine(tmp_path)

    assert isinstance(hook, Mine)
    assert isinstance(hook, tensorflow().compat.v1.train.SessionRunHook)


def test_a_hook_writes_the_table_of_trainable_variables(tmp_path):
    with build("perceptron")[0].as_default():
        hook = tfprof.PrintModelAnalysisHook(tmp_path / "table")
        hook.begin()

    text = (tmp_path / "table").read_text()
    assert text.endswith(
        "node name | # parameters\n_TFProfRoot (--/28 params)\n  layer (--/28 params)\n"
        "    layer/b (4, 4/4 params)\n    layer/w (6x4, 24/24 params)\n"
    )


# Names in `contrib`.


def test_contrib_functions_give_the_same_answers_as_their_newer_names():
    live = model("devices")
    options = model_analyzer.PRINT_ALL_TIMING_MEMORY | {"output": "none"}
    newer = tfprof.profile(live.ours, live.runs[0], cmd="graph", options=options)

    first = model_analyzer.print_model_analysis(
        live.ours, live.runs[0], tfprof_cmd="graph", tfprof_options=options
    )
    second = tfprof.contrib.model_analyzer.print_model_analysis(
        live.ours, live.runs[0], cmd="graph", options=options
    )

    assert first == second == newer


def test_a_profiler_advises_and_reports_unknown_checkers():
    profiler = tfprof.Profiler(model("devices").ours)
    with redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()) as said:
        advice = profiler.advise({"ExpensiveOperationChecker": {}, "NoSuchChecker": {}})
        nothing = profiler.advise({"NoSuchChecker": {}})

    assert set(advice.checkers) == {"ExpensiveOperationChecker"}
    assert set(nothing.checkers) == set()
    assert "NoSuchChecker" in said.getvalue()


def test_contrib_functions_advise_profile_code_and_write_op_logs(tmp_path):
    live = model("devices")
    with redirect_stdout(io.StringIO()) as printed, redirect_stderr(io.StringIO()):
        advice = model_analyzer.advise(live.ours, live.runs[0])
        profiler = model_analyzer.Profiler(live.ours)
        code = profiler.profile_python_codes({"output": "none"})
    tfprof_logger.write_op_log(live.ours, tmp_path)

    assert set(advice.checkers) == set(model_analyzer.ALL_ADVICE) - {"JobChecker"}
    assert "ExpensiveOperationChecker:" in printed.getvalue()
    assert code.name == "_TFProfRoot"
    assert (tmp_path / "tfprof_log").stat().st_size > 0


def test_an_op_log_may_be_a_tensorflow_message():
    live = model("perceptron")
    log = tensorflow().compat.v1.profiler.OpLogProto()
    log.log_entries.add(name="x", types=["mine"])
    asked = tfprof.ProfileOptionBuilder().with_accounted_types(["mine"]).with_empty_output()

    found = tfprof.profile(live.ours, op_log=log, options=asked.build())

    assert [child.name for child in found.children] == ["x"]
