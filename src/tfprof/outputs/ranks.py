"""The comparison of hosts as text, plain values and a data frame."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict, fields
from typing import TYPE_CHECKING, Any

from tfprof.errors import printable
from tfprof.measures.losses import LostTime
from tfprof.outputs import schemas
from tfprof.outputs.alignment import aligned
from tfprof.outputs.frames import data_frame
from tfprof.units import counted, format_bytes, format_count, format_percent
from tfprof.units import format_whole_micros as _time
from tfprof.views.ranks import LINK, CollectiveTime, MoreWork, RankTime, RankTimes, SlowHost

if TYPE_CHECKING:
    import pandas as pd

_DOC = (
    "median, p10, p90: how long steps took, on the accelerators if their times were recorded.\n"
    "mean: the average step: compute, communication, input wait, copies and idle. communication:\n"
    "only collectives ran; waiting: the part of it until the last host arrived; overlapped: "
    "collectives\nwhile something computed, not a part. own: the median step without "
    "communication; deviation:\ncompared with the median host.\n"
)
_MOST_COLLECTIVES = 5
_MOST_SLOW = 10

# What a host does longer than others.
_LOSES = {
    "compute": "running ops",
    "input_wait": "waiting for input",
    "transfers": "copying data between its devices",
    "idle": "idle, such as in Python",
}
# What takes longer on a slow host, by its cause.
_LONGER = {
    "device": "it computes the same more slowly",
    "work": "it has more to compute",
    "host": "it is idle for longer",
    "input": "it waits for input for longer",
    "copies": "it copies for longer",
}


class RankTable:
    """Hosts side by side, to print, iterate or convert.

    `times` also has the slow hosts, the collectives and the parameter servers.
    """

    def __init__(self, times: RankTimes) -> None:
        self.times = times

    @property
    def notes(self) -> tuple[str, ...]:
        """Notes on what is missing from the answer; empty if nothing is."""
        return self.times.notes

    @property
    def slow(self) -> tuple[SlowHost, ...]:
        """The hosts that take clearly longer than the others."""
        return self.times.slow

    @property
    def report(self) -> str:
        """The table and what stands out, as text."""
        return "".join(f"{line}\n" for line in _lines(self.times))

    def to_dict(self) -> dict[str, Any]:
        """All hosts and findings as plain values; times are nanoseconds."""
        times = self.times
        options = asdict(times.options).items()
        return {
            "schema": schemas.name_of("ranks"),
            "options": {k: list(v) if isinstance(v, tuple) else v for k, v in options},
            "ranks": [asdict(one) for one in times.ranks],
            "slow": [_plain(one) for one in times.slow],
            "uneven": [asdict(one) | {"steps": list(one.steps)} for one in times.uneven],
            "collectives": [asdict(one) for one in times.collectives],
            "servers": [one._asdict() for one in times.servers],
            "inconclusive": list(times.inconclusive),
            "notes": list(self.notes),
        }

    def to_json(self) -> str:
        """`to_dict` as JSON text."""
        return json.dumps(self.to_dict(), indent=1) + "\n"

    def to_dataframe(self) -> pd.DataFrame:
        """One row per host."""
        names = [field.name for field in fields(RankTime)]
        return data_frame([asdict(one) for one in self], names)

    def _repr_html_(self) -> str:
        from tfprof.outputs import html_ranks  # noqa: PLC0415 -- only notebooks need it

        return html_ranks.of_ranks(self.times, list(_findings(self.times)))

    def __iter__(self) -> Iterator[RankTime]:
        return iter(self.times.ranks)

    def __len__(self) -> int:
        return len(self.times.ranks)

    def __getitem__(self, recording: str) -> RankTime:
        """The host whose recording has that label."""
        for one in self:
            if one.recording == recording:
                return one
        raise KeyError(f"no recording {recording}.")

    def __str__(self) -> str:
        return self.report

    def __repr__(self) -> str:
        return f"<tfprof hosts: {len(self):,} recordings, {len(self.slow):,} slow>"


def _plain(one: SlowHost) -> dict[str, Any]:
    """A slow host as plain values, with lists as in JSON."""
    return asdict(one) | {
        "steps": list(one.steps),
        "losses": [asdict(loss) for loss in one.losses],
    }


def _lines(times: RankTimes) -> Iterator[str]:
    yield from ("", "Doc:", _DOC)
    yield from aligned(list(_rows(times)), left=[0])
    if left := len(times.ranks) - len(times.shown):
        yield f"… {left:,} more; -max_rows -1 shows all"
    yield ""
    yield from map(printable, _findings(times))
    if times.collectives:
        yield ""
        yield from aligned(list(_collective_rows(times.collectives)), left=[0, 6])
        if (more := len(times.collectives) - _MOST_COLLECTIVES) > 0:
            yield f"… {counted(more, 'more collective', 'more collectives')}"
    if times.servers:
        yield ""
        yield from aligned(list(_server_rows(times)), left=[0])
    if times.inconclusive:
        yield ""
        yield from (printable(f"Inconclusive: {reason}") for reason in times.inconclusive)


def _rows(times: RankTimes) -> Iterator[list[str]]:
    slow = {one.recording for one in times.slow}
    ranked = any(one.rank is not None for one in times.ranks)
    waited = any(one.waiting_ns is not None for one in times.ranks)
    copied = any(one.transfers_ns for one in times.ranks)
    overlapped = any(one.overlapped_ns for one in times.ranks)
    compared = any(one.deviation is not None for one in times.ranks)
    measured = any(one.peak_bytes is not None for one in times.ranks)
    yield [
        "recording",
        *(["rank"] if ranked else []),
        *("steps", "median", "p10", "p90", "mean", "compute", "communication"),
        *(["waiting"] if waited else []),
        "input wait",
        *(["copies"] if copied else []),
        *("idle", "own"),
        *(["overlapped"] if overlapped else []),
        *(["deviation"] if compared else []),
        *(["memory peak"] if measured else []),
        "",
    ]
    for one in times.shown:
        yield [
            printable(one.recording),
            *([_or_dash(one.rank, str)] if ranked else []),
            f"{one.steps:,}",
            *(_time(nanos) for nanos in (one.median_ns, one.p10_ns, one.p90_ns, one.mean_ns)),
            *(_time(nanos) for nanos in (one.compute_ns, one.communication_ns)),
            *([_or_dash(one.waiting_ns, _time)] if waited else []),
            _time(one.input_wait_ns),
            *([_time(one.transfers_ns)] if copied else []),
            *(_time(nanos) for nanos in (one.idle_ns, one.own_ns)),
            *([_time(one.overlapped_ns)] if overlapped else []),
            *([_or_dash(one.deviation, lambda share: f"{100 * share:+.1f}%")] if compared else []),
            *([_or_dash(one.peak_bytes, format_bytes)] if measured else []),
            "slow" if one.recording in slow else "",
        ]


def _or_dash(value: Any, format_: Any) -> str:
    return "-" if value is None else str(format_(value))


def _findings(times: RankTimes) -> Iterator[str]:
    """What stands out, in sentences."""
    hosts = counted(len(times.ranks), "recording")
    if not times.slow and not any(one.startswith("slow hosts") for one in times.inconclusive):
        yield f"None of {hosts} is clearly slower than the others."
    elif times.slow:
        yield f"{len(times.slow):,} of {hosts} {'is' if len(times.slow) == 1 else 'are'} slow."
    for one in times.slow[:_MOST_SLOW]:
        yield _sentence(one)
    if (more := len(times.slow) - _MOST_SLOW) > 0:
        yield f"{more:,} more are slow; --json has all."
    for work in times.uneven[:_MOST_SLOW]:
        yield more_work(work)


def more_work(one: MoreWork) -> str:
    """What a host has more to do than the others."""
    parts = [f"{100 * excess:.0f}% more {name}" for name, excess in one.excess.items()]
    return f"{one.recording} has more work than {one.than} {one.when}: {' and '.join(parts)}."


def _sentence(one: SlowHost) -> str:
    if one.cause == LINK:
        return (
            f"{one.recording} has a slow link: the collectives of its groups take "
            f"{100 * one.excess:.0f}% ({_time(one.excess_ns)} per step) longer to transfer "
            "the same than those of other groups."
        )
    longer = f"{100 * one.excess:.0f}% ({_time(one.excess_ns)} per step)"
    found = f"{one.recording} is slow {one.when}, because {_LONGER[one.cause]}: its own time is "
    found += f"{longer} longer than usual"
    if one.losses:
        found += f", lost in {' and in '.join(map(_place, one.losses))}"
    if one.awaited is not None:
        found += f". {100 * one.awaited:.0f}% of the waiting in collectives is for it"
    return f"{found}."


def _place(loss: LostTime) -> str:
    amount = _time(loss.nanos)
    return f"{loss.scope} ({amount})" if loss.scope else f"{_LOSES[loss.part]} ({amount})"


def _collective_rows(found: Sequence[CollectiveTime]) -> Iterator[list[str]]:
    yield ["collective", "hosts", "runs", "transfer", "waiting", "longest wait", "arrives last"]
    for one in found[:_MOST_COLLECTIVES]:
        yield [
            printable(one.op),
            f"{one.hosts:,}",
            f"{one.runs:,}",
            *(_time(nanos) for nanos in (one.transfer_ns, one.waiting_ns, one.longest_ns)),
            printable(f"{one.last} ({100 * one.last_share:.0f}%)"),
        ]


def _server_rows(times: RankTimes) -> Iterator[list[str]]:
    whole = sum(one.params for one in times.servers)
    yield ["parameter server", "variables", "parameters", "share", "bytes", "time per step"]
    for one in times.servers:
        yield [
            printable(one.task),
            f"{one.variables:,}",
            format_count(one.params),
            format_percent(one.params, whole),
            format_bytes(one.bytes),
            _time(one.nanos),
        ]
