"""What a source is: it recognises one kind of file, reads it, and adds it to a profile.

Packages can add sources of their own through entry points of the group `tfprof.sources`; each
names an object with the members of `Source`. `docs/how-to/add-a-source.md` shows one.
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
    """When a file is added: what it says must be about ops that are already known."""

    DEFINITIONS = 0
    RUNS = 1
    ANNOTATIONS = 2
    VALUES = 3


@dataclass(frozen=True, slots=True)
class Reading:
    """How files are to be read."""

    functions: bool = False  # count the ops inside the functions of a graph
    signature: str = ""  # of a SavedModel; empty for the default one
    batch_size: int = 0  # where a program leaves it open; 0: unknown


@dataclass(frozen=True, slots=True)
class InputFile:
    """A file of a profile, with what the caller knows about the runs in it."""

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
    """What one file contains: counts of things, and the devices it names."""

    path: str
    kind: str  # the name of its source
    title: str  # what its source is called
    step: int | None = None  # of a file that holds a single step
    facts: Mapping[str, int] = field(default_factory=dict)  # such as `{"ops": 121}`
    devices: tuple[str, ...] = ()


def summary(
    file: InputFile, devices: Iterable[str] = (), *, step: int | None = None, **facts: int
) -> FileSummary:
    """A summary of `file`; in names of facts, underscores stand for spaces."""
    named = {name.replace("_", " "): count for name, count in facts.items()}
    found = tuple(sorted(set(devices)))
    return FileSummary(file.path, file.source.name, file.source.title, step, named, found)


class Decoded(NamedTuple, Generic[Columns]):
    """A protobuf file and the columns made of it."""

    records: Records
    columns: Columns

    @classmethod
    def of(cls, records: Records, decode: Callable[[Records], Columns]) -> Decoded[Columns]:
        return cls(records, decode(records))


class Source(Protocol):
    """One kind of file."""

    @property
    def name(self) -> str:
        """A short unique name: `run_meta`."""

    @property
    def title(self) -> str:
        """What messages call such a file: `RunMetadata`."""

    @property
    def stage(self) -> Stage:
        """When such a file is added."""

    @property
    def brings(self) -> frozenset[Need]:
        """What such a file makes known."""

    @property
    def framework(self) -> str:
        """The framework whose programs leave such files: `tensorflow`."""

    def looks_like(self, content: Content) -> bool:
        """Whether a file is of this kind, by its content; called often, so it must be quick."""

    def read(self, file: InputFile) -> Any:
        """The content in any form that `add` takes; may run in another thread."""

    def add(self, found: Any, builder: ProfileBuilder, file: InputFile) -> FileSummary:
        """Add what `read` returned to a profile, and say what it was."""
