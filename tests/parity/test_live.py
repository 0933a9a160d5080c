"""tfprof and TensorFlow's own profiler give the same answers to random questions.

The tests are skipped if TensorFlow is not installed. To ask more questions per test:

    TFPROF_PARITY_EXAMPLES=2000 python -m pytest tests/parity/test_live.py
"""

from __future__ import annotations

import os
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import tfprof
from floors import checked, floor
from parity.original import IS_INSTALLED, Crashed, Inputs, Original, Reply
from parity.strategies import Case, GraphDef, OpLogProto, RunMetadata, cases, mostly
from tfprof.api import Profile
from tfprof.formats.messages import Message

pytestmark = [
    pytest.mark.live,
    pytest.mark.skipif(not IS_INSTALLED, reason="TensorFlow is not installed"),
]

VIEWS = ("scope", "graph", "code", "op")

DEFAULTS = {
    "max_depth": 10,
    "account_type_regexes": [".*"],
    "start_name_regexes": [".*"],
    "show_name_regexes": [".*"],
    "select": ["params", "micros"],
}


def questions(examples: int) -> settings:
    """Settings to ask `examples` questions, or as many as the environment variable says."""
    return settings(
        max_examples=int(os.environ.get("TFPROF_PARITY_EXAMPLES", examples)),
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
    )


@floor(0.5)  # measured: 0.9
@pytest.mark.parametrize("view", VIEWS)
@questions(150)
@given(data=st.data())
def test_tables_and_messages_match_the_original(view, data, original, folder):
    case = data.draw(cases(view))
    answer = tfprof_answer(case, folder)
    reply = original_reply(original, case.inputs, case)

    checked(answer is not None and reply is not None)
    if reply is None:
        return  # it crashed, so only tfprof's answer or refusal is checked
    assert (answer and answer.table) == reply.table
    if answer:
        assert answer.message == type(answer.message).FromString(reply.message)


@floor(0.4)  # measured: 0.7
@pytest.mark.parametrize("view", ["scope", "graph", "code"])
@questions(150)
@given(data=st.data())
def test_timelines_match_the_original(view, data, original, folder):
    # A timeline is of a step.
    case = data.draw(mostly(cases(view, min_steps=1), cases(view)))
    written = tfprof_timelines(case, folder)
    try:
        wanted = original.timelines(case.inputs, case.view, case.options)
    except Crashed:
        checked(False)
        return  # only tfprof's answer or refusal is checked

    checked(bool(written))
    # tfprof refuses if there is no step or nothing to write.
    assert written == wanted or (written is None and not (wanted and case.run_meta))


savable_cases = st.sampled_from(VIEWS).flatmap(lambda view: cases(view, can_be_saved=True))


@floor(0.5)  # measured: 1.0
@questions(120)
@given(case=savable_cases)
def test_tfprof_reads_a_profile_that_the_original_saved(case, original, folder):
    saved = _write(folder / "profile", original.save(case.inputs))
    from_files = tfprof_answer(case, folder)
    from_saved = ask(tfprof.load(profile_path=saved, count_float_ops=False), case)

    checked(from_files is not None)
    assert from_saved == from_files


@floor(0.5)  # measured: 1.0
@questions(120)
@given(case=savable_cases)
def test_the_original_reads_a_profile_that_tfprof_saved(case, original, folder):
    profile = tfprof.load(**written(case.inputs, folder), count_float_ops=False)
    profile.save(folder / "profile", "profile_proto")
    saved = Inputs(saved=(folder / "profile").read_bytes())
    from_files = original_reply(original, case.inputs, case)
    from_saved = original_reply(original, saved, case)

    checked(bool(from_files and from_files.table))
    assert (from_saved and from_saved.table) == (from_files and from_files.table)


def one_op(name: str = "a") -> Case:
    """A single op, created by one line of code and run once."""
    graph, run, log = GraphDef(), RunMetadata(), OpLogProto(id_to_string={1: "model.py", 2: "f"})
    graph.node.add(name=name, op="MatMul")
    device = run.step_stats.dev_stats.add(device="/cpu:0")
    device.node_stats.add(node_name=name, all_start_micros=1, op_end_rel_micros=7)
    log.log_entries.add(name=name).code_def.traces.add(file_id=1, lineno=3, function_id=2)
    return Case(graph, {0: run}, log, "code", DEFAULTS)


