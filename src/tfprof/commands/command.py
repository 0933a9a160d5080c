"""A row of the command table, and the call that a command's function receives."""

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

# A usage line longer than this would not fit on a terminal, so options are abbreviated.
_LONGEST_USAGE = 72


class Place(StrEnum):
    """Where commands are typed."""

    COMMAND_LINE = "command line"
    SHELL = "shell"


class Words(StrEnum):
    """What a command's words mean, apart from its options; the text is shown in usage lines."""

    NOTHING = ""
    FILES = "FILES…"
    SOURCES = "SOURCES…"  # files, folders, patterns and URLs
    FOLDER = "[DIR]"
    PROGRAM = "PROGRAM ARGUMENTS…"  # all words from PROGRAM on are passed to the program
    OUTFILE = "FILE"  # the same as the option `outfile`
    TOPIC = "[COMMAND | OPTION | METRIC]"  # an option with or without its dashes
    OPTION_NAMES = "[OPTION]…"  # with or without their dashes
    STORE = "STORE [QUERY]"
    SIDES = "BASE NEW"  # files of each; several are separated by the word `vs`
    QUERY = "[QUERY]"  # the rest of the line, after the options


# After these words there are no options.
_LAST = (Words.PROGRAM, Words.QUERY)


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """One row of the command table."""

    name: str
    summary: str
    run: Callable[[Call], int | None]  # returns the exit status; None is 0
    takes: Mapping[Place, Words]  # where it is available, and which words it takes there
    inputs: Mapping[str, Option] = field(default_factory=dict)  # command line only: input files
    options: Mapping[str, Option] = field(default_factory=dict)
    required: tuple[str, ...] = ()
    instead: Mapping[str, str] = field(default_factory=dict)  # hints for options it does not take
    notes: str = ""  # shown in help after the summary
    examples: tuple[tuple[str, str], ...] = ()  # (files, other words); the shell omits the files

    def options_in(self, place: Place) -> dict[str, Option]:
        """All options that it takes at `place`."""
        inputs = self.inputs if place is Place.COMMAND_LINE else {}
        return {**inputs, **self.options}

    def usage(self, place: Place) -> str:
        """Its usage line at `place`."""
        words = self.takes[place]
        start = f"tfprof {self.name}" if place is Place.COMMAND_LINE else self.name
        names = [] if words is Words.OUTFILE else self.required
        required = [spelled(self.options[name], place) for name in names]
        others = [option for name, option in self.options.items() if name not in self.required]
        optional = [f"[{spelled(option, place)}]" for option in others]
        # A program and its arguments come last, because options after them belong to the program.
        before, after = ("", words) if words in _LAST else (words, "")
        usage = " ".join(filter(None, [start, before, *required, *optional, after]))
        if len(usage) <= _LONGEST_USAGE:
            return usage
        return " ".join(filter(None, [start, before, *required, "[-option value]…", after]))

    def require_known(
        self, names: Iterable[str], place: Place, commands: Iterable[Command]
    ) -> None:
        """Reject options that it does not take; `commands` are searched for those that do."""
        known = self.options_in(place)
        for name in sorted(set(names) - known.keys()):
            takers = [other.name for other in commands if name in other.options_in(place)]
            hint = self.instead.get(name) or f"It is an option of {', '.join(takers)}."
            raise OptionError(f"`{self.name}` has no option `{name}`. {hint}")

    def require(self, given: Mapping[str, Any], place: Place) -> None:
        """Reject a call without its required options."""
        for name in self.required:
            if not given.get(name):
                option = spelled(self.options[name], place)
                raise OptionError(f"`{self.name}` requires {option}: {self.usage(place)}.")


def options_of(commands: Iterable[Command], place: Place) -> dict[str, Option]:
    """The options of all `commands` at `place`, by name."""
    tables = (command.options_in(place) for command in commands)
    return {name: option for table in tables for name, option in table.items()}


def spelled(option: Option, place: Place) -> str:
    """An option as it is typed at `place`, with the placeholder for its value."""
    dashes = option.dashes if place is Place.COMMAND_LINE else "-"
    return f"{dashes}{option.name} {option.value}".rstrip()


class Front(Protocol):
    """What a command needs from the command line or the shell that runs it."""

    options: Options  # the current view options
    hinted: set[str]  # output kinds whose hint, and notes on files, that were already shown

    @property
    def default_order(self) -> str:
        """The key to sort by if no question or earlier line sets one."""

    @property
    def place(self) -> Place:
        """Whether this is the command line or the shell."""

    @property
    def screen(self) -> Screen:
        """Where answers and notes are shown."""

    @property
    def commands(self) -> Mapping[str, Command]:
        """The commands that are available here."""

    def load(self, call: Call) -> Profile:
        """The profile to answer the call from."""

    def files(self, call: Call) -> Sequence[FileSummary]:
        """The files of that profile, without reading them again."""

    def open_shell(self, profile: Profile, options: Options) -> int:
        """Answer lines from standard input about `profile`; returns the exit status."""


@dataclass(frozen=True, slots=True)
class Call:
    """One call of a command: its words, its options and the front where it was typed."""

    command: Command
    front: Front
    words: tuple[str, ...] = ()
    given: Mapping[str, Any] = field(default_factory=dict)  # the options that were typed

    def value(self, name: str) -> Any:
        """The value of one of the command's options, as typed or else its default."""
        default = self.command.options_in(self.front.place)[name].default
        return self.given.get(name, default)

    @property
    def paths(self) -> tuple[str, ...]:
        """The words that name files."""
        is_store = self.command.takes[self.front.place] is Words.STORE
        return self.words[:1] if is_store else self.words

    @property
    def query(self) -> str:
        """The words that are a query."""
        is_store = self.command.takes[self.front.place] is Words.STORE
        return " ".join(self.words[1:] if is_store else self.words).strip()

    def view_options(self) -> Options:
        """The current view options, with those of this call applied."""
        return self.front.options.taking(self.given_of(VIEW_OPTIONS))

    def given_of(self, table: Mapping[str, Option]) -> dict[str, Any]:
        """The options of `table` that were typed."""
        return {name: value for name, value in self.given.items() if name in table}

    def load(self) -> Profile:
        """The profile to answer the call from."""
        return self.front.load(self)

    def show(self, pieces: Iterable[str]) -> None:
        """Show an answer, piece by piece."""
        self.front.screen.show(pieces)

    def note(self, notes: Iterable[str], profile: Profile) -> None:
        """Show the notes on an answer; those on the files are shown once per session."""
        hinted = self.front.hinted
        self.say(*(note for note in notes if note not in hinted))
        hinted.update(note for note in notes if note in profile.notes)

    def say(self, *sentences: str) -> None:
        """Show notes, which are not part of an answer."""
        for sentence in sentences:
            self.front.screen.say(sentence)
