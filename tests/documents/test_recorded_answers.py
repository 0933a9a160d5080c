"""The README says how many recorded answers of the original the tests compare."""

from __future__ import annotations

import re
from collections import Counter
from functools import cache
from pathlib import Path

import pytest

from parity.test_recorded import MODELS, all_cases

README = (Path(__file__).parents[2] / "README.md").read_text("utf-8")


@cache
def recorded() -> Counter[str]:
    """The number of recorded answers of each kind, over all models."""
    found = Counter(case["want"] for model in MODELS for case in all_cases(model))
    for name in ("timelines", "pprof"):
        found[name] = sum(len(all_cases(model, name)) for model in MODELS)
    return found


def stated(words: str) -> int:
    """The number before these words in the README."""
    return int(re.search(rf"([\d,]+) {words}", README)[1].replace(",", ""))


def test_the_readme_states_the_number_of_recorded_answers():
    assert stated("recorded answers") == recorded().total()


@pytest.mark.parametrize(
    ("words", "kinds"),
    [
        ("tables and messages", ("table", "message")),
        ("timelines", ("timelines",)),
        ("pprof files", ("pprof",)),
        ("questions that the original could not answer", ("refusal",)),
        ("that crashed it", ("survive",)),
    ],
)
def test_the_readme_states_the_number_of_recorded_answers_of_each_kind(words, kinds):
    assert stated(words) == sum(recorded()[kind] for kind in kinds)
