"""Runs that are not in memory, because there are too many of them: what can be asked about them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple, NoReturn, Protocol

from tfprof.columns import Floats, Ints
from tfprof.errors import MissingInputError
from tfprof.model.memory_curves import MemoryTrace
from tfprof.model.step_sums import (
    Collectives,
    DeviceTimes,
    DeviceWindows,
    DeviceWork,
    ExposedTimes,
    StepTotals,
)


class RunSums(Protocol):
    """Sums over the runs of each op; `steps` are rows of `Steps`, or None for all of them.

    The numbers are those of a record: `runs`, `accelerator_nanos`, `cpu_nanos` and their sum
    `nanos`, the same in microseconds, `transfer_nanos`, and `bytes`, `peak_bytes`,
    `residual_bytes`, `output_bytes`.
    """

    def totals(self, number: str, steps: Ints | None) -> Ints:
        """The sum of a number over the records of each op."""

    def seen(self, steps: Ints | None) -> Ints:
        """In how many steps each op was seen."""

    def step_counts(self, steps: Ints) -> Ints:
        """How many of `steps` are in the recordings in which each op ran."""

    def averages_seen(self, number: str, steps: Ints | None) -> Ints:
        """The average of a number over the steps in which each op was seen."""

    def by_step(self, number: str, weight: Floats) -> Floats:
        """The sum of a number over the records of each step, times the weights of their ops."""

    def most_runs(self) -> int:
        """The most runs of an op in a step; at least 1."""

    def is_doubtful(self, number: str, factor: int = 1) -> bool:
        """Whether a record is negative, or all together may be too large for exact sums."""

    def require_summable(self, number: str) -> None:
        """Raise `TfprofError` if a sum over all records does not fit into 64 bits."""


class QueryRows(NamedTuple):
    """The answer to a query, in batches of rows."""

    names: Sequence[str]
    types: Sequence[str]  # as DuckDB calls them
    batches: Iterator[Sequence[Sequence[Any]]]
    is_plan: bool = False  # of EXPLAIN: a text of several lines


class SqlTables(Protocol):
    """The tables of a store in SQL; a query is one statement that only reads them.

    A wrong query raises `OptionError`, a damaged store `InputError`.
    """

    def relation(self, query: str) -> Any:
        """The answer as a relation of DuckDB."""

    def rows(self, query: str) -> QueryRows:
        """The answer as rows, which are not kept."""

    def parquet(self, query: str) -> Iterator[bytes]:
        """The answer as the bytes of a Parquet file."""


class StoredRuns(RunSums, Protocol):
    """The runs of a store."""

    @property
    def tables(self) -> SqlTables: ...

    @property
    def step_totals(self) -> StepTotals: ...

    @property
    def device_times(self) -> DeviceTimes: ...

    @property
    def device_windows(self) -> DeviceWindows: ...

    @property
    def device_work(self) -> DeviceWork: ...

    @property
    def exposed_times(self) -> ExposedTimes: ...

    @property
    def collectives(self) -> Collectives: ...

    @property
    def step_starts(self) -> Ints:
        """When the first op of each step started; the largest number if that is unknown."""

    @property
    def memory_traces(self) -> Sequence[MemoryTrace]:
        """A trace for each allocator, device and step with records, sorted in that order."""


class NotLoaded:
    """Takes the place of a table of single runs; using it raises `MissingInputError`."""

    def __init__(self, why: str) -> None:
        self._why = why

    def _refuse(self) -> NoReturn:
        raise MissingInputError(self._why)

    def __getattr__(self, name: str) -> NoReturn:
        if name.startswith("__"):  # of Python's protocols, such as copying
            raise AttributeError(name)
        self._refuse()

    def __len__(self) -> int:
        raise MissingInputError(self._why)
