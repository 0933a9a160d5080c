"""What accelerators did in steps, as rows of text and sentences."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from tfprof.units import counted, format_percent
from tfprof.units import format_whole_micros as _time
from tfprof.views.steps import AcceleratorTime, DeviceTime, StepTime

# The phases of ops, with their names in text.
PHASES = {
    "forward": "forward",
    "backward": "backward",
    "optimizer": "optimizer",
    "input": "input",
    "other": "other ops",
    "communication": "communication",
    "unattributed": "unknown ops",
}
# What the host did while an accelerator was idle.
_MEANWHILE = {
    "input": "waiting for input",
    "communication": "communication on the host",
    "transfers": "other transfers",
    "waiting": "the host waits for the accelerator",
    "forward": "forward ops on the host",
    "backward": "backward ops on the host",
    "optimizer": "optimizer ops on the host",
    "other": "other ops on the host",
    "nothing": "no op on the host",
}
ALL = "all accelerators"


def parts(time: DeviceTime) -> dict[str, int]:
    """The parts of a window that add up to it, by their names in text; some are 0."""
    waiting = time.waiting_ns or 0
    return {
        **{f"computing: {PHASES[phase]}": time.computing_ns.get(phase, 0) for phase in PHASES},
        "exposed communication": time.exposed_communication_ns - waiting,
        "waiting for other ranks": waiting,
        "exposed copies": time.exposed_copies_ns,
        **{f"idle: {title}": time.idle_ns.get(key, 0) for key, title in _MEANWHILE.items()},
        "unassigned": time.unassigned_ns,
    }


def rows(one: AcceleratorTime) -> Iterator[list[str]]:
    """A table of the parts of a step on an accelerator, and of its time on the host."""
    own, host = parts(one.own), parts(one.on_host)
    yield [one.device or ALL, "on the device", "", "in the time on the host", ""]
    for name, nanos in own.items():
        if nanos or host[name]:
            yield [name, *_cells(nanos, one.own), *_cells(host[name], one.on_host)]
    yield ["sum", *_cells(one.own.wall_ns, one.own), *_cells(one.on_host.wall_ns, one.on_host)]
    if one.own.overlapped_communication_ns or one.on_host.overlapped_communication_ns:
        both = (one.own, one.on_host)
        cells = [_cells(time.overlapped_communication_ns, time) for time in both]
        yield ["communication while computing", *cells[0], *cells[1]]


def _cells(nanos: int, of: DeviceTime) -> list[str]:
    return [_time(nanos), format_percent(nanos, of.wall_ns)]


def launched(one: AcceleratorTime) -> str:
    """What a step launched on an accelerator."""
    found = f"{one.device or ALL}: the step launched {counted(one.kernels, 'kernel')}"
    if one.kernels:
        found += f", {_time(sum(one.kernel_ns.values()))} ({_shares(one.kernel_ns)})"
    if one.transfers:
        transfers = counted(one.transfers, "copy or fill", "copies and fills")
        found += f", and {transfers}, {_time(sum(one.transfer_ns.values()))}"
    return f"{found}."


def _shares(nanos: Mapping[str, int]) -> str:
    total = sum(nanos.values())
    named = [f"{PHASES[key]} {format_percent(time, total)}" for key, time in nanos.items()]
    return ", ".join(named)


def divided(time: DeviceTime) -> str:
    """A window in one line: the parts that are not zero, with idle time as one."""
    idle = sum(time.idle_ns.values())
    short = {
        "computing": sum(time.computing_ns.values()),
        "exposed communication": time.exposed_communication_ns,
        "exposed copies": time.exposed_copies_ns,
        "idle": idle,
        "unassigned": time.unassigned_ns,
    }
    shares = [f"{name} {format_percent(ns, time.wall_ns)}" for name, ns in short.items() if ns]
    if time.overlapped_communication_ns:
        shares.append(f"{_time(time.overlapped_communication_ns)} of communication while computing")
    if time.waiting_ns:
        shares.append(f"{_time(time.waiting_ns)} of the communication is waiting for other ranks")
    return ", ".join(shares)


def ahead(steps: Sequence[StepTime]) -> str:
    """How far the host is ahead at the end of the last step; empty if it hardly is."""
    last = steps[-1]
    if last.all_accelerators is None:
        return ""
    own, host = last.all_accelerators.own, last.all_accelerators.on_host
    late = own.start_ns + own.wall_ns - host.start_ns - host.wall_ns
    if late < _LEAST_LATE * last.step_ns:
        return ""
    return (
        f"The accelerator finishes the last step {_time(late)} after the host: steps on the "
        "device are what the program waits for in the end."
    )


# A smaller part of a step is not worth a remark.
_LEAST_LATE = 0.02
