"""Help texts, made from the tables of commands, options, metrics and outputs.

The command line and the shell both have their words from here.
"""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

from tfprof.dialects import DIALECTS
from tfprof.errors import OptionError, nearest
from tfprof.metrics import METRICS, ORDER_KEYS, Metric
from tfprof.options import (
    CHECKERS_OPTION,
    INPUT_OPTIONS,
    MEMORY_OPTIONS,
    VIEW_OPTIONS,
    Option,
)
from tfprof.outputs.registry import FILE_OUTPUTS, PLAIN_OUTPUTS

_WIDTH = 80
_COLUMN = 34  # where sentences begin behind options
_COMMAND_COLUMN = 12
_METRIC_COLUMN = 22
_DIALECT_COLUMN = 11
_OUTPUT_COLUMN = 26
_CHECKER_COLUMN = 34

# The options of a view, by what they are for.
GROUPS: dict[str, tuple[str, ...]] = {
    "What is accounted for": (
        "account_type_regexes",
        "define_type",
        "account_displayed_op_only",
        "step",
        "recording",
        "rank",
    ),
    "What is shown": (
        "select",
        "max_depth",
        "start_name_regexes",
        "trim_name_regexes",
        "show_name_regexes",
        "hide_name_regexes",
        "device_regexes",
    ),
    "Thresholds": tuple(name for name in VIEW_OPTIONS if name.startswith("min_")),
    "Order and output": ("order_by", "output", "dialect", "dump_to_file", "viz"),
}

_SPELLING = (
    "An option is written -name value, --name value or --name=value; a list has commas and no "
    "spaces. A regex has to match the whole name. What stands in brackets is the default."
)


def text(topic: str, commands: Mapping[str, str], flags: Mapping[str, Option]) -> str:
    """The help on a command, an option or a metric, or without a topic on tfprof as a whole."""
    name = topic.lstrip("-")
    options = MEMORY_OPTIONS | VIEW_OPTIONS | INPUT_OPTIONS | dict(flags)
    metrics = {metric.key: metric for metric in METRICS}
    if not name:
        parts = _overview(commands)
    elif name in commands:
        parts = _command(name, commands[name], flags)
    elif name in options:
        parts = _option(options[name])
    elif name in metrics:
        parts = _metric(metrics[name])
    else:
        known = [*commands, *options, *metrics]
        raise OptionError(f"No help on `{topic}`. {nearest(name, known)}")
    return "\n".join(parts) + "\n"


def _overview(commands: Mapping[str, str]) -> Iterable[str]:
    yield "tfprof: where a model's parameters, float operations, time and memory go."
    yield from ("", "Usage: tfprof COMMAND FILES… [-option value]…")
    yield from section(
        "Commands", (entry(*command, _COMMAND_COLUMN) for command in commands.items())
    )
    yield from _files()
    yield from section("Also", [_JSON, entry("--help, -h", "Say how a command is used."), _VERSION])
    yield from _examples(PAGES["scope"].examples[:2])
    yield from ("", "`tfprof help COMMAND` says more, `tfprof help select` what can be shown.")


def _command(name: str, sentence: str, flags: Mapping[str, Option]) -> Iterable[str]:
    page = PAGES[name]
    yield f"tfprof {name}: {sentence}"
    yield from ("", f"Usage: tfprof {page.usage or f'{name} FILES… [-option value]…'}")
    if page.says:
        yield from ("", *folded(page.says))
    if page.takes_files:
        yield from _files()
    yield from page.sections(flags)
    yield from _examples(page.examples)


class Page(NamedTuple):
    """The help on a command: how it is used, what else there is to say, and what it takes."""

    examples: tuple[str, ...]
    usage: str = ""
    says: str = ""
    takes_files: bool = True  # any that can be read
    sections: Callable[[Mapping[str, Option]], Iterable[str]] = lambda _: ()  # besides files


def _view_sections(_: Mapping[str, Option]) -> Iterable[str]:
    return (*view_options([_JSON]), "", *folded(_SPELLING))


def _memory_sections(_: Mapping[str, Option]) -> Iterable[str]:
    return section("What is shown", [*map(_option_line, MEMORY_OPTIONS.values()), _JSON])


def _timeline_sections(flags: Mapping[str, Option]) -> Iterable[str]:
    file = entry("--run_meta_path FILE", "What ran in one step: its RunMetadata.")
    shown = [_option_line(flags[flag]) for flag in ("show_dataflow", "show_memory")]
    yield from section("File, gzipped or not; or by option", [file])
    yield from section("What is shown", shown)
    yield from _outfile_sections(flags)


def _outfile_sections(_: Mapping[str, Option]) -> Iterable[str]:
    return section("Output", [entry("--outfile, -o FILE", "The file to write.")])


def _folder_sections(_: Mapping[str, Option]) -> Iterable[str]:
    model = entry("--model_dir DIR", "The folder that a training run wrote to.")
    output = entry("--output_dir DIR", "Where the texts go, if not there.")
    return section("Folders", [model, output, _JSON])


