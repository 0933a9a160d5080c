"""The one table of options: a row here is a flag, a word in the shell and a keyword in Python."""

from __future__ import annotations

import operator
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from enum import StrEnum
from typing import Any, Self

from tfprof.dialects import DIALECTS, Dialect
from tfprof.errors import OptionError, nearest
from tfprof.metrics import BY_KEY, ORDER_KEYS
from tfprof.patterns import Patterns

_TRUE = frozenset({"true", "t", "yes", "y", "1"})
_FALSE = frozenset({"false", "f", "no", "n", "0"})


class Kind(StrEnum):
    """What an option's value is, as help shows it."""

    NUMBER = "NUMBER"
    SWITCH = "[true|false]"
    REGEXES = "REGEX,…"
    METRICS = "METRIC,…"
    KEY = "KEY"
    OUTPUT = "TYPE[:key=value]"
    TYPES = "TYPE=REGEX,…"
    DIALECT = "NAME"
    PATH = "FILE"
    PATHS = "[STEP:]FILE,…"
    NAMES = "NAME,…"
    NUMBERS = "NUMBER,…"
    SIGNATURE = "SIGNATURE"


@dataclass(frozen=True, slots=True)
class Option:
    """One row of the table."""

    name: str
    kind: Kind
    default: Any
    help: str

    def parse(self, text: str) -> Any:
        """The value that `text`, typed by a user, stands for."""
        return _PARSERS[self.kind](self, text)

    def check(self, value: Any) -> Any:
        """`value`, given from Python, in the form that `Options` holds."""
        return _CHECKS[self.kind](self, value)


