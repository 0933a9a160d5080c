"""Hosts side by side: where the time of their steps goes, who is slow, and who waits for whom.

All times are nanoseconds. They are those of the accelerators where these were recorded, because a
host that waits for its accelerator does not compute. In a job that synchronises in every step, all
hosts take the same time, because the fast ones wait for the slow ones in collectives. So hosts are
compared by their own time: that of a step without the time in which only collectives ran.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from tfprof.columns import Bools, Floats, Ints
from tfprof.measures import arrivals, stragglers, warm_up
from tfprof.measures.exposed import RankWaits, rank_waits
from tfprof.measures.host_memory import UNKNOWN_BYTES, peak_bytes
from tfprof.measures.host_steps import PARTS, HostSteps, host_steps
from tfprof.measures.links import slow_links
from tfprof.measures.losses import LostTime, losses
from tfprof.measures.numbers import chosen_steps, require_steps
from tfprof.measures.servers import ParameterServer, servers
from tfprof.measures.steps import require_steps as require_any_step
from tfprof.measures.steps import rounded_parts
from tfprof.measures.stragglers import Straggler
from tfprof.measures.work import FLOAT_OPS, excess, host_work, with_more
from tfprof.model.profile import ProfileColumns
from tfprof.model.recordings import UNKNOWN_RANK, USUAL_STEPS
from tfprof.options import RankOptions
from tfprof.units import counted
from tfprof.views.view import chosen_by

# What takes longer on a slow host: it computes the same more slowly or has more to compute, or it
# is idle, waits for input or copies.
DEVICE, WORK, HOST, INPUT, COPIES = "device", "work", "host", "input", "copies"
LINK = "link"  # the collectives of its groups take longer to transfer the same
_CAUSES = {"input_wait": INPUT, "transfers": COPIES}
# More work, or waiting for input, is the cause if it explains at least this share of the excess.
_MOSTLY = 0.5

# Of more slow hosts it is only said by how much they are slow.
_MOST_EXPLAINED = 8


@dataclass(frozen=True, slots=True)
class RankTime:
    """The steps of one host or rank.

    `mean_ns` is the average step; `compute_ns`, `communication_ns`, `input_wait_ns`,
    `transfers_ns` and `idle_ns` are its parts, which add up to it.
    """

    recording: str
    host: str  # empty if unknown
    rank: int | None
    steps: int
    median_ns: int
    p10_ns: int
    p90_ns: int
    mean_ns: int
    compute_ns: int
    communication_ns: int  # in which only collectives ran
    input_wait_ns: int  # waiting for input, and fetching it
    transfers_ns: int  # copies, while nothing else ran
    idle_ns: int
    waiting_ns: int | None  # the part of `communication_ns` that is waiting for other hosts
    all_communication_ns: int  # in which collectives ran, also while other ops did
    overlapped_ns: int  # the part of it while something computed
    own_ns: int  # the median step without communication
    deviation: float | None  # of the own time from the median host; 0.3 is 30 % longer
    peak_bytes: int | None  # the highest level of one allocator


@dataclass(frozen=True, slots=True)
class SlowHost:
    """A host that takes clearly longer than the others, when, and where it loses the time.

    If the cause is its link, its collectives take longer than those of other groups, and so do the
    steps of all hosts.
    """

    recording: str
    when: str  # `in all steps`, `from step 120 on`, `in 3 of 50 steps (4, 9, 30)`
    steps: tuple[int, ...]  # the numbers of the steps in which it is slow
    excess: float  # how much longer its own time is in these steps; 0.3 is 30 %
    excess_ns: int  # per step
    cause: str  # `device`, `work`, `host`, `input`, `copies` or `link`: what takes longer
    losses: tuple[LostTime, ...]  # the largest first
    awaited: float | None  # the share of all waiting in collectives that is for this host

    @property
    def waits_for_input(self) -> bool:
        """Whether it is slow mainly because it waits for input."""
        return self.cause == INPUT


@dataclass(frozen=True, slots=True)
class MoreWork:
    """A host that has clearly more to do than others, when, and how much more of what."""

    recording: str
    than: str  # the other host, or "the others"
    when: str
    steps: tuple[int, ...]
    excess: dict[str, float]  # by the kind of work; 0.3 is 30 % more


@dataclass(frozen=True, slots=True)
class CollectiveTime:
    """The runs of a collective: the part that is transfer, and waiting for the last to arrive."""

    op: str
    hosts: int  # that took part
    runs: int  # in all steps, each counted once for all hosts
    transfer_ns: int  # the median
    waiting_ns: int  # the average of all hosts
    longest_ns: int  # the longest wait of a host
    last: str  # the recording that most often arrived last
    last_share: float  # how often it did


@dataclass(frozen=True, slots=True)
class RankTimes:
    """The answer: a row per host, the slowest first, and what stands out."""

    options: RankOptions
    ranks: tuple[RankTime, ...]
    slow: tuple[SlowHost, ...]
    uneven: tuple[MoreWork, ...]
    collectives: tuple[CollectiveTime, ...]
    servers: tuple[ParameterServer, ...]
    inconclusive: tuple[str, ...]  # what the recordings cannot tell, and why
    notes: tuple[str, ...]

    @property
    def shown(self) -> tuple[RankTime, ...]:
        """As many rows as the options ask for, slow hosts first."""
        if self.options.max_rows < 0:
            return self.ranks
        slow = {one.recording for one in self.slow}
        first = sorted(self.ranks, key=lambda one: one.recording not in slow)
        return tuple(first[: self.options.max_rows])


def build(profile: ProfileColumns, options: RankOptions) -> RankTimes:
    """Compare the chosen recordings in the chosen steps."""
    require_any_step(profile)
    chosen = chosen_by(options)
    require_steps(profile, chosen, "compares all steps")
    steps = chosen_steps(profile, chosen)
    hosts = host_steps(profile, steps)
    found = stragglers.find(hosts.own_ns)
    usual = float(np.nanmedian(hosts.step_ns)) if hosts.step_ns.size else 0.0
    waited = rank_waits(profile, steps, usual)
    met, waits = waited.met, waited.waits
    rows = _ranks(profile, hosts, steps, _waiting(hosts, waited))
    work = host_work(profile, hosts)
    slow = _slow_hosts(profile, hosts, found, work, _awaited(hosts, met, waits))
    return RankTimes(
        options,
        tuple(sorted(rows, key=lambda one: -one.own_ns)),
        (*slow, *_slow_links(profile, hosts, waited)),
        tuple(_more_work(profile, hosts, work)),
        () if waits is None else tuple(_collectives(profile, met, waits)),
        servers(profile),
        (*_doubts(hosts), *waited.doubts),
        tuple(warm_up.notes(profile)) if chosen.step == USUAL_STEPS else (),
    )


def _doubts(hosts: HostSteps) -> Iterator[str]:
    """Why slow hosts cannot be found."""
    recordings, steps = hosts.own_ns.shape
    if recordings == 1:
        yield "slow hosts: there is only one recording, so nothing to compare it with."
    elif recordings < stragglers.LEAST_HOSTS:
        yield "slow hosts: of two recordings neither is the usual one; record a third host."
    elif steps < stragglers.LEAST_STEPS:
        few = counted(steps, "step")
        yield f"slow hosts: {few} may be slow by chance; record at least three."
    elif not (~np.isnan(hosts.own_ns)).sum(axis=0).max() > 1:
        yield "slow hosts: no two recordings have a step of the same number."


def _rows_of(hosts: HostSteps, recordings: Ints) -> Ints:
    return np.searchsorted(hosts.recording, recordings)


def _waiting(hosts: HostSteps, found: RankWaits) -> Floats:
    """How long each host only waited for others in each step."""
    if found.waits is None:
        return np.full(hosts.step_ns.shape, np.nan)
    column = np.full(int(hosts.step.max(initial=0)) + 2, np.nan)
    kept = found.step < len(column) - 1
    column[found.step[kept]] = found.waiting_ns[kept]
    return np.where(hosts.step >= 0, column[hosts.step], np.nan)


def _awaited(
    hosts: HostSteps, met: arrivals.Meetings, waits: arrivals.Waits | None
) -> dict[int, float]:
    """By row of the hosts, the share of all waiting that ended when the host arrived."""
    if waits is None or not (whole := float(waits.wait_ns.sum())):
        return {}
    shares = np.bincount(waits.last, waits.wait_ns.sum(axis=0), len(met.recording)) / whole
    return dict(zip(_rows_of(hosts, met.recording).tolist(), shares.tolist(), strict=True))


def _ranks(
    profile: ProfileColumns, hosts: HostSteps, steps: Ints, waiting: Floats
) -> Iterator[RankTime]:
    recordings = profile.recordings
    own = hosts.own_ns
    away = stragglers.deviations(stragglers.relative_excess(own)) if len(own) > 1 else None
    peaks = peak_bytes(profile, steps)
    for row, recording in enumerate(hosts.recording.tolist()):
        here = ~np.isnan(own[row])
        walls = hosts.step_ns[row, here]
        low, median, high = np.percentile(walls, (10, 50, 90), method="inverted_cdf").tolist()
        means = [hosts.parts[part][row, here].mean() for part in PARTS]
        mean = round(float(walls.mean()))
        parts = rounded_parts(np.array(means), mean).tolist()
        waited = waiting[row, here].mean()
        communicating = round(float(hosts.all_communication_ns[row, here].mean()))
        rank, peak = int(recordings.rank[recording]), int(peaks[recording])
        yield RankTime(
            recording=recordings.label[recording],
            host=recordings.host[recording],
            rank=None if rank == UNKNOWN_RANK else rank,
            steps=int(here.sum()),
            median_ns=round(median),
            p10_ns=round(low),
            p90_ns=round(high),
            mean_ns=mean,
            **{f"{part}_ns": nanos for part, nanos in zip(PARTS, parts, strict=True)},
            waiting_ns=None if np.isnan(waited) else round(float(waited)),
            all_communication_ns=communicating,
            overlapped_ns=max(communicating - parts[PARTS.index("communication")], 0),
            own_ns=round(float(np.median(own[row, here]))),
            deviation=None if away is None else float(away[row]),
            peak_bytes=None if peak == UNKNOWN_BYTES else peak,
        )


def _slow_hosts(
    profile: ProfileColumns,
    hosts: HostSteps,
    found: list[Straggler],
    work: Mapping[str, Floats],
    awaited: dict[int, float],
) -> Iterator[SlowHost]:
    is_slow = np.isin(np.arange(len(hosts.recording)), [one.host for one in found])
    own = hosts.own_ns
    for place, one in enumerate(found):
        columns = list(one.steps)
        usual = np.nanmedian(own[:, columns], axis=0)
        numbers = hosts.number[columns].tolist()
        lost = _losses(profile, hosts, one, is_slow) if place < _MOST_EXPLAINED else ()
        yield SlowHost(
            recording=profile.recordings.label[int(hosts.recording[one.host])],
            when=_when(one, numbers, int((~np.isnan(own[one.host])).sum())),
            steps=tuple(numbers),
            excess=one.excess,
            excess_ns=round(float(np.median(own[one.host, columns] - usual))),
            cause=_cause(hosts, one, work),
            losses=lost,
            awaited=awaited.get(one.host),
        )


def _slow_links(profile: ProfileColumns, hosts: HostSteps, found: RankWaits) -> Iterator[SlowHost]:
    """The hosts with slow links."""
    if found.waits is None:
        return
    numbers = np.unique(found.met.number).tolist()
    awaited = _awaited(hosts, found.met, found.waits)
    for one in slow_links(found.met, found.waits, float(np.nanmedian(hosts.step_ns))):
        recording = int(found.met.recording[one.host])
        yield SlowHost(
            recording=profile.recordings.label[recording],
            when="in all steps",
            steps=tuple(numbers),
            excess=one.excess,
            excess_ns=one.excess_ns,
            cause=LINK,
            losses=(),
            awaited=awaited.get(int(np.searchsorted(hosts.recording, recording))),
        )


def _losses(
    profile: ProfileColumns, hosts: HostSteps, one: Straggler, is_slow: Bools
) -> tuple[LostTime, ...]:
    return tuple(losses(profile, hosts, one.host, list(one.steps), is_slow))


def _cause(hosts: HostSteps, one: Straggler, work: Mapping[str, Floats]) -> str:
    """What takes longer on a slow host than on the others."""
    columns = np.array(one.steps, np.int64)
    others = np.delete(np.arange(len(hosts.recording)), one.host)
    more = {
        part: float(
            np.nanmedian(hosts.parts[part][one.host, columns])
            - np.nanmedian(hosts.parts[part][np.ix_(others, columns)])
        )
        for part in PARTS
        if part != "communication"
    }
    part = max(more, key=more.__getitem__)
    if part == "idle":
        fetching = hosts.fetching_ns
        late = np.nanmedian(fetching[one.host, columns]) - np.nanmedian(
            fetching[np.ix_(others, columns)]
        )
        # A host that gets its input late is late with everything after it.
        return INPUT if late >= _MOSTLY * more[part] else HOST
    if part != "compute":
        return _CAUSES[part]
    usual = float(np.nanmedian(hosts.parts[part][np.ix_(others, columns)]))
    if FLOAT_OPS in work and usual > 0:
        more_work = float(np.median(excess(work[FLOAT_OPS], one.host, one.steps)))
        if more_work >= _MOSTLY * more[part] / usual:
            return WORK
    return DEVICE


def _more_work(
    profile: ProfileColumns, hosts: HostSteps, work: Mapping[str, Floats]
) -> Iterator[MoreWork]:
    """The hosts with more work than the others, most of it first."""
    labels = [profile.recordings.label[row] for row in hosts.recording.tolist()]
    # A slow device also takes more time for the same work, so only float operations decide.
    for one in with_more(work[FLOAT_OPS]) if FLOAT_OPS in work else ():
        numbers = hosts.number[list(one.steps)].tolist()
        recorded = int((~np.isnan(hosts.own_ns[one.host])).sum())
        yield MoreWork(
            recording=labels[one.host],
            than="the others" if len(labels) > 2 else labels[1 - one.host],
            when=_when(one, numbers, recorded),
            steps=tuple(numbers),
            excess={
                name: float(np.median(excess(each, one.host, one.steps)))
                for name, each in work.items()
            },
        )


def _when(one: Straggler, numbers: list[int], recorded: int) -> str:
    if one.is_some:
        shown = ", ".join(map(str, numbers[:5]))
        more = ", …" if len(numbers) > 5 else ""
        return f"in {len(numbers)} of {counted(recorded, 'step')} ({shown}{more})"
    return f"from step {numbers[0]} on" if one.since else "in all steps"


def _collectives(
    profile: ProfileColumns, met: arrivals.Meetings, waits: arrivals.Waits
) -> Iterator[CollectiveTime]:
    """The collectives, those with the longest waits first."""
    found = []
    for op in np.unique(met.op).tolist():
        here = np.flatnonzero(met.op == op)
        took_part = met.took_part[:, here]
        counts = np.bincount(waits.last[here], minlength=len(met.recording))
        wait = waits.wait_ns[:, here][took_part]
        found.append(
            CollectiveTime(
                op=profile.ops.name[op],
                hosts=int(took_part.any(axis=1).sum()),
                runs=len(here),
                transfer_ns=round(float(np.median(waits.transfer_ns[:, here][took_part]))),
                waiting_ns=round(float(wait.mean())),
                longest_ns=round(float(wait.max())),
                last=profile.recordings.label[int(met.recording[counts.argmax()])],
                last_share=float(counts.max() / len(here)),
            )
        )
    yield from sorted(found, key=lambda one: (-one.waiting_ns * one.runs, one.op))
