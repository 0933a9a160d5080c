"""A live program gets the same results from tfprof as from TensorFlow's own profiler."""

from __future__ import annotations

import gzip
import io
import re
from contextlib import redirect_stderr, redirect_stdout
from functools import cache

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

import tfprof
from classic.live_models import MODELS, build, make, needs_tensorflow, run_original, tensorflow
from classic.live_questions import options
from live_programs import only_own_warnings

pytestmark = [pytest.mark.live, needs_tensorflow, only_own_warnings]

model = cache(make)
# The first example loads TensorFlow and builds the model.
several_examples = settings(
    max_examples=20,
    suppress_health_check=list(HealthCheck),
    phases=[Phase.explicit, Phase.reuse, Phase.generate],  # shrinking would not help
)
VIEWS = ("scope", "graph", "code", "op")
METHODS = {
    "scope": "profile_name_scope",
    "graph": "profile_graph",
    "code": "profile_python",
    "op": "profile_operations",
}


def run_tfprof(call):
    """The result of a call to tfprof, and what it prints."""
    out = io.StringIO()
    with redirect_stdout(out), redirect_stderr(io.StringIO()):
        return call(), out.getvalue()


def without_prose(text):
    """The frame and the table, without the explanations, which differ from the original's."""
    return re.sub(r"(={22}\n)[^=]*\n?Doc:\n.*?\n\nProfile:\n", r"\1", text, flags=re.DOTALL)


def as_ours(message):
    """A message of TensorFlow's as one of tfprof's classes."""
    return getattr(tfprof, type(message).__name__).FromString(message.SerializeToString())


def assert_same(ours, theirs):
    result, out = ours

    assert without_prose(out) == without_prose(theirs.out)
    assert result == as_ours(theirs.result)


def original():
    return tensorflow().compat.v1.profiler


def log_of(live):
    """A user's log of some ops, in both message classes."""
    log = tfprof.OpLogProto()
    for name in live.names[::3]:
        log.log_entries.add(name=name, types=["mine"], float_ops=len(name) % 2 * 1000)
    return log, original().OpLogProto.FromString(log.SerializeToString())


@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("name", MODELS)
@several_examples
@given(st.data())
def test_a_profile_of_one_run_equals_the_original_one(name, view, data):
    live = model(name)
    asked = data.draw(options(view, live.names))
    run = data.draw(st.sampled_from([None, *live.runs[:1]]))
    log, their_log = data.draw(st.sampled_from([(None, None), log_of(live)]))
    graph = live.theirs if run is not None else live.theirs_without_run

    assert_same(
        run_tfprof(lambda: tfprof.profile(live.ours, run, log, view, asked)),
        run_original(lambda: original().profile(graph, run, their_log, view, asked)),
    )


@pytest.mark.parametrize("name", [name for name in MODELS if name != "function_graph"])
@settings(several_examples, max_examples=8)
@given(st.data())
def test_a_profiler_of_several_steps_gives_the_same_answers_as_the_original(name, data):
    live = model(name)
    steps = [3, 3, 5][: data.draw(st.integers(0, 3))]
    log, their_log = data.draw(st.sampled_from([(None, None), log_of(live)]))
    profilers = (
        run_tfprof(lambda: tfprof.Profiler(live.ours, log))[0],
        run_original(lambda: original().Profiler(build(name)[0], their_log)).result,
    )
    for step, run in zip(steps, [*live.runs, live.runs[0]], strict=False):
        run_tfprof(lambda step=step, run=run: profilers[0].add_step(step, run))
        run_original(lambda step=step, run=run: profilers[1].add_step(step, run))
    for view in VIEWS:
        asked = data.draw(options(view, live.names, steps=(-1, *steps)))

        assert_same(
            run_tfprof(lambda view=view, asked=asked: getattr(profilers[0], METHODS[view])(asked)),
            run_original(
                lambda view=view, asked=asked: getattr(profilers[1], METHODS[view])(asked)
            ),
        )
    assert profilers[0]._coverage == pytest.approx(profilers[1]._coverage)


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("has_run", [True, False])
@pytest.mark.parametrize("add_trace", [True, False])
@pytest.mark.parametrize("has_log", [True, False])
def test_an_op_log_equals_the_original_one(name, has_run, add_trace, has_log, tmp_path):
    live = model(name)
    run = live.runs[0] if has_run and live.runs else None
    logs = log_of(live) if has_log else (None, None)
    theirs = live.theirs if run is not None else live.theirs_without_run

    run_tfprof(lambda: tfprof.write_op_log(live.ours, tmp_path, logs[0], run, add_trace))
    ours = (tmp_path / "tfprof_log").read_bytes()
    run_original(lambda: original().write_op_log(theirs, str(tmp_path), logs[1], run, add_trace))

    written = (tmp_path / "tfprof_log").read_bytes()
    assert tfprof.OpLogProto.FromString(ours) == tfprof.OpLogProto.FromString(written)


