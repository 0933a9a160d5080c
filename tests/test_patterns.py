from __future__ import annotations

import pickle
import re
import subprocess
import sys
from itertools import compress

import pytest
import re2
from hypothesis import assume, given, reject
from hypothesis import strategies as st

from floors import checked, floor
from tfprof.columns import Strings
from tfprof.errors import OptionError
from tfprof.patterns import Patterns, _Regex
from tfprof.regex_advice import advice

# Each pattern with texts that RE2 matches in full, and texts that it does not.
MATCHES = [
    # The whole text, and nothing but.
    ("Ba", ["Ba"], ["Bar", "aBa", "ba", ""]),
    ("", [""], ["a"]),
    ("a|ab", ["a", "ab"], ["abb"]),
    ("a||b", ["a", "b", ""], ["ab"]),
    (r"a/b:0-c_d e", ["a/b:0-c_d e"], []),
    # Ends of texts and lines; Python's `$` also matches before a final newline.
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
    # The dot, with and without the flag `s`.
    ("a.b", ["a-b", "aéb", "a\rb"], ["a\nb", "ab"]),
    ("(?s)a.b", ["a\nb"], []),
    ("(?s:a.)b.", ["a\nbc"], ["a\nb\n"]),
    ("(?s)a(?-s:.)", ["ab"], ["a\n"]),
    # Flags in mid-pattern apply to the end of their group, even across `|`.
    ("a(?i)b", ["ab", "aB"], ["Ab", "AB"]),
    ("(a(?i)b|c)d", ["aBd", "Cd"], ["ABd", "cD"]),
    ("(?i)a(?-i)b", ["Ab"], ["AB"]),
    ("(?i-s:a.)B", ["AbB"], ["A\nB", "Abb"]),
    ("(?U)a+(?U:b*?)", ["aab"], ["b"]),
    ("(?)a", ["a"], []),
    # Case-insensitivity covers all of Unicode, but a letter never matches two.
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
    # Groups, with both syntaxes for names; a name may be repeated.
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
    # Shorthands match only ASCII, and `\s` does not match a vertical tab.
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
    # Scripts.
    (r"\p{Greek}+", ["αβγ"], ["abc", ""]),
    (r"[^\p{Greek}a]", ["b"], ["β", "a"]),
    # Single bytes of UTF-8.
    (r"\C", ["a", "\n"], ["é", ""]),
    (r"a\C\C", ["aé", "abc"], ["ab"]),
]

