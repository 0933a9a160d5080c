"""Completion: candidates for the word at the cursor, found from the text before it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from itertools import islice

from tfprof.commands.command import Command, Place, Words
from tfprof.dialects import DIALECTS
from tfprof.metrics import METRICS, ORDER_KEYS
from tfprof.model.profile import ProfileColumns
from tfprof.options import VIEW_OPTIONS, Kind, Option
from tfprof.outputs.registry import FILE_OUTPUTS, PLAIN_OUTPUTS, SAVED_FORMATS
from tfprof.shell.candidates import MAX_CANDIDATES, Found, paths, words
from tfprof.shell.model_names import ModelNames


class Completer:
    """Completes shell commands, their options and names in one model."""

    def __init__(self, profile: ProfileColumns, commands: Mapping[str, Command]) -> None:
        self._commands = commands
        self._summaries = {name: command.summary for name, command in commands.items()}
        self._topics = _topics(commands)
        self._names = ModelNames(profile)
        self._steps = profile.steps.numbers()

    def complete(self, line: str) -> Found:
        """The candidates at the end of `line`, the text before the cursor."""
        before = line.split()
        word = before.pop() if line and not line[-1].isspace() else ""
        if not before:
            return words(word, self._summaries)
        name, *rest = before
        if name not in self._commands:
            return Found(word, [])
        command = self._commands[name]
        takes = command.takes[Place.SHELL]
        if takes is Words.OPTION_NAMES:
            return words(word, _option_names("-" if word.startswith("-") else ""))
        if takes is Words.TOPIC:
            return Found(word, []) if rest else words(word, self._topics)
        if takes is Words.OUTFILE and not rest and not word.startswith("-"):
            return paths(word)
        return self._option_or_value(command, rest, word)

    def _option_or_value(self, command: Command, before: Iterable[str], word: str) -> Found:
        known = command.options
        option = _option_without_value(before, known)
        if option is None:
            return words(word, _option_names("-", known))
        if option.kind is Kind.REGEXES:
            return self._names.complete(option.name, command.name, word)
        if option.kind is Kind.TYPES:
            _, equals, regex = word.rpartition(",")[2].partition("=")
            return self._names.of_ops(regex) if equals else Found(word, [])
        if option.name == "step":
            recorded = {str(step): "" for step in islice(self._steps, MAX_CANDIDATES)}
            return words(word, {str(option.default): "the default"} | recorded)
        if option.kind is Kind.SWITCH and word.startswith("-"):
            return words(word, _option_names("-", known))  # a switch needs no value
        return _VALUES[option.kind](word) if option.kind in _VALUES else Found(word, [])


def _topics(commands: Mapping[str, Command]) -> dict[str, str]:
    """The topics of `help`: commands, then their options, then metrics."""
    topics = {name: command.summary for name, command in commands.items()}
    for table in (
        *(_option_names("", row.options) for row in commands.values()),
        _metric_meanings(),
    ):
        topics |= {name: meaning for name, meaning in table.items() if name not in topics}
    return topics


def _metric_meanings() -> dict[str, str]:
    return {metric.key: metric.sentence.partition(": ")[2] for metric in METRICS}


def _option_names(dash: str = "", known: Mapping[str, Option] = VIEW_OPTIONS) -> dict[str, str]:
    return {dash + option.name: option.help for option in known.values()}


def _option_without_value(before: Iterable[str], known: Mapping[str, Option]) -> Option | None:
    """The last option before the cursor if it has no value yet, otherwise None."""
    option: Option | None = None
    for word in before:
        can_be_option = option is None or option.kind is Kind.SWITCH
        is_option = can_be_option and word.startswith("-")
        option = known.get(word[1:]) if is_option else None
    return option


def _metrics(word: str) -> Found:
    """The metrics that are not listed yet."""
    *given, typed = word.lstrip("\"'").split(",")
    others = {key: means for key, means in _metric_meanings().items() if key not in given}
    return words(typed, others, end="")


def _order_keys(word: str) -> Found:
    meanings = _metric_meanings()
    return words(word, {key: meanings.get(key, "") for key in ORDER_KEYS})


def _checkers(word: str) -> Found:
    """The checkers that are not listed yet."""
    from tfprof.advisor import registry  # noqa: PLC0415 -- it searches the installed packages

    *given, typed = word.split(",")
    return words(typed, {name: "" for name in registry.names() if name not in given}, end="")


def _outputs(word: str) -> Found:
    """Candidates for a kind of output, then for its setting, then for the file."""
    kind, colon, setting = word.partition(":")
    files = {name: output.help for name, output in FILE_OUTPUTS.items()}
    if not colon:
        plain, with_file = words(word, PLAIN_OUTPUTS), words(word, files, end=":outfile=")
        return Found(word, plain.candidates + with_file.candidates)
    key, equals, path = setting.partition("=")
    if equals:
        return paths(path) if key == "outfile" else Found(word, [])
    return words(setting, {"outfile": "the file to write"} if kind in files else {}, end="=")


# For each kind of option, a function from the typed part of a value to candidates.
_VALUES: dict[Kind, Callable[[str], Found]] = {
    Kind.SWITCH: lambda word: words(word, {"true": "", "false": ""}),
    Kind.METRICS: _metrics,
    Kind.KEY: _order_keys,
    Kind.OUTPUT: _outputs,
    Kind.NAMES: _checkers,
    Kind.DIALECT: lambda word: words(word, {name: DIALECTS[name].help for name in DIALECTS}),
    Kind.FORMAT: lambda word: words(word, {name: one.help for name, one in SAVED_FORMATS.items()}),
    Kind.PATH: paths,
}
