"""Kinds of option values: how each is parsed from text and checked when given from Python."""

from __future__ import annotations

import operator
from collections.abc import Callable, Collection, Iterable, Mapping
from enum import StrEnum
from typing import Any, NamedTuple, Self

from tfprof.dialects import DIALECTS
from tfprof.errors import OptionError, nearest
from tfprof.metrics import AUTO, BY_KEY, ORDER_KEYS
from tfprof.patterns import Patterns

# Instead of the number of a step.
EVERY_STEP = -2
_ALL = "all"
TRUE = frozenset({"true", "t", "yes", "y", "1"})
FALSE = frozenset({"false", "f", "no", "n", "0"})


class Kind(StrEnum):
    """The kind of an option's value; its text is the placeholder in help."""

    NUMBER = "NUMBER"
    STEP = "STEP|all"
    SWITCH = "[true|false]"
    REGEXES = "REGEX,…"
    METRICS = "METRIC,…"
    KEY = "KEY"
    OUTPUT = "TYPE[:key=value]"
    TYPES = "TYPE=REGEX,…"
    DIALECT = "NAME"
    PATH = "FILE"
    PATHS = "[STEP:]FILE,…"
    FILES = "FILES"  # may be given several times
    NAMES = "NAME,…"
    BUDGETS = "METRICS"  # metrics that can have a budget
    NUMBERS = "NUMBER,…"
    SIGNATURE = "SIGNATURE"
    FORMAT = "FORMAT"
    TEXT = "TEXT"


# Options are named tuples because creating data classes takes longer, which delays every command.


class Option(NamedTuple):
    """One option: its name, the kind of its value, its default and its help."""

    name: str
    kind: Kind
    default: Any
    help: str
    group: str = ""  # the heading that help lists it under
    placeholder: str | None = None  # for its value in help, such as a unit (default: the kind)
    dashes: str = "--"  # shown in command-line help; the command line accepts one or two
    short: str = ""  # one-letter name
    ends: bool = False  # the words after its value are those of a program

    @property
    def value(self) -> str:
        """The placeholder for its value in help; empty for a plain flag."""
        return self.kind if self.placeholder is None else self.placeholder

    def parse(self, text: str) -> Any:
        """The value of `text`, which a user typed."""
        return _PARSERS[self.kind](self, text)

    def check(self, value: Any) -> Any:
        """Check a value given from Python and convert it to the form that is stored."""
        return _CHECKS[self.kind](self, value)

    def text(self, value: Any) -> str:
        """A stored value as a user would type it."""
        if isinstance(value, bool):
            return str(value).lower()
        if self.kind is Kind.STEP and value == EVERY_STEP:
            return _ALL
        return ",".join(map(_item_text, value)) if isinstance(value, tuple) else str(value)

    def words(self, value: Any) -> tuple[str, str]:
        """The words that give the option a value on the command line."""
        return f"{self.dashes}{self.name}", self.text(value)


def _item_text(item: Any) -> str:
    if isinstance(item, tuple):  # a file with its step, if that is known
        step, path = item
        return path if step is None else f"{step}:{path}"
    return str(item)


class OutputSpec(NamedTuple):
    """Where an answer is written: `file:outfile=report.txt`, parsed."""

    kind: str = "stdout"
    settings: tuple[tuple[str, str], ...] = ()

    @classmethod
    def parse(cls, text: str) -> Self:
        """Parse `TYPE[:key=value,key=value]`; empty text means standard output."""
        kind, _, rest = text.partition(":")
        pieces = (list(filter(None, piece.split("="))) for piece in rest.split(","))
        pairs = ((key, "=".join(value)) for key, *value in filter(None, pieces))
        return cls(kind or "stdout", tuple(pairs))

    @property
    def outfile(self) -> str:
        return dict(self.settings).get("outfile", "")

    @property
    def is_drawn(self) -> bool:
        """Whether the answer becomes a picture or a trace, not a list of rows."""
        return self.kind in ("timeline", "pprof", "speedscope", "perfetto")

    def __str__(self) -> str:
        return f"{self.kind}:" + ",".join(f"{key}={value}" for key, value in self.settings)


