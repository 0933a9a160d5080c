"""The files that a path given by the user stands for: itself, or the files of a folder."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path

from tfprof.errors import InputError, UnknownFormatError
from tfprof.formats.content import Content
from tfprof.sources import capture_folder, registry
from tfprof.sources.source import Source

_MOST_LISTED = 8
_MOST_EXAMINED = 100


def files_of(path: str) -> list[str]:
    """The files to read for `path`.

    For the folder of a recording or a training run these are the files in it that belong together;
    other paths are returned unchanged. Raises `InputError` for other folders, unless a source reads
    them.
    """
    recorded = capture_folder.files_of(path)
    content = Content(path)
    if recorded != [path] or not content.is_folder or _is_read(content, registry.SOURCES):
        return recorded
    try:
        found = [str(file) for file in _training_run(path)]
        if not found and not _is_read(content, registry.added().sources):
            raise InputError(path, _trouble(Path(path)))
    except OSError:  # reported when the folder is read
        return [path]
    return found or [path]


def _training_run(folder: str) -> list[Path]:
    from tfprof.sources.model_folder import files_in  # noqa: PLC0415 -- only needed for folders

    return files_in(Path(folder))


def _is_read(content: Content, sources: Iterable[Source]) -> bool:
    return any(source.looks_like(content) for source in sources)


def _trouble(folder: Path) -> str:
    """What a folder contains, and what to give instead."""
    names = sorted(path.name for path in folder.iterdir())
    if not names:
        return "is an empty folder; check the path."
    if known := list(islice(_known(folder, names), _MOST_LISTED + 1)):
        return (
            f"is a folder of files that do not belong together; give some of them: {_list(known)}."
        )
    return (
        f"is a folder without files that tfprof reads, such as graph.pbtxt, run_meta, tfprof_log, "
        f"a checkpoint, a SavedModel or a recording; it contains {_list(names)}."
    )


def _known(folder: Path, names: list[str]) -> Iterator[str]:
    """The files and folders in `folder` that could be given, with their formats."""
    for name in names[:_MOST_EXAMINED]:
        path = str(folder / name)
        if (folder / name).is_fifo() or (folder / name).is_socket():
            continue  # opening it would wait for another program
        try:
            found = capture_folder.files_of(path)
            if found != [path]:
                yield f"{name} (recording)"
                continue
            yield f"{name} ({registry.open_file(path).source.title})"
        except UnknownFormatError:
            continue
        except InputError:
            if Path(path).is_dir() and _training_run(path):
                yield f"{name} (training run)"


def _list(names: list[str]) -> str:
    """The first few names, and whether there are more."""
    more = " and more" if len(names) > _MOST_LISTED else ""
    return ", ".join(names[:_MOST_LISTED]) + more