# Each invalid pattern with part of its error message.
REFUSALS = [
    ("a(?=b)", "look-ahead is not supported; exclude names with a second option"),
    ("(?!a)b", "look-ahead is not supported"),
    ("(?<=a)b", "look-behind is not supported"),
    ("(?<!a)b", "look-behind is not supported"),
    (r"(a)\1", "back-references are not supported; write the alternatives out with `|`"),
    (r"\18", "back-references are not supported"),
    ("(?P<n>a)(?P=n)", "`(?P=` and `(?P>` are not supported; write the group out again"),
    ("(?P>n)", "`(?P=` and `(?P>` are not supported"),
    ("(?>a)", "atomic groups are not supported; write `(?:...)`"),
    ("(?(1)a)", "conditionals are not supported; write alternatives with `|`"),
    ("a(?#why)", "comments are not supported; remove it"),
    ("a++", "`++` repeats a repetition; keep one of the two"),
    ("a**", "`**` repeats a repetition"),
    ("a{2}{3}", "`{2}{3}` repeats a repetition"),
    ("a*??", "`*??` repeats a repetition"),
    ("a{1001}", "`{1001}` is reversed, or repeats more than 1000 times in total; write `*` or `+`"),
    ("((a{100})*){11}", "`{11}` is reversed, or repeats more than 1000 times in total"),
    ("a{1001,}", "`{1001,}` is reversed, or repeats more than 1000 times in total"),
    ("a{3,2}", "`{3,2}` is reversed"),
    ("*", r"`*` repeats nothing; write `\*`"),
    ("(a|+?)", r"`+?` repeats nothing; write `\+?`"),
    ("(?i){2}", r"`{2}` repeats nothing; write `\{2}`"),
    ("a)", r"`)` does not close a group; write `\)`"),
    ("a(b", r"`(` is not closed; add `)`, or write `\(`"),
    ("(?i:a", "`(` is not closed"),
    ("(?i", "`(?i` does not start a group; write `(...)`, `(?:...)`, `(?P<name>...)` or flags"),
    ("(?x)a", "`(?x` does not start a group"),
    ("(?i-)a", "`(?i-)` does not start a group"),
    ("(?<", "`(?<` does not start a group"),
    ("(?P<a-b>c)", "`(?P<a-b>` is not a group name; use letters, digits and underscores"),
    ("(?P<>c)", "`(?P<>` is not a group name"),
    ("a[b", r"`[` is not closed; add `]`, or write `\[`"),
    ("[]", "`[` is not closed"),
    ("[^]", "`[` is not closed"),
    ("[a-", "`[` is not closed"),
    ("[[:alpha:]", "`[` is not closed"),
    ("[z-a]", "the range `z-a` is reversed; swap its ends"),
    ("[a--]", "the range `a--` is reversed"),
    (r"[a-\d]", r"`\d` is not an escape sequence here"),
    (r"[\b]", r"`\b` is not an escape sequence here"),
    ("[[:foo:]]", "`[:foo:]` is not a character class; use alnum, alpha, ascii"),
    (r"a\Z", r"`\Z` is not supported; write `\z`"),
    (r"\h", r"`\h` is not an escape sequence here; remove the backslash"),
    (r"\é", r"`\é` is not an escape sequence here"),
    (r"\Qa\E\E", r"`\E` without `\Q`; remove it"),
    ("a\\", r"the last backslash escapes nothing; write `\\`"),
    (r"\x4", r"`\x4` is not a character; write two hexadecimal digits, or up to six in braces"),
    (r"\x{110000}", r"`\x{110000` is not a character"),
    (r"\p{Cn}", r"`\p{Cn}` is not a Unicode category or script; write one such as `\pL`"),
    (r"\P{Lu", r"`\P{Lu` is not a Unicode category or script"),
    (r"\pL{1000}", "it takes more than 8 MiB; repeat fewer times, or write `*` or `+`"),
    ("a\udcff", "it is not valid UTF-8; check the encoding of your terminal"),
    ("[\ud800]", "it is not valid UTF-8"),
]

# Pieces of patterns: plain text, pieces that match newlines or the ends of a text, flags, groups.
PIECES = st.sampled_from(
    [
        *(
            "a",
            "b",
            "é",
            "/",
            " ",
            r"\.",
            r"\-",
            "\n",
            r"\n",
            r"\x0a",
            ".",
            ".*",
            ".+",
            "[ab]",
            "{",
        ),
        *("[^a]", "[^/]*", r"\s", r"\S", r"\W", r"\w+", r"\D", r"\pL", r"\PL", "[[:^alpha:]]"),
        *("^", "$", r"\A", r"\z", r"\b", r"\B", r"\C", r"\Q", r"\E", "|", "(", "(?:", ")"),
        *("(?s)", "(?m)", "(?i)", "(?-m)", "(?U)", "(?s:.)", "(?i-m:", "*", "+", "?", "{2}", "*?"),
    ]
)
PATTERNS = st.lists(PIECES, max_size=7).map("".join)
LITERALS = st.tuples(
    st.sampled_from(["", ".*", ".*.*"]),
    st.lists(st.sampled_from(["a", "é", "/", r"\.", r"\-", "\n", r"\n", "[ab]", "{"]), max_size=3),
    st.sampled_from(["", ".*", ".*.*"]),
).map(lambda parts: parts[0] + "".join(parts[1]) + parts[2])
LINES = st.lists(st.text("abAé/.- {", max_size=5))
TEXTS = LINES | st.lists(st.text("abAé/.- {\n", max_size=5))


