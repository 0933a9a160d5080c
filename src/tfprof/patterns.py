r"""Lists of patterns in RE2's language, each matched against the whole of a text.

Python's `re` does the matching, so what it reads differently is rewritten first: `\z`, `\pL`,
`[[:alpha:]]`, `\Q...\E`, flags in mid-pattern. What RE2 refuses is refused here. RE2 alone promises
a time in proportion to the text; a pattern such as `(a*)*b` can take Python very long.
"""

from __future__ import annotations

import functools
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, NoReturn

from tfprof.characters import (
    LAST,
    PERL_SETS,
    POSIX_SETS,
    Span,
    complement,
    fold,
    general_category,
    one_of,
)
from tfprof.errors import OptionError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import numpy as np
    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class Patterns:
    """A list of patterns, which matches a text if any of its members matches all of it."""

    sources: Sequence[str]

    def __post_init__(self) -> None:
        object.__setattr__(self, "sources", tuple(self.sources))
        for pattern in self.sources:
            _test(pattern)

    @property
    def is_everything(self) -> bool:
        """Whether this is the list of `.*` alone, which stands for any text, newlines included."""
        return self.sources == (".*",)

    @property
    def is_empty(self) -> bool:
        """Whether there is no pattern, so that nothing matches."""
        return not self.sources

    def matches(self, text: str) -> bool:
        """Whether any of the patterns matches all of `text`."""
        return self.is_everything or any(_test(pattern)(text) for pattern in self.sources)

    def match_column(self, strings: Sequence[str]) -> NDArray[np.bool_]:
        """For each of `strings`, whether any of the patterns matches it."""
        import numpy as np  # noqa: PLC0415 -- options are checked here without the cost of numpy

        matched = np.zeros(len(strings), dtype=np.bool_)
        for column in self.match_each(strings):
            matched |= column
        return matched

    def match_each(self, strings: Sequence[str]) -> list[NDArray[np.bool_]]:
        """For each pattern, which of `strings` it matches."""
        import numpy as np  # noqa: PLC0415 -- options are checked here without the cost of numpy

        if self.is_everything:
            return [np.ones(len(strings), dtype=np.bool_)]
        return [_match(pattern, strings) for pattern in self.sources]


def _match(pattern: str, strings: Sequence[str]) -> NDArray[np.bool_]:
    """Which of `strings` a pattern matches; those of a column are not made into texts for it."""
    import numpy as np  # noqa: PLC0415 -- options are checked here without the cost of numpy

    from tfprof.columns import Strings  # noqa: PLC0415 -- the same

    simple = _simple(pattern)
    if simple is None or not isinstance(strings, Strings):
        return np.fromiter(map(_test(pattern), strings), dtype=np.bool_, count=len(strings))
    if not (simple.before or simple.after):
        is_as_long: NDArray[np.bool_] = strings.lengths == len(simple.literal.encode())
        return strings.starts_with(simple.literal) & is_as_long
    is_one_line = strings.find("\n") < 0
    if simple.before and simple.after:
        return is_one_line & (strings.find(simple.literal) >= 0)
    matches = strings.ends_with if simple.before else strings.starts_with
    return is_one_line & matches(simple.literal)


# A literal, with `.*` on neither, either or both sides; escaped punctuation is literal too.
_SIMPLE = r"(\.\*)?((?:[^\n\\.^$*+?()[\]{}|]|\\[!-/:-@[-`{-~])*)(\.\*)?"


class _Simple(NamedTuple):
    """A pattern that plain searching can tell: a literal, and whether `.*` is on its sides."""

    literal: str
    before: bool
    after: bool


@functools.cache
def _simple(pattern: str) -> _Simple | None:
    found = re.fullmatch(_SIMPLE, pattern)
    if found is None:
        return None
    before, escaped, after = found.groups()
    return _Simple(re.sub(r"\\(.)", r"\1", escaped), before is not None, after is not None)


