r"""Lists of RE2 patterns, matched against whole texts.

RE2 takes time proportional to the text for every pattern: `(a+)+b` is as fast as `a+b`.
"""

from __future__ import annotations

import functools
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from tfprof.errors import OptionError
from tfprof.regex_advice import MOST_MIB, advice

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tfprof.columns import Bools, Strings


@dataclass(frozen=True, slots=True)
class Patterns:
    """A list of patterns, which matches a text if any pattern matches all of it."""

    sources: Sequence[str]

    def __post_init__(self) -> None:
        object.__setattr__(self, "sources", tuple(self.sources))
        for pattern in self.sources:
            _matcher(pattern)

    @property
    def is_everything(self) -> bool:
        """Whether the only pattern is `.*`, which matches every text, even with newlines."""
        return self.sources == (".*",)

    @property
    def is_empty(self) -> bool:
        """Whether there are no patterns, so that nothing matches."""
        return not self.sources

    def matches(self, text: str) -> bool:
        """Whether any of the patterns matches all of `text`."""
        return bool(self.match_column([text])[0])

    def match_column(self, strings: Sequence[str]) -> Bools:
        """For each of `strings`, whether any of the patterns matches it."""
        import numpy as np  # noqa: PLC0415 -- options are checked without loading numpy

        matched = np.zeros(len(strings), dtype=np.bool_)
        for column in self.match_each(strings):
            matched |= column
        return matched

    def match_each(self, strings: Sequence[str]) -> list[Bools]:
        """For each pattern, which of `strings` it matches."""
        import numpy as np  # noqa: PLC0415 -- options are checked without loading numpy

        from tfprof.columns import Strings  # noqa: PLC0415 -- it loads numpy

        if self.is_empty:
            return []
        if self.is_everything:
            return [np.ones(len(strings), dtype=np.bool_)]
        column = strings if isinstance(strings, Strings) else Strings(strings)
        return [_matcher(pattern).match(column) for pattern in self.sources]


@functools.lru_cache(maxsize=64)
def _matcher(pattern: str) -> _Literal | _Regex:
    """The fastest way to match `pattern`; raises `OptionError` if it is invalid."""
    literal = re.fullmatch(_LITERAL, pattern)
    if literal is None:
        return _Regex(pattern)
    before, escaped, after = literal.groups()
    return _Literal(re.sub(r"\\(.)", r"\1", escaped), before is not None, after is not None)


# A literal with `.*` before it, after it, both or neither; escaped punctuation is literal too.
# Invalid Unicode is excluded here so that RE2 reports it.
_LITERAL: Final = r"(\.\*)?((?:[^\n\\.^$*+?()[\]{}|\ud800-\udfff]|\\[!-/:-@[-`{-~])*)(\.\*)?"


@dataclass(frozen=True, slots=True)
class _Literal:
    """A pattern that a plain search can match, in 0.01 µs per op name, a tenth of RE2's time.

    Measured by benchmarks/regexes.py, like the figures below.
    """

    text: str
    is_open_before: bool
    is_open_after: bool

    def match(self, strings: Strings) -> Bools:
        """Which of `strings` the pattern matches."""
        if not (self.is_open_before or self.is_open_after):
            is_as_long: Bools = strings.lengths == len(self.text.encode())
            return strings.starts_with(self.text) & is_as_long
        is_one_line = strings.find("\n") < 0  # a dot does not match a newline
        if self.is_open_before and self.is_open_after:
            return is_one_line & (strings.find(self.text) >= 0)
        matches = strings.ends_with if self.is_open_before else strings.starts_with
        return is_one_line & matches(self.text)


_ROWS_AT_ONCE: Final = 32_768  # limits the memory for joined lines


class _Regex:
    """A pattern compiled by RE2.

    Calling RE2 for each name takes 1.4 µs per name, Python's `re` 0.4 µs. So the names are joined
    into lines, and each call finds a run of consecutive matching lines. This takes 0.1 to 0.5 µs
    per name, depending on the number of runs.
    """

    def __init__(self, pattern: str) -> None:
        self._pattern = pattern
        self._whole = _compiled(pattern)

    @functools.cached_property
    def _run(self) -> Any:
        r"""A regex for runs of matching lines; None if its results could differ from `fullmatch`.

        `never_nl` keeps the pattern within a line; `\C`, which matches any byte, matches the
        newline between `$` and the next line. Patterns with `\A`, `\z` or `(?-m)` are excluded,
        because in joined lines they do not match at the ends of each text.
        """
        if re.search(r"\\[AzC]|\(\?\w*-\w*m", self._pattern):
            return None
        try:
            return _compiled(rf"(?m)^(?:(?:{self._pattern})$\C)+", never_nl=True)
        except OptionError:  # the pattern ends within `\Q`, or is now too large
            return None

    def match(self, strings: Strings) -> Bools:
        """Which of `strings` the pattern matches."""
        import numpy as np  # noqa: PLC0415 -- options are checked without loading numpy

        cuts = range(_ROWS_AT_ONCE, len(strings), _ROWS_AT_ONCE)
        parts = np.split(np.arange(len(strings)), cuts)
        return np.concatenate([self._match_some(strings.take(rows)) for rows in parts])

    def _match_some(self, strings: Strings) -> Bools:
        import numpy as np  # noqa: PLC0415 -- options are checked without loading numpy

        lines = strings.lines()
        if self._run is None or lines.data.count(b"\n") > len(lines):
            matched = [self._whole.fullmatch(text.encode()) is not None for text in strings]
            return np.array(matched, np.bool_)
        edges = [edge for run in self._run.finditer(lines.data) for edge in run.span()]
        is_edge = np.zeros(len(lines) + 1, np.bool_)
        is_edge[lines.starts.searchsorted(edges)] = True
        return np.logical_xor.accumulate(is_edge)[:-1]  # runs start and end at alternate edges


def _compiled(pattern: str, *, never_nl: bool = False) -> Any:
    """`pattern` compiled by RE2, with the options of the original tool."""
    import re2  # noqa: PLC0415 -- loading it takes 8 ms, and most commands do not need it

    options = re2.Options()
    options.log_errors = False
    options.max_mem = MOST_MIB << 20
    options.never_capture = True  # groups are not used, and capturing takes time
    options.never_nl = never_nl
    try:
        return re2.compile(pattern, options)
    except UnicodeEncodeError:
        raise _invalid(pattern, "invalid UTF-8") from None
    except re2.error as error:
        raise _invalid(pattern, error.args[0].decode(errors="replace")) from None


def _invalid(pattern: str, error: str) -> OptionError:
    shown = pattern.encode(errors="backslashreplace").decode()
    return OptionError(f"pattern `{shown}`: {advice(error)}.".replace("\n", r"\n"))
