"""What can stand where the cursor is: from the line before it to candidates, without a terminal."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from enum import StrEnum
from itertools import islice

from tfprof.dialects import DIALECTS
from tfprof.metrics import METRICS, ORDER_KEYS
from tfprof.model.profile import ProfileColumns
from tfprof.options import CHECKERS_OPTION, MEMORY_OPTIONS, VIEW_OPTIONS, Kind, Option
from tfprof.outputs.registry import FILE_OUTPUTS, PLAIN_OUTPUTS
from tfprof.shell.candidates import MOST, Found, paths, words
from tfprof.shell.model_names import ModelNames


class Takes(StrEnum):
    """What stands behind a command, as help shows it."""

    NOTHING = ""
    OPTIONS = "[-option value]…"
    MEMORY_OPTIONS = "[-step N] [-max_depth N] [-max_rows N]"
    CHECKERS = "[-checkers NAME,…]"
    OPTION_NAMES = "[option]…"
    TOPIC = "[command | option | metric]"
    PATH = "FILE"


# The options that may stand behind a command.
_TABLES: dict[Takes, Mapping[str, Option]] = {
    Takes.OPTIONS: VIEW_OPTIONS,
    Takes.MEMORY_OPTIONS: MEMORY_OPTIONS,
    Takes.CHECKERS: {CHECKERS_OPTION.name: CHECKERS_OPTION},
}


class Completer:
    """Knows the words of the shell and the names of one model.

    `commands` says of each what stands behind it, and what it does.
    """

    def __init__(self, profile: ProfileColumns, commands: Mapping[str, tuple[Takes, str]]) -> None:
        self._takes = {name: takes for name, (takes, _) in commands.items()}
        self._meanings = {name: meaning for name, (_, meaning) in commands.items()}
        self._names = ModelNames(profile)
        self._steps = profile.steps.numbers()

    def complete(self, line: str) -> Found:
        """The candidates at the end of `line`, which is the text before the cursor."""
        before = line.split()
        word = before.pop() if line and not line[-1].isspace() else ""
        if not before:
            return words(word, self._meanings)
        command, *rest = before
        takes = self._takes.get(command, Takes.NOTHING)
        if takes in _TABLES:
            return self._option_or_value(command, _TABLES[takes], rest, word)
        if takes is Takes.OPTION_NAMES:
            return words(word, _option_names("-" if word.startswith("-") else ""))
        if takes is Takes.TOPIC and not rest:
            return words(word, self._meanings | _option_names() | _METRICS)
        if takes is Takes.PATH and not rest:
            return paths(word)
        return Found(word, [])

    def _option_or_value(
        self, command: str, known: Mapping[str, Option], before: Iterable[str], word: str
    ) -> Found:
        option = _in_want_of_a_value(before, known)
        if option is None:
            return words(word, _option_names("-", known))
        if option.kind is Kind.REGEXES:
            return self._names.complete(option.name, command, word)
        if option.kind is Kind.TYPES:
            _, equals, regex = word.rpartition(",")[2].partition("=")
            return self._names.of_ops(regex) if equals else Found(word, [])
        if option.name == "step":
            recorded = {str(step): "" for step in islice(self._steps, MOST)}
            return words(word, {"-1": "the average of all"} | recorded)
        if option.kind is Kind.SWITCH and word.startswith("-"):
            return words(word, _option_names("-", known))  # it may stand by itself
        return _VALUES[option.kind](word) if option.kind in _VALUES else Found(word, [])


_METRICS = {metric.key: metric.sentence.partition(": ")[2] for metric in METRICS}


def _option_names(dash: str = "", known: Mapping[str, Option] = VIEW_OPTIONS) -> dict[str, str]:
    return {dash + option.name: option.help for option in known.values()}


def _in_want_of_a_value(before: Iterable[str], known: Mapping[str, Option]) -> Option | None:
    """The option that ends the words before the cursor, if one does."""
    option: Option | None = None
    for word in before:
        stands_alone = option is None or (option.kind is Kind.SWITCH and word.startswith("-"))
        is_option = stands_alone and word.startswith("-")
        option = known.get(word[1:]) if is_option else None
    return option


def _metrics(word: str) -> Found:
    """The metrics that the list does not have yet."""
    *given, typed = word.lstrip("\"'").split(",")
    return words(typed, {key: _METRICS[key] for key in _METRICS if key not in given}, end="")


def _checkers(word: str) -> Found:
    """The checkers that the list does not have yet."""
    from tfprof.advisor import registry  # noqa: PLC0415 -- it looks through what is installed

    *given, typed = word.split(",")
    return words(typed, {name: "" for name in registry.names() if name not in given}, end="")


def _outputs(word: str) -> Found:
    """The kind of output, then its setting, then the file."""
    kind, colon, setting = word.partition(":")
    files = {name: output.help for name, output in FILE_OUTPUTS.items()}
    if not colon:
        plain, with_file = words(word, PLAIN_OUTPUTS), words(word, files, end=":outfile=")
        return Found(word, plain.candidates + with_file.candidates)
    key, equals, path = setting.partition("=")
    if equals:
        return paths(path) if key == "outfile" else Found(word, [])
    return words(setting, {"outfile": "the file to write"} if kind in files else {}, end="=")


# By the kind of the option: what its value can be, from what is typed of it.
_VALUES: dict[Kind, Callable[[str], Found]] = {
    Kind.SWITCH: lambda word: words(word, {"true": "", "false": ""}),
    Kind.METRICS: _metrics,
    Kind.KEY: lambda word: words(word, {key: _METRICS.get(key, "") for key in ORDER_KEYS}),
    Kind.OUTPUT: _outputs,
    Kind.NAMES: _checkers,
    Kind.DIALECT: lambda word: words(word, {name: DIALECTS[name].help for name in DIALECTS}),
    Kind.PATH: paths,
}
