"""Compares tfprof with an independent program on folders of PyTorch traces.

    python scripts/compare_traces.py FOLDER…

`tests/independent/device_timeline.py` computes from the JSON what each accelerator did. Prints a
line per trace with kernels, and what tfprof says otherwise; exits with 1 if there is anything.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import tfprof
from tfprof.errors import TfprofError

sys.path.append(str(Path(__file__).parents[1] / "tests"))

from independent import device_timeline


def differences(path: str | Path) -> Iterator[str]:
    """What tfprof says about a trace, and what the independent program says, if they differ."""
    wanted = device_timeline.devices(path)
    profile = tfprof.load(path)
    columns = profile.columns
    on_lane = columns.devices.is_accelerator_lane[columns.executions.device]
    found = {
        "kernels": int(on_lane.sum()),
        "kernel_sum": int(columns.executions.duration_ns[on_lane].sum()),
        "copies": len(columns.copies),
        "copy_sum": int(columns.copies.duration_ns.sum()),
    }
    for name, number in found.items():
        right = sum(device[name] for device in wanted.values())
        if number != right:
            yield f"{name}: {number:,}, not {right:,}"


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