@functools.cache
def _test(pattern: str) -> Callable[[str], bool]:
    """Whether a text matches `pattern`, asked of plain string methods where they can tell."""
    simple = _simple(pattern)
    if simple is None:
        fullmatch = compile_pattern(pattern).fullmatch
        return lambda text: fullmatch(text) is not None
    literal = simple.literal
    if simple.before and simple.after:
        return lambda text: literal in text and "\n" not in text
    if simple.before:
        return lambda text: text.endswith(literal) and "\n" not in text
    if simple.after:
        return lambda text: text.startswith(literal) and "\n" not in text
    return lambda text: text == literal


@functools.cache
def compile_pattern(pattern: str) -> re.Pattern[str]:
    """What RE2 means by `pattern`, for Python's `fullmatch`; its groups do not capture."""
    translator = _Translator(pattern)
    try:
        return re.compile(translator.translate(), re.ASCII)
    except RecursionError:
        translator.refuse(0, "the groups are nested too deep", "use fewer levels of `(...)`")


_MOST_REPEATS = 1000

# Python compiles these when they are first used, which most runs never do.
_REPEAT = r"([*+?]|\{(0|[1-9][0-9]{0,8})(?:,(0|[1-9][0-9]{0,8})?)?\})\??"
_QUOTED = r"(?s)\\Q(.*?)(?:\\E|\Z)"
_GROUP = r"\((?:(?!\?)|\?(?:P?<([^>]+)>|([imsU]*)(?:-([imsU]+))?([:)])))"
_POSIX = r"(?s)\[:(\^?)(.*?):\]"
_PERL = r"\\([dDsSwW])"
_CATEGORY = r"\\([pP])(?:\{(\^?)([^}]+)\}|([^{]))"
_DASH = r"-(?=[^\]])"
_ESCAPE = (
    r"\\(?:x\{(?P<long>[0-9A-Fa-f]+)\}|x(?P<short>[0-9A-Fa-f]{2})"
    r"|(?P<octal>0[0-7]{0,2}|[1-7][0-7]{1,2})|(?P<letter>[afnrtv])|(?P<mark>[\0-/:-@[-`{-\x7f]))"
)
_BASES = {"long": 16, "short": 16, "octal": 8}
_CONTROLS = dict(zip("afnrtv", "\a\f\n\r\t\v", strict=True))

# The flag that changes the meaning, what is meant without it, and with it.
_FLAGGED = {
    ".": ("s", ".", "(?s:.)"),
    "^": ("m", r"\A", "(?m:^)"),
    "$": ("m", r"\Z", "(?m:$)"),
}
# Python's own `\B` does not match an empty text before version 3.14.
_ANCHORS = {r"\A": r"\A", r"\z": r"\Z", r"\b": r"\b", r"\B": r"(?!\b)"}

_REFUSED = {
    "(?=": ("look-ahead is not available", "leave names out with a second list of patterns"),
    "(?!": ("look-ahead is not available", "leave names out with a second list of patterns"),
    "(?<=": ("look-behind is not available", "leave names out with a second list of patterns"),
    "(?<!": ("look-behind is not available", "leave names out with a second list of patterns"),
    "(?P=": ("back-references are not available", "write the alternatives out with `|`"),
    "(?P>": ("recursion is not available", "write the group out again"),
    "(?>": ("atomic groups are not available", "write `(?:...)`"),
    "(?(": ("conditionals are not available", "write the alternatives out with `|`"),
    "(?#": ("comments are not available", "leave it out"),
    r"\Z": (r"`\Z` is not available", r"write `\z` for the end of the text"),
    r"\C": ("single bytes cannot be matched", "write `(?s:.)` for any one character"),
}
_ESCAPE_HINTS = {
    "": r"write `\\` for the text itself",
    "E": r"it ends what `\Q` begins",
    "p": r"write a general category of Unicode, such as `\pL` or `\p{Lu}`",
    "P": r"write a general category of Unicode, such as `\PL` or `\P{Lu}`",
    "x": r"write two hexadecimal digits, or any number in braces: `\x41`, `\x{10FFFF}`",
    **dict.fromkeys("123456789", "there are no back-references, write the alternatives out"),
}


