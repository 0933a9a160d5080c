"""A command: one row of the table, and the call of it that its function gets."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Protocol

from tfprof.errors import OptionError
from tfprof.options import VIEW_OPTIONS, Option, Options

if TYPE_CHECKING:
    from tfprof.api import Profile
    from tfprof.commands.screen import Screen
    from tfprof.sources.source import FileSummary

# A longer usage line, which has to fit on a terminal, does not list every option.
_LONGEST_USAGE = 72


class Place(StrEnum):
    """Where commands are typed."""

    COMMAND_LINE = "command line"
    SHELL = "shell"


class Words(StrEnum):
    """What the words of a command that are not options stand for, as a usage line shows it."""

    NOTHING = ""
    FILES = "FILES…"
    RUN_META = "RUN_META…"
    FOLDER = "[DIR]"
    PROGRAM = "PROGRAM ARGUMENTS…"  # everything from the first word on is left to the program
    OUTFILE = "FILE"  # the same as the option `outfile`
    TOPIC = "[COMMAND | OPTION | METRIC]"  # an option with or without its dashes
    OPTION_NAMES = "[OPTION]…"  # with or without their dashes


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """One row of the table of commands."""

    name: str
    summary: str
    run: Callable[[Call], int | None]  # gives the exit status; None is 0
    takes: Mapping[Place, Words]  # where it is available, and its words there
    inputs: Mapping[str, Option] = field(default_factory=dict)  # name files on the command line
    options: Mapping[str, Option] = field(default_factory=dict)
    required: tuple[str, ...] = ()
    instead: Mapping[str, str] = field(default_factory=dict)  # advice for options it does not take
    notes: str = ""  # what help says after the summary
    examples: tuple[tuple[str, str], ...] = ()  # files, for the command line, and other words

    def options_in(self, place: Place) -> dict[str, Option]:
        """All options it takes there."""
        inputs = self.inputs if place is Place.COMMAND_LINE else {}
        return {**inputs, **self.options}

    def usage(self, place: Place) -> str:
        """How it is typed there."""
        words = self.takes[place]
        start = f"tfprof {self.name}" if place is Place.COMMAND_LINE else self.name
        required = [] if words is Words.OUTFILE else self.required
        needed = [spelled(self.options[name], place) for name in required]
        others = [option for name, option in self.options.items() if name not in self.required]
        optional = [f"[{spelled(option, place)}]" for option in others]
        # The words of a program come last, as options after them are its own.
        before, after = ("", words) if words is Words.PROGRAM else (words, "")
        usage = " ".join(filter(None, [start, before, *needed, *optional, after]))
        if len(usage) <= _LONGEST_USAGE:
            return usage
        return " ".join(filter(None, [start, before, *needed, "[-option value]…", after]))

    def require(self, given: Mapping[str, Any], place: Place, commands: Iterable[Command]) -> None:
        """Refuse options that it would ignore, and a call without the options that it needs."""
        known = self.options_in(place)
        for name in sorted(given.keys() - known.keys()):
            takers = [other.name for other in commands if name in other.options_in(place)]
            advice = self.instead.get(name) or f"It is for {', '.join(takers)}."
            raise OptionError(f"`{self.name}` has no option `{name}`. {advice}")
        for name in self.required:
            if not given.get(name):
                option = spelled(self.options[name], place)
                raise OptionError(f"`{self.name}` needs {option}: {self.usage(place)}.")


def spelled(option: Option, place: Place) -> str:
    """An option as it is typed there, with the placeholder of its value."""
    dashes = option.dashes if place is Place.COMMAND_LINE else "-"
    return f"{dashes}{option.name} {option.value}".rstrip()


class Front(Protocol):
    """The command line or the shell, as a command sees it."""

    options: Options  # of views, in force here
    hinted: set[str]  # the kinds of output whose hint was shown

    @property
    def place(self) -> Place:
        """Which front this is."""

    @property
    def screen(self) -> Screen:
        """Where answers and notes are shown."""

    @property
    def commands(self) -> Mapping[str, Command]:
        """The commands that are available here."""

    def load(self, call: Call) -> Profile:
        """The profile that the call is about."""

    def files(self, call: Call) -> Sequence[FileSummary]:
        """The files of that profile, without reading them again."""

    def open_shell(self, profile: Profile, options: Options) -> int:
        """Answer lines of the standard input from `profile`; gives the exit status."""


@dataclass(frozen=True, slots=True)
class Call:
    """One call of a command: its words and options, and the front it was typed into."""

    command: Command
    front: Front
    words: tuple[str, ...] = ()
    given: Mapping[str, Any] = field(default_factory=dict)  # the options that were typed

    def value(self, name: str) -> Any:
        """The value of one of the command's options: as typed, or its default."""
        default = self.command.options_in(self.front.place)[name].default
        return self.given.get(name, default)

    def view_options(self) -> Options:
        """The options of views that are in force, with those that were typed."""
        return self.front.options.taking(self.given_of(VIEW_OPTIONS))

    def given_of(self, table: Mapping[str, Option]) -> dict[str, Any]:
        """The options of `table` that were typed."""
        return {name: value for name, value in self.given.items() if name in table}

    def load(self) -> Profile:
        """The profile that the call is about."""
        return self.front.load(self)

    def show(self, pieces: Iterable[str]) -> None:
        """Show an answer, piece by piece."""
        self.front.screen.show(pieces)

    def say(self, *sentences: str) -> None:
        """Show notes, which are not part of an answer."""
        for sentence in sentences:
            self.front.screen.say(sentence)
