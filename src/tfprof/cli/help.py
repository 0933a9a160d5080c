"""Help texts, made from the tables of commands, options and metrics."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Mapping

from tfprof.errors import OptionError, nearest
from tfprof.metrics import METRICS, ORDER_KEYS
from tfprof.options import INPUT_OPTIONS, VIEW_OPTIONS, Kind, Option

_WIDTH = 80
_COLUMN = 28

_EXAMPLES = {
    "scope": (
        "tfprof scope graph.pbtxt -select params -max_depth 3",
        "tfprof scope graph.pbtxt run_meta -select micros -order_by micros -min_micros 1000",
        "tfprof scope graph.pbtxt tfprof_log -account_type_regexes _trainable_variables",
    ),
    "graph": ("tfprof graph graph.pbtxt run_meta -start_name_regexes 'cost.*' -select micros",),
    "code": ("tfprof code graph.pbtxt run_meta tfprof_log -order_by micros -max_depth 5",),
    "op": ("tfprof op graph.pbtxt run_meta -select micros,occurrence -order_by micros",),
    "info": ("tfprof info graph.pbtxt run_meta tfprof_log model.ckpt",),
    "save": ("tfprof save graph.pbtxt run_meta tfprof_log --outfile profile.pb",),
    "shell": ("tfprof graph.pbtxt run_meta", "echo 'op -select params' | tfprof graph.pbtxt"),
    "help": ("tfprof help scope", "tfprof help select"),
}


def text(topic: str, commands: Mapping[str, str]) -> str:
    """The help on a command, an option or a metric, or without a topic on tfprof as a whole."""
    name = topic.lstrip("-")
    if not name:
        return _overview(commands)
    if name in commands:
        return _command(name, commands[name])
    if name in VIEW_OPTIONS | INPUT_OPTIONS:
        return _option((VIEW_OPTIONS | INPUT_OPTIONS)[name])
    for metric in METRICS:
        if metric.key == name:
            return f"{metric.key}: {metric.sentence}\nNeeds --{metric.needs}.\n"
    known = [*commands, *VIEW_OPTIONS, *INPUT_OPTIONS]
    raise OptionError(f"No help on `{topic}`. {nearest(name, known)}")


def _overview(commands: Mapping[str, str]) -> str:
    return "\n".join(
        [
            "tfprof: where a model's parameters, float operations, time and memory go.",
            "",
            "Usage: tfprof COMMAND FILES… [-option value]…",
            "",
            "Commands:",
            *(_entry(name, sentence) for name, sentence in commands.items()),
            "",
            "Files are recognised by their content, gzipped or not, in any order:",
            *_inputs(),
            "",
            "Also: --json, --help, --version. Options are written -name value, --name value or",
            "--name=value. `tfprof scope --help` lists those of a view.",
            "",
            "Example:",
            *(f"  {example}" for example in _EXAMPLES["scope"][:2]),
            "",
        ]
    )


def _command(name: str, sentence: str) -> str:
    is_view = name in ("scope", "graph", "code", "op")
    parts = [f"tfprof {name}: {sentence}", "", f"Usage: tfprof {name} FILES… [-option value]…", ""]
    if name in ("help", "shell"):
        parts[2] = "Usage: tfprof help [WORD]" if name == "help" else "Usage: tfprof FILES…"
    if name != "help":
        parts += ["Files:", *_inputs(), ""]
    if is_view:
        parts += _view_options()
    if is_view or name == "info":
        parts += ["  --json                    Print JSON to the standard output.", ""]
    if name == "save":
        parts += ["  -o, --outfile FILE        The file to write.", ""]
    examples = [f"  {example}" for example in _EXAMPLES[name]]
    return "\n".join([*parts, "Examples:", *examples, ""])


def _view_options() -> list[str]:
    metrics = [_entry(metric.key, _after_colon(metric.sentence)) for metric in METRICS]
    return [
        "Options:",
        *(_option_line(option) for option in VIEW_OPTIONS.values()),
        "",
        "What -select can show, and but for the last five -order_by can order by:",
        *metrics,
        "",
        f"-order_by also takes: {', '.join(k for k in ORDER_KEYS if k in ('name', 'occurrence'))}.",
        "",
    ]


def _inputs() -> Iterable[str]:
    return [_option_line(option) for option in INPUT_OPTIONS.values()]


def _option(option: Option) -> str:
    return f"{_option_line(option).strip()}\n"


def _option_line(option: Option) -> str:
    default = option.default
    if isinstance(default, tuple):
        default = ",".join(map(str, default))
    shown = f" [{str(default).lower()}]" if default not in ("", ()) else ""
    dash = "--" if option.kind in (Kind.PATH, Kind.PATHS) or option.name in INPUT_OPTIONS else "-"
    return _entry(f"{dash}{option.name}", f"{option.help}{shown}")


def _entry(name: str, sentence: str) -> str:
    """A name and what it means, folded to the width of a terminal."""
    start = f"  {name} ".ljust(_COLUMN)
    gap = "" if len(start) <= _COLUMN else "\n" + " " * _COLUMN
    body = textwrap.wrap(sentence, _WIDTH - _COLUMN)
    return start + gap + ("\n" + " " * _COLUMN).join(body)


def _after_colon(sentence: str) -> str:
    rest = sentence.partition(": ")[2]
    return rest[:1].upper() + rest[1:]
