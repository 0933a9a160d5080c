"""Properties of the advice on any profile."""

from __future__ import annotations

import json

import pytest
from hypothesis import HealthCheck, assume, given, settings

import tfprof
from build import copy, profile
from parity.strategies import cases
from parity.test_live import written
from profile_strategies import STEPS, facts
from tfprof.api import Profile
from tfprof.cli.command_line import parse

COPIES = [copy("edge_1_a", 500, step, start=5000) for step in STEPS]


@settings(max_examples=40)
@given(facts())
def test_the_gain_of_a_finding_is_within_bounds_and_its_command_runs(found):
    loaded = Profile(profile(*found, *COPIES))
    advice = loaded.advise()

    assert len(advice["DeviceCopyChecker"]) == 1
    for finding in advice:
        view, *options = finding.command
        assert len(loaded.view(view, parse([view, *options]).view_options()))
        assert finding.gain is None or 0 <= finding.gain.amount <= finding.gain.of


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("inputs")


@settings(max_examples=30, suppress_health_check=list(HealthCheck))
@given(case=cases("code"))
def test_odd_files_get_advice_in_every_form(case, folder):
    loaded = tfprof.load(**written(case.inputs, folder))
    advice = loaded.advise()

    assert json.loads(json.dumps(advice.to_dict()))["checkers"]
    assert len(advice.to_message().SerializeToString()) > 0
    assert advice.text(colour=True)
    for finding in advice:
        view, *options = finding.command
        assert len(loaded.view(view, parse([view, *options]).view_options()))
    assume(list(advice))  # an example without a finding does not count
