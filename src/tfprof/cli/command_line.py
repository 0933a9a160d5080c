"""The command-line front: parse words into a command call, and load the files it names."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from tfprof.commands import screen
from tfprof.commands.command import Call, Command, Place, Words, options_of
from tfprof.commands.table import available
from tfprof.errors import OptionError, nearest
from tfprof.metrics import AUTO
from tfprof.options import GENERAL_OPTIONS, INPUT_OPTIONS, Inputs, Kind, Options
from tfprof.options.words import parsed, take_texts

if TYPE_CHECKING:
    from tfprof.api import Profile
    from tfprof.sources.source import FileSummary

_HERE = Place.COMMAND_LINE
_DEFAULT = "shell"  # if no command is given, only files


class CommandLine:
    """The front for one command line."""

    place = _HERE
    default_order = AUTO

    def __init__(self) -> None:
        self.pages = True
        self.options = Options()
        self.hinted: set[str] = set()

    @property
    def screen(self) -> screen.Screen:
        """Where answers and notes are shown."""
        return screen.of_output(pages=self.pages)

    @property
    def commands(self) -> Mapping[str, Command]:
        """The commands that are available here."""
        return available(_HERE)

    def load(self, call: Call) -> Profile:
        """Read the files that the call names."""
        from tfprof import api  # noqa: PLC0415 -- needs numpy, which help does not
        from tfprof.commands.progress import Progress  # noqa: PLC0415 -- see above

        with Progress(sys.stderr) as progress:
            return api.load_inputs(call.paths, _inputs(call), progress.reading)

    def files(self, call: Call) -> Sequence[FileSummary]:
        """The files that the call names, identified but not loaded."""
        from tfprof import api  # noqa: PLC0415 -- needs numpy, which help does not

        return api.named_files(call.paths, _inputs(call))

    def open_shell(self, profile: Profile, options: Options) -> int:
        """Answer lines from standard input."""
        from tfprof.shell import loop  # noqa: PLC0415 -- only the shell needs it

        return loop.serve(profile, options, sys.stdin, pages=self.pages)


def run(words: Sequence[str]) -> int:
    """Run a command line, given without the program's name, and return its exit status."""
    call = parse(words)
    help_command = call.front.commands["help"]
    if call.given.get("version"):
        call.show([_version()])
        return 0
    if call.given.get("help"):
        topic = () if call.command is help_command else (call.command.name,)
        call = Call(help_command, call.front, topic)
    _validate(call)
    return call.command.run(call) or 0


def parse(words: Sequence[str]) -> Call:
    """Parse a command line into a call; an unknown command or option is an error."""
    front = CommandLine()
    commands = front.commands
    first = commands.get(words[0]) if words else None
    takes = first.takes[_HERE] if first else None
    if first and takes is Words.TOPIC:
        return Call(first, front, tuple(words[1:]))
    # All options, because an option may come before the command.
    known = GENERAL_OPTIONS | options_of(commands.values(), _HERE)
    if first and takes is Words.PROGRAM:
        texts, rest = take_texts(words[1:], known, stops=True)
        return _call(front, first, rest, texts)
    before, after = _split(words, "--")
    texts, rest = take_texts(before, known)
    general = parsed(_general(texts), GENERAL_OPTIONS)
    name = rest.pop(0) if rest and rest[0] in commands else ""
    if not name and rest:
        _require_file_or_command(rest[0], commands)
        _require_command_first(rest[1:], commands)
    asks_for_help = not words or general.get("help")
    command = commands[name or ("help" if asks_for_help else _DEFAULT)]
    if command.takes[_HERE] is Words.PROGRAM:
        raise OptionError(f"Put `{name}` before its options: {command.usage(_HERE)}.")
    return _call(front, command, [*rest, *after], texts)


def _call(
    front: CommandLine, command: Command, words: Sequence[str], texts: Sequence[tuple[str, str]]
) -> Call:
    given = _given(command, texts, front.commands)
    front.pages = not given.get("no-pager")
    return Call(command, front, tuple(words), given)


def _given(
    command: Command, texts: Sequence[tuple[str, str]], commands: Mapping[str, Command]
) -> dict[str, Any]:
    """The values of the options; those that the command does not take are rejected first."""
    general = parsed(_general(texts), GENERAL_OPTIONS)
    if general.get("help") or general.get("version"):  # answered instead of the command
        return general
    names = {name for name, _ in texts} - GENERAL_OPTIONS.keys()
    command.require_known(names, _HERE, commands.values())
    return parsed(texts, GENERAL_OPTIONS | command.options_in(_HERE))


def _general(texts: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
    return [(name, text) for name, text in texts if name in GENERAL_OPTIONS]


def _split(words: Sequence[str], mark: str) -> tuple[Sequence[str], Sequence[str]]:
    place = words.index(mark) if mark in words else len(words)
    return words[:place], words[place + 1 :]


def _require_file_or_command(word: str, commands: Mapping[str, Command]) -> None:
    """Reject a mistyped command; anything that looks like a path is taken as a file."""
    # `os.path`, because importing `pathlib` takes longer than the rest of this module.
    if not ("/" in word or "." in word or os.path.exists(word)):  # noqa: PTH110
        raise OptionError(f"Unknown command or file `{word}`. {nearest(word, commands)}")


def _require_command_first(rest: Sequence[str], commands: Mapping[str, Command]) -> None:
    """Reject a command after the files, unless a file has that name."""
    for word in rest:
        if word in commands and not os.path.exists(word):  # noqa: PTH110
            raise OptionError(f"Put the command before the files: tfprof {word} FILES….")


def _validate(call: Call) -> None:
    """Reject options that the command does not take, and missing options or files."""
    command = call.command
    given = {name: call.given[name] for name in call.given if name not in GENERAL_OPTIONS}
    command.require(given, _HERE)
    if command.takes[_HERE] is Words.SOURCES and not call.words:
        raise OptionError("No sources: list files, folders or patterns after the command.")
    has_files = call.words or any(given.get(name) for name in _PATH_OPTIONS)
    if command.takes[_HERE] is Words.STORE and not has_files:
        raise OptionError(f"No store: {command.usage(_HERE)}.")
    if command.takes[_HERE] is Words.SIDES and not call.words:
        raise OptionError(f"Nothing to compare: {command.usage(_HERE)}.")
    if command.takes[_HERE] is Words.FILES and not has_files:
        option = next(iter(command.inputs))
        raise OptionError(f"No input files: list them after the command or use --{option}.")


_PATH_OPTIONS = [
    name for name, option in INPUT_OPTIONS.items() if option.kind in (Kind.PATH, Kind.PATHS)
]


def _inputs(call: Call) -> Inputs:
    return Inputs(**call.given_of(INPUT_OPTIONS))


def _version() -> str:
    # This compiled module loads without numpy, and all compiled modules are built together.
    from tfprof.formats import text  # noqa: PLC0415 -- only this needs it
    from tfprof.version import __version__  # noqa: PLC0415 -- the same

    reader = "files are read with protobuf: no compiler was found at installation"
    if text.is_compiled():
        reader = "compiled readers"
    return f"tfprof {__version__} ({reader})\n"
