"""Names from all versions of the documents, and the first version of `ProfileContext`."""

from __future__ import annotations

import subprocess
import sys
from functools import cache
from operator import attrgetter

import pytest

import tfprof
from classic.live_models import make, needs_tensorflow, tensorflow
from tfprof.contrib import model_analyzer, tfprof_log_pb2, tfprof_logger

model = cache(make)

# Names used in the documented examples, from `tf.contrib.tfprof`, `tf.profiler` and elsewhere.
DOCUMENTED = [
    "contrib.model_analyzer.print_model_analysis",
    "contrib.model_analyzer.TRAINABLE_VARS_PARAMS_STAT_OPTIONS",
    "contrib.model_analyzer.FLOAT_OPS_OPTIONS",
    "contrib.model_analyzer.PRINT_ALL_TIMING_MEMORY",
    "contrib.tfprof_logger.write_op_log",
    "contrib.tfprof_log_pb2.OpLog",
    "profile",
    "ProfileOptionBuilder.trainable_variables_parameter",
    "ProfileOptionBuilder.float_operation",
    "MetadataCaptureHook",
]


@pytest.mark.parametrize("name", DOCUMENTED)
def test_every_name_in_the_documented_examples_exists(name):
    assert attrgetter(name)(tfprof) is not None


def test_importing_contrib_does_not_import_tensorflow():
    script = "import sys, tfprof.contrib; assert 'tensorflow' not in sys.modules"

    subprocess.run([sys.executable, "-c", script], check=True)


@pytest.mark.parametrize(
    "name", ["contrib.ProfileContext", "contrib.model_analyzer.ProfileContext"]
)
def test_the_older_names_of_profile_context_are_the_same_class(name):
    assert attrgetter(name)(tfprof) is tfprof.ProfileContext


@pytest.mark.live
@needs_tensorflow
def test_the_op_log_of_the_readme_gives_ops_a_type(tmp_path):
    live = model("perceptron")
    op_log = tfprof_log_pb2.OpLog()
    entry = op_log.log_entries.add()
    entry.name = "layer/w"
    entry.types.append("weights")
    (tmp_path / "graph.pb").write_bytes(live.ours.as_graph_def().SerializeToString())

    tfprof_logger.write_op_log(live.ours, tmp_path, op_log, live.runs[0])

    profile = tfprof.load(tmp_path / "graph.pb", tmp_path / "tfprof_log")
    view = profile.scope(select=["params"], account_type_regexes=["weights"])
    assert view["_TFProfRoot"]["total_params"] == view["layer/w"]["params"] == 24


@pytest.mark.live
@needs_tensorflow
def test_the_documented_code_view_of_time_works_with_a_copied_preset(capsys):
    live = model("perceptron")
    opts = model_analyzer.TRAINABLE_VARS_PARAMS_STAT_OPTIONS.copy()
    opts["account_type_regexes"] = [".*"]
    opts["show_name_regexes"] = [".*live_models.py.*"]
    opts["account_displayed_op_only"] = False
    opts["select"] = ["micros"]

    node = model_analyzer.print_model_analysis(live.ours, live.runs[0], cmd="code", options=opts)

    assert node.total_exec_micros == sum(child.total_exec_micros for child in node.children)
    assert {child.name.partition(":")[0] for child in node.children} == {"live_models.py"}
    assert "live_models.py:" in capsys.readouterr().out


# Contexts.


@pytest.fixture
def session():
    """A session, and a matrix product to fetch."""
    v1 = tensorflow().compat.v1
    with tensorflow().Graph().as_default() as graph:
        drawn = tensorflow().random.normal([2, 3])  # TensorFlow folds constants
        product = tensorflow().matmul(drawn, tensorflow().ones([3, 2]))
        with v1.Session(graph=graph) as opened:
            yield opened, product


@pytest.mark.live
@needs_tensorflow
def test_sessions_expose_the_context_while_it_is_active(session, tmp_path):
    opened, product = session
    with tfprof.ProfileContext(tmp_path, trace_steps=[], dump_steps=[]) as context:
        assert opened.profile_context is context

        opened.profile_context.trace_next_step()
        opened.run(product)

    assert not hasattr(opened, "profile_context")
    assert context.profiler.loaded.steps == [0]