def _checker_sections(_: Mapping[str, Option]) -> Iterable[str]:
    from tfprof.advisor import registry  # noqa: PLC0415 -- for this page alone, as it needs numpy

    summaries = registry.summaries().items()
    yield from section("Checkers", (entry(*checker, _CHECKER_COLUMN) for checker in summaries))
    yield from section("Also", [_option_line(CHECKERS_OPTION), _JSON])


_JSON = "  --json".ljust(_COLUMN) + "Print JSON to the standard output."
_VERSION = "  --version".ljust(_COLUMN) + "Print tfprof's version."


def view_options(also: Sequence[str] = ()) -> Iterable[str]:
    """All that can be said to a view; the lines `also` stand behind its outputs."""
    for title, names in GROUPS.items():
        lines = [_option_line(VIEW_OPTIONS[name]) for name in names]
        yield from section(title, [*lines, *also] if "output" in names else lines)
    yield from _metrics()
    yield from _outputs()


def _files() -> Iterable[str]:
    title = "Files, recognised by their content, gzipped or not, in any order; or by option"
    return section(title, map(_option_line, INPUT_OPTIONS.values()))


def _metrics() -> Iterable[str]:
    """What can be selected, apart from what cannot be ordered by."""
    numbers = [metric for metric in METRICS if metric.is_number]
    facts = [metric for metric in METRICS if not metric.is_number]
    others = [key for key in ORDER_KEYS if key not in {metric.key for metric in numbers}]
    yield from section("-select shows, and -order_by orders by", map(_metric_line, numbers))
    yield from section("-select also shows", map(_metric_line, facts))
    yield from ("", f"-order_by also takes {' and '.join(others)}.")


def _outputs() -> Iterable[str]:
    files = {output.usage(kind, "FILE"): output.help for kind, output in FILE_OUTPUTS.items()}
    outputs = PLAIN_OUTPUTS | files
    lines = (entry(kind, _sentence(means), _OUTPUT_COLUMN) for kind, means in outputs.items())
    return section("-output writes", lines)


def _dialects() -> Iterable[str]:
    known = DIALECTS.items()
    lines = (entry(name, _sentence(dialect.help), _DIALECT_COLUMN) for name, dialect in known)
    return section("-dialect takes", lines)


def _option(option: Option) -> Iterable[str]:
    """One option, and the words it takes."""
    yield _spelled(option)
    yield from folded(_explained(option), indent="  ")
    if option.name in ("select", "order_by"):
        yield from _metrics()
    if option.name == "output":
        yield from _outputs()
    if option.name == "dialect":
        yield from _dialects()


def _metric(metric: Metric) -> Iterable[str]:
    yield f"-select {metric.key}"
    yield from folded(_meaning(metric), indent="  ")
    from tfprof.sources.registry import remedies  # noqa: PLC0415 -- for this page alone

    yield f"  It requires {remedies([])[metric.needs]}."


def _examples(examples: Sequence[str]) -> Iterable[str]:
    title = "Example" if len(examples) == 1 else "Examples"
    return section(title, (f"  {example}" for example in examples))


def section(title: str, lines: Iterable[str]) -> Iterable[str]:
    """Lines below their title, and an empty one above."""
    return ["", f"{title}:", *lines]


def _option_line(option: Option) -> str:
    return entry(_spelled(option), _explained(option))


def _spelled(option: Option) -> str:
    """An option as it is typed, with the kind of its value."""
    of_questions = VIEW_OPTIONS | MEMORY_OPTIONS
    return f"{'-' if option.name in of_questions else '--'}{option.name} {option.kind}"


def _explained(option: Option) -> str:
    """What an option does, and what holds without it."""
    default = option.default
    if isinstance(default, tuple):
        default = ",".join(map(str, default))
    shown = f" [{str(default).lower()}]" if default != "" else ""
    return f"{option.help}{shown}"


def _metric_line(metric: Metric) -> str:
    return entry(metric.key, _meaning(metric), _METRIC_COLUMN)


def _meaning(metric: Metric) -> str:
    return _sentence(metric.sentence.partition(": ")[2])


def _sentence(phrase: str) -> str:
    return f"{phrase[:1].upper()}{phrase[1:].removesuffix('.')}."


def entry(name: str, sentence: str, column: int = _COLUMN) -> str:
    """A name and what it means, folded to the width of a terminal."""
    start = f"  {name}  ".ljust(column)
    gap = "\n" + " " * column
    if len(start) > column:
        start = start.rstrip() + gap
    return start + gap.join(textwrap.wrap(sentence, _WIDTH - column))


def folded(sentences: str, indent: str = "") -> list[str]:
    """Sentences as lines, folded to the width of a terminal."""
    return textwrap.wrap(sentences, _WIDTH, initial_indent=indent, subsequent_indent=indent)


