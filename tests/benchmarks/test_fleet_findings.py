"""Planted faults are found in random fleets, and nothing is claimed about clean ones.

`benchmarks/fleet_findings.py` does the same for more and larger fleets.
"""

import fleet_findings
import pytest

FLEETS = range(50)


@pytest.mark.parametrize("kind", ["straggler", "input", "imbalance"])
def test_a_planted_fault_is_found_in_49_of_50_fleets(kind):
    assert len(fleet_findings.wrong(kind, FLEETS, fleet_findings.SMALL)) <= 1


@pytest.mark.parametrize("kind", ["clean", "balanced"])
def test_nothing_is_claimed_in_49_of_50_fleets_without_a_fault(kind):
    assert len(fleet_findings.wrong(kind, FLEETS, fleet_findings.SMALL)) <= 1
