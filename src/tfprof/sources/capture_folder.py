"""Folders written by a profiler or `tfprof.capture`: finds the files that belong together."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from tfprof.errors import InputError

# The suffix of the temporary folder that holds an unfinished recording, beside the final one.
PARTIAL = ".tfprof-partial"
REPLACED = ".tfprof-replaced"
GRAPH = "graph.pb"
OP_LOG = "tfprof_log"
LAYERS = "layers.json"
BESIDE = (GRAPH, OP_LOG, LAYERS)  # the files of the model beside a recording of TensorFlow

# What a recording of PyTorch consists of; with several ranks, each has a folder `rank0`, ….
TRACE = "trace.json.gz"
MODULES = "modules.json"
RANK = "rank"

_PLUGINS, _PROFILE = "plugins", "profile"
_RECORDINGS = f"{_PLUGINS}/{_PROFILE}"
_CONTENTS = {_PLUGINS, GRAPH, OP_LOG, LAYERS}
_ENDS = (".xplane.pb", ".xplane.pb.gz")
_TRACE_ENDS = (".pt.trace.json", ".pt.trace.json.gz")  # of `torch.profiler`, for TensorBoard


def partial_path(folder: Path) -> Path:
    """The temporary folder of an unfinished recording for `folder`."""
    return folder.with_name(f".{folder.name}{PARTIAL}")


def replaced_path(folder: Path) -> Path:
    """Where the old recording in `folder` is while the new one takes its place."""
    return folder.with_name(f".{folder.name}{REPLACED}")


def is_recording(folder: Path) -> bool:
    """Whether a folder contains a recording and nothing else."""
    try:
        names = {path.name for path in folder.iterdir()}
        if of_torch := list(_of_torch(folder)):
            return names == {path.relative_to(folder).parts[0] for path in of_torch}
        plugins = {path.name for path in (folder / _PLUGINS).iterdir()}
        return names <= _CONTENTS and plugins == {_PROFILE} and any(_recorded(folder))
    except OSError:
        return False


def has_recorded_graph(paths: Sequence[str]) -> bool:
    """Whether one of these files is the graph that was written together with another of them."""
    graphs = [Path(path) for path in paths if Path(path).name.startswith(GRAPH)]
    beside = {graph.parent / _RECORDINGS for graph in graphs}
    return any(not beside.isdisjoint(Path(path).parents) for path in paths)


def is_trace(name: str) -> bool:
    """Whether a file has the name of the trace of a host or a rank."""
    return name == TRACE or name.endswith(_ENDS + _TRACE_ENDS)


def files_of(path: str) -> list[str]:
    """The files to read for `path`: in a folder with recordings, those of the latest.

    Each host writes its own file. Any other path is returned unchanged.
    """
    try:
        folder = Path(path)
        _require_finished(folder)
        return list(map(str, _recorded(folder))) or [path] if folder.is_dir() else [path]
    except (OSError, ValueError):  # reported when the path is read
        return [path]


def _require_finished(folder: Path) -> None:
    if folder.name.endswith(PARTIAL):
        raise InputError(folder, "is an unfinished recording; delete the folder and record again.")
    partial = partial_path(folder)
    if not folder.exists() and folder.name and partial.is_dir():
        raise InputError(
            folder,
            "its recording is unfinished: the program is still running or was stopped. If it was "
            f"stopped, delete {partial} and record again.",
        )


def _recorded(folder: Path) -> Iterator[Path]:
    if not (hosts := _hosts(folder)):
        runs = sorted(path for path in (folder / _RECORDINGS).glob("*") if path.is_dir())
        found = [files for run in runs if (files := _hosts(run))]
        hosts = found[-1] if found else []
    if hosts:
        yield from hosts
        beside = (folder / f"{name}{end}" for name in BESIDE for end in ("", ".gz"))
        yield from filter(Path.is_file, beside)
    else:
        yield from _of_torch(folder)


def _of_torch(folder: Path) -> Iterator[Path]:
    """The files of a recording of PyTorch: those in the folder, or else those of all ranks."""
    own = [folder / TRACE, folder / MODULES]
    if all(map(Path.is_file, own)):
        yield from own
        return
    ranks = [path for path in folder.glob(f"{RANK}*") if path.name[len(RANK) :].isdecimal()]
    for rank in sorted(ranks, key=lambda path: int(path.name[len(RANK) :])):
        found = [rank / TRACE, rank / MODULES]
        yield from found if all(map(Path.is_file, found)) else ()


def _hosts(folder: Path) -> list[Path]:
    return sorted(file for end in _ENDS for file in folder.glob(f"*{end}") if file.is_file())
