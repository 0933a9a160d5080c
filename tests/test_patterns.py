from __future__ import annotations

import pickle
import re
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tfprof.errors import OptionError
from tfprof.patterns import Patterns, compile_pattern

# Each pattern with texts that the real RE2 (google-re2 1.1) full-matches, and some it does not.
MATCHES = [
    # The whole text, and nothing but.
    ("Ba", ["Ba"], ["Bar", "aBa", "ba", ""]),
    ("", [""], ["a"]),
    ("a|ab", ["a", "ab"], ["abb"]),
    ("a||b", ["a", "b", ""], ["ab"]),
    (r"a/b:0-c_d e", ["a/b:0-c_d e"], []),
    # Ends of text and of line; Python's `$` also stands before a last newline.
    ("^a$", ["a"], ["a\n"]),
    ("a$\n", [], ["a\n"]),
    ("(?m)a$\n^b", ["a\nb"], ["ab"]),
    ("(?m:a$)\n", ["a\n"], ["a"]),
    (r"(?m)a\n\z", ["a\n"], ["a\n\n"]),
    (r"\Aa\z", ["a"], ["a\n"]),
    (r"a\b.*", ["a", "a b", "aé"], ["ab", "a_"]),
    (r"\B", [""], ["a"]),
    (r"a\Bb", ["ab"], []),
    ("^*a", ["a"], ["^a"]),
    (r"(?:$\n)*|\b+", [""], ["a"]),
    # The dot and its flag.
    ("a.b", ["a-b", "aéb", "a\rb"], ["a\nb", "ab"]),
    ("(?s)a.b", ["a\nb"], []),
    ("(?s:a.)b.", ["a\nbc"], ["a\nb\n"]),
    ("(?s)a(?-s:.)", ["ab"], ["a\n"]),
    # Flags in mid-pattern hold to the end of their group, over `|` too.
    ("a(?i)b", ["ab", "aB"], ["Ab", "AB"]),
    ("(a(?i)b|c)d", ["aBd", "Cd"], ["ABd", "cD"]),
    ("(?i)a(?-i)b", ["Ab"], ["AB"]),
    ("(?i-s:a.)B", ["AbB"], ["A\nB", "Abb"]),
    ("(?U)a+(?U:b*?)", ["aab"], ["b"]),
    ("(?)a", ["a"], []),
    # Case in the whole of Unicode, but never one letter against two.
    ("(?i)k", ["k", "K", "\u212a"], []),
    ("(?i)[^k]", ["a"], ["k", "K", "\u212a"]),
    ("(?i)i", ["i", "I"], ["\u0131", "\u0130"]),
    ("(?i)[a-z]", ["S", "\u017f"], ["\u0131", "\u0130"]),
    ("(?i)ß", ["ß", "ẞ"], ["ss"]),
    ("(?i)\u03c3", ["\u03c3", "\u03a3", "\u03c2"], []),
    (r"(?i)\w", ["\u017f"], ["é"]),
    (r"(?i)\W", ["é"], ["\u017f", "\u212a"]),
    (r"(?i)\Qa.b\E", ["A.B"], ["axb"]),
    # Repetition.
    ("a{2}", ["aa"], ["a", "aaa", "a{2}"]),
    ("a{1,2}?", ["a", "aa"], ["", "aaa"]),
    ("a{2,}", ["aa", "aaaa"], ["a"]),
    ("a{0}", [""], ["a"]),
    ("a{,2}", ["a{,2}"], ["", "a", "aa"]),
    ("a{02}", ["a{02}"], ["aa"]),
    ("a{1", ["a{1"], ["a"]),
    ("a{1000000000}", ["a{1000000000}"], []),
    ("x*{", ["{", "x{"], ["x"]),
    ("a*?b??", ["", "aab"], ["bb"]),
    ("(?:a*)*", ["", "aaa"], ["b"]),
    ("(|a)+", ["", "aa"], ["b"]),
    ("((a{10}){10}){10}", ["a" * 1000], ["a" * 999]),
    ("a(?i)*", ["", "aa"], ["A"]),
    (r"a*\Q\E*", ["", "aa"], ["*"]),
    # Groups, named either way; a name may come twice.
    ("(?P<n>a)(?<n>b)", ["ab"], ["a"]),
    ("(?P<1é>a)", ["a"], []),
    ("()*", [""], ["a"]),
    # Quoting and escapes.
    (r"\Qa.*\Eb", ["a.*b"], ["axb"]),
    (r"\Qab\E*", ["a", "abb"], ["abab"]),
    (r"\Qa\\E", ["a\\"], []),
    (r"\Q(", ["("], []),
    (r"\.\/\-\_\ ", ["./-_ "], ["x/-_ "]),
    (r"\x41\x{1F600}\x{000000041}", ["A\U0001f600A"], []),
    (r"\141\08\777", ["a\x008\u01ff"], []),
    (r"\a\f\n\r\t\v", ["\a\f\n\r\t\v"], []),
    ("]}", ["]}"], []),
    # Shorthands are of ASCII, and a space is not a vertical tab.
    (r"\d\w", ["1a", "0_"], ["\u0661a", "1é"]),
    (r"\s", [" ", "\t", "\n", "\f", "\r"], ["\v", "\xa0"]),
    (r"[\S]", ["\v", "a"], [" "]),
    (r"\D\W", ["\n\n", "éé"], ["1a"]),
    # Classes.
    ("[]a]", ["]", "a"], ["[]a]"]),
    ("[^]a]", ["b", "\n"], ["]", "a"]),
    ("[a-]", ["a", "-"], ["b"]),
    ("[a-c-e]", ["b", "-", "e"], ["d"]),
    (r"[\d-z]", ["5", "-", "z"], ["a"]),
    ("[+--]", ["+", ",", "-"], ["."]),
    ("[--/a&&b||c~~]", ["-", ".", "/", "a", "&", "b", "|", "c", "~"], ["d", "!"]),
    ("[[a]", ["[", "a"], ["]"]),
    ("[[.a.]]", ["[]", "a]", ".]"], ["a"]),
    (r"[\[\]\^\\]", ["[", "]", "^", "\\"], ["a"]),
    (r"[\x{3b1}-\x{3c9}\n]", ["β", "\n"], ["b"]),
    (r"[^\x00-\x{10FFFF}]", [], ["", "a"]),
    (r"[\P{Any}]", [], ["]", "a"]),
    ("[[:alpha:]]+", ["abC"], ["a1", "é", ":"]),
    ("[[:^digit:]]", ["a", "\n", "é"], ["1"]),
    ("[^[:^alpha:]]", ["a"], ["1"]),
    ("[[:digit:]a-c[:space:]_-]+", ["1b_-\v"], ["d"]),
    ("[[:word:]][[:punct:]][[:xdigit:]]", ["_~F"], ["-~F", "_~g"]),
    ("[:alpha:]", [":", "a", "h"], ["b"]),
    ("[[:alpha]]", [":]", "a]"], ["b", "a"]),
    # General categories.
    (r"\pL+", ["aé文"], ["1"]),
    (r"\p{Lu}\p{Nd}", ["É٣"], ["é3", "É²"]),
    (r"\PN", ["a", "\n"], ["1", "²"]),
    (r"\p{^Lu}", ["a"], ["A"]),
    (r"\P{^Lu}", ["A"], ["a"]),
    (r"[\pP\p{Sm}\pZ]+", ["!+ "], ["$"]),
    (r"\p{Any}", ["\n", "\U0010ffff"], [""]),
    (r"\pC", ["\0", "\ue000"], ["\u0378"]),
    (r"(?i)\p{Lu}", ["a", "A"], ["1"]),
]

