"""The one table of commands, and the way from words to one of them.

Nothing here may load numpy before a command is known to need it: `tfprof --help` is to be quick.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import TYPE_CHECKING

from tfprof.errors import OptionError, nearest
from tfprof.options import INPUT_OPTIONS, VIEW_OPTIONS, Inputs, Kind, Option, Options, take_options

if TYPE_CHECKING:
    from tfprof.api import LoadedProfile


@dataclass(frozen=True, slots=True, kw_only=True)
class Flags:
    """What a command line can say besides inputs and view options."""

    json: bool = field(
        default=False, metadata={"kind": Kind.SWITCH, "help": "Print JSON to the standard output."}
    )
    outfile: str = field(
        default="", metadata={"kind": Kind.PATH, "help": "The file to write (save only)."}
    )
    help: bool = field(
        default=False, metadata={"kind": Kind.SWITCH, "help": "Say how a command is used."}
    )
    version: bool = field(
        default=False, metadata={"kind": Kind.SWITCH, "help": "Print tfprof's version."}
    )


FLAG_OPTIONS: dict[str, Option] = {
    flag.name: Option(flag.name, flag.metadata["kind"], flag.default, flag.metadata["help"])
    for flag in fields(Flags)
}
_SHORT = {"-h": "--help", "-o": "--outfile"}
_ALL_OPTIONS = INPUT_OPTIONS | VIEW_OPTIONS | FLAG_OPTIONS


@dataclass(frozen=True, slots=True)
class Request:
    """A command line taken apart."""

    command: str
    paths: tuple[str, ...]
    inputs: Inputs
    options: Options
    flags: Flags

    @property
    def names_files(self) -> bool:
        """Whether there is anything to read."""
        options = [option for option in INPUT_OPTIONS.values() if option.kind is not Kind.SWITCH]
        return bool(self.paths or any(getattr(self.inputs, option.name) for option in options))


@dataclass(frozen=True, slots=True)
class Command:
    """One command: what it does, and the line that says so."""

    run: Callable[[Request], int]
    help: str


def run(words: Sequence[str]) -> int:
    """Carry out a command line and give its exit status."""
    request = parse(words)
    if request.flags.version:
        return _print_version()
    if request.flags.help or request.command == "help" or not words:
        return _print_help(request)
    return COMMANDS[request.command].run(request)


def parse(words: Sequence[str]) -> Request:
    """Take a command line apart; what is neither command, option nor file is refused."""
    given, rest = take_options([_SHORT.get(word, word) for word in words], _ALL_OPTIONS)
    command = rest.pop(0) if rest and rest[0] in COMMANDS else "shell"
    if command == "shell" and rest:
        _require_file_or_command(rest[0])
    return Request(
        command,
        tuple(rest),
        Inputs(**{name: given[name] for name in given if name in INPUT_OPTIONS}),
        Options(**{name: given[name] for name in given if name in VIEW_OPTIONS}),
        Flags(**{name: given[name] for name in given if name in FLAG_OPTIONS}),
    )


def _require_file_or_command(word: str) -> None:
    """Tell a mistyped command from the path of a file that is not there."""
    is_path = "/" in word or "." in word or Path(word).exists()
    if not is_path:
        raise OptionError(f"No command and no file `{word}`. {nearest(word, COMMANDS)}")


def _print_version() -> int:
    from importlib.metadata import version  # noqa: PLC0415 -- see the module's docstring

    print(f"tfprof {version('tfprof')}")
    return 0


def _print_help(request: Request) -> int:
    from tfprof.cli import help as help_texts  # noqa: PLC0415 -- see the module's docstring

    topic = request.command if request.command not in ("help", "shell") else ""
    if request.command == "help" and request.paths:
        topic = request.paths[0]
    commands = {name: command.help for name, command in COMMANDS.items()}
    print(help_texts.text(topic, commands), end="")
    return 0


def load(request: Request) -> LoadedProfile:
    """The profile of the files that a command line names."""
    from tfprof import api  # noqa: PLC0415 -- see the module's docstring
    from tfprof.cli.progress import Progress  # noqa: PLC0415 -- see the module's docstring

    if not request.names_files:
        raise OptionError("No file to read: name the files, or give --graph_path.")
    with Progress(sys.stderr) as progress:
        return api.load_inputs(request.paths, request.inputs, progress.reading)


def _view(request: Request) -> int:
    from tfprof.outputs import registry  # noqa: PLC0415 -- see the module's docstring

    spec = registry.check(request.options.output)
    if request.flags.json and request.options.output:
        raise OptionError("Give --json or --output, not both; json:outfile=F writes JSON to F.")
    answer = load(request).view(request.command, request.options)
    note(answer.notes)
    if request.flags.json:
        for piece in registry.FILE_OUTPUTS["json"].encode(answer.view):
            sys.stdout.write(piece.decode())
        return 0
    answer.write(request.options.output)
    if spec.outfile:
        print(f"tfprof: wrote {spec.outfile}", file=sys.stderr)
    return 0


def note(sentences: Sequence[str]) -> None:
    """Print what an answer lacks where it does not get into the answer."""
    for sentence in sentences:
        print(f"tfprof: {sentence}", file=sys.stderr)


def _info(request: Request) -> int:
    from tfprof import api  # noqa: PLC0415 -- see the module's docstring
    from tfprof.cli import info  # noqa: PLC0415 -- see the module's docstring
    from tfprof.cli.progress import Progress  # noqa: PLC0415 -- see the module's docstring

    with Progress(sys.stderr) as progress:
        found = api.describe(request.paths, request.inputs, progress.reading)
    print(info.as_json(found) if request.flags.json else info.as_text(found), end="")
    return 0


def _save(request: Request) -> int:
    if not request.flags.outfile:
        raise OptionError("save needs to know where: tfprof save FILES… --outfile profile.pb.")
    profile = load(request)
    note(profile.notes)
    profile.save(request.flags.outfile)
    print(f"tfprof: wrote {request.flags.outfile}", file=sys.stderr)
    return 0


def _shell(request: Request) -> int:
    from tfprof.shell import session  # noqa: PLC0415 -- see the module's docstring

    profile = load(request)
    note(profile.notes)
    return session.serve(profile, request.options, sys.stdin)


COMMANDS: dict[str, Command] = {
    "scope": Command(_view, "Ops by name scope: which part of the model."),
    "graph": Command(_view, "Ops by what feeds them: which chain of ops."),
    "code": Command(_view, "Ops by the line of Python that made them."),
    "op": Command(_view, "Ops by kind: Conv2D, MatMul, …"),
    "info": Command(_info, "What files are, and which questions they can answer."),
    "save": Command(_save, "Put everything into one profile file."),
    "shell": Command(_shell, "Ask many questions; also what `tfprof FILES…` does."),
    "help": Command(_print_help, "Say how a command is used: tfprof help scope."),
}
