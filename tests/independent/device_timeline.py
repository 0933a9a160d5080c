"""What the accelerators of a Kineto trace did, computed from its JSON alone.

    python tests/independent/device_timeline.py TRACE…

It shares no code with tfprof, so that both can be compared. All times are nanoseconds. Sets of
intervals are arrays with a row (begin, end) each, sorted and disjoint.
"""

from __future__ import annotations

import gzip
import json
import re
import sys
from bisect import bisect_right
from collections import defaultdict
from decimal import Decimal
from pathlib import Path

import numpy as np

KINDS = {"kernel": "compute", "gpu_memcpy": "copy", "gpu_memset": "fill"}
KINDS |= {"memcpy": "copy", "memset": "fill"}  # before PyTorch 1.12
OPS = {"cpu_op", "operator"}
COLLECTIVE = re.compile("nccl|rccl|oneccl|nvshmem|deep_ep", re.IGNORECASE)
LAUNCHES = re.compile("runtime|driver", re.IGNORECASE)
STEP = re.compile(r"ProfilerStep\s*#(\d+)")


def read(path):
    """The events of a trace, gzipped or not, and the time that is added to all of theirs."""
    content = Path(path).read_bytes()
    if content.startswith(b"\x1f\x8b"):
        content = gzip.decompress(content)
    text = content.decode("utf-8", "replace")
    found = json.loads(text, parse_float=Decimal, strict=False)
    if isinstance(found, list):  # before PyTorch 1.8.1
        found = {"traceEvents": found}
    events = [one for one in found["traceEvents"] if one.get("ph") == "X" and "dur" in one]
    return events, found.get("baseTimeNanoseconds", 0)


def span(event):
    """Begin and end; both are rounded to nanoseconds, if they are more precise."""
    return tuple(round(Decimal(time) * 1000) for time in (event["ts"], event["ts"] + event["dur"]))


def union(*parts):
    """What is in at least one of the sets."""
    spans = np.concatenate([np.asarray(part, np.int64).reshape(-1, 2) for part in parts])
    spans = spans[(spans[:, 1] > spans[:, 0])]
    spans = spans[np.argsort(spans[:, 0], kind="stable")]
    reached = np.maximum.accumulate(spans[:, 1])
    is_first = np.ones(len(spans), bool)
    is_first[1:] = spans[1:, 0] > reached[:-1]
    is_last = np.append(is_first[1:], True)[: len(spans)]
    return np.stack([spans[is_first, 0], reached[is_last]], axis=1)


def length(spans):
    return int((spans[:, 1] - spans[:, 0]).sum())


def steps_of(events):
    """Number, begin and end of each step on the host, in the order of time.

    The first one begins with the first op, kernel or copy, if that is before the program's mark.
    """
    found = set()
    for event in events:
        mark = STEP.fullmatch(str(event.get("name", "")).strip())
        if mark and not str(event.get("cat", "")).lower().startswith("gpu"):
            found.add((*span(event), int(mark[1])))
    steps = [(number, begin, end) for begin, end, number in sorted(found)]
    first = [span(one)[0] for one in events if str(one.get("cat", "")).lower() in {*OPS, *KINDS}]
    if steps and first:
        number, begin, end = steps[0]
        steps[0] = (number, min(begin, *first), end)
    return steps


