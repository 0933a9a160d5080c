"""Planted faults are found in random fleets, and nothing is claimed about clean ones.

`benchmarks/fleet_findings.py` does the same for more and larger fleets.
"""

import fleet_findings
import pytest

FAULTY = ["straggler", "input", "imbalance"]
FAULTLESS = ["clean", "balanced"]


@pytest.mark.parametrize("kind", FAULTY)
def test_a_planted_fault_is_found(kind):
    assert fleet_findings.wrong(kind, range(6), fleet_findings.SMALL) == {}


@pytest.mark.parametrize("kind", FAULTLESS)
def test_nothing_is_claimed_without_a_fault(kind):
    assert fleet_findings.wrong(kind, range(6), fleet_findings.SMALL) == {}


# Some faults are hidden by noise. The fleets are the same each time.


@pytest.mark.random
@pytest.mark.parametrize("kind", FAULTY)
def test_a_planted_fault_is_found_in_49_of_50_fleets(kind):
    assert len(fleet_findings.wrong(kind, range(50), fleet_findings.SMALL)) <= 1


@pytest.mark.random
@pytest.mark.parametrize("kind", FAULTLESS)
def test_nothing_is_claimed_in_49_of_50_fleets_without_a_fault(kind):
    assert len(fleet_findings.wrong(kind, range(50), fleet_findings.SMALL)) <= 1
