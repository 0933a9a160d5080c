"""The command `help`: pages generated from the tables of commands, options, metrics and outputs."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from tfprof.commands.command import Call, Command, Place, spelled
from tfprof.dialects import DIALECTS
from tfprof.errors import OptionError, nearest
from tfprof.metrics import BY_KEY, METRICS, ORDER_KEYS, Metric
from tfprof.options import (
    GENERAL_OPTIONS,
    GROUPS,
    INPUT_OPTIONS,
    OUTPUT_OPTIONS,
    VIEW_OPTIONS,
    Kind,
    Option,
)

_WIDTH = 80
_OPTION_COLUMN = 34  # where the explanation after a name starts
_COMMAND_COLUMN = 12
_METRIC_COLUMN = 22
_DIALECT_COLUMN = 11
_OUTPUT_COLUMN = 26

_SPELLING = {
    Place.COMMAND_LINE: "Write options as -name value, --name value or --name=value.",
    Place.SHELL: "Write options as -name value.",
}
_REGEXES = (Kind.REGEXES, Kind.TYPES)
_LISTS = (*_REGEXES, Kind.METRICS, Kind.PATHS, Kind.NAMES)
_OTHER_FILES = (
    "Other files have no option: recordings, SavedModels, Keras models, and PyTorch's traces, "
    "memory snapshots, checkpoints, safetensors and exported programs."
)
_KEYS = (
    "An empty line shows the current options. Tab completes commands, options, metrics, files "
    "and names in the model. Ctrl-C stops a command, Ctrl-D leaves the shell. `help WORD` "
    "explains a command, an option or a metric."
)


def explain(call: Call) -> None:
    """Show help on a topic, or an overview without one."""
    if len(call.words) > 1:
        raise OptionError(f"`help` takes one topic, not {len(call.words)}.")
    call.show([text("".join(call.words), call.front.commands, call.front.place)])


def text(topic: str, commands: Mapping[str, Command], place: Place) -> str:
    """Help on a command, an option or a metric, or an overview if `topic` is empty.

    `commands` are those available at `place`.
    """
    known = _options(commands, place)
    shorts = {option.short: option.name for options in known.values() for option in options}
    name = shorts.get(topic.lstrip("-")) or topic.lstrip("-")
    if not topic:
        lines = _OVERVIEWS[place](commands)
    elif name in commands:
        lines = _command(commands[name], place)
    elif name in known:
        lines = _option(known[name], commands, place)
    elif name in BY_KEY:
        lines = _metric(BY_KEY[name])
    else:
        suggestion = nearest(name, [*commands, *known, *BY_KEY])
        raise OptionError(f"No help on `{topic}`. {suggestion}")
    return "\n".join(lines) + "\n"


def _options(commands: Mapping[str, Command], place: Place) -> dict[str, list[Option]]:
    """The options by name; a name has several if its meaning depends on the command."""
    found: dict[str, list[Option]] = {}
    general = GENERAL_OPTIONS if place is Place.COMMAND_LINE else {}
    for table in (general, *({**row.inputs, **row.options} for row in commands.values())):
        for name, option in table.items():
            if option not in found.setdefault(name, []):
                found[name].append(option)
    return found


def _command_line_overview(commands: Mapping[str, Command]) -> Iterator[str]:
    yield "Usage: tfprof COMMAND FILES… [-option value]…"
    yield from ("", "Show where a model's parameters, float operations, time and memory go.")
    yield from _section("Commands", _summaries(commands))
    yield from _groups(INPUT_OPTIONS.values(), Place.COMMAND_LINE)
    general = [OUTPUT_OPTIONS["json"], *GENERAL_OPTIONS.values()]
    lines = (_option_line(option, Place.COMMAND_LINE) for option in general)
    yield from _section("Other options", lines)
    yield from _examples(commands["scope"], Place.COMMAND_LINE)
    yield from ("", "`tfprof help COMMAND` explains a command, `tfprof help select` the metrics.")


def _shell_overview(commands: Mapping[str, Command]) -> Iterator[str]:
    yield "Commands:"
    yield from _summaries(commands)
    names = ", ".join(f"-{name}" for name in VIEW_OPTIONS)
    yield from _section("Options of views", _wrapped(names, indent="  "))
    yield from ("", *_wrapped(_KEYS))


_OVERVIEWS: dict[Place, Callable[[Mapping[str, Command]], Iterator[str]]] = {
    Place.COMMAND_LINE: _command_line_overview,
    Place.SHELL: _shell_overview,
}


def _summaries(commands: Mapping[str, Command]) -> Iterator[str]:
    return (_entry(name, row.summary, _COMMAND_COLUMN) for name, row in commands.items())


def _command(command: Command, place: Place) -> Iterator[str]:
    options = command.options_in(place).values()
    yield from textwrap.wrap(f"Usage: {command.usage(place)}", _WIDTH, subsequent_indent="  ")
    yield from ("", *_wrapped(f"{command.summary} {command.notes}"))
    yield from _groups(options, place)
    for explain in dict.fromkeys(_EXPLAINED[o.kind] for o in options if o.kind in _EXPLAINED):
        yield from explain()
    if options:
        yield from ("", *_wrapped(" ".join(_spelling(options, place))))
    if command.examples:
        yield from _examples(command, place)


def _spelling(options: Iterable[Option], place: Place) -> Iterator[str]:
    """Sentences on how to write these options."""
    kinds = {option.kind for option in options}
    yield _SPELLING[place]
    if not kinds.isdisjoint(_LISTS):
        yield "Separate list items with commas, without spaces."
    if not kinds.isdisjoint(_REGEXES):
        yield "A regex must match the whole name."
    if any(_default(option) for option in options):
        yield "Defaults are in brackets."


def _groups(options: Iterable[Option], place: Place) -> Iterator[str]:
    """Options under the headings of their groups."""
    groups: dict[str, list[str]] = {title: [] for title in GROUPS}
    for option in options:
        groups.setdefault(option.group or "Options", []).append(_option_line(option, place))
    for title, lines in groups.items():
        if lines:
            other = _wrapped(_OTHER_FILES, indent="  ") if title == GROUPS[0] else ()
            yield from _section(title, (*lines, *other))


def _option(
    meanings: Sequence[Option], commands: Mapping[str, Command], place: Place
) -> Iterator[str]:
    """An option, its values and the commands that take it."""
    for number, option in enumerate(meanings):
        takers = [
            name
            for name, command in commands.items()
            if command.options_in(place).get(option.name) == option
        ]
        yield from ([""] if number else [])
        yield _spelled(option, place if takers else Place.COMMAND_LINE)
        yield from _wrapped(_explained(option), indent="  ")
        taken = f"An option of {', '.join(takers)}." if takers else _WITHOUT_TAKERS[place]
        yield from _wrapped(taken, indent="  ")
    kinds = [option.kind for option in meanings]
    for explain in dict.fromkeys(_IN_DETAIL[kind] for kind in kinds if kind in _IN_DETAIL):
        yield from explain()


# For options that no command at this place lists: general options, and input files in the shell.
_WITHOUT_TAKERS = {
    Place.COMMAND_LINE: "An option of every command.",
    Place.SHELL: "Available only on the command line, when starting the shell.",
}


def _metric(metric: Metric) -> Iterator[str]:
    yield f"-select {metric.key}"
    yield from _wrapped(_meaning(metric), indent="  ")
    from tfprof.sources.registry import remedies  # noqa: PLC0415 -- only this page needs it

    yield f"  Requires {remedies([])[metric.needs]}."


def _metrics() -> Iterator[str]:
    """The metrics for `select`, starting with those that also work for `order_by`."""
    numbers = [metric for metric in METRICS if metric.is_number]
    facts = [metric for metric in METRICS if not metric.is_number]
    others = [key for key in ORDER_KEYS if key not in {metric.key for metric in numbers}]
    yield from _section("Metrics for -select and -order_by", map(_metric_line, numbers))
    yield from _section("Metrics for -select only", map(_metric_line, facts))
    yield from ("", f"-order_by also takes {' and '.join(others)}.")


def _outputs() -> Iterator[str]:
    from tfprof.outputs import registry  # noqa: PLC0415 -- slow to import; the overview is quick

    files = registry.FILE_OUTPUTS.items()
    with_files = {output.usage(kind, "FILE"): output.help for kind, output in files}
    outputs = (registry.PLAIN_OUTPUTS | with_files).items()
    lines = (_entry(kind, _sentence(meaning), _OUTPUT_COLUMN) for kind, meaning in outputs)
    yield from _section("Values of -output", lines)


def _formats() -> Iterator[str]:
    from tfprof.outputs import registry  # noqa: PLC0415 -- slower to import than the overview

    known = registry.SAVED_FORMATS.items()
    lines = (_entry(name, _sentence(format_.help)) for name, format_ in known)
    yield from _section("Formats", lines)


def _dialects() -> Iterator[str]:
    known = DIALECTS.items()
    lines = (_entry(name, _sentence(dialect.help), _DIALECT_COLUMN) for name, dialect in known)
    yield from _section("Values of -dialect", lines)


def _checkers() -> Iterator[str]:
    from tfprof.advisor import registry  # noqa: PLC0415 -- imports numpy

    yield from _section("Checkers", (_entry(*row) for row in registry.summaries().items()))


def _budget_metrics() -> Iterator[str]:
    from tfprof.budgets.metrics import BUDGET_METRICS  # noqa: PLC0415 -- only `check` needs it

    known = BUDGET_METRICS.values()
    lines = (_entry(metric.key, _sentence(metric.meaning)) for metric in known)
    yield from _section("Metrics that can have a budget", lines)


# Sections that explain the values of some kinds of options.
_EXPLAINED: dict[Kind, Callable[[], Iterator[str]]] = {
    Kind.METRICS: _metrics,
    Kind.KEY: _metrics,
    Kind.OUTPUT: _outputs,
    Kind.NAMES: _checkers,
    Kind.BUDGETS: _budget_metrics,
    Kind.FORMAT: _formats,
}
_IN_DETAIL = _EXPLAINED | {Kind.DIALECT: _dialects}


def _examples(command: Command, place: Place) -> Iterator[str]:
    title = "Example" if len(command.examples) == 1 else "Examples"
    yield from _section(title, (f"  {line}" for line in example_lines(command, place)))


def example_lines(command: Command, place: Place) -> list[str]:
    """The examples of a command as they are typed at `place`."""
    if place is Place.SHELL:
        # The shell has the files loaded, and its options have one dash.
        typed = (f"{command.name} {words.replace('--', '-')}" for _, words in command.examples)
    else:
        typed = (f"tfprof {command.name} {files} {words}" for files, words in command.examples)
    return list(dict.fromkeys(" ".join(line.split()) for line in typed))


def _section(title: str, lines: Iterable[str]) -> Iterator[str]:
    yield from ("", f"{title}:", *lines)


def _option_line(option: Option, place: Place) -> str:
    return _entry(_spelled(option, place), _explained(option))


def _spelled(option: Option, place: Place) -> str:
    """An option with its short name: `--outfile, -o FILE`."""
    name, _, value = spelled(option, place).partition(" ")
    return f"{name}{f', -{option.short}' if option.short else ''} {value}".rstrip()


def _explained(option: Option) -> str:
    """The help of an option, with its default in brackets unless that is empty."""
    default = _default(option)
    return f"{option.help} [{default}]" if default else option.help


def _default(option: Option) -> str:
    """The default of an option as text; empty for a plain flag and for an empty default."""
    if not option.value:
        return ""
    if isinstance(option.default, tuple):
        return ",".join(map(str, option.default))
    return str(option.default).lower()


def _metric_line(metric: Metric) -> str:
    return _entry(metric.key, _meaning(metric), _METRIC_COLUMN)


def _meaning(metric: Metric) -> str:
    return _sentence(metric.sentence.partition(": ")[2])


def _sentence(phrase: str) -> str:
    return f"{phrase[:1].upper()}{phrase[1:].removesuffix('.')}."


def _entry(name: str, sentence: str, column: int = _OPTION_COLUMN) -> str:
    """A name and its explanation, which starts at `column`."""
    start = f"  {name}  ".ljust(column)
    gap = "\n" + " " * column
    if len(start) > column:
        start = start.rstrip() + gap
    return start + gap.join(textwrap.wrap(sentence, _WIDTH - column))


def _wrapped(sentences: str, indent: str = "") -> list[str]:
    return textwrap.wrap(sentences, _WIDTH, initial_indent=indent, subsequent_indent=indent)