def compiled(pattern):
    """The pattern, compiled by RE2 with the options of the original tool."""
    options = re2.Options()
    options.log_errors = False
    return re2.compile(pattern, options)


@pytest.mark.parametrize(("pattern", "matching", "others"), MATCHES)
def test_a_pattern_matches_the_same_texts_as_in_re2(pattern, matching, others):
    listed = Patterns([pattern])
    texts = matching + others
    lines = [text for text in texts if "\n" not in text]

    assert [text for text in texts if listed.matches(text)] == matching
    for column in (texts, lines):
        flags = listed.match_column(column).tolist()
        assert list(compress(column, flags)) == [text for text in matching if text in column]


@pytest.mark.parametrize(("pattern", "trouble"), REFUSALS)
def test_an_invalid_pattern_is_refused_with_advice(pattern, trouble):
    with pytest.raises(OptionError) as refusal:
        Patterns(["a", pattern])

    shown = pattern.encode(errors="backslashreplace").decode()
    assert str(refusal.value).startswith(f"pattern `{shown}`: ")
    assert trouble in str(refusal.value)


def test_an_error_message_is_one_line():
    with pytest.raises(OptionError) as refusal:
        Patterns(["\n[a-\n]"])

    assert str(refusal.value) == r"pattern `\n[a-\n]`: the range `a-\n` is reversed; swap its ends."


def test_an_invalid_pattern_prints_nothing(capfd):
    with pytest.raises(OptionError):
        Patterns(["[refused-"])

    assert capfd.readouterr() == ("", "")


def test_an_error_of_re2_without_advice_is_shown_unchanged():
    assert advice("unexpected error: (") == "unexpected error: ("


@pytest.mark.parametrize("length", [32, 10_000])
@pytest.mark.parametrize("pattern", ["(a+)+b", "(a*)*b", "(a|aa)+b", "(.*a){20}b"])
def test_no_pattern_backtracks(pattern, length):
    listed = Patterns([pattern])

    assert listed.match_column(["a" * length, "a" * length + "b"]).tolist() == [False, True]
    assert not listed.matches("a" * length + "\n")


def test_groups_may_be_deeply_nested():
    assert Patterns(["(" * 5000 + "a" + ")" * 5000]).match_column(["a", "b"]).tolist() == [
        True,
        False,
    ]


def test_a_pattern_too_large_to_match_lines_is_matched_text_by_text():
    # A character class that excludes the newline takes more memory than one that includes it.
    pattern = "[[:ascii:]]{1000}" * 300

    assert _Regex(pattern)._run is None
    assert Patterns([pattern]).match_column(["a" * 300_000, "a"]).tolist() == [True, False]


@given(st.text(), st.sampled_from([re.escape, r"\Q{}\E".format]))
def test_any_quoted_text_matches_only_itself(text, quoted):
    assume(r"\E" not in text and not text.endswith("\\"))  # these would end the quotation
    pattern = quoted(text)

    assert Patterns([pattern]).matches(text)
    assert not Patterns([pattern]).matches(text + "x")


@floor(0.2)  # measured: 0.5
@given(st.text("ab(|)[^]{}*+?.\\-:,12Qdpi<>=!PL$é", max_size=12))
def test_a_pattern_is_refused_if_and_only_if_re2_refuses_it(pattern):
    try:
        compiled(pattern)
    except re2.error:
        checked(False)
        with pytest.raises(OptionError, match="^" + re.escape(f"pattern `{pattern}`: ")):
            Patterns([pattern])
    else:
        checked()
        assert Patterns([pattern]).sources == (pattern,)


