"""The interface of sources: a source recognises a kind of file, reads it and adds it to a profile.

Other packages can add sources through entry points in the group `tfprof.sources`, which refer to
objects with the members of `Source`; see `docs/how-to/add-a-source.md` for an example.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Any, Generic, NamedTuple, Protocol, TypeVar

from tfprof.formats.content import Content
from tfprof.formats.records import Records
from tfprof.metrics import Need
from tfprof.model.builder import ProfileBuilder

Columns = TypeVar("Columns")


class Stage(IntEnum):
    """When a file is added: files that describe ops come after those that define them."""

    DEFINITIONS = 0
    RUNS = 1
    ANNOTATIONS = 2
    VALUES = 3


@dataclass(frozen=True, slots=True)
class Reading:
    """Options for reading files."""

    functions: bool = False  # include the ops inside the functions of a graph
    signature: str = ""  # of a SavedModel; empty for the default
    batch_size: int = 0  # for programs that accept any; 0 if unknown
    partial: bool = False  # read what is intact of damaged files


@dataclass(frozen=True, slots=True)
class InputFile:
    """A file to load, with its step and recording if the caller knows them."""

    content: Content
    source: Source
    step: int | None = None
    recording: str = ""  # the label of the recording it belongs to
    reading: Reading = Reading()

    @property
    def path(self) -> str:
        return self.content.path


@dataclass(frozen=True, slots=True)
class FileSummary:
    """A summary of one file: counts of its contents, and its devices."""

    path: str
    kind: str  # the name of its source
    title: str  # the title of its source
    step: int | None = None  # for files with a single step
    facts: Mapping[str, int] = field(default_factory=dict)  # such as `{"ops": 121}`
    devices: tuple[str, ...] = ()


def summary(
    file: InputFile, devices: Iterable[str] = (), *, step: int | None = None, **facts: int
) -> FileSummary:
    """A summary of `file`; underscores in the names of facts become spaces."""
    named = {name.replace("_", " "): count for name, count in facts.items()}
    found = tuple(sorted(set(devices)))
    return FileSummary(file.path, file.source.name, file.source.title, step, named, found)


class Decoded(NamedTuple, Generic[Columns]):
    """A protobuf file and the columns decoded from it."""

    records: Records
    columns: Columns

    @classmethod
    def of(cls, records: Records, decode: Callable[[Records], Columns]) -> Decoded[Columns]:
        return cls(records, decode(records))


class Source(Protocol):
    """A kind of file that tfprof can read."""

    @property
    def name(self) -> str:
        """A short unique name: `run_meta`."""

    @property
    def title(self) -> str:
        """The name of the format in messages: `RunMetadata`."""

    @property
    def stage(self) -> Stage:
        """When files of this kind are added."""

    @property
    def brings(self) -> frozenset[Need]:
        """The capabilities that a file of this kind provides."""

    @property
    def framework(self) -> str:
        """The framework whose programs write these files: `tensorflow`."""

    def looks_like(self, content: Content) -> bool:
        """Whether a file is of this kind, by its content; called for many files, so be fast."""

    def read(self, file: InputFile) -> Any:
        """Read a file into any form that `add` accepts; may run in another thread."""

    def add(self, found: Any, builder: ProfileBuilder, file: InputFile) -> FileSummary:
        """Add the result of `read` to a profile and return a summary of the file."""
