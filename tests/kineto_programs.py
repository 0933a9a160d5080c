"""Small Kineto traces of programs on a GPU, event by event."""

from __future__ import annotations

from typing import Any

import tfprof
from formats.kineto_traces import event, trace_of

END = {"name": "Record Window End", "ph": "i", "s": "g", "pid": "", "tid": "", "ts": 1e6}
MAIN, ENGINE = 1, 2  # threads


def op(name: str, ts: float, dur: float, *, tid: int = MAIN, **args: Any) -> dict[str, Any]:
    return event(name, ts=ts, dur=dur, tid=tid, args=args)


def python(name: str, ts: float, dur: float, *, tid: int = MAIN) -> dict[str, Any]:
    return event(name, cat="python_function", ts=ts, dur=dur, tid=tid)


def module(name: str, ts: float, dur: float, *, tid: int = MAIN) -> dict[str, Any]:
    return python(f"nn.Module: {name}", ts, dur, tid=tid)


def annotation(name: str, ts: float, dur: float, *, tid: int = MAIN) -> dict[str, Any]:
    return event(name, cat="user_annotation", ts=ts, dur=dur, tid=tid)


def launch(number: int, ts: float, *, tid: int = MAIN, pid: int = 1) -> dict[str, Any]:
    args = {"correlation": number}
    return event(
        "cudaLaunchKernel", cat="cuda_runtime", ts=ts, dur=0.5, tid=tid, pid=pid, args=args
    )


def kernel(
    name: str, number: int, ts: float, dur: float, *, stream: int = 7, device: int = 0, **args: Any
) -> dict[str, Any]:
    args = {"correlation": number, "stream": stream, "device": device, **args}
    return event(name, cat="kernel", ts=ts, dur=dur, pid=device, tid=stream, args=args)


def copy(name: str, number: int, ts: float, dur: float) -> dict[str, Any]:
    args = {"correlation": number, "stream": 7, "device": 0, "bytes": 64}
    return event(name, cat="gpu_memcpy", ts=ts, dur=dur, pid=0, tid=7, args=args)


def loaded(tmp_path: Any, *events: dict[str, Any], **header: Any) -> tfprof.Profile:
    """The profile of a trace with these events."""
    path = tmp_path / "trace.json"
    path.write_bytes(trace_of(*events, END, **header))
    profile = tfprof.load(path)
    profile.columns.check()
    return profile


def notes_of(profile: tfprof.Profile) -> str:
    """The notes on the steps of a profile."""
    return " ".join(profile.step_times().notes)


def launched(count: int, *, start: float = 0, first: int = 1) -> list[dict[str, Any]]:
    """Ops that launch a kernel each, one every 100 microseconds."""
    return [
        one
        for place in range(count)
        for one in (
            op("aten::mm", start + 100 * place, 50),
            launch(first + place, start + 100 * place + 5),
        )
    ]


def kernels(
    count: int, *, start: float = 0, first: int = 1, dur: float = 60
) -> list[dict[str, Any]]:
    """The kernels of `launched`."""
    return [kernel("gemm", first + place, start + 100 * place + 20, dur) for place in range(count)]


def nanos(profile: tfprof.Profile, *, on_accelerator: bool) -> dict[str, int]:
    """The time of each op, on the accelerator or on the host; ops without any are left out."""
    columns = profile.columns
    runs = columns.executions
    chosen = columns.devices.is_accelerator_lane[runs.device] == on_accelerator
    found: dict[str, int] = {}
    for op_row, took in zip(
        columns.records.op[runs.record[chosen]].tolist(),
        runs.duration_ns[chosen].tolist(),
        strict=True,
    ):
        name = columns.ops.name[op_row]
        found[name] = found.get(name, 0) + took
    return found


def phase_of(profile: tfprof.Profile, name: str) -> int:
    return int(profile.columns.phase[list(profile.columns.ops.name).index(name)])
