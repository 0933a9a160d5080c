"""What holds for the advice on any profile."""

from __future__ import annotations

from hypothesis import given, settings

from build import copy, profile
from profile_strategies import STEPS, facts
from tfprof.api import LoadedProfile
from tfprof.cli.commands import parse

COPIES = [copy("edge_1_a", 500, step, start=5000) for step in STEPS]


@settings(max_examples=40, deadline=None)
@given(facts())
def test_a_finding_wins_no_more_than_there_is_and_its_command_can_be_carried_out(found):
    loaded = LoadedProfile(profile(*found, *COPIES))
    advice = loaded.advise()

    assert len(advice["DeviceCopyChecker"]) == 1
    for finding in advice:
        view, *options = finding.command
        assert len(loaded.view(view, parse([view, *options]).options))
        assert finding.gain is None or 0 <= finding.gain.amount <= finding.gain.of