def _items(text: str) -> list[str]:
    """The comma-separated items of `text`; quotes around the whole text are dropped."""
    return [item for item in text.strip("\"'").split(",") if item]


def _parse_number(option: Option, text: str) -> int:
    try:
        number = int(text)
    except ValueError:
        raise OptionError(f"`-{option.name}` takes a whole number, not `{text}`.") from None
    return _check_number(option, number)


def _check_number(option: Option, value: Any) -> int:
    number = _whole_number(value)
    if number is None:
        raise OptionError(f"`{option.name}` takes a whole number, not {value!r}.")
    if not -(2**63) <= number < 2**63:
        raise OptionError(f"`{option.name}` takes a 64-bit number; {number} is out of range.")
    return number


def _check_step(option: Option, value: Any) -> int:
    """The number of a step, or `EVERY_STEP` for `all`."""
    if not isinstance(value, str):
        return _check_number(option, value)
    if value == _ALL:
        return EVERY_STEP
    try:
        return _parse_number(option, value)
    except OptionError:
        raise OptionError(f"`-{option.name}` takes a number or {_ALL}, not `{value}`.") from None


def _parse_numbers(option: Option, text: str) -> tuple[int, ...]:
    return tuple(_parse_number(option, item) for item in _items(text))


def _check_numbers(option: Option, value: Any) -> tuple[int, ...]:
    """Whole numbers from text, from one number or from a sequence of numbers."""
    if isinstance(value, str):
        return _parse_numbers(option, value)
    items = value if isinstance(value, Iterable) else (value,)
    return tuple(_check_number(option, item) for item in items)


def _whole_number(value: Any) -> int | None:
    """`value` as an int, also from numpy; None for anything else, including booleans."""
    # Before version 2, the booleans of numpy are also accepted as an index.
    is_boolean = isinstance(value, bool) or getattr(value, "dtype", None) == "bool"
    try:
        return None if is_boolean else operator.index(value)
    except TypeError:
        return None


def _parse_switch(option: Option, text: str) -> bool:
    if text.lower() not in TRUE | FALSE:
        raise OptionError(f"`-{option.name}` takes true or false, not `{text}`.")
    return text.lower() in TRUE


def _check_switch(option: Option, value: Any) -> bool:
    if value in (True, False):
        return bool(value)
    raise OptionError(f"`{option.name}` takes True or False, not {value!r}.")


def _words(option: Option, value: Any) -> tuple[str, ...]:
    """A list of words, from comma-separated text or from a sequence of strings."""
    items = _items(value) if isinstance(value, str) else value
    if not isinstance(items, Iterable):
        raise OptionError(f"`{option.name}` takes a list of strings, not {value!r}.")
    words = tuple(items)
    if not all(isinstance(word, str) for word in words):
        raise OptionError(f"`{option.name}` takes a list of strings, not {value!r}.")
    return words


def _check_regexes(option: Option, value: Any) -> tuple[str, ...]:
    words = _words(option, value)
    try:
        Patterns(words)
    except OptionError as error:
        raise OptionError(f"`{option.name}`: {error}") from None
    return words


def _check_metrics(option: Option, value: Any) -> tuple[str, ...]:
    words = _words(option, value)
    for word in words:
        _check_word(option, word, (*BY_KEY, AUTO))
    return tuple(sorted(set(words)))


def _check_key(option: Option, value: Any) -> str:
    return _check_word(option, value, (*ORDER_KEYS, AUTO))


def _check_word(option: Option, word: Any, known: Collection[str]) -> str:
    if word not in tuple(known):
        raise OptionError(f"`{option.name}` cannot be `{word}`. {nearest(str(word), known)}")
    return str(word)


def _check_output(option: Option, value: Any) -> str:
    if not isinstance(value, str):
        raise OptionError(f"`{option.name}` takes a string like file:outfile=F, not {value!r}.")
    return value


def _check_types(option: Option, value: Any) -> tuple[str, ...]:
    """Definitions such as `attention=.*attn.*`, from text or from a mapping of type to regex."""
    if isinstance(value, Mapping):
        value = [f"{name}={regex}" for name, regex in value.items()]
    words = _words(option, value)
    for word in words:
        name, _, regex = word.partition("=")
        if not name or not regex:
            raise OptionError(
                f"`{option.name}` takes TYPE=REGEX, as in attn=.*attn.*, not `{word}`."
            )
        _check_regexes(option, (regex,))
    return words