class _Piece(NamedTuple):
    """A part of the translation that a repetition can follow."""

    text: str
    repeats: int = 1  # the product of the counts nested in it, which RE2 limits


class _Translator:
    """A reader of one RE2 pattern, which writes the same for Python."""

    def __init__(self, pattern: str) -> None:
        self.pattern = pattern
        self.at = 0
        self.flags: frozenset[str] = frozenset()

    def translate(self) -> str:
        """The whole pattern as Python writes it."""
        text = self.alternatives().text
        if self.at < len(self.pattern):
            self.refuse(self.at, "`)` closes nothing", r"write `\)` for the text itself")
        return text

    def refuse(self, at: int, trouble: str, instead: str) -> NoReturn:
        """Give up at one place of the pattern, saying why and what to write."""
        message = f"pattern `{self.pattern}`, character {at + 1}: {trouble}; {instead}."
        raise OptionError(message.replace("\n", r"\n"))

    def sees(self, text: str) -> bool:
        """Whether `text` comes next."""
        return self.pattern.startswith(text, self.at)

    def take(self, token: str) -> re.Match[str] | None:
        """Step over what matches `token` if it comes next."""
        found = re.compile(token).match(self.pattern, self.at)
        if found:
            self.at = found.end()
        return found

    def alternatives(self) -> _Piece:
        """All up to the end of the group, or of the pattern."""
        branches: list[list[_Piece]] = [[]]
        while self.at < len(self.pattern) and not self.sees(")"):
            if self.sees("|"):
                self.at += 1
                branches.append([])
            else:
                self.extend(branches[-1])
        text = "|".join("".join(piece.text for piece in branch) for branch in branches)
        return _Piece(
            text, max((piece.repeats for branch in branches for piece in branch), default=1)
        )

    def extend(self, branch: list[_Piece]) -> None:
        """Add what comes next to `branch`, or repeat its last piece."""
        for text, (trouble, instead) in _REFUSED.items():
            if self.sees(text):
                self.refuse(self.at, trouble, instead)
        if repeat := self.take(_REPEAT):
            branch[-1:] = [self.repeated(branch, repeat)]
        elif quoted := self.take(_QUOTED):
            branch += [self.literal(ord(char)) for char in quoted[1]]
        elif self.sees("("):
            branch += self.group()
        elif self.sees("["):
            branch.append(self.bracket())
        else:
            branch.append(self.atom())

    def repeated(self, branch: Sequence[_Piece], sign: re.Match[str]) -> _Piece:
        """The last piece of `branch`, repeated as `sign` says."""
        if not branch:
            instead = f"write `\\{sign[1]}` for the text itself"
            self.refuse(sign.start(), f"`{sign[1]}` repeats nothing", instead)
        text, repeats = branch[-1]
        low, high = int(sign[2] or 0), int(sign[3] or sign[2] or 0)
        if low > high:
            self.refuse(sign.start(), f"`{sign[0]}` counts down", f"write `{{{high},{low}}}`")
        repeats *= max(high, 1)
        if repeats > _MOST_REPEATS:
            trouble = f"`{sign[0]}` makes {repeats} repetitions, more than {_MOST_REPEATS}"
            self.refuse(sign.start(), trouble, "write `*` or `+`")
        if again := self.take(_REPEAT):
            trouble = f"`{again[0]}` follows another repetition"
            self.refuse(again.start(), trouble, "write one of the two")
        return _Piece(f"(?:{text}){sign[1]}", repeats)

    def group(self) -> list[_Piece]:
        """The bracketed group that starts here, or nothing if it only sets flags."""
        start, outer = self.at, self.flags
        opening = self.take(_GROUP)
        if opening is None or (opening[1] and not f"_{opening[1]}".isidentifier()):
            self.refuse(
                start,
                f"`{self.pattern[start : start + 3]}` opens no kind of group",
                "write `(...)`, `(?:...)`, `(?P<name>...)` or flags out of `imsU` as in `(?i)`",
            )
        self.flags = (self.flags | {*(opening[2] or "")}) - {*(opening[3] or "")}
        if opening[4] == ")":
            return []
        inside = self.alternatives()
        if not self.sees(")"):
            self.refuse(start, "`(` is never closed", r"add `)`, or write `\(` for the text itself")
        self.at += 1
        self.flags = outer
        return [_Piece(f"(?:{inside.text})", inside.repeats)]

    def bracket(self) -> _Piece:
        """The class in square brackets that starts here."""
        start = self.at
        negated = self.pattern.startswith("^", start + 1)
        self.at += 2 if negated else 1
        spans: list[Span] = []
        is_first = True
        while is_first or not self.sees("]"):
            if self.at == len(self.pattern):
                instead = r"add `]`, or write `\[` for the text itself"
                self.refuse(start, "`[` is never closed", instead)
            spans += self.members()
            is_first = False
        self.at += 1
        return _Piece(one_of(complement(spans) if negated else spans))

    def members(self) -> list[Span]:
        """The next member of a class: a set with a name, a range, or one character."""
        start = self.at
        if posix := self.take(_POSIX):
            if posix[2] not in POSIX_SETS:
                names = ", ".join(sorted(POSIX_SETS))
                self.refuse(start, f"`{posix[0]}` is no class", f"there is: {names}")
            return self.signed(POSIX_SETS[posix[2]], negated=bool(posix[1]))
        named = self.named_set()
        if named is not None:
            return named
        low = high = self.character()
        if self.take(_DASH):
            high = self.character()
        if low > high:
            self.refuse(start, f"`{self.pattern[start : self.at]}` counts down", "swap its ends")
        return self.signed([(low, high)])

    def named_set(self) -> list[Span] | None:
        r"""The characters of the `\d`, `\pL` or the like that comes next, if one does."""
        if perl := self.take(_PERL):
            return self.signed(PERL_SETS[perl[1].lower()], negated=perl[1].isupper())
        start = self.at
        category = self.take(_CATEGORY)
        if category is None:
            return None
        spans = general_category(category[3] or category[4])
        if not spans:
            self.refuse(
                start,
                f"`{category[0]}` is no general category of Unicode",
                r"write one such as `\pL` or `\p{Lu}`, or a range such as `[\x{370}-\x{3ff}]`",
            )
        return self.signed(spans, negated=(category[1] == "P") != bool(category[2]))

    def atom(self) -> _Piece:
        """One character, set or anchor outside square brackets."""
        char, pair = self.pattern[self.at], self.pattern[self.at : self.at + 2]
        if pair in _ANCHORS:
            self.at += 2
            return _Piece(_ANCHORS[pair])
        if char in _FLAGGED:
            self.at += 1
            flag, without, with_flag = _FLAGGED[char]
            return _Piece(with_flag if flag in self.flags else without)
        named = self.named_set()
        if named is not None:
            return _Piece(one_of(named))
        return self.literal(self.character())

    def literal(self, code: int) -> _Piece:
        """One character itself, or its other case where case is ignored."""
        return _Piece(one_of(self.signed([(code, code)])))

    def signed(self, spans: Sequence[Span], *, negated: bool = False) -> list[Span]:
        """The characters of `spans` in the case asked for, or all others."""
        folded = fold(spans) if "i" in self.flags else list(spans)
        return complement(folded) if negated else folded

    def character(self) -> int:
        """The code of the character that comes next, escaped or not."""
        start = self.at
        if not self.sees("\\"):
            self.at += 1
            return ord(self.pattern[start])
        found = self.take(_ESCAPE)
        if found is None:
            escaped = self.pattern[start + 1 : start + 2]
            instead = _ESCAPE_HINTS.get(escaped, f"write `{escaped}` for the text itself")
            self.refuse(start, f"`\\{escaped}` has no meaning", instead)
        kind = found.lastgroup or ""
        written = found[kind]
        if kind not in _BASES:
            return ord(_CONTROLS.get(written, written))
        code = int(written, _BASES[kind])
        if code > LAST:
            self.refuse(start, f"`{found[0]}` is no character", r"`\x{10FFFF}` is the last one")
        return code
