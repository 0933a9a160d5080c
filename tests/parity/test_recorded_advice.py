"""The advice that TensorFlow 2.21's profiler gave on recorded models, and that tfprof gives again.

`record_advice.py` asked for it; TensorFlow is not needed here.
"""

from __future__ import annotations

import json

import pytest

import tfprof
from parity.record_advice import ADVICE, HERE, files
from tfprof.advisor.registry import CLASSIC

RECORDED = json.loads(ADVICE.read_text("utf-8"))


@pytest.fixture(scope="module", params=RECORDED)
def model(request):
    return request.param


@pytest.fixture(scope="module")
def profile(model):
    return tfprof.load(**files(HERE / "recorded" / model), count_float_ops=False)


@pytest.mark.parametrize("name", CLASSIC)
def test_recorded_advice_is_given_again(name, model, profile):
    reports = profile.advise([name]).to_message().checkers[name].reports

    assert list(reports) == RECORDED[model][name]


def test_every_command_of_a_finding_shows_something(profile):
    from tfprof.cli.command_line import parse  # noqa: PLC0415 -- not what is tested here

    for finding in profile.advise():
        view, *options = finding.command
        answer = profile.view(view, parse([view, *options]).view_options())

        assert len(answer) > 1 or not finding.evidence.rows, finding.command


def test_no_more_can_be_won_than_there_is(profile):
    for finding in profile.advise():
        assert finding.gain is None or 0 <= finding.gain.amount <= finding.gain.of
