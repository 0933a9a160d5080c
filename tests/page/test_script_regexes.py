"""The page matches regexes as RE2 does, or refuses them with the same words."""

from __future__ import annotations

import pytest
import re2
from hypothesis import given, reject, settings
from hypothesis import strategies as st

from page_script import ScriptError, ask, needs_node
from test_patterns import LITERALS, MATCHES, PATTERNS, REFUSALS, TEXTS
from tfprof.errors import OptionError
from tfprof.patterns import Patterns
from tfprof.regex_advice import ADVICE

pytestmark = needs_node

ODD = st.text("ab(|)[^]{}*+?.\\-:12Qdpi<>=!PL$éx0EZUs_#\n", max_size=14)
# RE2 matches single bytes, and accepts larger patterns.
ONLY_RE2 = (r"\C", r"\pL{1000}")


def matched(pattern, texts):
    """Which of the texts match in the page, or the message of its error."""
    try:
        return ask("match", patterns=pattern, texts=texts, advice=ADVICE)["flags"]
    except ScriptError as error:
        if error.kind != "InvalidPattern":
            raise
        return str(error)


def matched_by_re2(pattern, texts):
    try:
        return Patterns([pattern]).match_column(texts).astype(int).tolist()
    except OptionError as error:
        return str(error)


def is_shared(pattern):
    """Whether the page should treat a pattern like RE2; a comma would make it two."""
    return pattern and "," not in pattern and not any(part in pattern for part in ONLY_RE2)


@pytest.mark.parametrize(
    ("pattern", "texts"),
    [(pattern, matching + others) for pattern, matching, others in MATCHES if is_shared(pattern)]
    + [(pattern, ["a"]) for pattern, _ in REFUSALS if is_shared(pattern)],
)
def test_a_pattern_matches_or_is_refused_as_in_python(pattern, texts):
    assert matched(pattern, texts) == matched_by_re2(pattern, texts)


@settings(max_examples=300)
@given(PATTERNS | LITERALS | ODD, TEXTS)
def test_any_pattern_matches_or_is_refused_as_in_python(pattern, texts):
    if not is_shared(pattern) or pattern[0] in "\"'" or pattern[-1] in "\"'":
        reject()

    assert matched(pattern, texts) == matched_by_re2(pattern, texts)


@pytest.mark.parametrize(
    ("pattern", "trouble"),
    [
        (r"a\C", r"`\C` is not supported here; write `.` to match a character"),
        (r"\pL{1000}", "it is too large to match here; repeat fewer times"),
        ("(" * 2000 + ")" * 2000, "groups are nested more than 1000 deep"),
        ("a" * 10_001, "it is longer than 10,000 characters"),
    ],
)
def test_a_pattern_that_only_re2_accepts_is_refused(pattern, trouble):
    found = matched(pattern, ["a"])

    assert found.startswith("pattern `")
    assert trouble in found


@pytest.mark.parametrize("pattern", ["(a+)+b", "(a*)*b", "(a|aa)+b", "(.*a){20}b", "(a|b|ab)*c"])
def test_no_pattern_backtracks(pattern):
    assert matched(pattern, ["a" * 100_000, "a" * 100_000 + pattern[-1]]) == [0, 1]


def test_a_pattern_that_would_take_long_is_refused():
    # After each letter, a text may be at any of 2,000 positions.
    names = [f"{number:b}".replace("0", "ab").replace("1", "ba") * 50 for number in range(5000)]

    found = matched("(a|b)*a(a|b){500}(a|b)*a(a|b){500}", names)

    assert "it takes too long to match here" in found


@given(st.lists(st.text(max_size=8), min_size=1, max_size=3))
def test_the_regex_of_a_name_matches_only_the_name_also_in_a_list(names):
    regexes = [ask("regex", name=name) for name in names]
    others = [f"{name}x" for name in names] + [name[1:] for name in names if name]
    texts = [*names, *others]
    expected = [int(text in names) for text in texts]
    listed = ",".join(regexes)

    if "" not in names:  # a list has no empty items
        assert ask("match", patterns=listed, texts=texts, advice=ADVICE)["flags"] == expected
    for name, regex in zip(names, regexes, strict=True):
        assert re2.fullmatch(regex, name)