def _option(kind: Kind, default: Any, text: str) -> Any:
    return field(default=default, metadata={"kind": kind, "help": text})


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """The options of a question about a profile; every view has these defaults."""

    max_depth: int = _option(
        Kind.NUMBER,
        10,
        "Show rows at most this deep; the root is at depth 1, op rows count from 0.",
    )
    min_bytes: int = _option(Kind.NUMBER, 0, "Hide what requested fewer bytes.")
    min_peak_bytes: int = _option(Kind.NUMBER, 0, "Hide what peaked at fewer bytes.")
    min_residual_bytes: int = _option(Kind.NUMBER, 0, "Hide what left fewer bytes allocated.")
    min_output_bytes: int = _option(Kind.NUMBER, 0, "Hide what put out fewer bytes.")
    min_micros: int = _option(Kind.NUMBER, 0, "Hide what took fewer microseconds in all.")
    min_accelerator_micros: int = _option(
        Kind.NUMBER, 0, "Hide what took fewer microseconds on an accelerator."
    )
    min_cpu_micros: int = _option(Kind.NUMBER, 0, "Hide what took fewer microseconds on the cpu.")
    min_params: int = _option(
        Kind.NUMBER, 0, "Hide what has fewer parameters of its own (code, op: in all)."
    )
    min_float_ops: int = _option(
        Kind.NUMBER, 0, "Hide what has fewer float ops of its own (code, op: in all)."
    )
    min_occurrence: int = _option(
        Kind.NUMBER, 0, "Hide ops that ran less often (op view: kinds with fewer ops)."
    )
    step: int = _option(Kind.NUMBER, -1, "Use one recorded step; -1 averages over the steps.")
    order_by: str = _option(Kind.KEY, "name", "Order siblings by name, or by a metric's total.")
    account_type_regexes: tuple[str, ...] = _option(
        Kind.REGEXES, (".*",), "Account for ops one of whose types matches (see -select op_types)."
    )
    start_name_regexes: tuple[str, ...] = _option(
        Kind.REGEXES, (".*",), "Show from the first rows whose name matches."
    )
    trim_name_regexes: tuple[str, ...] = _option(
        Kind.REGEXES, (), "Leave out everything below rows whose name matches."
    )
    show_name_regexes: tuple[str, ...] = _option(
        Kind.REGEXES, (".*",), "Show only rows whose name matches; they stay accounted."
    )
    hide_name_regexes: tuple[str, ...] = _option(
        Kind.REGEXES, (), "Hide rows whose name matches; they stay accounted."
    )
    account_displayed_op_only: bool = _option(
        Kind.SWITCH, False, "Let totals cover only the rows that are shown (not in the code view)."
    )
    select: tuple[str, ...] = _option(Kind.METRICS, ("micros",), "What to show of each row.")
    output: str = _option(
        Kind.OUTPUT, "", "Where the answer goes: stdout, none, file:outfile=F, json:…, csv:…"
    )
    define_type: tuple[str, ...] = _option(
        Kind.TYPES, (), "Give a type to every op whose name matches, for -account_type_regexes."
    )
    device_regexes: tuple[str, ...] = _option(
        Kind.REGEXES, (".*",), "Show only rows with an op on a device that matches, in any case."
    )
    dialect: str = _option(
        Kind.DIALECT,
        "core",
        "Filter and print as an older tfprof did: core, early or contrib.",
    )
    recording: tuple[str, ...] = _option(
        Kind.REGEXES, (".*",), "Use only recordings whose label matches (see tfprof info)."
    )
    rank: tuple[int, ...] = _option(
        Kind.NUMBERS, (), "Use only the recordings of these ranks, where ranks are known."
    )
    dump_to_file: str = _option(
        Kind.PATH, "", "Write the report to a file: the older word for -output file:outfile=F."
    )
    viz: bool = _option(Kind.SWITCH, False, "Ask for a picture; says which output draws one.")

    @classmethod
    def of(cls, **given: Any) -> Self:
        """Options with `given` checked, the rest at their defaults."""
        return cls().but(**given)

    def but(self, **given: Any) -> Self:
        """These options with `given` checked and put in their place."""
        return self.taking({name: find(name).check(value) for name, value in given.items()})

    def taking(self, values: Mapping[str, Any]) -> Self:
        """These options with `values` in their place, each as its option holds it.

        With another dialect come its defaults, for all that is still at the old one's.
        """
        old, new = self.dialect, values.get("dialect", self.dialect)
        defaults = {
            name: default_of(name, new)
            for name in {**DIALECTS[old].defaults, **DIALECTS[new].defaults}
            if getattr(self, name) == default_of(name, old)
        }
        return replace(self, **(defaults | dict(values)))

    @property
    def generation(self) -> Dialect:
        """The differences that `dialect` names."""
        return DIALECTS[self.dialect]

    @property
    def destination(self) -> OutputSpec:
        """Where the answer goes, in whichever word that was said."""
        if self.dump_to_file:
            return OutputSpec("file", (("outfile", self.dump_to_file),))
        return OutputSpec.parse(self.output)

    def threshold(self, key: str) -> int:
        """The least value of `key` that is still shown."""
        return int(getattr(self, f"min_{key}"))

    def patterns(self, name: str) -> Patterns:
        """One of the lists of regexes, ready to match."""
        return Patterns(getattr(self, name))


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryOptions:
    """The options of a question about memory over time."""

    step: int = _option(
        Kind.NUMBER,
        -1,
        "Use one recorded step; -1 takes, of each allocator, that with the highest peak.",
    )
    max_depth: int = _option(
        Kind.NUMBER, 10, "Break down by scopes at most this deep; the root is at depth 1."
    )
    recording: tuple[str, ...] = _option(
        Kind.REGEXES, (".*",), "Use only recordings whose label matches (see tfprof info)."
    )
    rank: tuple[int, ...] = _option(
        Kind.NUMBERS, (), "Use only the recordings of these ranks, where ranks are known."
    )
    max_rows: int = _option(
        Kind.NUMBER, 10, "Show this many rows of each breakdown, the largest; -1 shows all."
    )

    @classmethod
    def of(cls, **given: Any) -> Self:
        """Options with `given` checked, the rest at their defaults."""
        return cls(**{name: find(name, MEMORY_OPTIONS).check(given[name]) for name in given})


