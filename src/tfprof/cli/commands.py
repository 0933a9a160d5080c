"""The one table of commands, and the way from words to one of them.

Nothing is loaded before a command is known to need it: `tfprof --help` is to be quick.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING

from tfprof.errors import OptionError, nearest, one_line
from tfprof.options import (
    CHECKERS_OPTION,
    INPUT_OPTIONS,
    MEMORY_OPTIONS,
    VIEW_OPTIONS,
    Inputs,
    Kind,
    MemoryOptions,
    Option,
    Options,
)
from tfprof.options.words import take_options

if TYPE_CHECKING:
    from tfprof.api import Profile


@dataclass(frozen=True, slots=True, kw_only=True)
class Flags:
    """What a command line can say besides inputs and view options."""

    json: bool = field(
        default=False, metadata={"kind": Kind.SWITCH, "help": "Print JSON to the standard output."}
    )
    outfile: str = field(
        default="",
        metadata={
            "kind": Kind.PATH,
            "help": "The file to write (save, timeline), or folder (run).",
        },
    )
    show_dataflow: bool = field(
        default=True,
        metadata={
            "kind": Kind.SWITCH,
            "help": "In a timeline, draw arrows to ops from those that made their inputs.",
        },
    )
    show_memory: bool = field(
        default=True,
        metadata={
            "kind": Kind.SWITCH,
            "help": "In a timeline, show tensors and what each allocator has in use.",
        },
    )
    model_dir: str = field(
        default="", metadata={"kind": Kind.PATH, "help": "The folder of a training run (profile)."}
    )
    output_dir: str = field(
        default="",
        metadata={"kind": Kind.PATH, "help": "The folder to write reports to (profile)."},
    )
    checkers: tuple[str, ...] = field(
        default=(), metadata={"kind": CHECKERS_OPTION.kind, "help": CHECKERS_OPTION.help}
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
_ALL_OPTIONS = INPUT_OPTIONS | MEMORY_OPTIONS | VIEW_OPTIONS | FLAG_OPTIONS
_ANYWHERE = frozenset({*INPUT_OPTIONS, "help", "version"})


@dataclass(frozen=True, slots=True)
class Request:
    """A command line taken apart."""

    command: str  # empty where the line has none
    paths: tuple[str, ...]
    inputs: Inputs
    options: Options
    memory_options: MemoryOptions
    flags: Flags
    given: frozenset[str]  # the names of all options that were set

    @property
    def names_files(self) -> bool:
        """Whether there is anything to read."""
        kinds = (Kind.PATH, Kind.PATHS)
        options = [option for option in INPUT_OPTIONS.values() if option.kind in kinds]
        return bool(self.paths or any(getattr(self.inputs, option.name) for option in options))


@dataclass(frozen=True, slots=True)
class Command:
    """One command: what it does, the line that says so, and the options that mean something to it.

    Files, `--help` and `--version` can be given to any.
    """

    run: Callable[[Request], int]
    help: str
    options: frozenset[str] = frozenset()


def run(words: Sequence[str]) -> int:
    """Carry out a command line and give its exit status."""
    if not words:
        return _print_help("")
    if words[0] == "help":
        # Not taken apart: the word may be that of an option, -select.
        return _print_help("".join(_SHORT.get(word, word) for word in words[1:2]))
    if words[0] == "run":
        # Nor this: the words behind the program are its own.
        return _run_program(words[1:])
    request = parse(words)
    if request.flags.version:
        return _print_version()
    if request.flags.help:
        return _print_help(request.command)
    command = request.command or "shell"
    _require_sense(command, request)
    return COMMANDS[command].run(request)


def parse(words: Sequence[str]) -> Request:
    """Take a command line apart; what is neither command, option nor file is refused."""
    words, paths = _before_and_after("--", words)
    given, rest = take_options([_SHORT.get(word, word) for word in words], _ALL_OPTIONS)
    command = rest.pop(0) if rest and rest[0] in COMMANDS else ""
    if not command and rest:
        _require_file_or_command(rest[0])
        _require_command_first(rest[1:])
    return Request(
        command,
        (*rest, *paths),
        Inputs(**{name: given[name] for name in given if name in INPUT_OPTIONS}),
        Options().taking({name: given[name] for name in given if name in VIEW_OPTIONS}),
        MemoryOptions(**{name: given[name] for name in given if name in MEMORY_OPTIONS}),
        Flags(**{name: given[name] for name in given if name in FLAG_OPTIONS}),
        frozenset(given),
    )


def _before_and_after(mark: str, words: Sequence[str]) -> tuple[Sequence[str], Sequence[str]]:
    place = words.index(mark) if mark in words else len(words)
    return words[:place], words[place + 1 :]


def _require_file_or_command(word: str) -> None:
    """Tell a mistyped command from the path of a file that is not there."""
    from pathlib import Path  # noqa: PLC0415 -- see the module's docstring

    is_path = "/" in word or "." in word or Path(word).exists()
    if not is_path:
        raise OptionError(f"No command and no file `{word}`. {nearest(word, COMMANDS)}")


def _require_command_first(rest: Sequence[str]) -> None:
    """Tell a command that stands behind the files from one more file."""
    from pathlib import Path  # noqa: PLC0415 -- see the module's docstring

    for word in rest:
        if word in COMMANDS and not Path(word).exists():
            raise OptionError(f"The command stands before the files: tfprof {word} FILES….")


def _require_sense(command: str, request: Request) -> None:
    """Refuse an option that the command would leave aside: its user expects something of it."""
    for option in sorted(request.given - _ANYWHERE - COMMANDS[command].options):
        takers = [name for name, other in COMMANDS.items() if option in other.options]
        advice = f"It is for {', '.join(takers)}."
        if option == "outfile" and command in _VIEWS:
            advice = "Write an answer to a file with --output file:outfile=PATH."
        raise OptionError(f"`{command}` has no option `{option}`. {advice}")


def _print_version() -> int:
    # Of the compiled modules, the one that loads without numpy; all are built together.
    from tfprof.formats import text  # noqa: PLC0415 -- see the module's docstring
    from tfprof.version import __version__  # noqa: PLC0415 -- the same

    reader = "files are read by protobuf: no compiler was at hand"
    if text.is_compiled():
        reader = "compiled readers"
    print(f"tfprof {__version__} ({reader})")
    return 0


def _print_help(topic: str) -> int:
    from tfprof import help_texts  # noqa: PLC0415 -- see the module's docstring

    commands = {name: command.help for name, command in COMMANDS.items()}
    print(help_texts.text(topic, commands, FLAG_OPTIONS), end="")
    return 0


def _help(request: Request) -> int:
    return _print_help("".join(request.paths[:1]))


def _require_files(request: Request) -> None:
    if not request.names_files:
        raise OptionError("No file to read: name the files, or give --graph_path.")


def load(request: Request) -> Profile:
    """The profile of the files that a command line names."""
    _require_files(request)
    from tfprof import api  # noqa: PLC0415 -- see the module's docstring
    from tfprof.cli.progress import Progress  # noqa: PLC0415 -- see the module's docstring

    with Progress(sys.stderr) as progress:
        return api.load_inputs(request.paths, request.inputs, progress.reading)


def _view(request: Request) -> int:
    from tfprof.outputs import registry  # noqa: PLC0415 -- see the module's docstring

    spec = request.options.destination
    registry.require(spec, request.command)
    if request.flags.json and (request.options.output or request.options.dump_to_file):
        raise OptionError("Give --json or --output, not both; json:outfile=F writes JSON to F.")
    answer = load(request).view(request.command, request.options)
    if request.flags.json:
        # Whole or not at all, like a file: a tensor that cannot be read must not leave half of it.
        pieces = registry.FILE_OUTPUTS["json"].encode(answer.view)
        print(b"".join(pieces).decode(), end="")
    else:
        note(registry.sentences(spec, answer.write()))
    note(answer.notes)  # behind the answer, where they are seen, and only if there is one
    return 0


def note(sentences: Sequence[str]) -> None:
    """Print what an answer lacks where it does not get into the answer."""
    for sentence in sentences:
        print("tfprof:", one_line(sentence), file=sys.stderr)


def _memory(request: Request) -> int:
    answer = load(request).memory_over_time(request.memory_options)
    if request.flags.json:
        print(answer.to_json(), end="")
    else:
        answer.show()
    note(answer.notes)
    return 0


def _flops(request: Request) -> int:
    ledger = load(request).flops()
    print(ledger.to_json() if request.flags.json else ledger.report, end="")
    note(ledger.notes)
    return 0


def _info(request: Request) -> int:
    from tfprof.cli import info  # noqa: PLC0415 -- see the module's docstring

    found = load(request).info()
    print(info.as_json(found) if request.flags.json else info.as_text(found), end="")
    return 0


def _advise(request: Request) -> int:
    chosen = request.flags.checkers if "checkers" in request.given else None
    advice = load(request).advise(chosen)
    if request.flags.json:
        import json  # noqa: PLC0415 -- see the module's docstring

        print(json.dumps(advice.to_dict(), indent=1))
    else:
        print(advice.text(colour=_wants_colour()), end="")
    note(advice.notes)
    return 0


def _wants_colour() -> bool:
    """Whether somebody reads along on a terminal that shows it, and has not said no."""
    from tfprof.shell.screen import Terminal  # noqa: PLC0415 -- see the module's docstring

    return sys.stdout.isatty() and Terminal().has_colour


def _save(request: Request) -> int:
    if not request.flags.outfile:
        raise OptionError("save needs to know where: tfprof save FILES… --outfile profile.pb.")
    profile = load(request)
    note(profile.notes)
    profile.save(request.flags.outfile)
    note(profile.unsaved)
    note([f"wrote {request.flags.outfile}"])
    return 0


def _profile(request: Request) -> int:
    folders = [*filter(None, [request.flags.model_dir]), *request.paths]
    if given := sorted(request.given & INPUT_OPTIONS.keys()):
        raise OptionError(f"profile finds the files of the folder itself: leave out --{given[0]}.")
    if len(folders) != 1:
        raise OptionError("profile needs one folder: tfprof profile --model_dir=DIR.")
    from tfprof import model_dir  # noqa: PLC0415 -- see the module's docstring
    from tfprof.cli import model_dir_text  # noqa: PLC0415 -- see the module's docstring
    from tfprof.cli.progress import Progress  # noqa: PLC0415 -- see the module's docstring

    with Progress(sys.stderr) as progress:
        told = model_dir.report(folders[0], request.flags.output_dir, progress=progress.reading)
    shown = model_dir_text.as_json if request.flags.json else model_dir_text.as_text
    print(shown(told), end="")
    note(told.notes)
    return 0


def _timeline(request: Request) -> int:
    runs = [*request.paths, *(path for _, path in request.inputs.run_meta_path)]
    if len(runs) != 1 or request.given & INPUT_OPTIONS.keys() - {"run_meta_path"}:
        raise OptionError(
            "timeline takes the RunMetadata of one step, and no other file: timeline RUN_META -o F."
        )
    if not request.flags.outfile:
        raise OptionError(
            "timeline needs to know where: tfprof timeline RUN_META --outfile timeline.json."
        )
    from tfprof import api  # noqa: PLC0415 -- see the module's docstring
    from tfprof.cli.progress import Progress  # noqa: PLC0415 -- see the module's docstring

    flags = request.flags
    with Progress(sys.stderr) as progress:
        progress.reading(runs[0])
        notes = api.step_timeline(
            runs[0],
            flags.outfile,
            show_dataflow=flags.show_dataflow,
            show_memory=flags.show_memory,
        )
    note([*notes, f"wrote {flags.outfile}"])
    return 0


def _run_program(words: Sequence[str]) -> int:
    """Record a program; options of tfprof stand before its name."""
    count = next((place for place, word in enumerate(words) if _is_program(words, place)), None)
    before = words if count is None else words[:count]
    own, _ = take_options([_SHORT.get(word, word) for word in before], FLAG_OPTIONS)
    if own.get("help"):
        return _print_help("run")
    for option in own:
        if option != "outfile":
            takers = "It is for other commands; what is the program's stands behind its name."
            raise OptionError(f"`run` has no option `{option}`. {takers}")
    if count is None:
        raise OptionError("run needs a program: tfprof run [-o FOLDER] train.py ARGUMENTS….")
    from tfprof.capture import run_script  # noqa: PLC0415 -- see the module's docstring

    return run_script.run(words[count], words[count + 1 :], own.get("outfile", ""))


def _is_program(words: Sequence[str], place: int) -> bool:
    """Whether a word is neither an option nor the value of `--outfile` before it."""
    before = words[place - 1] if place else ""
    return not words[place].startswith("-") and _SHORT.get(before, before) not in _VALUED


_VALUED = ("--outfile", "-outfile")


def _run(_: Request) -> int:
    # Where it stands first, words were not taken apart.
    raise OptionError("`run` stands first: tfprof run [-o FOLDER] train.py ARGUMENTS….")


def _shell(request: Request) -> int:
    from tfprof.shell import loop  # noqa: PLC0415 -- see the module's docstring

    profile = load(request)
    note(profile.notes)
    return loop.serve(profile, request.options, sys.stdin)


_VIEWS = ("scope", "graph", "code", "op")
_VIEW = frozenset(VIEW_OPTIONS)
_JSON = frozenset({"json"})
_ADVICE = _JSON | {"checkers"}

COMMANDS: dict[str, Command] = {
    "scope": Command(_view, "Ops by name scope: which part of the model.", _VIEW | _JSON),
    "graph": Command(_view, "Ops by what feeds them: which chain of ops.", _VIEW | _JSON),
    "code": Command(_view, "Ops by the line of Python that made them.", _VIEW | _JSON),
    "op": Command(_view, "Ops by kind: Conv2D, MatMul, …", _VIEW | _JSON),
    "memory": Command(
        _memory,
        "Memory over time: the peak, and who held what then.",
        frozenset(MEMORY_OPTIONS) | _JSON,
    ),
    "flops": Command(_flops, "Float operations: how counted, and what was not.", _JSON),
    "advise": Command(_advise, "What could be better, and what that would win.", _ADVICE),
    "info": Command(_info, "What files are, and which questions they can answer.", _JSON),
    "save": Command(_save, "Put everything into one profile file.", frozenset({"outfile"})),
    "timeline": Command(
        _timeline,
        "When each op of one step ran, for a trace viewer.",
        frozenset({"outfile", "show_dataflow", "show_memory"}),
    ),
    "profile": Command(
        _profile,
        "Report on a training run's folder: params, flops, micro, device.",
        _JSON | {"model_dir", "output_dir"},
    ),
    "run": Command(
        _run, "Run a program and record what TensorFlow does in it.", frozenset({"outfile"})
    ),
    "shell": Command(_shell, "Ask many questions; also what `tfprof FILES…` does.", _VIEW),
    "help": Command(_help, "Say how a command is used: tfprof help scope."),
}
