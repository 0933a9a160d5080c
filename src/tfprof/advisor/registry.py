"""Registry of checkers, including those that other packages add, and how they are run."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from typing import NamedTuple, Protocol

from tfprof.advisor.finding import Finding
from tfprof.errors import MissingInputError, OptionError, nearest, one_line
from tfprof.model.profile import ProfileColumns

# Packages register their checkers in this group of entry points.
GROUP = "tfprof.checkers"

# The module of each checker: those of the original first, in the order of its reports.
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
    "TinyKernelChecker": "tfprof.advisor.tiny_kernels",
    "DeviceCopyChecker": "tfprof.advisor.device_copies",
    "HostSyncChecker": "tfprof.advisor.host_syncs",
    "BlockingCopyChecker": "tfprof.advisor.blocking_copies",
    "Float32ProductChecker": "tfprof.advisor.float32_products",
    "UnfusedOptimizerChecker": "tfprof.advisor.unfused_optimizer",
    "ParameterBalanceChecker": "tfprof.advisor.parameter_balance",
    "UnreadMemoryChecker": "tfprof.advisor.unread_memory",
    "CommunicationChecker": "tfprof.advisor.communication",
    "SlowHostChecker": "tfprof.advisor.slow_hosts",
    "UnevenWorkChecker": "tfprof.advisor.uneven_work",
    "SkewedInputChecker": "tfprof.advisor.skewed_input",
    "UnlikeHostChecker": "tfprof.advisor.unlike_hosts",
    "FullestHostChecker": "tfprof.advisor.fullest_host",
}

# The original also accepts this name, but has no such checker.
_EMPTY = "JobChecker"


class Checker(Protocol):
    """The protocol of a checker: a module, or any object, with these two members."""

    SUMMARY: str  # what it looks for, in a sentence

    def check(self, profile: ProfileColumns) -> Iterable[Finding]:
        """The findings, most important first; raises `MissingInputError` if it lacks data."""


@dataclass(frozen=True, slots=True)
class Report:
    """The findings of one checker."""

    checker: str
    findings: tuple[Finding, ...]

    @property
    def is_classic(self) -> bool:
        """Whether the original has this checker, which prints its name even without findings."""
        return self.checker in CLASSIC


@dataclass(frozen=True, slots=True)
class Reports:
    """The reports of all chosen checkers, and notes on those that could not run completely."""

    reports: tuple[Report, ...]
    notes: tuple[str, ...]
    is_classic: bool = True  # all recordings are of the kind that the original reads


def names() -> list[str]:
    """The names of all checkers, in the order in which they run."""
    return [*CHECKERS, *_added().points]


def find(name: str) -> Checker:
    """The checker of that name; exceptions from loading an added checker are not caught."""
    if name in CHECKERS:
        return import_module(CHECKERS[name])
    checker: Checker = _added().points[name].load()
    missing = [part for part in ("SUMMARY", "check") if not hasattr(checker, part)]
    if missing:
        raise TypeError(f"it has no `{missing[0]}`")
    return checker


def summaries() -> dict[str, str]:
    """The summary of each checker, by name."""
    return {name: _summary(name) for name in names()}


def _summary(name: str) -> str:
    try:
        return str(find(name).SUMMARY)
    except (Exception, SystemExit) as error:
        if name in CHECKERS:
            raise
        return f"It cannot be loaded: {_trouble(error)}"


def _trouble(error: BaseException) -> str:
    """An exception from an added checker, on one line."""
    return one_line(f"{type(error).__name__}: {error}")


def advise(profile: ProfileColumns, chosen: Sequence[str] | None = None) -> Reports:
    """Run the chosen checkers, or all of them; raises `OptionError` for an unknown name."""
    added = _added()
    known = [*CHECKERS, *added.points]
    wanted = known if chosen is None else list(dict.fromkeys(chosen))
    for name in wanted:
        if name not in (*known, _EMPTY):
            raise OptionError(f"Unknown checker `{name}`. {nearest(name, known)}")
    problems: dict[str, list[str]] = {}
    reports = [
        Report(name, tuple(_findings(name, profile, problems)))
        for name in sorted(wanted, key=[*known, _EMPTY].index)
        if name != _EMPTY
    ]
    notes = tuple(f"{', '.join(checkers)}: {problem}" for problem, checkers in problems.items())
    return Reports(tuple(reports), (*added.notes, *notes), profile.counts_whole_micros)


def _findings(
    name: str, profile: ProfileColumns, problems: dict[str, list[str]]
) -> Iterator[Finding]:
    """The findings of a checker until it fails; if it does, add the reason to `problems`."""
    try:
        for finding in find(name).check(profile):
            if not isinstance(finding, Finding):
                raise TypeError(f"it returned {finding!r}, not a Finding")  # noqa: TRY301
            yield finding
    except MissingInputError as error:
        problems.setdefault(str(error), []).append(name)
    except (Exception, SystemExit) as error:
        if name in CHECKERS:
            raise
        # An added checker that fails must not stop the others.
        problems.setdefault(f"it failed: {_trouble(error)}", []).append(name)


class _Added(NamedTuple):
    """The checkers that other packages add, by name, and notes on those that are skipped."""

    points: dict[str, EntryPoint]
    notes: list[str]


def _added() -> _Added:
    """The checkers installed now; not cached, because a notebook may install more."""
    found = _Added({}, [])
    for point in sorted(entry_points(group=GROUP), key=lambda point: (point.name, point.value)):
        if point.name in (*CHECKERS, _EMPTY, *found.points):
            found.notes.append(
                f"{point.name}: the checker {point.value} is skipped: the name is already taken."
            )
        else:
            found.points[point.name] = point
    return found