def without_traces() -> Case:
    case = one_op()
    del case.op_log.log_entries[0].code_def.traces[:]
    return case


def without_strings() -> Case:
    case = one_op()
    case.op_log.id_to_string.clear()
    return case


def with_empty_run_metadata() -> Case:
    case = one_op()
    case.run_meta[0].Clear()
    return case


@pytest.mark.parametrize(
    "case",
    [
        pytest.param(one_op().asking("code", max_depth=0), id="a code view without depth"),
        pytest.param(one_op().asking("code", trim_name_regexes=[".*"]), id="a trimmed code root"),
        pytest.param(one_op("_TFProfRoot").asking("scope"), id="an op with the root's name"),
        pytest.param(without_traces(), id="a log of empty stacks"),
        pytest.param(without_strings(), id="a log without its strings"),
        pytest.param(with_empty_run_metadata(), id="an empty step"),
    ],
)
def test_where_the_original_crashes_tfprof_answers_or_refuses(case, original, folder):
    with pytest.raises(Crashed):
        original.ask(case.inputs, case.view, case.options)

    answer = tfprof_answer(case, folder)
    assert answer is None or answer.table.startswith("node name | ")


@pytest.mark.parametrize(
    "options",
    [{"order_by": "depth"}, {"select": ["nothing"]}, {"show_name_regexes": ["a("]}],
    ids=["an unknown order", "an unknown metric", "a broken regex"],
)
def test_a_mistake_that_the_original_ignores_is_refused(options, original, folder):
    case = one_op().asking("scope", **options)

    assert original.ask(case.inputs, case.view, case.options).table
    assert tfprof_answer(case, folder) is None


@pytest.mark.parametrize(
    "case",
    [
        pytest.param(one_op().asking("scope", step=77), id="a step that was not recorded"),
        pytest.param(replace(one_op(), op_log=None), id="a code view without code"),
    ],
)
def test_a_question_that_the_original_does_not_answer_is_refused(case, original, folder):
    assert original.ask(case.inputs, case.view, case.options).table is None
    assert tfprof_answer(case, folder) is None


class Answer(NamedTuple):
    """An answer of tfprof."""

    table: str
    message: Message


def original_reply(original: Original, inputs: Inputs, case: Case) -> Reply | None:
    """The original's answer to the question of a case; None if it crashes."""
    try:
        return original.ask(inputs, case.view, case.options)
    except Crashed:
        return None


def tfprof_answer(case: Case, folder: Path) -> Answer | None:
    """tfprof's answer; None if it refuses. Any other exception fails the test."""
    try:
        return ask(tfprof.load(**written(case.inputs, folder), count_float_ops=False), case)
    except tfprof.TfprofError:
        return None


def tfprof_timelines(case: Case, folder: Path) -> dict[str, bytes] | None:
    """The timelines that tfprof writes, by name; None if it refuses."""
    target = folder / "timelines"
    shutil.rmtree(target, ignore_errors=True)
    target.mkdir()
    try:
        profile = tfprof.load(**written(case.inputs, folder), count_float_ops=False)
        getattr(profile, case.view)(**case.options).write(f"timeline:outfile={target / 'report'}")
    except tfprof.TfprofError:
        return None
    return {path.name: path.read_bytes() for path in target.iterdir()}


def ask(profile: Profile, case: Case) -> Answer | None:
    """The answer of `profile` to the question of a case; None if it refuses."""
    try:
        answer = getattr(profile, case.view)(**case.options)
    except tfprof.TfprofError:
        return None
    return Answer(answer.table, answer.to_message())


def written(inputs: Inputs, folder: Path) -> dict[str, Any]:
    """The files of a case, as keywords for `tfprof.load`."""
    found = {}
    if inputs.graph:
        found["graph_path"] = _write(folder / "graph", inputs.graph)
    if inputs.op_log:
        found["op_log_path"] = _write(folder / "op_log", inputs.op_log)
    if inputs.run_meta:
        found["run_meta_path"] = {
            step: _write(folder / f"run_meta_{step}", data)
            for step, data in inputs.run_meta.items()
        }
    return found


def _write(path: Path, data: bytes) -> Path:
    path.write_bytes(data)
    return path
