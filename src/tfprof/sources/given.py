"""The files that a path given by the user stands for: itself, or the files of a folder."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import TypeAlias

from tfprof.errors import InputError, UnknownFormatError
from tfprof.formats.content import Content
from tfprof.sources import capture_folder, registry
from tfprof.sources.added import added
from tfprof.sources.source import Source

Recognised: TypeAlias = tuple[Path, registry.BuiltIn]

_MOST_LISTED = 8
_MOST_EXAMINED = 100
_JSON = (".json", ".json.gz")


def files_of(path: str) -> list[str]:
    """The files to read for `path`.

    For the folder of a recording or a training run these are the files in it that belong together;
    for one with traces of PyTorch, all files of PyTorch in it. Other paths are returned unchanged.
    Raises `InputError` for other folders, unless a source reads them.
    """
    recorded = capture_folder.files_of(path)
    content = Content(path)
    if recorded != [path] or not content.is_folder or _is_read(content, registry.SOURCES):
        return recorded
    try:
        found = list(map(str, _belonging(Path(path))))
        if not found and not _is_read(content, added().sources):
            raise InputError(path, _trouble(Path(path)))
    except OSError:  # reported when the folder is read
        return [path]
    return found or [path]


def _belonging(folder: Path) -> list[Path]:
    """The files in a folder that are read together."""
    from tfprof.sources import model_folder  # noqa: PLC0415 -- only needed for folders

    traced = list(_traced(folder))
    if not traced:
        return model_folder.files_in(folder)
    weights = model_folder.weights_in(folder)
    return [
        file for file, source in traced if not weights or not source.is_model or file in weights
    ]


def _traced(folder: Path) -> Iterator[Recognised]:
    """The files of PyTorch in a folder with traces; none if it also has files of TensorFlow."""
    files = sorted(filter(Path.is_file, folder.iterdir()), key=_by_number)
    # A folder without traces may have many large files, which are not opened for this.
    if any(source.name == "kineto" for _, source in _recognised(files, _JSON)):
        found = list(_recognised(files))
        yield from found if all(source.framework == "pytorch" for _, source in found) else ()


def _recognised(files: Iterable[Path], end: str | tuple[str, ...] = "") -> Iterator[Recognised]:
    """The files with a name that ends in `end`, with the sources that recognise them."""
    for file in files:
        content = Content(str(file))
        sources = registry.SOURCES if file.name.endswith(end) else ()
        source = next((one for one in sources if one.looks_like(content)), None)
        if source is not None:
            yield file, source


def _by_number(path: Path) -> list[str | int]:
    """A key that sorts `rank10` after `rank2`."""
    parts = re.split(r"([0-9]{1,18})", path.name)
    return [int(part) if place % 2 else part for place, part in enumerate(parts)]


def _is_read(content: Content, sources: Iterable[Source]) -> bool:
    return any(source.looks_like(content) for source in sources)


def _trouble(folder: Path) -> str:
    """What a folder contains, and what to give instead."""
    names = sorted(path.name for path in folder.iterdir())
    if not names:
        return "is an empty folder; check the path."
    if known := list(islice(_known(folder, names), _MOST_LISTED + 1)):
        if len(known) == 1:
            return f"is a folder; give the part of it that tfprof reads: {known[0]}."
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
            if Path(path).is_dir() and _belonging(Path(path)):
                is_traced = any(_traced(Path(path)))
                yield f"{name} ({'recording' if is_traced else 'training run'})"


def _list(names: list[str]) -> str:
    """The first few names, and whether there are more."""
    more = " and more" if len(names) > _MOST_LISTED else ""
    return ", ".join(names[:_MOST_LISTED]) + more
