"""Completion of regexes with names from the model, escaped to match literally.

Names are those of the rows, types and devices that the line would show so far, so that a completed
line always shows something.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from tfprof.api import build_view
from tfprof.columns import Ints, Strings
from tfprof.errors import TfprofError
from tfprof.metrics import Need
from tfprof.model.profile import ProfileColumns
from tfprof.options import Options, default_of
from tfprof.shell.candidates import MAX_CANDIDATES, Candidate, Found
from tfprof.shell.prefixes import SortedNames
from tfprof.views.registry import VIEWS, Trait

_ROW_OPTIONS = frozenset(
    {f"{filter_}_name_regexes" for filter_ in ("start", "trim", "show", "hide")}
)
# Options that can leave no row. Their candidates are tried out, unless there are too many rows.
_TRIED_OPTIONS = frozenset({"account_type_regexes", "trim_name_regexes", "hide_name_regexes"})
_MOST_TRIED = 1_000_000  # ops, over all candidates: about a second
_ANY_DEPTH = 1 << 30
_MOST_KNOWN = 4  # lists of names that are kept; each may have a million
_BELOW = "/.*"

_SPECIAL = frozenset(r"\.^$*+?()[]{}|")
# Characters that would end a list item or be taken for quotes around the list.
_DELIMITERS = frozenset(",\"'")
_ESCAPED = r"\\x\{((?:10|[0-9a-f])?[0-9a-f]{1,4})\}|\\([!-/:-@\[-`{-~])|([^\\^$*+?()\[\]{}|])"

# An item starts after a comma or, inside a regex, after a bar or a parenthesis.
_ITEM = r"(?:^[\"']?|(?<!\\)[,|(])((?:[^\\,|(]|\\.)*\\?)$"


class _Rows(NamedTuple):
    """The rows that a line shows: their names, and the ops in them."""

    names: Strings
    ops: Ints


class ModelNames:
    """The names that an option's regexes can match, which depend on the rest of the line."""

    def __init__(self, profile: ProfileColumns) -> None:
        self._profile = profile
        self._known: dict[object, SortedNames] = {}  # by question

    def complete(self, option: str, command: str, word: str, options: Options) -> Found:
        """The names that start with the last item of `word`.

        `options` are those in force and those typed before.
        """
        item = re.search(_ITEM, word)
        typed = item[1] if item else word
        prefix = unescaped(typed.removesuffix(".*") if typed.endswith(_BELOW) else typed)
        if prefix is None:
            return Found(typed, [])
        view = command if command in VIEWS else ""
        found = self._candidates(option, view, prefix, options)
        if view and option in _TRIED_OPTIONS and len(found) * len(self._profile.ops) <= _MOST_TRIED:
            found = [one for one in found if self._keeps_rows(option, view, options, one)]
        return Found(typed, found)

    def of_ops(self, regex: str) -> Found:
        """The op names that start with `regex`."""
        prefix = unescaped(regex)
        names = SortedNames(self._profile.ops.name)
        return Found(regex, [] if prefix is None else _next_parts(names, prefix))

    def _candidates(self, option: str, view: str, prefix: str, options: Options) -> list[Candidate]:
        if option == "recording":
            return _whole_names(SortedNames.of(self._profile.recordings.label), prefix)
        if option in ("account_type_regexes", "device_regexes"):
            return _whole_names(self._other_names(option, view, options), prefix)
        if option not in _ROW_OPTIONS:
            return []
        if not view:  # `set`: the option will apply to all views
            scopes, kinds = (self._names(option, kind, options) for kind in ("scope", "op"))
            return [*_next_parts(scopes, prefix), *_whole_names(kinds, prefix, "op kind")]
        return _of_rows(self._names(option, view, options), view, prefix)

    def _names(self, option: str, view: str, options: Options) -> SortedNames:
        """The rows that the option can match; in the code view, their files."""
        question = _without(option, options)
        if option == "start_name_regexes":  # the depth counts from the rows that it matches
            question = replace(question, max_depth=_ANY_DEPTH)
        key = (view, question)
        if key not in self._known:
            rows = self._rows(view, question)
            names: Iterable[str] = rows.names
            if Trait.CODE in VIEWS[view].traits:
                names = dict.fromkeys(name.partition(":")[0] for name in rows.names)
            if len(self._known) == _MOST_KNOWN:
                self._known.clear()
            self._known[key] = SortedNames.of(Strings(names))
        return self._known[key]

    def _other_names(self, option: str, view: str, options: Options) -> SortedNames:
        """The types or devices of the ops that the line shows."""
        profile, columns = self._profile, self._profile.ops.types
        ops = np.arange(len(profile.ops))
        if view:
            ops = self._rows(view, _without(option, options)).ops
        if option == "account_type_regexes":
            codes, names = columns.members.take(ops).values, columns.names
        else:
            codes, names = profile.op_devices.take(ops).values, profile.devices.name
        return SortedNames.of(Strings(dict.fromkeys(names.take(np.unique(codes)))))

    def _rows(self, view: str, options: Options) -> _Rows:
        try:
            found = build_view(view, self._profile, options)
        except TfprofError:  # a file is missing, or another option has a wrong value
            return _Rows(Strings([]), np.arange(0))
        rows = np.arange(1, len(found))
        return _Rows(found.name.take(rows), found.members.take(rows).values)

    def _keeps_rows(self, option: str, view: str, options: Options, one: Candidate) -> bool:
        """Whether any row is left with this value of the option."""
        return len(self._rows(view, _without(option, options, (one.text,))).names) > 0

    def has(self, need: Need) -> bool:
        """Whether the files have what a metric requires."""
        return self._profile.has(need)


