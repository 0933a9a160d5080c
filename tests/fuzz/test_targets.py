"""Every fuzz target answers or refuses its seeds, kept findings and hostile models.

The gate has the kept findings and a few of the hostile models.
"""

import warnings
from itertools import islice
from pathlib import Path

import pytest

from fuzz import contract
from fuzz.contract import Memory, refused_or_answered
from fuzz.hostile import from_seed
from fuzz.questions import ask_each, profile_of
from fuzz.targets import TARGETS
from tfprof.errors import TfprofError
from tfprof.sources.source import Reading

FINDINGS = Path(__file__).with_name("findings")
KEPT = sorted(path for path in FINDINGS.glob("*/*") if path.is_file())
MOST_SEEDS = 15
MODELS = 200
AT_ONCE = 10


@pytest.mark.random
@pytest.mark.parametrize("name", TARGETS)
def test_a_target_answers_or_refuses_its_seeds(name):
    target = TARGETS[name]
    answered = [
        refused_or_answered(target.run, seed) for seed in islice(target.seeds(), MOST_SEEDS)
    ]

    assert any(answered)


@pytest.mark.random
@pytest.mark.parametrize("name", TARGETS)
def test_the_seeds_of_a_target_are_short(name):
    target = TARGETS[name]

    assert all(len(seed) <= target.longest for seed in target.seeds())


@pytest.mark.parametrize("path", KEPT, ids=[f"{path.parent.name}-{path.name}" for path in KEPT])
def test_a_finding_stays_fixed(path):
    refused_or_answered(TARGETS[path.parent.name].run, path.read_bytes())


@pytest.mark.parametrize(
    "first",
    [pytest.param(at, marks=pytest.mark.random if at else ()) for at in range(0, MODELS, AT_ONCE)],
)
def test_every_question_about_a_hostile_model_is_answered_or_refused(first):
    answered = 0
    for seed in range(first, first + AT_ONCE):
        try:
            profile = profile_of(from_seed(seed), Reading(functions=seed % 3 == 0))
        except TfprofError:
            continue
        ask_each(profile, seed)
        answered += 1

    assert answered > AT_ONCE // 3


def test_a_target_that_takes_too_much_memory_is_a_finding(monkeypatch):
    peaks = iter([1000 << 20, 1200 << 20, 1600 << 20])  # those of this process are not reset
    monkeypatch.setattr(contract, "_peak", lambda: next(peaks))
    memory = Memory()
    memory.check(0)

    with pytest.raises(AssertionError, match="grew by 419,430,400 bytes"):
        memory.check(0)


def test_a_warning_is_a_finding():
    def run(_):
        warnings.warn("overflow", RuntimeWarning, stacklevel=1)

    with pytest.raises(RuntimeWarning):
        refused_or_answered(run, b"")
