"""The recordings that sources stand for, each with the files of the model that belong to it."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import TypeAlias

from tfprof import atomic_files
from tfprof.errors import InputError, OptionError, TruncatedError, UnknownFormatError
from tfprof.fleet.layout import MARK, natural
from tfprof.fleet.places import (
    Place,
    Stamp,
    absolute,
    below,
    head_of,
    is_file,
    is_folder,
    is_url,
    matching,
    plain_part,
    stamp_of,
)
from tfprof.formats import checkpoint
from tfprof.formats.content import HEAD_BYTES, Content
from tfprof.metrics import Need
from tfprof.sources import capture_folder, model_folder, registry
from tfprof.sources.source import Source
from tfprof.units import counted

File: TypeAlias = tuple[str, Stamp]

# The names of recordings that are searched in folders, for people.
RECORDINGS = "*.xplane.pb, traces of PyTorch, folders of tfprof.capture, run_meta"

_STEP = re.compile(r"(-?[0-9]{1,18}):(.+)", re.DOTALL)
_RECORDED = re.compile(r"(.*/plugins/profile)/([^/]+)/[^/]+")

# The files of the model that are read with a recording, if they are in one of its parent folders;
# of several names for the same file, the first that exists is used.
_BESIDE_TRACES = tuple((name,) for name in (*capture_folder.BESIDE, capture_folder.MODULES))
_BESIDE_RUN_METADATA = (model_folder.GRAPHS, (model_folder.LOG,))


@dataclass(frozen=True, slots=True)
class Run:
    """A file with recorded runs: the trace of a host, or the run metadata of a step."""

    source: str
    stamp: Stamp
    step: int | None = None  # if the user gave it
    common: tuple[File, ...] = ()  # the files of the model


@dataclass(frozen=True, slots=True)
class Inputs:
    """All files to collect, in natural order; `notes` says what was left out."""

    runs: tuple[Run, ...]
    notes: tuple[str, ...]


def found(sources: Iterable[str]) -> Inputs:
    """The files that `sources` stand for.

    A source is a file, a folder or a pattern, and may be a URL. Folders are searched for
    recordings, each with the files of the model in its parent folders; files of the model that are
    named belong to all recordings. `5:run_meta` is the run metadata of step 5. A file that is found
    twice counts once. Raises `InputError` for a source without files.
    """
    search = _Search()
    for source in sources:
        search.add(source)
    runs = sorted(search.runs(), key=lambda run: natural(run.source))
    return Inputs(tuple(runs), tuple(search.notes))


class _Search:
    """What was found so far, by path or URL."""

    def __init__(self) -> None:
        self.notes: list[str] = []
        self._runs: dict[str, Stamp] = {}
        self._steps: dict[str, int] = {}
        self._common: dict[str, Stamp] = {}  # of all runs
        self._beside: dict[str, dict[str, Stamp]] = {}  # of single runs

    def runs(self) -> Iterator[Run]:
        """All runs, with their steps and the files of the model."""
        for path, stamp in self._runs.items():
            common = self._common | self._beside.get(path, {})
            files = sorted(common.items(), key=lambda file: natural(file[0]))
            yield Run(path, stamp, self._steps.get(path), tuple(files))

    def add(self, source: str) -> None:
        """Add all files that one source stands for."""
        step, address = _with_step(source)
        if step is not None:
            self._add_step(step, address)
        elif Place.of(address).exists(MARK):
            raise OptionError(f"{address} is a store: collect the files that it was made from.")
        elif _is_model(address):
            self._common[address] = _stamp_of_model(address)
        elif is_folder(address):
            self._add_folder(address)
        elif plain_part(address) != address and not is_file(address):
            self._add_matching(address)
        else:
            self._add_file(address, stamp_of(address))

    def _add_step(self, step: int, path: str) -> None:
        self._runs[path] = stamp_of(path)
        if self._steps.setdefault(path, step) != step:
            raise OptionError(f"{path} is given as step {self._steps[path]} and as step {step}.")

    def _add_matching(self, pattern: str) -> None:
        matches = matching(pattern)
        if not matches:
            raise InputError(pattern, "matches no file; check the pattern.")
        for path, stamp in matches:
            if stamp is None:
                self._add_folder(path)
            elif stamp.size and not is_run(path) and _kind(path) is None:
                self.notes.append(f"{path}: left out, because its format is unknown.")
            else:
                self._add_file(path, stamp)

    def _add_folder(self, folder: str) -> None:
        """Add the recordings below a folder; of several in `plugins/profile`, the latest."""
        files = dict(below(folder))
        runs = [path for path in files if is_run(path)] or list(filter(_is_traced, files))
        if not runs:
            raise InputError(
                folder, f"is a folder without recordings ({RECORDINGS}); name files by a pattern."
            )
        recorded = {path: found for path in runs if (found := _RECORDED.fullmatch(path))}
        latest = {found[1]: found[2] for found in sorted(recorded.values(), key=lambda one: one[2])}
        older = {path for path, found in recorded.items() if latest[found[1]] != found[2]}
        for path in runs:
            if path not in older:
                self._runs[path] = files[path]
                self._beside[path] = _beside(path, files)
        if older:
            count = counted(len({str(PurePosixPath(path).parent) for path in older}), "recording")
            self.notes.append(f"{folder}: left out {count} older than the latest; name them too.")

    def _add_file(self, path: str, stamp: Stamp) -> None:
        # A file that is not recognised may be a damaged recording.
        source = None if is_run(path) else _kind(path)
        holds_runs = source is None or Need.RUNS in source.brings
        (self._runs if holds_runs else self._common)[path] = stamp


def is_run(path: str) -> bool:
    """Whether a file has the name of a recording, so that it need not be opened."""
    name = PurePosixPath(path).name
    return capture_folder.is_trace(name) or model_folder.is_run_metadata(name)


def _beside(run: str, files: Mapping[str, Stamp]) -> dict[str, Stamp]:
    """The files of the model in the nearest parent folders of a recording."""
    is_trace = capture_folder.is_trace(PurePosixPath(run).name)
    found = {}
    for names in _BESIDE_TRACES if is_trace else _BESIDE_RUN_METADATA:
        places = (
            f"{folder}/{place}{name}{end}"
            for folder in _parents(run)
            for place in ("", f"{model_folder.METADATA}/")
            for name in names
            for end in ("", ".gz")
        )
        if (path := next((path for path in places if path in files), None)) is not None:
            found[path] = files[path]
    return found


def _parents(path: str) -> Iterator[str]:
    while "/" in path:
        path = path.rpartition("/")[0]
        yield path


def _with_step(source: str) -> tuple[int | None, str]:
    """The step and the address in `STEP:FILE`."""
    found = _STEP.fullmatch(source)
    if found is None or is_file(source):
        return None, absolute(source)
    return int(found[1]), absolute(found[2])


def _is_model(address: str) -> bool:
    """Whether a path is a folder or a prefix of files that are read as one, as a checkpoint is."""
    if is_url(address) or is_file(address):
        return False
    if checkpoint.find(address) is not None:
        return True
    content = Content(address)
    return content.is_folder and any(source.looks_like(content) for source in registry.SOURCES)


def _stamp_of_model(path: str) -> Stamp:
    """The stamp of all files of a model together."""
    files = below(path)
    files += [
        (str(one), stamp_of(str(one))) for one in Path(path).parent.glob(f"{Path(path).name}.*")
    ]
    stamps = [stamp for _, stamp in files]
    return Stamp(sum(one.size for one in stamps), max(one.modified for one in stamps))


def _is_traced(path: str) -> bool:
    """Whether a file with any name is a trace of PyTorch."""
    kind = _kind(path) if path.endswith((".json", ".json.gz")) else None
    return kind is not None and Need.RUNS in kind.brings


def _kind(path: str) -> Source | None:
    """The source that reads a file, by the start of its content; None if there is none."""
    try:
        if not is_url(path):
            return registry.open_file(path).source
        with tempfile.TemporaryDirectory(prefix="tfprof-") as folder:
            start = str(Path(folder, PurePosixPath(path).name))
            atomic_files.write(start, [head_of(path, HEAD_BYTES)])
            return registry.open_file(start).source
    except (UnknownFormatError, TruncatedError):
        return None
