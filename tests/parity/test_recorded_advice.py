"""tfprof reproduces the recorded advice of TensorFlow 2.21's profiler.

`record_advice.py` recorded it. TensorFlow is not needed.
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
def test_recorded_advice_is_reproduced(name, model, profile):
    reports = profile.advise([name]).to_message().checkers[name].reports

    assert list(reports) == RECORDED[model][name]


def test_the_command_of_every_finding_shows_rows(profile):
    from tfprof.cli.command_line import parse  # noqa: PLC0415 -- not what is tested here

    for finding in profile.advise():
        view, *options = finding.command
        answer = profile.view(view, parse([view, *options]).view_options())

        assert len(answer) > 1 or not finding.evidence.rows, finding.command


def test_the_gain_of_a_finding_is_within_bounds(profile):
    for finding in profile.advise():
        assert finding.gain is None or 0 <= finding.gain.amount <= finding.gain.of