@pytest.mark.live
@needs_tensorflow
def test_sessions_have_no_context_after_an_error(session, tmp_path):
    opened, _ = session
    with pytest.raises(ZeroDivisionError), tfprof.ProfileContext(tmp_path):
        _ = 1 / 0

    assert not hasattr(opened, "profile_context")


@pytest.mark.live
@needs_tensorflow
def test_an_attribute_left_behind_by_another_context_is_restored(session, tmp_path, monkeypatch):
    opened, product = session
    base = type(opened).__mro__[1]
    monkeypatch.setattr(base, "profile_context", None, raising=False)

    with tfprof.ProfileContext(tmp_path):
        opened.run(product)

    assert opened.profile_context is None


@pytest.mark.live
@needs_tensorflow
def test_a_context_inside_a_foreign_context_raises_an_error(session, tmp_path, monkeypatch):
    opened, _ = session
    monkeypatch.setattr(type(opened).__mro__[1], "profile_context", object(), raising=False)

    error = tensorflow().errors.InternalError
    with pytest.raises(error, match="Already in context"), tfprof.ProfileContext(tmp_path):
        pass


@pytest.mark.live
@needs_tensorflow
def test_a_context_without_a_folder_traces_only_on_request(session):
    opened, product = session
    with tfprof.contrib.ProfileContext() as context:
        for _ in range(15):
            opened.run(product)
        context.trace_next_step()
        opened.run(product)

    assert context.profiler.loaded.steps == [15]


@pytest.mark.live
@needs_tensorflow
def test_run_metadata_is_captured_on_request_and_kept_until_the_next_run(session):
    opened, product = session
    with tfprof.ProfileContext() as context:
        opened.run(product)
        context.capture_next_run_meta()
        opened.run(product)
        run_meta = context.run_meta()
        opened.run(product)

        with pytest.raises(ValueError, match="call capture_next_run_meta"):
            context.run_meta()
    assert {run.node_name for run in run_meta.step_stats.dev_stats[0].node_stats} >= {"MatMul"}


@pytest.mark.live
@needs_tensorflow
def test_run_metadata_is_captured_beyond_the_limit_of_traced_steps(session):
    opened, product = session
    with tfprof.ProfileContext() as context:
        for _ in range(103):
            context.capture_next_run_meta()
            opened.run(product)

        assert context.run_meta().HasField("step_stats")
    assert context.profiler.loaded.steps == list(range(101))


@pytest.mark.live
@needs_tensorflow
def test_the_files_of_the_requested_steps_are_dumped_to_a_folder(session, tmp_path):
    opened, product = session
    folder, seen = tmp_path / "deep" / "profile", []
    with tfprof.ProfileContext() as context:
        context.add_auto_profile_dump(folder, [1, 3])
        for _ in range(3):
            opened.run(product)
            seen.append(folder.exists())

    names = ["graph.pbtxt", "run_metadata", "tfprof_log"]
    assert seen == [False, True, True]
    assert sorted(path.name for path in folder.iterdir()) == names
    profile = tfprof.load(*(folder / name for name in names))
    assert profile.scope(select=["float_ops"])["MatMul"]["float_ops"] == 2 * 2 * 3 * 2
    assert profile.columns.has_code
    assert len(profile.steps) == 1


def test_a_dump_without_a_folder_raises_an_error():
    with pytest.raises(ValueError, match="needs a folder"):
        tfprof.ProfileContext(dump_steps=[3])
    with pytest.raises(ValueError, match="needs a folder"):
        tfprof.ProfileContext().dump_next_step()


def test_older_methods_of_a_disabled_context_do_nothing():
    with tfprof.ProfileContext(enabled=False) as context:
        context.capture_next_run_meta()
        context.add_auto_profile_dump("nowhere", [0])

        with pytest.raises(ValueError, match="No RunMetadata"):
            context.run_meta()
