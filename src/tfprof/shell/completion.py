"""Completion: candidates for the word at the cursor, found from the text before it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from itertools import islice

from tfprof.commands.command import Command, Place, Words
from tfprof.dialects import DIALECTS
from tfprof.errors import OptionError
from tfprof.metrics import METRICS, ORDER_KEYS
from tfprof.model.profile import ProfileColumns
from tfprof.options import VIEW_OPTIONS, Kind, Option, Options
from tfprof.options.words import take_options
from tfprof.outputs.registry import FILE_OUTPUTS, PLAIN_OUTPUTS, SAVED_FORMATS
from tfprof.shell.candidates import MAX_CANDIDATES, Found, paths, words
from tfprof.shell.model_names import ModelNames
from tfprof.views.registry import VIEWS


class Completer:
    """Completes shell commands, their options and names in one model."""

    def __init__(
        self,
        profile: ProfileColumns,
        commands: Mapping[str, Command],
        options: Callable[[], Options] = Options,
    ) -> None:
        """`options` returns the view options in force."""
        self._commands = commands
        self._options = options
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
        found = self._word(takes, rest, word)
        return self._option_or_value(command, rest, word) if found is None else found

    def _word(self, takes: Words, rest: Sequence[str], word: str) -> Found | None:
        """Candidates for a word that is not part of an option, or None if it may be."""
        match takes:
            case Words.OPTION_NAMES:
                return words(word, _option_names("-" if word.startswith("-") else ""))
            case Words.TOPIC:
                return Found(word, []) if rest else words(word, self._topics)
            case Words.OUTFILE if not rest and not word.startswith("-"):
                return paths(word)
            case Words.QUERY if not "".join([*rest, word, "-"]).startswith("-"):
                return Found(word, [])
        return None

    def _option_or_value(self, command: Command, before: Sequence[str], word: str) -> Found:
        known = command.options
        option = _option_without_value(before, known)
        if option is None or (option.kind is Kind.SWITCH and word.startswith("-")):
            return words(word, _option_names("-", known))  # a switch needs no value
        if option.name == "step":
            recorded = {str(step): "" for step in islice(self._steps, MAX_CANDIDATES)}
            every = (
                {"all": "all steps, with those that warm up"} if option.kind is Kind.STEP else {}
            )
            return words(word, {str(option.default): "the default"} | every | recorded)
        return self._value(option, command, before, word)

    def _value(self, option: Option, command: Command, before: Sequence[str], word: str) -> Found:
        """Candidates for a value, by the kind of the option."""
        match option.kind:
            case Kind.REGEXES:
                options = self._options_before(before, command.options)
                found = self._names.complete(option.name, command.name, word, options)
            case Kind.TYPES:
                _, equals, regex = word.rpartition(",")[2].partition("=")
                found = self._names.of_ops(regex) if equals else Found(word, [])
            case Kind.METRICS:
                found = _metrics(word, self._available)
            case Kind.KEY:
                keys = {key: self._available.get(key, "") for key in self._sort_keys()}
                found = words(word, keys)
            case Kind.FORMAT if "|" in option.value:
                found = words(word, dict.fromkeys(option.value.split("|"), ""))
            case Kind.OUTPUT:
                found = _outputs(word, command.name)
            case kind:
                found = _VALUES[kind](word) if kind in _VALUES else Found(word, [])
        return found

    def _options_before(self, before: Sequence[str], known: Mapping[str, Option]) -> Options:
        """The options in force, with those typed before the last one."""
        try:
            given, _ = take_options(before[:-1], known, dashes=("-",), loose=False)
        except OptionError:  # a mistake is reported when the line is sent
            given = {}
        return self._options().taking(
            {name: value for name, value in given.items() if name in VIEW_OPTIONS}
        )

    @cached_property
    def _available(self) -> dict[str, str]:
        """The metrics for which the files have data, and their meanings."""
        found = {metric.key for metric in METRICS if self._names.has(metric.needs)}
        return {key: means for key, means in _metric_meanings().items() if key in found}

    def _sort_keys(self) -> Iterable[str]:
        known = _metric_meanings()
        return (key for key in ORDER_KEYS if key in self._available or key not in known)


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


def _metrics(word: str, available: Mapping[str, str]) -> Found:
    """The available metrics that are not listed yet."""
    *given, typed = word.lstrip("\"'").split(",")
    others = {key: means for key, means in available.items() if key not in given}
    return words(typed, others, end="")


def _checkers(word: str) -> Found:
    """The checkers that are not listed yet."""
    from tfprof.advisor import registry  # noqa: PLC0415 -- it searches the installed packages

    *given, typed = word.split(",")
    return words(typed, {name: "" for name in registry.names() if name not in given}, end="")


def _outputs(word: str, command: str) -> Found:
    """Candidates for a kind of output, then for its setting, then for the file."""
    kind, colon, setting = word.partition(":")
    files = {
        name: output.help
        for name, output in FILE_OUTPUTS.items()
        if command not in VIEWS or output.supports(command)
    }
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
    Kind.NAMES: _checkers,
    Kind.DIALECT: lambda word: words(word, {name: DIALECTS[name].help for name in DIALECTS}),
    Kind.FORMAT: lambda word: words(word, {name: one.help for name, one in SAVED_FORMATS.items()}),
    Kind.PATH: paths,
}