def _check_dialect(option: Option, value: Any) -> str:
    return _check_word(option, value, DIALECTS)


def _check_path(option: Option, value: Any) -> str:
    if hasattr(value, "__fspath__"):
        value = value.__fspath__()
    if not isinstance(value, str):
        raise OptionError(f"`{option.name}` takes a file path, not {value!r}.")
    return value


def _check_text(option: Option, value: Any) -> str:
    if not isinstance(value, str):
        raise OptionError(f"`{option.name}` takes a name, not {value!r}.")
    return value


def _check_format(option: Option, value: Any) -> str:
    """A name; if the placeholder lists the formats, one of them."""
    text = _check_text(option, value)
    return _check_word(option, text, option.value.split("|")) if "|" in option.value else text


def _parse_paths(option: Option, text: str) -> tuple[tuple[int | None, str], ...]:
    found: list[tuple[int | None, str]] = []
    for item in _items(text):
        number, colon, path = item.partition(":")
        if colon and path and number.lstrip("-").isdigit():
            found.append((_parse_number(option, number), path))
        else:
            found.append((None, item))
    return tuple(found)


def _check_paths(option: Option, value: Any) -> tuple[tuple[int | None, str], ...]:
    """Paths from text, from one path, a sequence of paths or a mapping of step to path."""
    if isinstance(value, str):
        return _parse_paths(option, value)
    if hasattr(value, "__fspath__"):
        return ((None, _check_path(option, value)),)
    if isinstance(value, Mapping):
        return tuple(
            (_check_number(option, step), _check_path(option, path)) for step, path in value.items()
        )
    if isinstance(value, Iterable):
        return tuple((None, _check_path(option, path)) for path in value)
    raise OptionError(f"`{option.name}` takes paths or a mapping of step to path, not {value!r}.")


def _check_files(option: Option, value: Any) -> tuple[str, ...]:
    """Paths from one path or a sequence of paths."""
    several = isinstance(value, Iterable) and not isinstance(value, str)
    return tuple(_check_path(option, path) for path in (value if several else (value,)))


# Options of these kinds may be given several times; their values add up.
ADDED = frozenset({Kind.TYPES, Kind.FILES})

_PARSERS: dict[Kind, Callable[[Option, str], Any]] = {
    Kind.NUMBER: _parse_number,
    Kind.STEP: _check_step,
    Kind.SWITCH: _parse_switch,
    Kind.REGEXES: _check_regexes,
    Kind.METRICS: _check_metrics,
    Kind.KEY: lambda option, text: _check_key(option, text.strip("\"'")),
    Kind.OUTPUT: _check_output,
    Kind.TYPES: _check_types,
    Kind.DIALECT: lambda option, text: _check_dialect(option, text.strip("\"'")),
    Kind.PATH: lambda _, text: text,
    Kind.PATHS: _parse_paths,
    Kind.FILES: lambda _, text: (text,),
    Kind.NAMES: _words,
    Kind.BUDGETS: _words,
    Kind.NUMBERS: _parse_numbers,
    Kind.SIGNATURE: _check_text,
    Kind.FORMAT: _check_format,
    Kind.TEXT: _check_text,
}

_CHECKS: dict[Kind, Callable[[Option, Any], Any]] = {
    Kind.NUMBER: _check_number,
    Kind.STEP: _check_step,
    Kind.SWITCH: _check_switch,
    Kind.REGEXES: _check_regexes,
    Kind.METRICS: _check_metrics,
    Kind.KEY: _check_key,
    Kind.OUTPUT: _check_output,
    Kind.TYPES: _check_types,
    Kind.DIALECT: _check_dialect,
    Kind.PATH: _check_path,
    Kind.PATHS: _check_paths,
    Kind.FILES: _check_files,
    Kind.NAMES: _words,
    Kind.BUDGETS: _words,
    Kind.NUMBERS: _check_numbers,
    Kind.SIGNATURE: _check_text,
    Kind.FORMAT: _check_format,
    Kind.TEXT: _check_text,
}