def _table(*holders: type) -> dict[str, Option]:
    return {
        column.name: Option(
            column.name, column.metadata["kind"], column.default, column.metadata["help"]
        )
        for holder in holders
        for column in fields(holder)
    }


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """The files of a profile and how to read them."""

    graph_path: str = _option(Kind.PATH, "", "The model: a GraphDef, text or binary.")
    run_meta_path: tuple[tuple[int | None, str], ...] = _option(
        Kind.PATHS,
        (),
        "What ran: one RunMetadata a step; a step may have its number, 5:run_meta_5.",
    )
    op_log_path: str = _option(
        Kind.PATH, "", "An OpLogProto: types, float ops and code lines of ops."
    )
    checkpoint_path: str = _option(
        Kind.PATH, "", "A checkpoint: which variables it has, and their values."
    )
    profile_path: str = _option(Kind.PATH, "", "A saved profile, in place of the files above.")
    count_float_ops: bool = _option(
        Kind.SWITCH, True, "Count float ops from shapes where the op log gives none."
    )
    functions: bool = _option(
        Kind.SWITCH,
        False,
        "Count what is inside functions of a graph; in a SavedModel it always is.",
    )
    signature: str = _option(
        Kind.SIGNATURE, "", "What of a SavedModel is called; serving_default, or the only one."
    )
    batch_size: int = _option(
        Kind.NUMBER,
        0,
        "How many examples there are, where a SavedModel or --functions leaves it open.",
    )


VIEW_OPTIONS: dict[str, Option] = _table(Options)
MEMORY_OPTIONS: dict[str, Option] = _table(MemoryOptions)
INPUT_OPTIONS: dict[str, Option] = _table(Inputs)
CHECKERS_OPTION = Option(
    "checkers", Kind.NAMES, (), "Ask only these checkers (advise only); all without it."
)


def default_of(name: str, dialect: str) -> Any:
    """What an option of a view is in that dialect unless somebody says otherwise."""
    return DIALECTS[dialect].defaults.get(name, VIEW_OPTIONS[name].default)


def find(name: str, known: Mapping[str, Option] = VIEW_OPTIONS) -> Option:
    """The option of that name; an unknown name is answered with the nearest one."""
    if name not in known:
        raise OptionError(f"No option `{name}`. {nearest(name, known)}")
    return known[name]


@dataclass(frozen=True, slots=True)
class OutputSpec:
    """Where an answer goes: `file:outfile=report.txt` taken apart."""

    kind: str = "stdout"
    settings: tuple[tuple[str, str], ...] = ()

    @classmethod
    def parse(cls, text: str) -> Self:
        """Take `TYPE[:key=value,key=value]` apart; an empty text is the standard output."""
        kind, _, rest = text.partition(":")
        pieces = (list(filter(None, piece.split("="))) for piece in rest.split(","))
        pairs = ((key, "=".join(value)) for key, *value in filter(None, pieces))
        return cls(kind or "stdout", tuple(pairs))

    @property
    def outfile(self) -> str:
        return dict(self.settings).get("outfile", "")

    def __str__(self) -> str:
        return f"{self.kind}:" + ",".join(f"{key}={value}" for key, value in self.settings)


def take_options(
    words: Sequence[str],
    known: Mapping[str, Option],
    *,
    dashes: tuple[str, ...] = ("--", "-"),
    loose: bool = True,
) -> tuple[dict[str, Any], list[str]]:
    """The options that `words` set, and the words that are none.

    `loose` also takes `-name=value` and lets words stand between options, as on a command line;
    without it every word must belong to an option, as in the shell.
    """
    given: dict[str, Any] = {}
    rest: list[str] = []
    queue = list(reversed(words))
    while queue:
        word = queue.pop()
        name = _option_name(word, dashes)
        if name is None:
            rest.append(word)
            continue
        name, equals, value = name.partition("=") if loose else (name, "", "")
        option = find(name, known)
        if not equals:
            value = _next_value(option, queue, loose=loose)
        parsed = option.parse(value)
        # Types are defined one by one; of anything else the last word counts.
        given[name] = given.get(name, ()) + parsed if option.kind is Kind.TYPES else parsed
    return given, rest


def _option_name(word: str, dashes: tuple[str, ...]) -> str | None:
    """What follows the dashes of `word`, or None where it is no option."""
    for dash in dashes:
        if word.startswith(dash) and len(word) > len(dash) and not word[len(dash)].isdigit():
            return word[len(dash) :]
    return None


def _next_value(option: Option, queue: list[str], *, loose: bool) -> str:
    if option.kind is Kind.SWITCH:
        if not queue or queue[-1].startswith("-"):
            return "true"
        if loose and queue[-1].lower() not in _TRUE | _FALSE:
            return "true"
    if not queue:
        raise OptionError(f"`-{option.name}` needs a value: -{option.name} {option.kind}.")
    return queue.pop()


def _items(text: str) -> list[str]:
    """The comma-separated items of `text`; quotes around the whole are dropped."""
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
        raise OptionError(f"`{option.name}` takes a 64-bit number; {number} is beyond that.")
    return number


