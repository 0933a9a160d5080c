"""Sources of other installed packages, which are entry points in the group `tfprof.sources`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from tfprof.errors import InputError, TfprofError, one_line
from tfprof.formats.content import Content
from tfprof.model.builder import ProfileBuilder
from tfprof.sources.source import FileSummary, InputFile, Source

GROUP = __package__  # `tfprof.sources`


class Added(NamedTuple):
    """The sources of other installed packages, and the problems of those that cannot be used."""

    sources: list[Source]
    problems: list[str]


def added() -> Added:
    """The sources of other installed packages, sorted by name."""
    from importlib.metadata import entry_points  # noqa: PLC0415 -- the import takes 20 ms

    found = Added([], [])
    for point in sorted(entry_points(group=GROUP), key=lambda point: (point.name, point.value)):
        try:
            source = point.load()
        except Exception as error:  # noqa: BLE001 -- another package may raise anything
            found.problems.append(f"source {point.value} cannot be loaded: {_trouble(error)}")
            continue
        missing = [part for part in _MEMBERS if not hasattr(source, part)]
        if missing:
            found.problems.append(f"source {point.value} has no member `{missing[0]}`")
        else:
            found.sources.append(Guarded(source))
    return found


_MEMBERS = ("name", "title", "stage", "brings", "framework", "looks_like", "read", "add")


def _trouble(error: Exception) -> str:
    return one_line(f"{type(error).__name__}: {error}")


class Guarded:
    """A source of another package; its exceptions become one-line errors that name it."""

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
            raise InputError(path, f"source `{self.name}` failed: {_trouble(error)}.") from error
