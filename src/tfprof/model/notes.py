"""Notes on the files of a profile, and the questions that each concerns."""

from __future__ import annotations

from collections.abc import Iterable
from enum import Flag, auto
from typing import Self

from tfprof.metrics import Metric, Need
from tfprof.units import Unit


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


def concerning(notes: Iterable[str], about: Subject) -> tuple[str, ...]:
    """The notes that concern a question about `about`, each once."""
    chosen = (note for note in notes if getattr(note, "about", EVERYTHING) & about)
    return tuple(dict.fromkeys(chosen))


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