PAGES: dict[str, Page] = {
    "scope": Page(
        examples=(
            "tfprof scope graph.pbtxt -select params -max_depth 3",
            "tfprof scope graph.pbtxt run_meta -order_by micros -min_micros 1000",
            "tfprof scope graph.pbtxt tfprof_log -account_type_regexes _trainable_variables",
        ),
        sections=_view_sections,
    ),
    "graph": Page(
        examples=("tfprof graph graph.pbtxt run_meta -start_name_regexes 'cost.*'",),
        sections=_view_sections,
    ),
    "code": Page(
        examples=("tfprof code graph.pbtxt run_meta tfprof_log -order_by micros -max_depth 5",),
        sections=_view_sections,
    ),
    "op": Page(
        examples=("tfprof op graph.pbtxt run_meta -select micros,occurrence -order_by micros",),
        sections=_view_sections,
    ),
    "memory": Page(
        examples=(
            "tfprof memory graph.pbtxt run_meta tfprof_log",
            "tfprof memory graph.pbtxt run_meta_1 run_meta_2 -step 1 -max_rows 20",
        ),
        says="The curve is the sum of the allocation records of a traced step, from 0 at its "
        "start: what was held before is not in it, but the allocator's own count is shown beside "
        "it where it was recorded. All that happened within one microsecond counts together. A "
        "line of code is the innermost one outside installed packages.",
        sections=_memory_sections,
    ),
    "advise": Page(
        examples=(
            "tfprof advise graph.pbtxt run_meta tfprof_log",
            "tfprof advise profile.pb --checkers DataFeedingChecker --json",
        ),
        usage="advise FILES… [--checkers NAME,…] [--json]",
        sections=_checker_sections,
    ),
    "flops": Page(
        examples=(
            "tfprof flops graph.pbtxt run_meta",
            "tfprof flops graph.pbtxt tfprof_log --json",
        ),
        usage="flops FILES… [--json]",
        says="A multiply and an add are two, any other operation on an element is one; data "
        "movement and random numbers are none. Numbers of an op log go first. Backward is what "
        "stands in a scope `gradients` or `gradient_tape`, the optimiser's are ops such as "
        "ApplyAdam; all else is forward. What was not counted is told with its share of the ops "
        "and of the time.",
        sections=lambda _: section("Also", [_JSON]),
    ),
    "info": Page(
        examples=("tfprof info graph.pbtxt run_meta tfprof_log model.ckpt",),
        usage="info FILES… [--json]",
        sections=lambda _: section("Also", [_JSON]),
    ),
    "save": Page(
        examples=(
            "tfprof save graph.pbtxt run_meta tfprof_log --outfile profile.pb",
            "tfprof scope profile.pb",
        ),
        usage="save FILES… --outfile PROFILE",
        sections=_outfile_sections,
    ),
    "run": Page(
        examples=(
            "tfprof run -o runs/a train.py --epochs 1",
            "tfprof scope runs/a -order_by micros",
        ),
        usage="run [--outfile FOLDER] PROGRAM ARGUMENTS…",
        says="The program runs as `python PROGRAM ARGUMENTS…` would run it, and its exit status is "
        "kept. Recording begins when it has imported TensorFlow and ends with it; the folder, "
        "without a word PROGRAM.capture, appears when it is whole. A long run leaves a large one: "
        "record a few steps, or use tfprof.capture or tfprof.KerasCallback in the program.",
        takes_files=False,
        sections=lambda _: section(
            "Output", [entry("--outfile, -o FOLDER", "The folder to write; options stand first.")]
        ),
    ),
    "timeline": Page(
        examples=(
            "tfprof timeline run_meta --outfile timeline.json",
            "tfprof timeline run_meta --outfile timeline.json --show_memory=false",
        ),
        usage="timeline RUN_META --outfile TIMELINE [-option value]…",
        takes_files=False,
        sections=_timeline_sections,
    ),
    "profile": Page(
        examples=("tfprof profile --model_dir=/path/to/model/dir",),
        usage="profile --model_dir=DIR [--output_dir=DIR] [--json]",
        says="The folder holds graph.pbtxt and, where a metadata hook wrote them, "
        "metadata/run_meta and metadata/tfprof_log, beside the checkpoints. Four texts are "
        "written: params.txt (variables), flops.txt (float operations), micro.txt (ops of at "
        "least a millisecond, by graph) and device.txt (where each op ran), as the first "
        "generation of tfprof printed them.",
        takes_files=False,
        sections=_folder_sections,
    ),
    "shell": Page(
        examples=("tfprof graph.pbtxt run_meta", "echo 'op -select params' | tfprof graph.pbtxt"),
        usage="FILES… [-option value]…",
        says="Each line is a view with its options, `op -select params`, or `memory` or `advise`; "
        "`set -max_depth 3` keeps options for the lines after it, an empty line shows them, "
        "`reset` takes them back, `save FILE` writes all that was read, `help` explains, `quit` or "
        "Ctrl-D ends. Tab completes commands, options, metrics, files and the names of the model; "
        "Ctrl-C stops a command. In the shell an option is written -name value. Lines may come "
        "from a pipe: a mistake is reported, the others are answered, and the exit status is 1. "
        "The options are those of the views: `tfprof scope --help`.",
    ),
    "help": Page(
        examples=("tfprof help scope", "tfprof help -select", "tfprof help micros"),
        usage="help [COMMAND | OPTION | METRIC]",
        takes_files=False,
    ),
}
