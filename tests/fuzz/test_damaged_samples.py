"""A damaged sample gives an answer that agrees with protobuf, or an error of one line."""

from collections import Counter

import pytest

from fuzz import damage

pytestmark = pytest.mark.random

SAMPLES = damage.samples()
CUTS = CHANGES = 12


@pytest.mark.parametrize("name", SAMPLES)
def test_a_sample_that_is_cut_or_changed_is_answered_correctly_or_refused(name):
    sample = SAMPLES[name]
    files = damage.Files(sample)
    damaged = (*damage.cuts(sample, CUTS), *damage.changes(sample, CHANGES, seed=1))
    found = Counter(files.check(data, number) for number, data in enumerate(damaged))

    assert (
        found["refused"] or found["partly answered"] or "data-" in name
    )  # values are read on demand


@pytest.mark.parametrize("name", SAMPLES)
def test_an_undamaged_sample_is_answered(name):
    sample = SAMPLES[name]

    assert damage.Files(sample).check(sample.content, 0) == "answered"