def works_of(events, steps):
    """Kind, begin, end, stream, step of all kernels, copies and fills, by device.

    Kernels without a launch that precede the first one with a launch on their stream were launched
    before the recording; their step is -1.
    """
    launched: dict[object, int] = {}
    for event in events:
        number = (event.get("args") or {}).get("correlation")
        if number is not None and LAUNCHES.search(str(event.get("cat", ""))):
            launched[number] = min(launched.get(number, sys.maxsize), span(event)[0])
    begins = [begin for _, begin, _ in steps]
    found, firsts = defaultdict(list), {}
    for event in events:
        kind = KINDS.get(str(event.get("cat", "")).lower())
        if kind is None:
            continue
        args = event.get("args") or {}
        begin, end = span(event)
        if kind == "compute" and COLLECTIVE.search(event["name"]):
            kind = "communication"
        launch = launched.get(args.get("correlation"))
        step = max(bisect_right(begins, begin if launch is None else launch) - 1, 0)
        stream = str(args.get("stream", event["tid"]))
        device = int(args.get("device", event["pid"]))
        if launch is not None and kind in {"compute", "communication"}:
            firsts[device, stream] = min(firsts.get((device, stream), begin), begin)
        found[device].append((kind, begin, end, stream, None if launch is None else step, step))
    return {
        device: [
            (
                *(kind, begin, end, stream),
                -1 if known is None and is_early(firsts, device, stream, kind, begin) else step,
            )
            for kind, begin, end, stream, known, step in works
        ]
        for device, works in found.items()
    }


def is_early(firsts, device, stream, kind, begin):
    return kind in {"compute", "communication"} and begin < firsts.get((device, stream), begin)


def parts(works, begin, end):
    """How long a device did what between two times; the parts are disjoint and add up to it."""
    spans = {kind: [] for kind in ("compute", "communication", "copy", "fill")}
    for kind, first, last, *_ in works:
        spans[kind].append((min(max(first, begin), end), min(max(last, begin), end)))
    sets = {kind: union(rows) for kind, rows in spans.items()}
    compute, communication = sets["compute"], sets["communication"]
    kernels = union(compute, communication)
    busy = union(kernels, sets["copy"], sets["fill"])
    exposed = length(kernels) - length(compute)
    return {
        "wall": end - begin,
        "compute": length(compute),
        "exposed_communication": exposed,
        "exposed_copies": length(busy) - length(kernels),
        "idle": end - begin - length(busy),
        "busy": length(busy),
        "communication": length(communication),
        "overlapped_communication": length(communication) - exposed,
    }


def sums(works):
    """How many kernels, copies and fills there are, and the sum of their times."""
    kernels = [end - begin for kind, begin, end, *_ in works if kind not in {"copy", "fill"}]
    copies = [end - begin for kind, begin, end, *_ in works if kind in {"copy", "fill"}]
    return {
        "kernels": len(kernels),
        "kernel_sum": sum(kernels),
        "copies": len(copies),
        "copy_sum": sum(copies),
    }


def main_stream(works):
    """The stream with most time of computing kernels; None if there are none."""
    nanos = defaultdict(int)
    for kind, begin, end, stream, _ in works:
        nanos[stream] += (end - begin) * (kind == "compute")
    return max(nanos, key=nanos.get) if any(nanos.values()) else None


def windows(works, steps):
    """Begin and end of each step on a device: steps follow each other without a gap."""
    main = main_stream(works)
    ends = [0] * (len(steps) + 1)  # the last one is what was launched before
    for kind, _, end, stream, step in works:
        if kind == "compute" and stream == main:
            ends[step] = max(ends[step], end)
    found, reached = [], ends[-1]
    for i, (_, begin, end) in enumerate(steps):
        first, reached = max(begin, reached), max(reached, ends[i])
        until = steps[i + 1][1] if i + 1 < len(steps) else end
        found.append((first, max(until, reached)))
    return found


def devices(path):
    """The timeline of each device: of the whole recording and of each step."""
    events, base = read(path)
    steps = steps_of(events)
    found = {}
    for device, works in sorted(works_of(events, steps).items()):
        begin, end = min(work[1] for work in works), max(work[2] for work in works)
        found[device] = {**sums(works), "begin": base + begin, **parts(works, begin, end)}
        found[device]["steps"] = [
            {
                "step": steps[i][0],
                "begin": base + first,
                **sums([work for work in works if work[4] == i]),
                **parts(works, first, last),
            }
            for i, (first, last) in enumerate(windows(works, steps) if steps else ())
        ]
    return found


if __name__ == "__main__":
    print(json.dumps({path: devices(path) for path in sys.argv[1:]}, indent=1))