def _parse_numbers(option: Option, text: str) -> tuple[int, ...]:
    return tuple(_parse_number(option, item) for item in _items(text))


def _check_numbers(option: Option, value: Any) -> tuple[int, ...]:
    """Whole numbers from text, one number, or any sequence of numbers."""
    if isinstance(value, str):
        return _parse_numbers(option, value)
    items = value if isinstance(value, Iterable) else (value,)
    return tuple(_check_number(option, item) for item in items)


def _whole_number(value: Any) -> int | None:
    """`value` as an int, be it one of numpy's; True and False are no numbers here."""
    try:
        return None if isinstance(value, bool) else operator.index(value)
    except TypeError:
        return None


def _parse_switch(option: Option, text: str) -> bool:
    if text.lower() not in _TRUE | _FALSE:
        raise OptionError(f"`-{option.name}` is true or false, not `{text}`.")
    return text.lower() in _TRUE


def _check_switch(option: Option, value: Any) -> bool:
    if value in (True, False):
        return bool(value)
    raise OptionError(f"`{option.name}` is True or False, not {value!r}.")


def _words(option: Option, value: Any) -> tuple[str, ...]:
    """A list of words, from text with commas or from any sequence of texts."""
    items = _items(value) if isinstance(value, str) else value
    if not isinstance(items, Iterable):
        raise OptionError(f"`{option.name}` takes a list of texts, not {value!r}.")
    words = tuple(items)
    if not all(isinstance(word, str) for word in words):
        raise OptionError(f"`{option.name}` takes a list of texts, not {value!r}.")
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
        _check_word(option, word, BY_KEY)
    return tuple(sorted(set(words)))


def _check_key(option: Option, value: Any) -> str:
    return _check_word(option, value, ORDER_KEYS)


def _check_word(option: Option, word: Any, known: Collection[str]) -> str:
    if word not in tuple(known):
        raise OptionError(f"`{option.name}` cannot be `{word}`. {nearest(str(word), known)}")
    return str(word)


def _check_output(option: Option, value: Any) -> str:
    if not isinstance(value, str):
        raise OptionError(f"`{option.name}` takes a text like file:outfile=F, not {value!r}.")
    return value


def _check_types(option: Option, value: Any) -> tuple[str, ...]:
    """Definitions like `attention=.*attn.*`, from text or from a mapping of type to regex."""
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
        raise OptionError(f"`{option.name}` takes the path of a file, not {value!r}.")
    return value


def _check_text(option: Option, value: Any) -> str:
    if not isinstance(value, str):
        raise OptionError(f"`{option.name}` takes a name, not {value!r}.")
    return value


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
    """Paths from text, one path, a sequence of paths, or a mapping of step to path."""
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
    raise OptionError(f"`{option.name}` takes paths, or a mapping of step to path, not {value!r}.")


_PARSERS: dict[Kind, Callable[[Option, str], Any]] = {
    Kind.NUMBER: _parse_number,
    Kind.SWITCH: _parse_switch,
    Kind.REGEXES: _check_regexes,
    Kind.METRICS: _check_metrics,
    Kind.KEY: lambda option, text: _check_key(option, text.strip("\"'")),
    Kind.OUTPUT: _check_output,
    Kind.TYPES: _check_types,
    Kind.DIALECT: lambda option, text: _check_dialect(option, text.strip("\"'")),
    Kind.PATH: lambda _, text: text,
    Kind.PATHS: _parse_paths,
    Kind.NAMES: _words,
    Kind.NUMBERS: _parse_numbers,
    Kind.SIGNATURE: _check_text,
}

_CHECKS: dict[Kind, Callable[[Option, Any], Any]] = {
    Kind.NUMBER: _check_number,
    Kind.SWITCH: _check_switch,
    Kind.REGEXES: _check_regexes,
    Kind.METRICS: _check_metrics,
    Kind.KEY: _check_key,
    Kind.OUTPUT: _check_output,
    Kind.TYPES: _check_types,
    Kind.DIALECT: _check_dialect,
    Kind.PATH: _check_path,
    Kind.PATHS: _check_paths,
    Kind.NAMES: _words,
    Kind.NUMBERS: _check_numbers,
    Kind.SIGNATURE: _check_text,
}
