"""Compares tfprof with an independent program on folders of PyTorch traces.

    python scripts/compare_traces.py FOLDER…

`tests/independent/device_timeline.py` computes from the JSON what each accelerator did: in the
whole recording, and in each step that the program marked. Prints a line per trace with kernels,
and what tfprof says otherwise; exits with 1 if there is anything.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import tfprof
from tfprof.errors import TfprofError

sys.path.append(str(Path(__file__).parents[1] / "tests"))

from independent import device_timeline


def differences(path: str | Path) -> Iterator[str]:
    """What tfprof says about a trace, and what the independent program says, if they differ."""
    devices = device_timeline.devices(path)
    profile = tfprof.load(path)
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


def main() -> int:
    """Compare all files in the folders."""
    wrong = 0
    for path in sorted(file for folder in sys.argv[1:] for file in Path(folder).rglob("*.json*")):
        try:
            if not device_timeline.devices(path):
                continue
        except (ValueError, KeyError, TypeError):  # no trace
            continue
        try:
            found = list(differences(path))
        except TfprofError as error:
            found = [str(error)]
        print(f"{path}: {'; '.join(found) or 'same'}", flush=True)
        wrong += bool(found)
    return min(wrong, 1)


if __name__ == "__main__":
    sys.exit(main())
