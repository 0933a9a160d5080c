"""A session: the one table of its commands, and the options that stay between them."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from tfprof.api import Profile
from tfprof.errors import OptionError, nearest
from tfprof.metrics import BY_KEY
from tfprof.options import (
    CHECKERS_OPTION,
    MEMORY_OPTIONS,
    VIEW_OPTIONS,
    MemoryOptions,
    Option,
    Options,
    default_of,
    find,
)
from tfprof.options.words import take_options
from tfprof.outputs import registry
from tfprof.outputs.text import VIEW_SENTENCES
from tfprof.shell import helping
from tfprof.shell.completion import Takes
from tfprof.shell.screen import Screen


class QuitError(Exception):
    """The user wants to leave."""


@dataclass(slots=True)
class Session:
    """A profile, the options as they are set, and where the answers go."""

    profile: Profile
    options: Options
    screen: Screen
    outputs_taken: set[str] = field(default_factory=set)  # the kinds that need no more hints

    def answer(self, line: str) -> None:
        """Carry out one line; an empty one shows the options."""
        words = line.split()
        if not words:
            self.screen.show(self.screen.listing(self.options))
            return
        command, *rest = words
        if command not in COMMANDS:
            raise OptionError(f"No command `{command}`. {nearest(command, COMMANDS)}")
        COMMANDS[command].run(self, rest)

    def changed(self, words: list[str]) -> Options:
        """The options as they are set, with those that `words` give in their place."""
        options = self.options.taking(_given(words, VIEW_OPTIONS))
        registry.require(options.destination)
        return options

    def tell(self, *sentences: str) -> None:
        """Say what does not belong into an answer."""
        for sentence in sentences:
            self.screen.say(sentence)


@dataclass(frozen=True, slots=True)
class Command:
    """One command: what it does, what stands behind it, and the line that says so."""

    run: Callable[[Session, list[str]], None]
    takes: Takes
    help: str


def _view(kind: str) -> Command:
    def show(session: Session, words: list[str]) -> None:
        options = session.changed(words)
        answer = session.profile.view(kind, options)
        written = answer.write(show=session.screen.show)
        spec = options.destination
        told = registry.sentences(spec, written, hints=spec.kind not in session.outputs_taken)
        session.outputs_taken.add(spec.kind)
        session.tell(*told, *answer.notes)

    return Command(show, Takes.OPTIONS, VIEW_SENTENCES[kind])


def _memory(session: Session, words: list[str]) -> None:
    """Tell of memory over time, in the step that is set; other options of views say nothing."""
    given = {"step": session.options.step} | _given(words, MEMORY_OPTIONS)
    answer = session.profile.memory_over_time(MemoryOptions(**given))
    answer.show(session.screen.show)
    session.tell(*answer.notes)


def _flops(session: Session, words: list[str]) -> None:
    if words:
        raise OptionError("flops stands alone: it takes no options.")
    ledger = session.profile.flops()
    session.screen.show([ledger.report])
    session.tell(*ledger.notes)


def _advise(session: Session, words: list[str]) -> None:
    chosen = _given(words, {CHECKERS_OPTION.name: CHECKERS_OPTION}).get(CHECKERS_OPTION.name)
    advice = session.profile.advise(chosen)
    session.screen.show([advice.text(colour=session.screen.has_colour)])
    session.tell(*advice.notes)


def _set(session: Session, words: list[str]) -> None:
    session.options = session.changed(words)


def _reset(session: Session, words: list[str]) -> None:
    if not words:
        session.options = Options()
    for name in [find(word.removeprefix("-")).name for word in words]:
        default = default_of(name, session.options.dialect)
        session.options = session.options.taking({name: default})


def _save(session: Session, words: list[str]) -> None:
    if len(words) != 1:
        raise OptionError("save takes one file, without spaces in its name: save profile.pb.")
    path = os.path.expanduser(words[0])  # noqa: PTH111 -- named as it was typed
    session.profile.save(path)
    session.tell(*session.profile.unsaved, f"wrote {path}")


def _help(session: Session, words: list[str]) -> None:
    session.screen.show([helping.text("".join(words[:1]), WORDS)])


def _quit(_: Session, __: list[str]) -> None:
    raise QuitError


COMMANDS: dict[str, Command] = {
    **{kind: _view(kind) for kind in VIEW_SENTENCES},
    "memory": Command(
        _memory, Takes.MEMORY_OPTIONS, "Memory over time: the peak, and who held what then."
    ),
    "flops": Command(_flops, Takes.NOTHING, "Float operations: how counted, and what was not."),
    "advise": Command(_advise, Takes.CHECKERS, "What could be better, and what that would win."),
    "set": Command(_set, Takes.OPTIONS, "Keep options for the lines to come: set -max_depth 3."),
    "reset": Command(
        _reset, Takes.OPTION_NAMES, "Take all options back to their defaults, or some: reset step."
    ),
    "save": Command(_save, Takes.PATH, "Put everything into one profile file: save profile.pb."),
    "help": Command(_help, Takes.TOPIC, "Explain a command, an option or a metric: help select."),
    "quit": Command(_quit, Takes.NOTHING, "Leave; so does Ctrl-D."),
    "exit": Command(_quit, Takes.NOTHING, "Leave."),
}

# What help and completion say of them.
WORDS: dict[str, tuple[Takes, str]] = {
    name: (command.takes, command.help) for name, command in COMMANDS.items()
}


def _given(words: list[str], known: Mapping[str, Option]) -> dict[str, Any]:
    """The options that `words` set, as the shell spells them."""
    _require_shell_spelling(words)
    given, rest = take_options(words, known, dashes=("-",), loose=False)
    if rest:
        raise OptionError(f"`{rest[0]}` belongs to no option. {_advice(rest[0])}")
    return given


def _advice(stray: str) -> str:
    """What somebody may have meant by a word that stands alone."""
    if stray in VIEW_OPTIONS:
        return f"Did you mean -{stray}?"
    if stray in BY_KEY:
        return f"Did you mean -select {stray}?"
    return "Options begin with a dash and lists have no spaces: -select params,micros."


def _require_shell_spelling(words: list[str]) -> None:
    """Refuse an option as the command line spells it: here it has one dash and no equals sign."""
    for word in words:
        name, equals, value = word.lstrip("-").partition("=")
        is_known = name in VIEW_OPTIONS | MEMORY_OPTIONS or name == CHECKERS_OPTION.name
        if word.startswith("-") and is_known and (equals or word.startswith("--")):
            raise OptionError(f"`{word}` is spelled -{name} {value or 'VALUE'} in the shell.")
