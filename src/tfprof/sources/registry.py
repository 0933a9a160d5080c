"""The table of sources: which files tfprof reads, and from paths to a profile."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from tfprof.errors import InputError, TfprofError, UnknownFormatError, one_line
from tfprof.formats import checkpoint
from tfprof.formats.content import Content
from tfprof.formats.recognise import SAVED_MODEL_FILES, MessageKind, is_saved_profile
from tfprof.metrics import Need
from tfprof.model.builder import ProfileBuilder
from tfprof.sources.ahead import Ahead
from tfprof.sources.source import FileSummary, InputFile, Source, Stage

if TYPE_CHECKING:
    from tfprof.sources.profile_file import Loaded

GROUP = "tfprof.sources"

# The source of the profiles that tfprof saves.
SAVED = "tfprof"

# Files of more bytes than this in all are read one after the other: two at a time take memory.
_MOST_AHEAD = 3 << 28


@dataclass(frozen=True, slots=True)
class BuiltIn:
    """A source of tfprof itself; its module is imported with the first such file.

    The module has `read(file)` and `add(found, builder, file)`.
    """

    name: str
    title: str
    stage: Stage
    brings: frozenset[Need]
    module: str
    recognises: Callable[[Content], bool]
    option: str = ""  # the input option that names such a file
    is_saved: bool = False  # by tfprof itself, so it is not what a program would provide
    framework: str = "tensorflow"

    def looks_like(self, content: Content) -> bool:
        return self.recognises(content)

    def read(self, file: InputFile) -> Any:
        return import_module(self.module).read(file)

    def add(self, found: Any, builder: ProfileBuilder, file: InputFile) -> FileSummary:
        summary: FileSummary = import_module(self.module).add(found, builder, file)
        return summary


def _message(kind: MessageKind) -> Callable[[Content], bool]:
    return lambda content: content.message.kind is kind


def _is_saved_model(content: Content) -> bool:
    inside = content.first_inside(SAVED_MODEL_FILES)
    return inside.message.kind is MessageKind.SAVED_MODEL


# In the order in which files are tried; of one stage they are also added in this order.
SOURCES: tuple[BuiltIn, ...] = (
    BuiltIn(
        name="checkpoint",
        title="checkpoint",
        stage=Stage.VALUES,
        brings=frozenset({Need.VALUES}),
        module="tfprof.sources.tf_checkpoint",
        recognises=lambda content: checkpoint.find(content.path) is not None,
        option="checkpoint_path",
    ),
    BuiltIn(
        name=SAVED,
        title="saved profile",
        stage=Stage.DEFINITIONS,
        brings=frozenset({Need.DEFINITIONS, Need.RUNS, Need.CODE}),
        module="tfprof.sources.profile_file",
        recognises=lambda content: is_saved_profile(content.head),
        option="profile_path",
        is_saved=True,
    ),
    BuiltIn(
        name="profile_proto",
        title="ProfileProto",
        stage=Stage.DEFINITIONS,
        brings=frozenset({Need.DEFINITIONS, Need.RUNS, Need.CODE}),
        module="tfprof.sources.profile_proto",
        recognises=_message(MessageKind.PROFILE),
        option="profile_path",
        is_saved=True,
    ),
    BuiltIn(
        name="graph",
        title="GraphDef",
        stage=Stage.DEFINITIONS,
        brings=frozenset({Need.DEFINITIONS}),
        module="tfprof.sources.tf_graph",
        recognises=_message(MessageKind.GRAPH),
        option="graph_path",
    ),
    BuiltIn(
        name="saved_model",
        title="SavedModel",
        stage=Stage.DEFINITIONS,
        brings=frozenset({Need.DEFINITIONS, Need.CODE, Need.VALUES}),
        module="tfprof.sources.saved_model",
        recognises=_is_saved_model,
    ),
    BuiltIn(
        name="run_meta",
        title="RunMetadata",
        stage=Stage.RUNS,
        brings=frozenset({Need.RUNS}),
        module="tfprof.sources.tf_run_metadata",
        recognises=_message(MessageKind.RUN_META),
        option="run_meta_path",
    ),
    BuiltIn(
        name="xspace",
        title="XSpace",
        stage=Stage.RUNS,
        brings=frozenset({Need.RUNS}),
        module="tfprof.sources.xspace",
        recognises=_message(MessageKind.XSPACE),
    ),
    BuiltIn(
        name="op_log",
        title="OpLogProto",
        stage=Stage.ANNOTATIONS,
        brings=frozenset({Need.CODE}),
        module="tfprof.sources.tf_op_log",
        recognises=_message(MessageKind.OP_LOG),
        option="op_log_path",
    ),
)
BY_NAME: dict[str, BuiltIn] = {source.name: source for source in SOURCES}


class Added(NamedTuple):
    """The sources that installed packages add, and why some of them cannot be used."""

    sources: list[Source]
    problems: list[str]


def added() -> Added:
    """What is installed now, ordered by name."""
    from importlib.metadata import entry_points  # noqa: PLC0415 -- it takes 20 ms to import

    found = Added([], [])
    for point in sorted(entry_points(group=GROUP), key=lambda point: (point.name, point.value)):
        try:
            source = point.load()
        except Exception as error:  # noqa: BLE001 -- any package may be broken in any way
            found.problems.append(f"the source {point.value} cannot be loaded: {_trouble(error)}")
            continue
        missing = [part for part in _MEMBERS if not hasattr(source, part)]
        if missing:
            found.problems.append(f"the source {point.value} has no `{missing[0]}`")
        else:
            found.sources.append(Guarded(source))
    return found


_MEMBERS = ("name", "title", "stage", "brings", "framework", "looks_like", "read", "add")


def _trouble(error: Exception) -> str:
    return one_line(f"{type(error).__name__}: {error}")


class Guarded:
    """A source of another package, whose failures become one-line errors that name it."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self.name, self.title = source.name, source.title
        self.stage, self.brings = source.stage, source.brings
        self.framework = source.framework

    def looks_like(self, content: Content) -> bool:
        return bool(self._called(content.path, self._source.looks_like, content))

    def read(self, file: InputFile) -> Any:
        return self._called(file.path, self._source.read, file)

    def add(self, found: Any, builder: ProfileBuilder, file: InputFile) -> FileSummary:
        summary: FileSummary = self._called(file.path, self._source.add, found, builder, file)
        return summary

    def _called(self, path: str, function: Callable[..., Any], *args: Any) -> Any:
        try:
            return function(*args)
        except TfprofError:
            raise
        except Exception as error:
            raise InputError(path, f"the source `{self.name}` fails: {_trouble(error)}.") from error


