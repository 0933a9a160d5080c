"""Notes on the files of a profile, and the questions that each concerns."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from enum import Flag, auto
from typing import Self

from tfprof.metrics import Metric, Need
from tfprof.units import Unit, counted


class Subject(Flag):
    """What a question or a note is about."""

    PARAMS = auto()
    FLOAT_OPS = auto()
    TIME = auto()
    MEMORY = auto()
    CODE = auto()
    VALUES = auto()
    OPS = auto()  # which ops there are, and their types and shapes
    STEPS = auto()  # when steps and their ops ran
    EDGES = auto()  # what feeds what


EVERYTHING = ~Subject(0)
_BY_UNIT = {Unit.MICROS: Subject.TIME, Unit.BYTES: Subject.MEMORY}
_BY_NEED = {Need.RUNS: Subject.TIME, Need.VALUES: Subject.VALUES, Need.CODE: Subject.CODE}


class Note(str):
    """A note that concerns only some questions; a plain string concerns all."""

    __slots__ = ("about",)
    about: Subject

    def __new__(cls, text: str, about: Subject = EVERYTHING) -> Self:
        note = super().__new__(cls, text)
        note.about = about
        return note


class FileNote(Note):
    """A note on one file, which `merged` joins with the same note on others."""

    __slots__ = ("path", "sentence")
    path: str
    sentence: str

    def __new__(cls, path: str, sentence: str, about: Subject = EVERYTHING) -> Self:
        note = super().__new__(cls, f"{path}: {sentence}", about)
        note.path, note.sentence = path, sentence
        return note

    def __reduce__(self) -> tuple[type[Self], tuple[str, str, Subject]]:
        """How it is copied."""
        return type(self), (self.path, self.sentence, self.about)


def merged(notes: Iterable[str]) -> list[str]:
    """The notes, with the same note on several files as one."""
    found: dict[object, list[str]] = {}
    for note in notes:
        key = (note.sentence, note.about) if isinstance(note, FileNote) else (note,)
        found.setdefault(key, []).append(note)
    return [_joined(same) for same in found.values()]


def _joined(same: Sequence[str]) -> str:
    first = same[0]
    others = len({note.path for note in same if isinstance(note, FileNote)}) - 1
    if not isinstance(first, FileNote) or not others:
        return first
    files = counted(others, "other file")
    return FileNote(f"{first.path} and {files}", first.sentence, first.about)


def concerning(notes: Iterable[str], about: Subject) -> tuple[str, ...]:
    """The notes that concern a question about `about`, each once."""
    chosen = (note for note in notes if getattr(note, "about", EVERYTHING) & about)
    return tuple(dict.fromkeys(chosen))


def narrowest(notes: Iterable[str]) -> str:
    """The note that concerns the fewest subjects: of several, the one that says most about each."""
    return min(notes, key=lambda note: len(getattr(note, "about", EVERYTHING)))


def names_of(note: str) -> str:
    """The subjects of a note as text, `TIME|CODE`; empty for a note that concerns everything."""
    about = getattr(note, "about", EVERYTHING)
    return "" if about == EVERYTHING else "|".join(one.name or "" for one in about)


def of_names(text: str, names: str) -> Note:
    """The note with the subjects that `names_of` returned; unknown names are ignored."""
    known = [Subject[name] for name in names.split("|") if name in Subject.__members__]
    about = Subject(0)
    for one in known:
        about |= one
    return Note(text, about or EVERYTHING)


def subject_of(metric: Metric) -> Subject:
    """What a question that shows `metric` is about."""
    if metric.unit in _BY_UNIT:
        return _BY_UNIT[metric.unit]
    if metric.unit is Unit.COUNT:
        is_work = metric.key.endswith(("float_ops", "macs"))
        return Subject.FLOAT_OPS if is_work else Subject.PARAMS
    return _BY_NEED.get(metric.needs, Subject.OPS)
