"""Writes the reference pages from the tables they describe: `make docs`."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from pathlib import Path
from types import ModuleType

import tfprof
from tfprof.advisor.registry import CHECKERS, CLASSIC, find
from tfprof.capture import recording
from tfprof.commands.command import Command, Place
from tfprof.commands.pages import example_lines
from tfprof.commands.table import COMMANDS
from tfprof.measures import flop_rules  # noqa: F401 -- fills the table of rules
from tfprof.measures.flop_rules.registry import (
    classic_kinds,
    formula_of,
    kinds,
    no_arithmetic,
    rule_of,
)
from tfprof.metrics import METRICS, ORDER_KEYS
from tfprof.options import GENERAL_OPTIONS, INPUT_OPTIONS, MEMORY_OPTIONS, VIEW_OPTIONS, Option
from tfprof.outputs.registry import FILE_OUTPUTS, PLAIN_OUTPUTS

REFERENCE = Path(__file__).parent / "reference"
MADE = "<!-- Made by `make docs`; change the tables in the code instead. -->\n"


def main() -> None:
    REFERENCE.mkdir(exist_ok=True)
    for name, page in PAGES.items():
        (REFERENCE / name).write_text(page(), encoding="utf-8")
        print("wrote", REFERENCE / name)


def options_page() -> str:
    return "\n".join(
        [
            MADE,
            "# Options",
            "",
            "Written `-name value`, `--name value` or `--name=value` on the command line,",
            "`-name value` in the shell, `name=value` in Python.",
            "",
            "## Views",
            "",
            *_option_table(VIEW_OPTIONS),
            "",
            "### What view options compare",
            "",
            "| option | scope, graph | code | op |",
            "|---|---|---|---|",
            "| `min_…` of bytes and times | the total | the total | the running total |",
            "| `min_params`, `min_float_ops` | the row's own | the total | the running total |",
            "| `min_occurrence` | the op's runs | nothing | the ops of the kind |",
            "| `max_depth` | the root is at 1 | the root is at 1 | rows count from 0 |",
            "| `show`, `hide`, `trim`, `start` | the op's name | the line | the kind |",
            "",
            "`order_by` is one of " + ", ".join(f"`{key}`" for key in ORDER_KEYS) + ".",
            "",
            "## Memory over time",
            "",
            *_option_table(MEMORY_OPTIONS),
            "",
            "## Files",
            "",
            *_option_table(INPUT_OPTIONS),
            "",
            "Other options belong to single [commands](commands.md).",
            "",
            "## Outputs",
            "",
            "| `-output` | writes |",
            "|---|---|",
            *(f"| `{kind}` | {sentence} |" for kind, sentence in PLAIN_OUTPUTS.items()),
            *(
                f"| `{output.usage(kind, 'F')}` | {output.help} |"
                for kind, output in FILE_OUTPUTS.items()
            ),
            "",
        ]
    )


def _option_table(options: Mapping[str, Option]) -> list[str]:
    return [
        "| option | value | default | meaning |",
        "|---|---|---|---|",
        *(
            f"| `{name}` | {_cell(option.value)} | {_default(option)} | {_cell(option.help)} |"
            for name, option in options.items()
        ),
    ]


def _default(option: Option) -> str:
    value = option.default
    if isinstance(value, tuple):
        value = ",".join(map(str, value))
    return "" if value == "" else f"`{str(value).lower()}`"


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def metrics_page() -> str:
    return "\n".join(
        [
            MADE,
            "# Metrics",
            "",
            "What `-select` can show. Numbers can also be ordered by, and `min_…` cuts by them.",
            "",
            "| key | heading | meaning | unit | needs |",
            "|---|---|---|---|---|",
            *(
                f"| `{metric.key}` | {_cell(metric.label)} "
                f"| {_cell(metric.sentence.partition(': ')[2])} "
                f"| {metric.unit.name.lower() if metric.unit else ''} | `{metric.needs}` |"
                for metric in METRICS
            ),
            "",
        ]
    )


def commands_page() -> str:
    return "\n".join(
        [
            MADE,
            "# Commands",
            "",
            "The command line and the shell share one table of commands.",
            "",
            "| command | available in | summary |",
            "|---|---|---|",
            *(
                f"| [`{row.name}`](#{row.name}) | {', '.join(row.takes)} | {_cell(row.summary)} |"
                for row in COMMANDS.values()
            ),
            "",
            "The exit status is 0 after success, 1 for a file that is missing, damaged or of the",
            "wrong kind, 2 for a wrong command or option, 130 after Ctrl-C.",
            "Answers go to the standard output, notes and errors to the standard error.",
            "",
            *_option_table(GENERAL_OPTIONS),
            "",
            *(line for command in COMMANDS.values() for line in _command(command)),
        ]
    )


def _command(command: Command) -> list[str]:
    return [
        f"## {command.name}",
        "",
        *f"{command.summary} {command.notes}".strip().replace(". ", ".\n").split("\n"),
        "",
        *(f"- {_WHERE[place]}: `{command.usage(place)}`" for place in command.takes),
        "",
        *_command_options(command),
        *_command_examples(command),
    ]


_WHERE = {Place.COMMAND_LINE: "On the command line", Place.SHELL: "In the shell"}


def _command_options(command: Command) -> list[str]:
    """The options of a command; those of views and files are explained on their own page."""
    own = {n: option for n, option in command.options.items() if VIEW_OPTIONS.get(n) != option}
    is_view = len(own) < len(command.options)
    return [
        *(["Takes the [options of views](options.md#views).", ""] if is_view else []),
        *([_TAKES_FILES, ""] if command.inputs else []),
        *([*_option_table(own), ""] if own else []),
    ]


_TAKES_FILES = "Files can also be named by [options](options.md#files) on the command line."


def _command_examples(command: Command) -> list[str]:
    if not command.examples:
        return []
    place = next(iter(command.takes))
    return ["```", *example_lines(command, place), "```", ""]


def float_operations_page() -> str:
    counted = [kind for kind in kinds() if rule_of(kind) is not no_arithmetic]
    still = [kind for kind in kinds() if rule_of(kind) is no_arithmetic]
    classic = set(classic_kinds())
    return "\n".join(
        [
            MADE,
            "# Float operations",
            "",
            "One convention holds for all:",
            "",
            "- A multiply and an add are two.",
            "- Any other operation on an element is one: a subtraction, a division, a comparison,",
            "  a root, an exponential, a logarithm, a sine or tangent, an error function.",
            "- What is made of several counts as these: a sigmoid is a negation, an exponential,",
            "  an add and a division.",
            "- Moving, choosing and naming values (`Transpose`, `SelectV2`, `Identity`), logic,",
            "  bits and drawing random numbers are none.",
            "- Windows count in full where they reach over an edge, sparse values as many as there",
            "  are, sequences to the longest that there is room for.",
            "- Element types are not looked at: an add of whole numbers is one too.",
            "",
            "Kinds with a ● were counted by TensorFlow's own profiler too, and have its numbers,",
            "also where its convention is another: `Rsqrt` is two, `Softmax` five.",
            "",
            "Float operations come from the op log where it has them.",
            "Elsewhere tfprof counts them from the shapes in the graph, and where those are",
            "unknown, from the shapes that the run metadata saw.",
            "`--count_float_ops=false` turns that off.",
            "`N(x)` is the number of elements of x; inputs and outputs are numbered from 0.",
            "Of recurrent kinds B is the batch, T the time steps, I the size of an input, H that",
            "of a state.",
            "",
            "| kind | | counted as |",
            "|---|---|---|",
            *(
                f"| `{kind}` | {'●' if kind in classic else ''} | {_cell(_formula(kind))} |"
                for kind in sorted(counted)
            ),
            "",
            "Ops of these kinds move data and do no float arithmetic; they count 0:",
            ", ".join(f"`{kind}`" for kind in sorted(still)) + ".",
            "",
            "Ops of all other kinds are not counted, and every answer that shows float operations",
            "says how many such ops there are.",
            "",
        ]
    )


def _formula(kind: str) -> str:
    rule = rule_of(kind)
    return formula_of(rule) if rule else ""


def checkers_page() -> str:
    return "\n".join(
        [
            MADE,
            "# Checkers",
            "",
            "What `tfprof advise` asks, in this order. The first three are those of the original.",
            "",
            "| checker | looks for |",
            "|---|---|",
            *(f"| `{name}` | {_cell(find(name).SUMMARY)} |" for name in CHECKERS),
            "",
            *(line for name in CHECKERS for line in _checker(name)),
            "`JobChecker`, which the original takes too, can be named and says nothing.",
            "",
        ]
    )


def _checker(name: str) -> list[str]:
    title, _, rest = (find(name).__doc__ or "").partition("\n")
    origin = "It prints the words of the original." if name in CLASSIC else ""
    return [f"## {name}", "", title, *filter(None, [rest.strip(), origin]), ""]


def python_page() -> str:
    public = {name: getattr(tfprof, name) for name in tfprof.__all__}
    public["capture"] = recording.capture  # the package, which is called like this function
    functions = {name: value for name, value in public.items() if inspect.isfunction(value)}
    classes = {name: value for name, value in public.items() if inspect.isclass(value)}
    errors = {name: value for name, value in classes.items() if issubclass(value, Exception)}
    return "\n".join(
        [
            MADE,
            "# Python names",
            "",
            "Every public name of `tfprof`; a name is imported when it is first used.",
            "`tfprof.__version__` is the version, `help(tfprof.NAME)` describes a name in full,",
            "and [how to use it from Python](../how-to/python.md) shows how they go together.",
            "",
            "## Functions",
            "",
            *_name_table({f"{name}{_parameters(f)}": f for name, f in functions.items()}),
            "",
            "## Classes",
            "",
            *_name_table({name: classes[name] for name in classes if name not in errors}),
            "",
            "## Errors",
            "",
            *_name_table(errors),
            "",
            "## Modules",
            "",
            *_name_table({name: value for name, value in public.items() if _is_module(value)}),
            "",
        ]
    )


def _is_module(value: object) -> bool:
    return isinstance(value, ModuleType)


def _name_table(named: Mapping[str, object]) -> list[str]:
    return [
        "| name | meaning |",
        "|---|---|",
        *(f"| `{name}` | {_cell(_summary(value))} |" for name, value in named.items()),
    ]


def _summary(value: object) -> str:
    """The first line of a docstring."""
    return (inspect.getdoc(value) or "").partition("\n")[0]


def _parameters(function: Callable[..., object]) -> str:
    """The names of the parameters; optional ones end in `=…`."""
    return "(" + ", ".join(map(_parameter, inspect.signature(function).parameters.values())) + ")"


def _parameter(part: inspect.Parameter) -> str:
    stars = {part.VAR_POSITIONAL: "*", part.VAR_KEYWORD: "**"}.get(part.kind, "")
    return f"{stars}{part.name}" + ("" if part.default is part.empty else "=…")


PAGES: dict[str, Callable[[], str]] = {
    "options.md": options_page,
    "metrics.md": metrics_page,
    "commands.md": commands_page,
    "float-operations.md": float_operations_page,
    "checkers.md": checkers_page,
    "python.md": python_page,
}

if __name__ == "__main__":
    main()