def open_file(path: str, **about: Any) -> InputFile:
    """The file at `path` with the source that recognises it; `about` is what `InputFile` takes."""
    content = Content(path)
    for source in SOURCES:
        if source.looks_like(content):
            return InputFile(content, source, **about)
    content.require_readable()
    # Looking for packages takes milliseconds, so it is done only for files nothing else knows.
    others = added()
    for other in others.sources:
        if other.looks_like(content):
            return InputFile(content, other, **about)
    titles = ", ".join(source.title for source in (*SOURCES, *others.sources))
    problems = "".join(f" ({problem})" for problem in others.problems)
    raise UnknownFormatError(path, f"unknown file format; tfprof reads {titles}{problems}.")


def open_as(names: str | tuple[str, ...], path: str, **about: Any) -> InputFile:
    """The file at `path`, which must be of one of the sources of these names."""
    wanted = [BY_NAME[name] for name in ([names] if isinstance(names, str) else names)]
    is_checkpoint = wanted == [BY_NAME["checkpoint"]]
    if is_checkpoint and checkpoint.find(path) is None and not Content(path).head:
        checkpoint.open_checkpoint(path)  # its error names all files that were looked for
    file = open_file(path, **about)
    if file.source not in wanted:
        titles = " or ".join(a_file(source.title) for source in wanted)
        raise UnknownFormatError(
            path, f"is {a_file(file.source.title)}, not {titles}; check the option."
        )
    return file


def of_options() -> dict[str, tuple[str, ...]]:
    """The input options that name files, and the sources whose files each can name."""
    options = dict.fromkeys(source.option for source in SOURCES if source.option)
    return {
        option: tuple(source.name for source in SOURCES if source.option == option)
        for option in options
    }


def a_file(title: str) -> str:
    """What a sentence calls a file of a source with that title: `an XSpace file`."""
    return f"{'an' if title[0] in 'AEIOUX' else 'a'} {title} file"


def merge(
    files: Iterable[InputFile],
    builder: ProfileBuilder,
    progress: Callable[[str], None] = lambda _: None,
) -> list[FileSummary]:
    """Add all files to `builder`, stage by stage, and summarise each."""
    given = list(files)
    order = sorted(range(len(given)), key=lambda place: _rank(given[place].source))
    ordered = [given[place] for place in order]
    builder.remedies |= remedies(file.source for file in given)
    found: dict[int, FileSummary] = {}
    for place, ahead in zip(order, _read_ahead(ordered), strict=True):
        file = given[place]
        progress(file.path)
        found[place] = file.source.add(ahead.result(), builder, file)
    return [found[place] for place in range(len(given))]


def finished(
    files: Sequence[InputFile], progress: Callable[[str], None] = lambda _: None
) -> tuple[Loaded, FileSummary] | None:
    """The profile of a saved profile that is the only file, which needs no builder, or None."""
    if len(files) != 1 or files[0].source.name != SAVED:
        return None
    from tfprof.sources import profile_file  # noqa: PLC0415 -- only for this source

    progress(files[0].path)
    found = profile_file.read(files[0])
    return found, profile_file.summarised(found, files[0])


def remedies(sources: Iterable[Source]) -> dict[Need, str]:
    """What would provide each capability, as a phrase, for the frameworks of these sources."""
    used = list(sources)
    frameworks = {source.framework for source in used} or {"tensorflow"}
    offered: list[Source] = [source for source in SOURCES if not source.is_saved]
    offered += [source for source in used if not isinstance(source, BuiltIn)]
    known = [source for source in offered if source.framework in frameworks]
    known.sort(key=lambda source: not getattr(source, "option", ""))
    offers = {
        need: dict.fromkeys(_offer(source) for source in known if need in source.brings)
        for need in Need
    }
    return {need: " or ".join(found) for need, found in offers.items() if found}


def _offer(source: Source) -> str:
    """What a user would give: `RunMetadata (--run_meta_path)`."""
    option = source.option if isinstance(source, BuiltIn) else ""
    return f"{source.title} (--{option})" if option else source.title


def _rank(source: Source) -> tuple[int, int]:
    place = SOURCES.index(source) if isinstance(source, BuiltIn) else len(SOURCES)
    return source.stage, place


def _read_ahead(files: Sequence[InputFile]) -> Iterator[Ahead[Any]]:
    """The reading of each file; the next one is read while one is added, unless they are large."""
    is_much = sum(_size(file.path) for file in files) > _MOST_AHEAD
    started: deque[Ahead[Any]] = deque()
    for file in files:
        started.append(Ahead(file.source.read, file))
        if is_much or len(started) > 1:
            yield started.popleft()
    yield from started


def _size(path: str) -> int:
    try:
        return Path(path).stat().st_size
    except (OSError, ValueError):  # reading the file reports the problem
        return 0
