"""The registry of sources: identifies files and merges them into a profile."""

from __future__ import annotations

from codecs import BOM_UTF8
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeGuard, TypeVar

from tfprof.errors import OptionError, TruncatedError, UnknownFormatError
from tfprof.formats import checkpoint, torch_files
from tfprof.formats.content import Content
from tfprof.formats.recognise import (
    SAVED_MODEL_FILES,
    STORE_MARK,
    MessageKind,
    is_hdf5,
    is_keras_archive,
    is_saved_profile,
)
from tfprof.metrics import Need
from tfprof.model.builder import ProfileBuilder
from tfprof.sources import capture_folder
from tfprof.sources.added import added
from tfprof.sources.ahead import Ahead
from tfprof.sources.file_notes import impossible_times, useless, without_edges
from tfprof.sources.one_model import OneModel, require_single
from tfprof.sources.source import FileSummary, InputFile, Reading, Source, Stage

if TYPE_CHECKING:
    from tfprof.sources.profile_file import Loaded

Found = TypeVar("Found")

_PARTIAL_ADVICE = "--partial (in Python: partial=True) reads what is intact."
_NOTHING_INTACT = "No part of it is intact."
_ONE = ("trace", "checkpoint", "index", "SavedModel", "ExportedProgram")  # titles of single things
_LAYERS_MARK = b'"format": "tfprof layers"'
_MODULES_MARK = b'"format": "tfprof modules"'

# If all files together have more bytes than this, they are read one at a time to save memory.
_MOST_AHEAD = 3 << 28


@dataclass(frozen=True, slots=True)
class BuiltIn:
    """A built-in source; its module is imported when a file of its kind is first read.

    The module defines `read(file)` and `add(found, builder, file)`.
    """

    name: str
    title: str
    stage: Stage
    brings: frozenset[Need]
    module: str
    recognises: Callable[[Content], bool]
    option: str = ""  # the input option for these files
    is_model: bool = False  # must define the same model as other files with this mark
    is_whole: bool = False  # a whole model by itself, so that two files are two models
    is_saved: bool = False  # written by a profiler, so hints do not ask for it
    is_finished: bool = False  # a file by itself is a whole profile, which needs no builder
    reads_with: frozenset[str] = frozenset()  # the options of `Reading` that apply to its files
    adds_to: str = ""  # the title of the source without whose files these say nothing
    framework: str = "tensorflow"

    def looks_like(self, content: Content) -> bool:
        return self.recognises(content)

    def read(self, file: InputFile) -> Any:
        return read_with_advice(file, lambda: import_module(self.module).read(file))

    def add(self, found: Any, builder: ProfileBuilder, file: InputFile) -> FileSummary:
        summary: FileSummary = import_module(self.module).add(found, builder, file)
        return summary


def _message(kind: MessageKind) -> Callable[[Content], bool]:
    return lambda content: content.message.kind is kind


def _is_saved_model(content: Content) -> bool:
    inside = content.first_inside(SAVED_MODEL_FILES)
    return inside.message.kind is MessageKind.SAVED_MODEL


def _is_store(content: Content) -> bool:
    if "://" in content.path:
        found: bool = import_module("tfprof.fleet.store").is_store(content.path)
        return found
    try:
        return content.is_folder and Path(content.path, STORE_MARK).is_file()
    except OSError:  # reported when the folder is read
        return False


def _is_trace(content: Content) -> bool:
    if content.head.removeprefix(BOM_UTF8).lstrip()[:1] not in {b"{", b"["}:
        return False
    found: bool = import_module("tfprof.formats.kineto").looks_like_trace(content.head)
    return found


def _is_layers(content: Content) -> bool:
    return _LAYERS_MARK in content.head


def _is_modules(content: Content) -> bool:
    return _MODULES_MARK in content.head


# What the rows of files of weights have in common.
_WEIGHTS: Final[Any] = {
    "stage": Stage.DEFINITIONS,
    "brings": frozenset({Need.DEFINITIONS, Need.VALUES}),
    "module": "tfprof.sources.torch_weights",
    "is_model": True,
    "is_whole": True,
    "framework": "pytorch",
}

