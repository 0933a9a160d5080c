"""Compares tfprof with independent programs on folders of PyTorch traces.

    python scripts/compare_traces.py FOLDER…

The programs are in `tests/independent`, and compute from the JSON

- devices: what each accelerator did in the whole recording, and in each step of the program,
- phases: the time of kernels by phase,
- modules: the time of kernels by module, if Python calls were recorded.

Prints a line per trace with kernels, and what tfprof says otherwise; exits with 1 if there is
anything.
"""

from __future__ import annotations

import re
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import tfprof
from tfprof.errors import TfprofError
from tfprof.model.ops import Phase

sys.path.append(str(Path(__file__).parents[1] / "tests"))

from independent import device_timeline
from independent import kernel_modules as modules
from independent import kernel_phases as phases


def differences(path: str | Path) -> list[str]:
    """What tfprof says about a trace, and what the independent programs say, if they differ."""
    return [line for lines in compared(path).values() for line in lines or ()]


def compared(path: str | Path) -> dict[str, list[str] | None]:
    """The differences in each respect; None if the trace has nothing to compare."""
    profile = tfprof.load(path)
    kernels = modules.nanos(path)
    by_class = _different_sums("modules", _modules(profile), _by_class(kernels.items()))
    return {
        "devices": list(_different_devices(profile, device_timeline.devices(path))),
        "phases": list(_different_sums("phases", _phases(profile), phases.nanos(path))),
        "modules": list(by_class) if any(kernels) else None,
    }


def _different_devices(profile: tfprof.Profile, devices: Mapping[int, Any]) -> Iterator[str]:
    columns = profile.columns
    on_lane = columns.devices.is_accelerator_lane[columns.executions.device]
    found = {
        "kernels": int(on_lane.sum()),
        "kernel_sum": int(columns.executions.duration_ns[on_lane].sum()),
        "copies": len(columns.copies),
        "copy_sum": int(columns.copies.duration_ns.sum()),
    }
    wanted = {name: sum(one[name] for one in devices.values()) for name in found}
    yield from _different("all", found, wanted)
    yield from _different_steps(profile.step_times().to_dict(), devices)


def _phases(profile: tfprof.Profile) -> Counter[str]:
    phase = profile.columns.phase
    return _sums((Phase(phase[op]).name.lower(), took) for op, took in _kernels(profile))


def _modules(profile: tfprof.Profile) -> Counter[str]:
    layers, layer = profile.columns.layers, profile.columns.ops.layer
    rows = _sums((layer[op], took) for op, took in _kernels(profile))
    names = ((layers.name[row] if row >= 0 else "", took) for row, took in rows.items())
    return _by_class(names)


def _kernels(profile: tfprof.Profile) -> Iterator[tuple[int, int]]:
    """The op and the time of each kernel."""
    columns = profile.columns
    on_lane = columns.devices.is_accelerator_lane[columns.executions.device]
    ops = columns.records.op[columns.executions.record[on_lane]]
    return zip(ops.tolist(), columns.executions.duration_ns[on_lane].tolist(), strict=True)


def _sums(rows: Iterable[tuple[Any, int]]) -> Counter[Any]:
    found: Counter[Any] = Counter()
    for key, took in rows:
        found[key] += took
    return +found


def _by_class(rows: Iterable[tuple[str, int]]) -> Counter[str]:
    """How many modules have a time, by the classes of what calls them; their numbers may differ."""
    found: Counter[str] = Counter()
    for path, took in rows:
        classes = (re.sub(r"(_\d+)?(#\d+)?$", "", name) for name in path.split("/"))
        found[f"{'/'.join(classes) or 'none'} of {took:,} ns"] += took > 0
    return +found


def _different_steps(answer: Mapping[str, Any], devices: Mapping[int, Any]) -> Iterator[str]:
    whole = answer["summaries"][0]["accelerators"]
    for device, wanted in devices.items():
        name = f"cuda:{device}"
        if name not in whole:  # it only copied
            continue
        yield from _different(name, _times(whole[name]), wanted)
        steps = {one["step"]: one for one in answer["steps"]}
        for right in wanted["steps"]:
            at = f"step {right['step']} on {name}"
            ours = steps.get(right["step"], {}).get("accelerators", [])
            rows = [row for row in ours if row["device"] == name]
            if not rows and right["kernels"]:
                yield f"{at}: missing"
            for row in rows:
                yield from _different(at, _times(row["own"]) | _launched(row), right)


def _times(row: Mapping[str, Any]) -> dict[str, int]:
    return {
        "begin": row["start_ns"],
        "wall": row["wall_ns"],
        "compute": sum(row["computing_ns"].values()),
        "exposed_communication": row["exposed_communication_ns"],
        "exposed_copies": row["exposed_copies_ns"],
        "idle": sum(row["idle_ns"].values()) + row["unassigned_ns"],
        "overlapped_communication": row["overlapped_communication_ns"],
    }


def _launched(row: Mapping[str, Any]) -> dict[str, int]:
    return {
        "kernels": row["kernels"],
        "kernel_sum": sum(row["kernel_ns"].values()),
        "copies": row["transfers"],
        "copy_sum": sum(row["transfer_ns"].values()),
    }


def _different(what: str, found: Mapping[str, int], wanted: Mapping[str, int]) -> Iterator[str]:
    for name, number in found.items():
        if number != wanted[name]:
            yield f"{what}: {name} {number:,}, not {wanted[name]:,}"


def _different_sums(what: str, found: Counter[str], wanted: Counter[str]) -> Iterator[str]:
    yield from _different(what, {name: found[name] for name in {**found, **wanted}}, wanted)


def main() -> int:
    """Compare all files in the folders."""
    wrong = 0
    print("kernels  devices    phases     modules    trace")
    for path in sorted(file for folder in sys.argv[1:] for file in Path(folder).rglob("*.json*")):
        try:
            devices = device_timeline.devices(path)
        except (ValueError, KeyError, TypeError):  # no trace
            continue
        if not devices:
            continue
        kernels = sum(one["kernels"] for one in devices.values())
        try:
            found = compared(path)
        except TfprofError as error:
            found = {"error": [str(error)]}
        words = {None: "-", True: "different", False: "same"}
        results = (words[lines if lines is None else bool(lines)] for lines in found.values())
        print(f"{kernels:7,}  {' '.join(f'{word:10}' for word in results)} {path}", flush=True)
        lines = [line for lines in found.values() for line in lines or ()]
        print("".join(f"{'':9}{line}\n" for line in lines[:20]), end="")
        wrong += bool(lines)
    return min(wrong, 1)


if __name__ == "__main__":
    sys.exit(main())
