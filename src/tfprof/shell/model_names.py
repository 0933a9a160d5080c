"""The names of a model as regexes: what can follow what is typed, escaped."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cached_property

from tfprof.columns import Strings
from tfprof.memo import OnDemand
from tfprof.model.profile import ProfileColumns
from tfprof.shell.candidates import MOST, Candidate, Found
from tfprof.shell.prefixes import SortedNames

# The options whose regexes match the names of rows, and those that match other texts.
_OF_ROWS = frozenset({f"{filter_}_name_regexes" for filter_ in ("start", "trim", "show", "hide")})
_OTHERS: dict[str, Callable[[ProfileColumns], Strings]] = {
    "account_type_regexes": lambda profile: profile.ops.types.names,
    "device_regexes": lambda profile: profile.devices.name,
    "recording": lambda profile: profile.recordings.label,
}

_SPECIAL = frozenset(r"\.^$*+?()[]{}|")
# What would end the word or the item of the list, or be taken for quotes around it.
_ENDING = frozenset(",\"'")
_ESCAPED = r"\\x\{((?:10|[0-9a-f])?[0-9a-f]{1,4})\}|\\([!-/:-@\[-`{-~])|([^\\^$*+?()\[\]{}|])"

# Where an item begins: behind a comma, and within a regex behind a bar or a bracket.
_ITEM = r"(?:^[\"']?|(?<!\\)[,|(])((?:[^\\,|(]|\\.)*\\?)$"


class ModelNames:
    """What the regexes of an option may match, by the view that is asked."""

    def __init__(self, profile: ProfileColumns) -> None:
        self._profile = profile

    def complete(self, option: str, command: str, word: str) -> Found:
        """The names that begin as the last item of `word` does."""
        item = re.search(_ITEM, word)
        typed = item[1] if item else word
        prefix = unescaped(typed)
        return Found(typed, [] if prefix is None else self._named(option, command, prefix))

    def of_ops(self, regex: str) -> Found:
        """The ops whose names begin as `regex` does."""
        return self.complete("show_name_regexes", "graph", regex)

    def _named(self, option: str, command: str, prefix: str) -> list[Candidate]:
        if option in self._others:
            return _whole(self._others[option], prefix)
        if option not in _OF_ROWS:
            return []
        if command == "code":
            return _lines_of(self._code_files, prefix)
        if command == "op":
            return _whole(self._kinds, prefix, "op kind")
        found = _ways_on(self._names, prefix, has_scope_rows=command != "graph")
        return found + _whole(self._kinds, prefix, "op kind") if command == "set" else found

    @cached_property
    def _names(self) -> SortedNames:
        return SortedNames(self._profile.ops.name)

    @cached_property
    def _kinds(self) -> SortedNames:
        return SortedNames.of(self._profile.ops.kind.values)

    @cached_property
    def _code_files(self) -> SortedNames:
        # Rows of the code view have the file's name without its folder.
        names = {path.rpartition("/")[2] for path in self._profile.code.file.values}
        return SortedNames(Strings(sorted(names)))

    @cached_property
    def _others(self) -> OnDemand[SortedNames]:
        return OnDemand(_OTHERS, lambda option: SortedNames.of(_OTHERS[option](self._profile)))


def _whole(names: SortedNames, prefix: str, meaning: str = "") -> list[Candidate]:
    found = names.children(prefix, MOST, whole=True)
    return [Candidate(escaped(child.text), child.text, meaning) for child in found]


def _lines_of(files: SortedNames, prefix: str) -> list[Candidate]:
    """Every line of a file of code, for each such file."""
    found = files.children(prefix, MOST, whole=True)
    return [Candidate(f"{escaped(child.text)}:.*", child.text, "its lines") for child in found]


def _ways_on(names: SortedNames, prefix: str, *, has_scope_rows: bool) -> list[Candidate]:
    """The next part of op names, as files and folders are completed.

    Behind the slash of a scope there is also all that is in it; one that is typed in full is also
    offered as it is, if there is a row of that name.
    """
    found = [
        Candidate(
            escaped(child.text),
            child.text[prefix.rfind("/") + 1 :],
            _ops(child.names) if child.is_scope else "op",
        )
        for child in names.children(prefix, MOST)
    ]
    if prefix.endswith("/") and found:
        everything = Candidate(f"{escaped(prefix)}.*", ".*", f"all {_ops(names.count(prefix))}")
        return [everything, *found]
    texts = {candidate.text for candidate in found}
    if has_scope_rows and escaped(prefix + "/") in texts and escaped(prefix) not in texts:
        return [Candidate(escaped(prefix), prefix[prefix.rfind("/") + 1 :], "the scope"), *found]
    return found


def _ops(count: int) -> str:
    return f"{count:,} op{'s' * (count != 1)}"


def escaped(name: str) -> str:
    """The regex that matches `name` alone, fit to stand in a list and in a line."""
    return "".join(map(_escaped, name))


def _escaped(char: str) -> str:
    if char in _ENDING or char.isspace() or not char.isprintable():
        return f"\\x{{{ord(char):x}}}"
    return f"\\{char}" if char in _SPECIAL else char


def unescaped(regex: str) -> str | None:
    """The text that a regex without any freedom stands for; a dot is taken for the letter."""
    pieces = [match.groups() for match in re.finditer(f"(?s){_ESCAPED}|(.)", regex)]
    if any(rest for *_, rest in pieces):
        return None
    return "".join(chr(int(code, 16)) if code else mark or plain for code, mark, plain, _ in pieces)