# In the order in which they are tried. Files of the same stage are also added in this order.
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
        name="tfprof",
        title="saved profile",
        stage=Stage.DEFINITIONS,
        brings=frozenset({Need.DEFINITIONS, Need.RUNS, Need.CODE, Need.LAYERS}),
        module="tfprof.sources.profile_file",
        recognises=lambda content: is_saved_profile(content.head),
        option="profile_path",
        is_saved=True,
        is_finished=True,
        is_model=True,
    ),
    BuiltIn(
        name="store",
        title="store",
        stage=Stage.DEFINITIONS,
        brings=frozenset({Need.DEFINITIONS, Need.RUNS, Need.CODE, Need.LAYERS}),
        module="tfprof.fleet.store",
        recognises=_is_store,
        is_saved=True,
        is_finished=True,
    ),
    # Before messages, because the values of tensors may look like one.
    BuiltIn(
        name="safetensors",
        title="safetensors",
        recognises=lambda content: torch_files.is_safetensors(content.head),
        **_WEIGHTS,
    ),
    BuiltIn(
        name="weights_index",
        title="weights index",
        recognises=lambda content: torch_files.is_weights_index(content.head),
        **_WEIGHTS,
    ),
    BuiltIn(
        name="torch_export",
        title="ExportedProgram",
        stage=Stage.DEFINITIONS,
        brings=frozenset({Need.DEFINITIONS, Need.CODE, Need.LAYERS, Need.VALUES}),
        module="tfprof.sources.torch_export",
        recognises=torch_files.is_exported_program,
        is_model=True,
        is_whole=True,
        reads_with=frozenset({"batch_size"}),
        framework="pytorch",
    ),
    BuiltIn(
        name="torch_checkpoint",
        title="PyTorch checkpoint",
        recognises=torch_files.is_checkpoint,
        **_WEIGHTS,
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
        is_model=True,
        reads_with=frozenset({"partial"}),
    ),
    BuiltIn(
        name="graph",
        title="GraphDef",
        stage=Stage.DEFINITIONS,
        brings=frozenset({Need.DEFINITIONS}),
        module="tfprof.sources.tf_graph",
        recognises=_message(MessageKind.GRAPH),
        option="graph_path",
        reads_with=frozenset({"functions", "batch_size", "partial"}),
        is_model=True,
    ),
    BuiltIn(
        name="saved_model",
        title="SavedModel",
        stage=Stage.DEFINITIONS,
        brings=frozenset({Need.DEFINITIONS, Need.CODE, Need.VALUES}),
        module="tfprof.sources.saved_model",
        recognises=_is_saved_model,
        is_model=True,
        is_whole=True,
        reads_with=frozenset({"functions", "signature", "batch_size"}),
    ),
    BuiltIn(
        name="keras",
        title="Keras model",
        stage=Stage.DEFINITIONS,
        brings=frozenset({Need.DEFINITIONS, Need.LAYERS}),
        module="tfprof.sources.keras_file",
        recognises=lambda content: is_keras_archive(content.head) or is_hdf5(content.head),
        is_model=True,
        is_whole=True,
        framework="keras",
    ),
    BuiltIn(
        name="run_meta",
        title="RunMetadata",
        stage=Stage.RUNS,
        brings=frozenset({Need.RUNS}),
        module="tfprof.sources.tf_run_metadata",
        recognises=_message(MessageKind.RUN_META),
        option="run_meta_path",
        reads_with=frozenset({"partial"}),
    ),
    BuiltIn(
        name="xspace",
        title="XSpace",
        stage=Stage.RUNS,
        brings=frozenset({Need.RUNS}),
        module="tfprof.sources.xspace",
        recognises=_message(MessageKind.XSPACE),
        reads_with=frozenset({"partial"}),
    ),
    BuiltIn(
        name="kineto",
        title="Kineto trace",
        stage=Stage.RUNS,
        brings=frozenset({Need.DEFINITIONS, Need.RUNS, Need.CODE, Need.LAYERS}),
        module="tfprof.sources.kineto",
        recognises=_is_trace,
        reads_with=frozenset({"partial"}),
        framework="pytorch",
    ),
    BuiltIn(
        name="execution_trace",
        title="execution trace",
        stage=Stage.ANNOTATIONS,
        brings=frozenset(),
        module="tfprof.sources.execution_trace",
        recognises=lambda content: torch_files.is_execution_trace(content.head),
        framework="pytorch",
    ),
    BuiltIn(
        name="torch_snapshot",
        title="memory snapshot",
        stage=Stage.RUNS,
        brings=frozenset(),  # memory, but no times
        module="tfprof.sources.torch_snapshot",
        recognises=lambda content: torch_files.is_memory_snapshot(content.head),
        framework="pytorch",
    ),
    BuiltIn(
        name="modules",
        title="modules.json of a recording",
        stage=Stage.DEFINITIONS,
        brings=frozenset({Need.DEFINITIONS, Need.LAYERS}),
        module="tfprof.sources.torch_modules_file",
        recognises=_is_modules,
        framework="pytorch",
    ),
    BuiltIn(
        name="inductor_provenance",
        title="Inductor provenance",
        stage=Stage.DEFINITIONS,
        brings=frozenset(),  # lines of ops that a trace has
        module="tfprof.sources.inductor_provenance",
        recognises=lambda content: torch_files.is_provenance(content.head),
        adds_to="Kineto trace",
        framework="pytorch",
    ),
    BuiltIn(
        name="op_log",
        title="OpLogProto",
        stage=Stage.ANNOTATIONS,
        brings=frozenset({Need.CODE}),
        module="tfprof.sources.tf_op_log",
        recognises=_message(MessageKind.OP_LOG),
        option="op_log_path",
        reads_with=frozenset({"partial"}),
    ),
    BuiltIn(
        name="layers",
        title="layers.json of a recording",
        stage=Stage.ANNOTATIONS,
        brings=frozenset({Need.LAYERS}),
        module="tfprof.sources.layers_file",
        recognises=_is_layers,
    ),
)
BY_NAME: dict[str, BuiltIn] = {source.name: source for source in SOURCES}