# Each pattern with the character at which it goes wrong, and what there is to say.
REFUSALS = [
    ("a(?=b)", 2, "look-ahead is not available"),
    ("(?!a)b", 1, "look-ahead is not available"),
    ("(?<=a)b", 1, "look-behind is not available"),
    ("(?<!a)b", 1, "look-behind is not available"),
    (r"(a)\1", 4, r"`\1` has no meaning; there are no back-references"),
    (r"\18", 1, "there are no back-references"),
    ("(?P<n>a)(?P=n)", 9, "back-references are not available"),
    ("(?P>n)", 1, "recursion is not available"),
    ("(?>a)", 1, "atomic groups are not available"),
    ("(?(1)a)", 1, "conditionals are not available"),
    ("a(?#why)", 2, "comments are not available"),
    ("a++", 3, "`+` follows another repetition; write one of the two"),
    ("a**", 3, "`*` follows another repetition"),
    ("a{2}{3}", 5, "`{3}` follows another repetition"),
    ("a*??", 4, "`?` follows another repetition"),
    ("a{1001}", 2, "`{1001}` makes 1001 repetitions, more than 1000; write `*` or `+`"),
    ("(a{100}*){11}", 8, "`*` follows another repetition"),
    ("((a{100})*){11}", 12, "`{11}` makes 1100 repetitions"),
    ("a{1001,}", 2, "`{1001,}` makes 1001 repetitions"),
    ("a{3,2}", 2, "`{3,2}` counts down; write `{2,3}`"),
    ("*", 1, r"`*` repeats nothing; write `\*`"),
    ("(a|+?)", 4, r"`+` repeats nothing; write `\+`"),
    ("(?i){2}", 5, r"`{2}` repeats nothing; write `\{2}`"),
    ("a)", 2, r"`)` closes nothing; write `\)`"),
    ("a(b", 2, r"`(` is never closed; add `)`, or write `\(`"),
    ("(?i:a", 1, "`(` is never closed"),
    ("(?i", 1, "`(?i` opens no kind of group"),
    ("(?x)a", 1, "`(?x` opens no kind of group"),
    ("(?i-)a", 1, "`(?i` opens no kind of group"),
    ("(?P<a-b>c)", 1, "`(?P` opens no kind of group"),
    ("(?P<>c)", 1, "`(?P` opens no kind of group"),
    ("a[b", 2, r"`[` is never closed; add `]`, or write `\[`"),
    ("[]", 1, "`[` is never closed"),
    ("[^]", 1, "`[` is never closed"),
    ("[a-", 1, "`[` is never closed"),
    ("[[:alpha:]", 1, "`[` is never closed"),
    ("[z-a]", 2, "`z-a` counts down; swap its ends"),
    ("[a--]", 2, "`a--` counts down"),
    (r"[a-\d]", 4, r"`\d` has no meaning"),
    (r"[\b]", 2, r"`\b` has no meaning"),
    ("[[:foo:]]", 2, "`[:foo:]` is no class; there is: alnum, alpha, ascii"),
    (r"a\Z", 2, r"`\Z` is not available; write `\z`"),
    (r"\h", 1, r"`\h` has no meaning; write `h`"),
    (r"\é", 1, r"`\é` has no meaning"),
    (r"\Qa\E\E", 6, r"`\E` has no meaning; it ends what `\Q` begins"),
    ("a\\", 2, r"`\` has no meaning; write `\\`"),
    (r"\x4", 1, r"`\x` has no meaning; write two hexadecimal digits"),
    (r"\x{110000}", 1, r"`\x{110000}` is no character"),
    (r"\p{Cn}", 1, r"`\p{Cn}` is no general category of Unicode"),
    (r"\p{Lu", 1, r"`\p` has no meaning; write a general category"),
    # RE2 takes these, and Python cannot.
    (r"\C", 1, "single bytes cannot be matched; write `(?s:.)`"),
    (r"\p{Greek}", 1, r"`\p{Greek}` is no general category of Unicode"),
    ("(" * 5000 + ")" * 5000, 1, "the groups are nested too deep"),
]

