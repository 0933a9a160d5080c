"""The one table of checkers, those that users add, and the way from names to findings."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from typing import NamedTuple, Protocol

from tfprof.advisor.finding import Finding
from tfprof.errors import MissingInputError, OptionError, nearest, one_line
from tfprof.model.profile import ProfileColumns

# Whoever packages a checker names it in this group of entry points.
GROUP = "tfprof.checkers"

# The checkers of the original, in the order of their reports, and then ours; the module of each.
CLASSIC: dict[str, str] = {
    "AcceleratorUtilizationChecker": "tfprof.advisor.accelerator_utilization",
    "OperationChecker": "tfprof.advisor.operations",
    "ExpensiveOperationChecker": "tfprof.advisor.expensive_operations",
}
CHECKERS: dict[str, str] = {
    **CLASSIC,
    "IdleAcceleratorChecker": "tfprof.advisor.idle_accelerator",
    "HostOperationChecker": "tfprof.advisor.host_operations",
    "DataFeedingChecker": "tfprof.advisor.data_feeding",
    "TinyOperationChecker": "tfprof.advisor.tiny_operations",
    "DeviceCopyChecker": "tfprof.advisor.device_copies",
    "ParameterBalanceChecker": "tfprof.advisor.parameter_balance",
    "UnreadMemoryChecker": "tfprof.advisor.unread_memory",
}

# The original takes this name too, and has nothing behind it.
_SILENT = "JobChecker"


class Checker(Protocol):
    """The protocol of a checker: a module, or any object, with these two members."""

    SUMMARY: str  # what it looks for, in a sentence

    def check(self, profile: ProfileColumns) -> Iterable[Finding]:
        """The findings, most important first; raises `MissingInputError` if a file is missing."""


@dataclass(frozen=True, slots=True)
class Report:
    """What one checker found."""

    checker: str
    findings: tuple[Finding, ...]

    @property
    def is_classic(self) -> bool:
        """Whether the original had this checker, and printed its name even over nothing."""
        return self.checker in CLASSIC


@dataclass(frozen=True, slots=True)
class Reports:
    """What all that were asked found, and which of them could not say all, in sentences."""

    reports: tuple[Report, ...]
    notes: tuple[str, ...]


def names() -> list[str]:
    """The checkers that can be asked, in the order in which they are."""
    return [*CHECKERS, *_added().points]


def find(name: str) -> Checker:
    """The checker of that name; whatever loading one of a user's raises comes through."""
    if name in CHECKERS:
        return import_module(CHECKERS[name])
    checker: Checker = _added().points[name].load()
    missing = [part for part in ("SUMMARY", "check") if not hasattr(checker, part)]
    if missing:
        raise TypeError(f"it has no `{missing[0]}`")
    return checker


def summaries() -> dict[str, str]:
    """What each checker looks for."""
    return {name: _summary(name) for name in names()}


def _summary(name: str) -> str:
    try:
        return str(find(name).SUMMARY)
    except (Exception, SystemExit) as error:
        if name in CHECKERS:
            raise
        return f"It cannot be loaded: {_trouble(error)}"


def _trouble(error: BaseException) -> str:
    """What went wrong in somebody else's code, on one line."""
    return one_line(f"{type(error).__name__}: {error}")


def advise(profile: ProfileColumns, chosen: Sequence[str] | None = None) -> Reports:
    """What the chosen checkers find, or all of them; an unknown name is refused."""
    added = _added()
    known = [*CHECKERS, *added.points]
    wanted = known if chosen is None else list(dict.fromkeys(chosen))
    for name in wanted:
        if name not in (*known, _SILENT):
            raise OptionError(f"No checker `{name}`. {nearest(name, known)}")
    lacking: dict[str, list[str]] = {}
    reports = [
        Report(name, tuple(_asked(name, profile, lacking)))
        for name in sorted(wanted, key=[*known, _SILENT].index)
        if name != _SILENT
    ]
    notes = tuple(f"{', '.join(who)}: {what}" for what, who in lacking.items())
    return Reports(tuple(reports), (*added.notes, *notes))


def _asked(name: str, profile: ProfileColumns, lacking: dict[str, list[str]]) -> Iterator[Finding]:
    """The findings of a checker, up to where it fails; `lacking` gets what it fails for."""
    try:
        for finding in find(name).check(profile):
            if not isinstance(finding, Finding):
                raise TypeError(f"it gave {finding!r}, which is no Finding")  # noqa: TRY301
            yield finding
    except MissingInputError as error:
        lacking.setdefault(str(error), []).append(name)
    except (Exception, SystemExit) as error:
        if name in CHECKERS:
            raise
        # Somebody else's: one line, and the others still have their say.
        lacking.setdefault(f"it failed: {_trouble(error)}", []).append(name)


class _Added(NamedTuple):
    """The checkers that users added, by name, and which of them cannot be asked."""

    points: dict[str, EntryPoint]
    notes: list[str]


def _added() -> _Added:
    """What is installed now: looking takes milliseconds, and a notebook may install more."""
    found = _Added({}, [])
    for point in sorted(entry_points(group=GROUP), key=lambda point: (point.name, point.value)):
        if point.name in (*CHECKERS, _SILENT, *found.points):
            found.notes.append(
                f"{point.name}: the checker {point.value} is left out: the name is taken."
            )
        else:
            found.points[point.name] = point
    return found