def read_with_advice(file: InputFile, read: Callable[[], Found]) -> Found:
    """What `read` returns; if the file is damaged, the error says how to read the rest of it."""
    try:
        return read()
    except TruncatedError as error:
        if not isinstance(file.source, BuiltIn) or "partial" not in file.source.reads_with:
            raise
        advice = _NOTHING_INTACT if file.reading.partial else _PARTIAL_ADVICE
        raise TruncatedError(error.path, f"{error.trouble} {advice}") from None


def open_file(path: str, **about: Any) -> InputFile:
    """The file at `path` with the source that recognises it; `about` is passed to `InputFile`."""
    content = Content(path, is_partial=about.get("reading", Reading()).partial)
    for source in SOURCES:
        if source.looks_like(content):
            return InputFile(content, source, **about)
    try:
        content.require_readable()
    except TruncatedError as error:  # gzipped; whether `partial` helps depends on its format
        raise TruncatedError(path, f"{error.trouble} {_PARTIAL_ADVICE}") from None
    from tfprof.formats import foreign  # noqa: PLC0415 -- only needed for errors

    # Searching installed packages takes milliseconds, so built-in sources are tried first.
    others = added()
    for other in others.sources:
        if other.looks_like(content):
            return InputFile(content, other, **about)
    problems = "".join(f" ({problem})" for problem in others.problems)
    if (known := foreign.trouble(path, content.head)) is not None:
        raise UnknownFormatError(path, f"{known}{problems}")
    titles = ", ".join(source.title for source in (*SOURCES, *others.sources))
    raise UnknownFormatError(path, f"unknown file format; tfprof reads {titles}{problems}.")


def open_as(names: str | tuple[str, ...], path: str, **about: Any) -> InputFile:
    """The file at `path`, which must belong to one of the named sources."""
    wanted = [BY_NAME[name] for name in ([names] if isinstance(names, str) else names)]
    is_checkpoint = wanted == [BY_NAME["checkpoint"]]
    if is_checkpoint and checkpoint.find(path) is None and not Content(path).head:
        checkpoint.open_checkpoint(path)  # raises a more helpful error than `open_file`
    file = open_file(path, **about)
    if file.source not in wanted:
        titles = " or ".join(a_file(source.title) for source in wanted)
        raise UnknownFormatError(
            path, f"is {a_file(file.source.title)}, not {titles}; check the option."
        )
    return file


