"""Completion of regexes with names from the model, escaped to match literally."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cached_property

from tfprof.columns import Strings
from tfprof.memo import OnDemand
from tfprof.model.profile import ProfileColumns
from tfprof.shell.candidates import MAX_CANDIDATES, Candidate, Found
from tfprof.shell.prefixes import SortedNames

# Options whose regexes match row names, and those whose regexes match other names.
_ROW_OPTIONS = frozenset(
    {f"{filter_}_name_regexes" for filter_ in ("start", "trim", "show", "hide")}
)
_OTHER_OPTIONS: dict[str, Callable[[ProfileColumns], Strings]] = {
    "account_type_regexes": lambda profile: profile.ops.types.names,
    "device_regexes": lambda profile: profile.devices.name,
    "recording": lambda profile: profile.recordings.label,
}

_SPECIAL = frozenset(r"\.^$*+?()[]{}|")
# Characters that would end a list item or be taken for quotes around the list.
_DELIMITERS = frozenset(",\"'")
_ESCAPED = r"\\x\{((?:10|[0-9a-f])?[0-9a-f]{1,4})\}|\\([!-/:-@\[-`{-~])|([^\\^$*+?()\[\]{}|])"

# An item starts after a comma or, inside a regex, after a bar or a parenthesis.
_ITEM = r"(?:^[\"']?|(?<!\\)[,|(])((?:[^\\,|(]|\\.)*\\?)$"


class ModelNames:
    """The names that an option's regexes can match, which depend on the view."""

    def __init__(self, profile: ProfileColumns) -> None:
        self._profile = profile

    def complete(self, option: str, command: str, word: str) -> Found:
        """The names that start with the last item of `word`."""
        item = re.search(_ITEM, word)
        typed = item[1] if item else word
        prefix = unescaped(typed)
        return Found(typed, [] if prefix is None else self._candidates(option, command, prefix))

    def of_ops(self, regex: str) -> Found:
        """The op names that start with `regex`."""
        return self.complete("show_name_regexes", "graph", regex)

    def _candidates(self, option: str, command: str, prefix: str) -> list[Candidate]:
        if option in self._other_names:
            return _whole_names(self._other_names[option], prefix)
        if option not in _ROW_OPTIONS:
            return []
        if command == "code":
            return _code_lines(self._code_files, prefix)
        if command == "op":
            return _whole_names(self._kinds, prefix, "op kind")
        found = _next_parts(self._names, prefix, has_scope_rows=command != "graph")
        return found + _whole_names(self._kinds, prefix, "op kind") if command == "set" else found

    @cached_property
    def _names(self) -> SortedNames:
        return SortedNames(self._profile.ops.name)

    @cached_property
    def _kinds(self) -> SortedNames:
        return SortedNames.of(self._profile.ops.kind.values)

    @cached_property
    def _code_files(self) -> SortedNames:
        # Rows of the code view name the file without its folder.
        names = {path.rpartition("/")[2] for path in self._profile.code.file.values}
        return SortedNames(Strings(sorted(names)))

    @cached_property
    def _other_names(self) -> OnDemand[SortedNames]:
        return OnDemand(
            _OTHER_OPTIONS, lambda option: SortedNames.of(_OTHER_OPTIONS[option](self._profile))
        )


def _whole_names(names: SortedNames, prefix: str, meaning: str = "") -> list[Candidate]:
    found = names.children(prefix, MAX_CANDIDATES, whole=True)
    return [Candidate(escaped(child.text), child.text, meaning) for child in found]


def _code_lines(files: SortedNames, prefix: str) -> list[Candidate]:
    """For each code file, a regex that matches all its lines."""
    found = files.children(prefix, MAX_CANDIDATES, whole=True)
    return [Candidate(f"{escaped(child.text)}:.*", child.text, "its lines") for child in found]


def _next_parts(names: SortedNames, prefix: str, *, has_scope_rows: bool) -> list[Candidate]:
    """The next parts of op names, completed like files in folders.

    After a scope's slash, one more candidate matches everything in the scope. A scope without its
    slash is a candidate too if the view has rows for scopes.
    """
    found = [
        Candidate(
            escaped(child.text),
            child.text[prefix.rfind("/") + 1 :],
            _ops(child.names) if child.is_scope else "op",
        )
        for child in names.children(prefix, MAX_CANDIDATES)
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
