"""Compare the time of every op with XProf: `python benchmarks/xprof_times.py runs/a`.

XProf is TensorFlow's own viewer of recordings (`pip install xprof`). It is run by the interpreter
given with `--python`, so that it can be installed in an environment of its own. `--write FILE`
stores its numbers, with which the tests compare tfprof without XProf.

Both report the time of an op without other ops inside it on the same thread, over all steps.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

import numpy as np

import tfprof
from tfprof.measures.time import accelerator_nanos, cpu_nanos
from tfprof.model.ops import DATA_SCOPE, EAGER_SCOPE
from tfprof.sources.tf_events import iterator_name, op_name

# The tool with a row per op.
_TOOL = """
import sys
from xprof.convert import raw_to_tool_data
data, _ = raw_to_tool_data.xspace_to_tool_data([sys.argv[1]], "framework_op_stats", {})
open(sys.argv[2], "wb").write(data if isinstance(data, bytes) else data.encode())
"""
_IDLE = "IDLE"
# Differences below this are due to rounding: XProf prints three decimals.
_LEAST_MICROS = 0.002


class Compared(NamedTuple):
    """The time of one op over all steps, in microseconds."""

    op: str
    xprof: float
    tfprof: float

    @property
    def difference(self) -> float:
        """The difference as a share of XProf's time."""
        apart = abs(self.tfprof - self.xprof)
        return apart / max(self.xprof, 1e-9) if apart > _LEAST_MICROS else 0.0


def of_xprof(recording: Path, python: str) -> dict[str, float]:
    """The self time of each op as XProf reports it, by its name there."""
    with tempfile.TemporaryDirectory() as folder:
        # XProf keeps results next to a recording and uses them again for others in that folder.
        copied = shutil.copy(recording, Path(folder) / "host.xplane.pb")
        out = Path(folder) / "op_stats.json"
        words = [python, "-c", _TOOL, str(copied), str(out)]
        subprocess.run(words, check=True, capture_output=True)
        table = json.loads(out.read_text("utf-8"))[0]
    keys = [column["id"] for column in table["cols"]]
    found: dict[str, float] = {}
    for cells in table["rows"]:
        row = dict(zip(keys, (cell.get("v") for cell in cells["c"]), strict=True))
        if row["operation"] != _IDLE and row["total_self_time"]:
            found[row["operation"]] = found.get(row["operation"], 0.0) + row["total_self_time"]
    return found


def of_tfprof(profile: tfprof.Profile) -> dict[str, float]:
    """The time of each op over all steps, by the name under which XProf has it.

    XProf does not distinguish ops of the input pipeline from others of the same name.
    """
    columns = profile.columns
    nanos = np.zeros(len(columns.ops), np.int64)
    np.add.at(nanos, columns.records.op, accelerator_nanos(columns) + cpu_nanos(columns))
    is_iterator = columns.ops.is_iterator()
    found: dict[str, float] = {}
    for op in np.flatnonzero(nanos).tolist():
        name = columns.ops.name[op]
        key = name if is_iterator[op] else name.removeprefix(f"{DATA_SCOPE}/")
        found[key] = found.get(key, 0.0) + int(nanos[op]) / 1000
    return found


def renamed(xprof: dict[str, float]) -> dict[str, float]:
    """XProf's times by the names that tfprof uses."""
    found: dict[str, float] = {}
    for name, micros in xprof.items():
        key = iterator_name(name) or op_name(name)
        found[key] = found.get(key, 0.0) + micros
    return found


def compared(xprof: dict[str, float], profile: tfprof.Profile) -> list[Compared]:
    """Every op that both report, the longest first."""
    theirs, ours = renamed(xprof), of_tfprof(profile)
    both = [Compared(op, theirs[op], ours[op]) for op in theirs.keys() & ours.keys()]
    return sorted(both, key=lambda one: -one.xprof)


def unmatched(xprof: dict[str, float], profile: tfprof.Profile) -> tuple[list[str], list[str]]:
    """The ops that only XProf reports, and those that only tfprof does."""
    theirs, ours = renamed(xprof), of_tfprof(profile)
    return sorted(theirs.keys() - ours.keys()), sorted(ours.keys() - theirs.keys())


def main() -> None:
    """Print the comparison."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("recording", type=Path, help="a folder or an *.xplane.pb file")
    parser.add_argument("--python", default=sys.executable, help="an interpreter that has XProf")
    parser.add_argument("--write", type=Path, help="store the numbers of XProf in this file")
    given = parser.parse_args()
    is_file = given.recording.is_file()
    (path,) = [given.recording] if is_file else given.recording.rglob("*.xplane.pb")
    xprof, profile = of_xprof(path, given.python), tfprof.load(path)
    if given.write:
        given.write.write_text(json.dumps(dict(sorted(xprof.items())), indent=1) + "\n")
    rows = compared(xprof, profile)
    print(f"{'XProf us':>12}  {'tfprof us':>12}  {'difference':>10}  op")
    for row in rows:
        print(f"{row.xprof:12.3f}  {row.tfprof:12.3f}  {row.difference:10.3%}  {row.op}")
    theirs, ours = unmatched(xprof, profile)
    worst = max((row.difference for row in rows), default=0.0)
    print(f"{len(rows)} ops in both; largest difference {worst:.3%}.")
    print(f"Only in XProf: {', '.join(theirs) or 'none'}.")
    print(f"Only in tfprof: {', '.join(ours) or 'none'} (`{EAGER_SCOPE}/`: outside functions).")


if __name__ == "__main__":
    main()
