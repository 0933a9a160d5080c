"""What a finding is made of."""

import pytest

from tfprof.advisor.finding import Evidence, Finding, Gain
from tfprof.units import Unit

EVIDENCE = Evidence.of(
    {"op": None, "time on the host": Unit.MICROS, "runs": Unit.COUNT}, [("a", 1500, 2)]
)


def test_evidence_is_read_in_units_and_kept_in_full():
    assert EVIDENCE.texts() == [["a", "1.50ms", "2"]]
    assert EVIDENCE.to_dicts() == [{"op": "a", "time_on_the_host_micros": 1500, "runs": 2}]


def test_a_gain_says_of_what_it_is_a_part():
    gain = Gain(250, 1000, Unit.BYTES, "of the step")

    assert str(gain) == "at most 250B of 1.00KB of the step (25.00%)"
    assert gain.to_dict() == {
        "at_most": 250,
        "of": 1000,
        "unit": "bytes",
        "what": "of the step",
        "share": 0.25,
    }


def test_a_gain_of_nothing_is_no_division_by_zero():
    assert str(Gain(0, 0, Unit.MICROS, "of the step")).endswith("(0.00%)")
    assert Gain(0, 0, Unit.MICROS, "of the step").to_dict()["share"] == 0.0


def test_a_finding_is_plain_values():
    finding = Finding("So it is.", EVIDENCE, ops=("a",), command=("op", "-step", "2"))

    assert finding.to_dict() == {
        "sentence": "So it is.",
        "evidence": EVIDENCE.to_dicts(),
        "ops": ["a"],
        "gain": None,
        "command": ["op", "-step", "2"],
    }


@pytest.mark.parametrize(
    ("fields", "complaint"),
    [
        ({"sentence": ""}, "texts"),
        ({"sentence": None}, "texts"),
        ({"ops": (1,)}, "texts"),
        ({"command": (None,)}, "texts"),
        ({"evidence": [("a", 1)]}, "an Evidence"),
        ({"gain": 12}, "a Gain, or None"),
    ],
)
def test_a_finding_that_could_not_be_printed_is_refused(fields, complaint):
    with pytest.raises(TypeError, match=complaint):
        Finding(**({"sentence": "So it is.", "evidence": EVIDENCE} | fields))
