"""Help within the shell, where files are read and options have one dash."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from tfprof import help_texts
from tfprof.options import VIEW_OPTIONS
from tfprof.shell.completion import Takes

_COMMAND_COLUMN = 11

_KEYS = (
    "An empty line shows what the options are set to. Tab completes commands, options, metrics, "
    "files and the names of the model; Ctrl-C stops a command, Ctrl-D leaves. "
    "`help WORD` says more of a command, an option or a metric."
)

_SPELLING = (
    "An option is written -name value; a list has commas and no spaces. A regex has to match the "
    "whole name. What stands in brackets is the default."
)


def text(topic: str, commands: Mapping[str, tuple[Takes, str]]) -> str:
    """The help on a command, an option or a metric, or without a topic on the shell as a whole."""
    sentences = {name: sentence for name, (_, sentence) in commands.items()}
    if not topic:
        lines = _overview(sentences)
    elif topic in commands:
        lines = _command(topic, *commands[topic])
    else:
        return help_texts.text(topic, sentences, {})
    return "\n".join(lines) + "\n"


def _overview(sentences: Mapping[str, str]) -> Iterator[str]:
    yield "Commands:"
    for name, sentence in sentences.items():
        yield help_texts.entry(name, sentence, _COMMAND_COLUMN)
    names = ", ".join(f"-{name}" for name in VIEW_OPTIONS)
    yield from help_texts.section("Options", help_texts.folded(names, indent="  "))
    yield from ("", *help_texts.folded(_KEYS))


def _command(name: str, takes: Takes, sentence: str) -> Iterator[str]:
    yield f"{name} {takes}".rstrip()
    yield from help_texts.folded(sentence, indent="  ")
    if takes is Takes.OPTIONS:
        yield from help_texts.view_options()
        yield from ("", *help_texts.folded(_SPELLING))
