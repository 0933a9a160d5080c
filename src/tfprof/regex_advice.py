r"""Explain why RE2 rejects a pattern, and what to write instead."""

from __future__ import annotations

from typing import Final

MOST_MIB: Final = 8  # limit for a compiled pattern: RE2's default, which the original tool used


def advice(error: str) -> str:
    """A sentence, without a full stop, that explains an error text of RE2."""
    _, _, part = error.partition(": ")
    sentence = next(text for start, text in ADVICE.items() if error.startswith(start))
    return sentence.replace("{error}", error).replace("{part}", part)


_LOOK_AROUND = "is not supported; exclude names with a second option, such as hide_name_regexes"
_BACK_REFERENCE = "back-references are not supported; write the alternatives out with `|`"

# How RE2's error texts start, special cases first; `{part}` is the faulty part of the pattern.
ADVICE: Final = {
    "invalid perl operator: (?=": f"look-ahead {_LOOK_AROUND}",
    "invalid perl operator: (?!": f"look-ahead {_LOOK_AROUND}",
    "invalid perl operator: (?<=": f"look-behind {_LOOK_AROUND}",
    "invalid perl operator: (?<!": f"look-behind {_LOOK_AROUND}",
    "invalid perl operator: (?P": "`(?P=` and `(?P>` are not supported; write the group out again",
    "invalid perl operator: (?>": "atomic groups are not supported; write `(?:...)`",
    "invalid perl operator: (?(": "conditionals are not supported; write alternatives with `|`",
    "invalid perl operator: (?#": "comments are not supported; remove it",
    "invalid perl operator": (
        "`{part}` does not start a group; write `(...)`, `(?:...)`, `(?P<name>...)` "
        "or flags from imsU, as in `(?i)`"
    ),
    "invalid named capture group": (
        "`{part}` is not a group name; use letters, digits and underscores, as in `(?P<name>...)`"
    ),
    r"invalid escape sequence: \Z": r"`\Z` is not supported; write `\z` for the end of the text",
    r"invalid escape sequence: \E": r"`\E` without `\Q`; remove it",
    r"invalid escape sequence: \x": (
        r"`{part}` is not a character; write two hexadecimal digits, or up to six in braces: "
        r"`\x41`, `\x{10FFFF}`"
    ),
    **{rf"invalid escape sequence: \{digit}": _BACK_REFERENCE for digit in range(1, 10)},
    "invalid escape sequence": (
        "`{part}` is not an escape sequence here; remove the backslash to match the character"
    ),
    "invalid character class range: [:": (
        "`{part}` is not a character class; use alnum, alpha, ascii, blank, cntrl, digit, graph, "
        "lower, print, punct, space, upper, word or xdigit, as in `[[:alpha:]]`"
    ),
    **dict.fromkeys(
        [r"invalid character class range: \p", r"invalid character class range: \P"],
        r"`{part}` is not a Unicode category or script; "
        r"write one such as `\pL`, `\p{Lu}` or `\p{Greek}`",
    ),
    "invalid character class range": "the range `{part}` is reversed; swap its ends",
    "missing ]": r"`[` is not closed; add `]`, or write `\[` to match a bracket",
    "missing )": r"`(` is not closed; add `)`, or write `\(` to match a bracket",
    "unexpected )": r"`)` does not close a group; write `\)` to match a bracket",
    "trailing \\": r"the last backslash escapes nothing; write `\\` to match a backslash",
    "no argument for repetition operator": (
        r"`{part}` repeats nothing; write `\{part}` to match the characters"
    ),
    "invalid repetition size": (
        "`{part}` is reversed, or repeats more than 1000 times in total; write `*` or `+`"
    ),
    "bad repetition operator": "`{part}` repeats a repetition; keep one of the two",
    "invalid UTF-8": "it is not valid UTF-8; check the encoding of your terminal",
    "pattern too large": (
        f"it takes more than {MOST_MIB} MiB; repeat fewer times, or write `*` or `+`"
    ),
    "": "{error}",
}