# What is plain text to the short-cuts, what nearly is, and what is not.
WORDS = st.lists(
    st.sampled_from(["a", "b", "/", r"\.", r"\-", "\n", r"\n", "[ab]", "{", " "]), max_size=3
)
STARS = st.sampled_from(["", ".*", ".*.*"])
TEXTS = st.lists(st.text("ab/.-\n{ ", max_size=5))


@pytest.mark.parametrize(("pattern", "matching", "others"), MATCHES)
def test_a_pattern_means_what_it_means_to_re2(pattern, matching, others):
    for fullmatch in (compile_pattern(pattern).fullmatch, Patterns([pattern]).matches):
        assert [text for text in matching + others if fullmatch(text)] == matching


@pytest.mark.parametrize(("pattern", "character", "trouble"), REFUSALS)
def test_what_cannot_be_used_is_refused_with_the_place_and_a_way_out(pattern, character, trouble):
    with pytest.raises(OptionError) as refusal:
        Patterns(["a", pattern])

    assert str(refusal.value).startswith(f"pattern `{pattern}`, character {character}: ")
    assert trouble in str(refusal.value)


def test_a_refusal_is_one_line():
    with pytest.raises(OptionError) as refusal:
        compile_pattern("\n[a-\n]")

    assert str(refusal.value) == (
        r"pattern `\n[a-\n]`, character 3: `a-\n` counts down; swap its ends."
    )