def _of_rows(names: SortedNames, view: str, prefix: str) -> list[Candidate]:
    """Rows of a view, in steps that suit it."""
    if Trait.CODE in VIEWS[view].traits:
        return _code_lines(names, prefix)
    if Trait.NESTED in VIEWS[view].traits:
        return _next_parts(names, prefix)
    return _whole_names(names, prefix, "op kind")


def _without(option: str, options: Options, value: tuple[str, ...] | None = None) -> Options:
    """`options` with `option` at its default or at `value`, for an answer that is not written."""
    default = default_of(option, options.dialect) if value is None else value
    return replace(options, output="", dump_to_file="").taking({option: default})


def _whole_names(names: SortedNames, prefix: str, meaning: str = "") -> list[Candidate]:
    found = names.children(prefix, MAX_CANDIDATES, whole=True)
    return [Candidate(escaped(child.text), child.text, meaning) for child in found]


def _code_lines(files: SortedNames, prefix: str) -> list[Candidate]:
    """For each code file, a regex that matches all its lines."""
    found = files.children(prefix, MAX_CANDIDATES, whole=True)
    return [Candidate(f"{escaped(child.text)}:.*", child.text, "its lines") for child in found]


def _next_parts(names: SortedNames, prefix: str) -> list[Candidate]:
    """The next parts of names, completed like files in folders.

    A scope that has a row is completed to its name, any other scope to a regex for all rows in it.
    After the slash of a scope, one more candidate matches everything in the scope.
    """
    children = names.children(prefix, MAX_CANDIDATES)
    if len(children) == 1 and children[0].is_scope:
        return _next_parts(names, children[0].text)
    rows = {child.text for child in children if not child.is_scope}
    start = prefix.rfind("/") + 1
    found: list[Candidate] = []
    if prefix.endswith("/") and children:
        found.append(Candidate(f"{escaped(prefix)}.*", ".*", f"all {_rows(names.count(prefix))}"))
    for child in children:
        if not child.is_scope:
            below = names.count(f"{child.text}/")
            meaning = f"{_rows(below)} below" if below else "op"
            found.append(Candidate(escaped(child.text), child.text[start:], meaning))
        elif child.text.removesuffix("/") not in rows:
            label, text = f"{child.text[start:]}.*", f"{escaped(child.text)}.*"
            found.append(Candidate(text, label, f"all {_rows(child.names)}"))
    return found


def _rows(count: int) -> str:
    return f"{count:,} row{'s' * (count != 1)}"


def escaped(name: str) -> str:
    """A regex that matches only `name`, written without spaces, commas or quotes."""
    return "".join(map(_escaped, name))


def _escaped(char: str) -> str:
    if char in _DELIMITERS or char.isspace() or not char.isprintable():
        return f"\\x{{{ord(char):x}}}"
    return f"\\{char}" if char in _SPECIAL else char


def unescaped(regex: str) -> str | None:
    """The text that a literal regex matches; a dot counts as literal even if it is not escaped.

    None if the regex is not literal.
    """
    pieces = [match.groups() for match in re.finditer(f"(?s){_ESCAPED}|(.)", regex)]
    if any(rest for *_, rest in pieces):
        return None
    return "".join(chr(int(code, 16)) if code else mark or plain for code, mark, plain, _ in pieces)