def of_options() -> dict[str, tuple[str, ...]]:
    """The input options for files, each with the names of the sources it accepts."""
    options = dict.fromkeys(source.option for source in SOURCES if source.option)
    return {
        option: tuple(source.name for source in SOURCES if source.option == option)
        for option in options
    }


def require_use(files: Iterable[InputFile], given: Iterable[str]) -> None:
    """Reject options of `Reading` that apply to none of `files`, so that none is ignored."""
    files, given = list(files), list(given)
    read = [file.source for file in files]
    if "batch_size" in given and capture_folder.has_recorded_graph([file.path for file in files]):
        raise OptionError(
            "`batch_size` does not apply to recordings: they contain the shapes that the program "
            "fed to the model. Record the program with another batch size."
        )
    for name in given:
        # Sources of other packages may use any of them.
        if not any(not isinstance(one, BuiltIn) or name in one.reads_with for one in read):
            titles = " or ".join(a_file(one.title) for one in SOURCES if name in one.reads_with)
            advice = (
                "; for a saved profile, use it when you save" if any(map(is_saved, read)) else ""
            )
            raise OptionError(f"`{name}` requires {titles}{advice}.")


def is_saved(source: Source) -> bool:
    """Whether files of a source are saved profiles."""
    return isinstance(source, BuiltIn) and source.is_saved


def a_file(title: str) -> str:
    """The title of a source as part of a sentence: `an XSpace file`."""
    return f"{'an' if title[0] in 'AEIOUXaeio' else 'a'} {title} file"


def merge(
    files: Iterable[InputFile],
    builder: ProfileBuilder,
    progress: Callable[[str], None] = lambda _: None,
) -> list[FileSummary]:
    """Add all files to `builder`, stage by stage, and summarise each.

    Raises `OptionError` if they define different models.
    """
    given = list(files)
    require_single(given, [source.name for source in SOURCES if source.is_whole])
    order = sorted(range(len(given)), key=lambda place: _rank(given[place].source))
    ordered = [given[place] for place in order]
    builder.remedies |= remedies(file.source for file in given)
    found: dict[int, FileSummary] = {}
    model = OneModel(given, [source.name for source in SOURCES if source.is_model])
    for place, ahead in zip(order, _read_ahead(ordered), strict=True):
        file = given[place]
        progress(file.path)
        content = ahead.result()
        model.add(file, content)
        found[place] = file.source.add(content, builder, file)
        builder.notes += impossible_times(file, builder)
        if (gap := file.content.gap) is not None:
            builder.notes.append(gap.sentence(file.path, found[place].facts))
        del content  # frees it before the next file is added
    builder.notes += (*useless(given), *without_edges(given))
    return [found[place] for place in range(len(given))]


def finished(
    files: Sequence[InputFile], progress: Callable[[str], None] = lambda _: None
) -> tuple[Loaded, FileSummary] | None:
    """The profile of `files` if they are one file that needs no builder; else None."""
    if len(files) != 1 or not _is_finished(files[0].source):
        return None
    progress(files[0].path)
    module = import_module(files[0].source.module)
    found: Loaded = module.read(files[0])
    return found, module.summarised(found, files[0])


def _is_finished(source: Source) -> TypeGuard[BuiltIn]:
    return isinstance(source, BuiltIn) and source.is_finished


def remedies(sources: Iterable[Source]) -> dict[Need, str]:
    """The files that would provide each capability, for the frameworks of these sources."""
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
    """How to provide a file of this source: `RunMetadata (--run_meta_path)`."""
    option = source.option if isinstance(source, BuiltIn) else ""
    is_one = source.title.endswith(_ONE)
    title = a_file(source.title).removesuffix(" file") if is_one else source.title
    return f"{title} (--{option})" if option else title


def _rank(source: Source) -> tuple[int, int]:
    place = SOURCES.index(source) if isinstance(source, BuiltIn) else len(SOURCES)
    return source.stage, place


def _read_ahead(files: Sequence[InputFile]) -> Iterator[Ahead[Any]]:
    """Start to read each file while the one before it is added, unless the files are large."""
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
    except (OSError, ValueError):  # reported when the file is read
        return 0