@given(st.text())
def test_any_text_quoted_matches_itself_alone(text):
    for pattern in (re.escape(text), rf"\Q{text}\E"):
        if r"\E" not in text and not text.endswith("\\"):
            assert Patterns([pattern]).matches(text)
            assert not Patterns([pattern]).matches(text + "x")


@given(st.text("ab(|)[^]{}*+?.\\-:,12Qdpi<>=!PL$", max_size=12))
def test_any_pattern_is_either_compiled_or_refused(pattern):
    try:
        compile_pattern(pattern)
    except OptionError as refusal:
        assert pattern in str(refusal)  # noqa: PT017 -- either outcome is right


@given(STARS, WORDS, STARS, TEXTS)
def test_a_short_cut_gives_what_the_regex_gives(before, words, after, texts):
    pattern = before + "".join(words) + after
    listed = Patterns([pattern, "[b]never"])

    matched = [compile_pattern(pattern).fullmatch(text) is not None for text in texts]

    assert listed.match_column(texts).tolist() == matched
    assert [listed.matches(text) for text in texts] == matched


def test_a_list_matches_what_any_member_matches():
    listed = Patterns(["a.*", "b"])

    assert listed.matches("ab")
    assert listed.matches("b")
    assert not listed.matches("ba")
    assert listed.match_column(["ab", "b", "ba"]).tolist() == [True, True, False]


def test_each_member_has_a_column_of_its_own():
    first, second = Patterns(["a.*", ".*b"]).match_each(["ab", "b", "c"])

    assert first.tolist() == [True, False, False]
    assert second.tolist() == [True, True, False]


def test_an_empty_list_matches_nothing():
    listed = Patterns([])

    assert listed.is_empty
    assert not listed.matches("")
    assert listed.match_each(["", "a"]) == []
    assert listed.match_column(["", "a"]).tolist() == [False, False]


def test_dot_star_alone_is_everything_with_newlines_too():
    listed = Patterns([".*"])

    assert listed.is_everything
    assert listed.matches("a\nb")
    assert listed.match_column(["a", "a\nb", ""]).tolist() == [True, True, True]


def test_dot_star_among_others_matches_no_newline():
    listed = Patterns([".*", "x"])

    assert not listed.is_everything
    assert not listed.matches("a\nb")
    assert listed.match_column(["a", "a\nb"]).tolist() == [True, False]


def test_no_strings_give_an_empty_column():
    assert Patterns(["a"]).match_column([]).tolist() == []
    assert Patterns(["a"]).match_column([]).dtype == bool


def test_lists_are_values():
    listed = Patterns(["a", "b"])

    assert listed == Patterns(("a", "b"))
    assert hash(listed) == hash(Patterns(("a", "b")))
    assert pickle.loads(pickle.dumps(listed)) == listed  # noqa: S301 -- written on this line


def test_checking_patterns_does_not_load_numpy():
    program = (
        "import sys, tfprof.patterns, tfprof.units\n"
        "tfprof.patterns.Patterns(['a.*']).matches('ab')\n"
        "tfprof.units.format_count(1000)\n"
        "sys.exit('numpy' in sys.modules)"
    )

    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0