@floor(0.05)  # measured: 0.3
@given(PATTERNS | LITERALS, TEXTS)
def test_matching_a_column_gives_the_same_as_re2_for_each_text(pattern, texts):
    try:
        regex = compiled(pattern)
    except re2.error:
        reject()
    expected = [regex.fullmatch(text) is not None for text in texts]
    listed = Patterns([pattern, "[b]never"])
    checked(any(expected))

    assert listed.match_column(texts).tolist() == expected
    assert listed.match_column(Strings(texts)).tolist() == expected
    assert [listed.matches(text) for text in texts] == expected


def test_a_long_column_is_matched_like_a_short_one():
    # Three parts, with runs of matches across their borders and a newline only in the second.
    names = [f"op_{number}" for number in range(70_000)]
    names[40_000] = "op_\n0"

    even, high, all_but_one = Patterns(
        ["op_[0-9]*[02468]", "op_[3-6][0-9]{4}", "op_[0-9]+"]
    ).match_each(Strings(names))

    assert even.tolist() == [number % 2 == 0 and number != 40_000 for number in range(70_000)]
    assert high.tolist() == [number >= 30_000 and number != 40_000 for number in range(70_000)]
    assert all_but_one.tolist() == [number != 40_000 for number in range(70_000)]


def test_a_list_matches_what_any_pattern_matches():
    listed = Patterns(["a.*", "b"])

    assert listed.matches("ab")
    assert listed.matches("b")
    assert not listed.matches("ba")
    assert listed.match_column(["ab", "b", "ba"]).tolist() == [True, True, False]


def test_each_pattern_has_its_own_column():
    first, second = Patterns(["a.*", ".*b"]).match_each(["ab", "b", "c"])

    assert first.tolist() == [True, False, False]
    assert second.tolist() == [True, True, False]


def test_an_empty_list_matches_nothing():
    listed = Patterns([])

    assert listed.is_empty
    assert not listed.matches("")
    assert listed.match_each(["", "a"]) == []
    assert listed.match_column(["", "a"]).tolist() == [False, False]


def test_dot_star_alone_matches_everything_even_newlines():
    listed = Patterns([".*"])

    assert listed.is_everything
    assert listed.matches("a\nb")
    assert listed.match_column(["a", "a\nb", ""]).tolist() == [True, True, True]


def test_dot_star_among_other_patterns_does_not_match_a_newline():
    listed = Patterns([".*", "x"])

    assert not listed.is_everything
    assert not listed.matches("a\nb")
    assert listed.match_column(["a", "a\nb"]).tolist() == [True, False]


def test_matching_no_strings_gives_an_empty_column():
    assert Patterns(["a"]).match_column([]).tolist() == []
    assert Patterns(["a"]).match_column([]).dtype == bool


def test_lists_compare_and_hash_by_value():
    listed = Patterns(["a", "b"])

    assert listed == Patterns(("a", "b"))
    assert hash(listed) == hash(Patterns(("a", "b")))
    assert pickle.loads(pickle.dumps(listed)) == listed  # noqa: S301 -- written on this line


@pytest.mark.parametrize(
    ("pattern", "loaded"),
    [("a.*", "[]"), (r".*/a\\.b", "[]"), (".*", "[]"), ("a|b", "['re2']"), ("a+", "['re2']")],
)
def test_checking_a_pattern_loads_re2_only_if_it_is_a_regex_and_never_numpy(pattern, loaded):
    program = (
        "import sys, tfprof.patterns, tfprof.units\n"
        f"tfprof.patterns.Patterns(['{pattern}'])\n"
        "tfprof.units.format_count(1000)\n"
        "print([name for name in ('numpy', 're2') if name in sys.modules])"
    )

    ran = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )

    assert ran.stdout.strip() == loaded


def test_a_plain_pattern_is_matched_without_re2():
    program = (
        "import sys, tfprof.patterns\n"
        "patterns = tfprof.patterns.Patterns(['a', 'b.*', '.*c', '.*d.*'])\n"
        "print(patterns.match_column(['a', 'bb', 'cc', 'add', 'e']).tolist(), 're2' in sys.modules)"
    )

    ran = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )

    assert ran.stdout.strip() == "[True, True, True, True, False] False"
