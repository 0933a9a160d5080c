"""tfprof gives the same advice on random models as TensorFlow's own profiler, word for word.

The tests are skipped if TensorFlow is not installed.
"""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

import tfprof
from floors import checked, floor
from parity.original import IS_INSTALLED, Crashed
from parity.strategies import cases
from parity.test_live import questions, written
from tfprof.advisor.registry import CLASSIC

pytestmark = [
    pytest.mark.live,
    pytest.mark.skipif(not IS_INSTALLED, reason="TensorFlow is not installed"),
]

FORMATS = ("none", "none", "NHWC", "NCHW", "a number")
NORMALS = ("none", "BatchNorm", "x/BatchNorm_1/mul", "FusedBatchNorm", "batchnorm")
TYPES = ("none", "none", "FusedBatchNorm", "FusedBatchNormV2")


@st.composite
def advised(draw):
    """A case with what the checkers look for: data formats, and batch normalisation."""
    case = draw(st.sampled_from(("code", "scope")).flatmap(cases))
    name = draw(st.sampled_from(NORMALS))
    if name != "none":
        case.graph.node.add(name=name, op=draw(st.sampled_from(("Mul", "FusedBatchNorm"))))
    for node in case.graph.node:
        data_format = draw(st.sampled_from(FORMATS))
        if data_format == "a number":
            node.attr["data_format"].i = 3
        elif data_format != "none":
            node.attr["data_format"].s = data_format.encode()
    kind = draw(st.sampled_from(TYPES))
    if kind != "none" and case.op_log is not None and case.op_log.log_entries:
        case.op_log.log_entries[0].types.append(kind)
    return case


def as_printed(name, reports):
    """The text that the original prints for one checker."""
    return f"\n{name}:\n" + "".join(f"{report}\n" for report in reports)


@floor(0.25)  # measured: 0.55
@questions(250)
@given(case=advised())
def test_the_reports_of_the_classic_checkers_match_the_original(case, original, folder):
    profile = tfprof.load(**written(case.inputs, folder), count_float_ops=False)
    advice = profile.advise(list(CLASSIC))
    message = advice.to_message()
    try:
        printed, answer = original.advise(case.inputs, list(CLASSIC))
    except Crashed:
        checked(False)
        return  # only tfprof's answer is checked
    theirs = type(message).FromString(answer)
    checked(any(theirs.checkers[name].reports for name in CLASSIC))

    assert message == theirs
    # The original prints its checkers in the order of a hash map.
    blocks = [as_printed(name, theirs.checkers[name].reports) for name in CLASSIC]
    assert advice.text() == "".join(blocks)
    assert len(printed) == len(advice.text())
    assert all(block in printed for block in blocks)


@floor(0.5)  # measured: 0.95
@pytest.mark.parametrize("name", CLASSIC)
@questions(20)
@given(case=advised())
def test_the_reports_of_a_single_checker_match_the_original(name, case, original, folder):
    profile = tfprof.load(**written(case.inputs, folder), count_float_ops=False)
    message = profile.advise([name]).to_message()
    try:
        answer = original.advise(case.inputs, [name])[1]
    except Crashed:
        checked(False)
        return
    checked()
    assert message == type(message).FromString(answer)


@questions(20)
@given(case=advised())
def test_the_empty_job_checker_reports_nothing(case, original, folder):
    profile = tfprof.load(**written(case.inputs, folder), count_float_ops=False)

    assert profile.advise(["JobChecker"]).text() == ""
    assert original.advise(case.inputs, ["JobChecker"])[0] == ""
