"""Findings with their evidence and gain."""

import pytest

from tfprof.advisor.finding import Evidence, Finding, Gain
from tfprof.units import Unit

EVIDENCE = Evidence.of(
    {"op": None, "time on the host": Unit.MICROS, "runs": Unit.COUNT}, [("a", 1500, 2)]
)


def test_evidence_is_printed_with_units_and_exported_in_full():
    assert EVIDENCE.texts() == [["a", "1.50ms", "2"]]
    assert EVIDENCE.to_dicts() == [{"op": "a", "time_on_the_host_micros": 1500, "runs": 2}]


def test_a_gain_names_the_total_it_is_part_of():
    gain = Gain(250, 1000, Unit.BYTES, "of the step")

    assert str(gain) == "at most 250B of 1.00KB of the step (25.00%)"
    assert gain.to_dict() == {
        "at_most": 250,
        "of": 1000,
        "unit": "bytes",
        "what": "of the step",
        "share": 0.25,
    }


def test_a_gain_of_a_total_of_zero_is_zero_percent():
    assert str(Gain(0, 0, Unit.MICROS, "of the step")).endswith("(0.00%)")
    assert Gain(0, 0, Unit.MICROS, "of the step").to_dict()["share"] == 0.0


def test_a_finding_can_be_converted_to_plain_values():
    finding = Finding("It is slow.", EVIDENCE, ops=("a",), command=("op", "-step", "2"))

    assert finding.to_dict() == {
        "sentence": "It is slow.",
        "evidence": EVIDENCE.to_dicts(),
        "ops": ["a"],
        "gain": None,
        "command": ["op", "-step", "2"],
    }


@pytest.mark.parametrize(
    ("fields", "complaint"),
    [
        ({"sentence": ""}, "needs a sentence"),
        ({"sentence": None}, "needs a sentence"),
        ({"ops": (1,)}, "must be strings"),
        ({"command": (None,)}, "must be strings"),
        ({"evidence": [("a", 1)]}, "an Evidence"),
        ({"gain": 12}, "a Gain or None"),
    ],
)
def test_a_finding_that_cannot_be_printed_is_rejected(fields, complaint):
    with pytest.raises(TypeError, match=complaint):
        Finding(**({"sentence": "It is slow.", "evidence": EVIDENCE} | fields))