@pytest.mark.parametrize("name", MODELS)
def test_advice_equals_that_of_the_original(name):
    live = model(name)
    run = live.runs[0] if live.runs else None
    theirs = live.theirs if run is not None else live.theirs_without_run

    ours, printed = run_tfprof(lambda: tfprof.advise(live.ours, run))
    advised = run_original(lambda: original().advise(theirs, run))

    assert ours == as_ours(advised.result)
    # The original's checkers report in the order of a hash map.
    assert sorted(printed.splitlines()) == sorted(advised.out.splitlines())


# The original writes no pprof files of the scope and graph views.
@pytest.mark.parametrize(
    ("output", "view"),
    [
        *((output, view) for output in ("file", "timeline", "none") for view in VIEWS),
        *(("pprof", view) for view in ("code", "op")),
    ],
)
@pytest.mark.parametrize("name", ["perceptron", "devices", "accelerated"])
@pytest.mark.parametrize("step", [-1, 0])
def test_files_equal_those_of_the_original(name, output, view, step, tmp_path):
    live = model(name)
    folders = [tmp_path / "ours", tmp_path / "theirs"]
    for folder in folders:
        folder.mkdir()
    kind = output if output == "none" else f"{output}:outfile={{}}/file"
    asked = tfprof.ProfileOptionBuilder().with_step(step).build()

    ours = run_tfprof(
        lambda: tfprof.profile(
            live.ours, live.runs[0], cmd=view, options=asked | {"output": kind.format(folders[0])}
        )
    )
    theirs = run_original(
        lambda: original().profile(
            live.theirs, live.runs[0], cmd=view, options=asked | {"output": kind.format(folders[1])}
        )
    )

    assert ours[0] == as_ours(theirs.result)
    assert ours[1] == theirs.out.replace(str(folders[1]), str(folders[0]))
    assert contents(folders[0]) == contents(folders[1])


def contents(folder):
    """The files of a folder: tables without explanations, compressed files decompressed."""
    found = {path.name: path.read_bytes() for path in folder.iterdir()}
    return {
        name: gzip.decompress(data)
        if data.startswith(b"\x1f\x8b")
        else data.partition(b"\nProfile:\n")[2] or data
        for name, data in found.items()
    }


@pytest.mark.parametrize("name", [name for name in MODELS if name != "function_graph"])
def test_a_saved_profiler_gives_the_same_tables_as_one_saved_by_the_original(name, tmp_path):
    live = model(name)
    profiler, _ = run_tfprof(lambda: tfprof.Profiler(live.ours))
    theirs = run_original(lambda: original().Profiler(build(name)[0])).result
    for step, run in enumerate(live.runs):
        profiler.add_step(step, run)
        run_original(lambda step=step, run=run: theirs.add_step(step, run))

    profiler._write_profile(tmp_path / "profile")
    ours = tfprof.load(tmp_path / "profile")
    (tmp_path / "theirs").write_bytes(run_original(theirs.serialize_to_string).result)

    for view in VIEWS:
        asked = {"select": ["bytes", "micros", "params", "float_ops"], "max_depth": 50}
        their_table = getattr(tfprof.load(tmp_path / "theirs"), view)(**asked).table
        assert getattr(ours, view)(**asked).table == their_table
    assert (tmp_path / "profile").read_bytes() == profiler.serialize_to_string()
