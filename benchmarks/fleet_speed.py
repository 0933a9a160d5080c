"""Measures collecting the traces of many hosts and asking the store, and writes a section of docs.

    python benchmarks/fleet_speed.py WORK_DIR --hosts 256 --megabytes 20 [--write] [--hta PYTHON]

Everything runs in processes of its own on the same machine, one after the other: loading the files
one by one, collecting a tenth of them and all of them, and questions to the store. With --hta, a
Python in which HolisticTraceAnalysis is installed, it reads as many events of as many ranks from
traces of PyTorch, since it does not read those of TensorFlow.
"""

from __future__ import annotations

import argparse
import shutil
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import fleet_kineto
from fleet_job import Job
from phases import Measure
from processes import run

import fleet

_PAGE = Path(__file__).parents[1] / "docs" / "explanation" / "fleet-sizes.md"
_BEGIN, _END = "<!-- figures -->", "<!-- end of figures -->"
_LOAD = "import sys, tfprof\nfor path in sys.argv[1:]: tfprof.load(path)"
_HTA = """
import sys
from hta.trace_analysis import TraceAnalysis
TraceAnalysis(trace_dir=sys.argv[1]).get_temporal_breakdown(visualize=False)
"""
_QUESTIONS = {
    "`tfprof ranks`": ("ranks",),
    "`tfprof scope`": ("scope", "-order_by", "micros"),
    "`tfprof op -step N`": ("op", "-order_by", "micros", "-step", "105"),
}
_HTA_HOSTS = 8
# Of the table of sizes.
_FLEETS = (16, 256, 1024, 4096)
_TRACES = (20, 100)
_WORKERS = (2, 16, 128)


@dataclass(frozen=True)
class Row:
    """One line of the table."""

    task: str
    hosts: int
    read: int  # bytes
    measure: Measure

    def cells(self) -> tuple[str, ...]:
        speed = self.read / 1e6 / self.measure.seconds
        return (
            self.task,
            f"{self.hosts:,}",
            f"{self.measure.seconds:,.2f}",
            f"{speed:,.0f}" if self.read else "",
            f"{self.measure.peak_mb:,.0f}",
        )


def measured(folder: Path, paths: Sequence[Path], jobs: int) -> Iterator[Row]:
    """Load the files, collect some and all of them, and ask questions."""
    some = paths[:: max(len(paths) // max(len(paths) // 10, 1), 1)][: max(len(paths) // 10, 1)]
    load = [sys.executable, "-c", _LOAD, *map(str, some)]
    yield Row("load the files one by one", len(some), _size(some), run(load, output=folder / "out"))
    for chosen in (some, paths):
        store = folder / "store"
        shutil.rmtree(store, ignore_errors=True)
        listed = folder / "chosen"
        shutil.rmtree(listed, ignore_errors=True)
        listed.mkdir()
        for path in chosen:
            (listed / path.name).hardlink_to(path)
        command = _tfprof("collect", listed, "--outfile", store, "--jobs", jobs)
        yield Row(
            f"`tfprof collect --jobs {jobs}`",
            len(chosen),
            _size(chosen),
            run(command, output=folder / "out"),
        )
    for name, (kind, *options) in _QUESTIONS.items():
        command = _tfprof(kind, folder / "store", *options)
        yield Row(name, len(paths), 0, run(command, output=folder / "out"))


def compared(folder: Path, python: str, jobs: int) -> Iterator[Row]:
    """HolisticTraceAnalysis and tfprof on the same number of events of the same number of hosts."""
    job = Job(hosts=_HTA_HOSTS, steps=10, has_gpu=True)
    job = fleet.of_size(job, 5)
    paths = fleet.generate(folder / "tensorflow", job)
    events = _events(job)
    ranks = fleet_kineto.generate(folder / "pytorch", _HTA_HOSTS, events)
    shutil.rmtree(folder / "peer", ignore_errors=True)
    collect = _tfprof("collect", folder / "tensorflow", "--outfile", folder / "peer")
    collected = run([*collect, "--jobs", str(jobs)], output=folder / "out")
    asked = run(_tfprof("ranks", folder / "peer"), output=folder / "out")
    both = Measure(collected.seconds + asked.seconds, max(collected.peak_mb, asked.peak_mb))
    name = f"{events:,} events each: "
    yield Row(f"{name}`tfprof collect` and `ranks`", len(paths), _size(paths), both)
    hta = run([python, "-W", "ignore", "-c", _HTA, str(folder / "pytorch")], output=folder / "out")
    yield Row(f"{name}HolisticTraceAnalysis", len(ranks), _size(ranks), hta)


def _events(job: Job) -> int:
    """How many events a trace of the job has: of each run, one on a thread and one on a GPU."""
    return 2 * len(job.program.op) * job.steps


def _tfprof(*words: object) -> list[str]:
    return [sys.executable, "-m", "tfprof", *map(str, words)]


def _size(paths: Sequence[Path]) -> int:
    return sum(path.stat().st_size for path in paths)


def table(rows: Sequence[Row]) -> str:
    """The figures as Markdown."""
    lines = [
        "| task | hosts | seconds | MB/s of traces | peak MB of a process |",
        "|---|--:|--:|--:|--:|",
        *(f"| {' | '.join(row.cells())} |" for row in rows),
    ]
    return "\n".join(lines)


def sizes(collected: Row, jobs: int, kept: float) -> str:
    """How long collecting takes for other numbers of hosts and workers, from the measured rate."""
    rate = collected.read / collected.measure.seconds / jobs  # bytes per second and worker
    lines = [
        f"One worker collects {rate / 1e6:.0f} MB/s. With that rate:",
        "",
        "| hosts | MB per trace | traces | "
        + " | ".join(f"{workers} workers" for workers in _WORKERS)
        + " | store |",
        "|--:|--:|--:|" + "--:|" * len(_WORKERS) + "--:|",
    ]
    for hosts in _FLEETS:
        for each in _TRACES:
            whole = hosts * each * 1e6
            times = (_duration(whole / rate / min(workers, hosts)) for workers in _WORKERS)
            cells = (f"{hosts:,}", f"{each:,}", f"{whole / 1e9:,.1f} GB", *times)
            lines.append(f"| {' | '.join(cells)} | {kept * whole / 1e6:,.0f} MB |")
    return "\n".join(lines)


def _duration(seconds: float) -> str:
    for unit, length in (("h", 3600), ("min", 60)):
        if seconds >= 1.5 * length:
            return f"{seconds / length:,.1f} {unit}"
    return f"{max(seconds, 1):,.0f} s"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path, metavar="WORK_DIR")
    parser.add_argument("--hosts", type=int, default=256)
    parser.add_argument("--megabytes", type=float, default=20.0, help="size of each trace (20)")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--hta", default="", metavar="PYTHON")
    parser.add_argument("--write", action="store_true", help="write the table to the docs")
    args = parser.parse_args()
    args.folder.mkdir(parents=True, exist_ok=True)
    job = Job(hosts=args.hosts, steps=10, has_gpu=True)
    job = fleet.of_size(job, args.megabytes)
    paths = fleet.generate(args.folder / "traces", job, processes=args.jobs)
    rows = list(measured(args.folder, paths, args.jobs))
    store = _size([path for path in (args.folder / "store").rglob("*") if path.is_file()])
    if args.hta:
        rows += compared(args.folder, args.hta, args.jobs)
    whole = _size(paths)
    text = (
        f"{table(rows)}\n\nThe traces of {args.hosts:,} hosts have {whole / 1e9:.2f} GB, the store "
        f"{store / 1e6:.1f} MB ({100 * store / whole:.1f} %)."
    )
    collected = next(row for row in rows if row.hosts == len(paths) and row.read)
    text += "\n\n" + sizes(collected, args.jobs, store / whole)
    print(text)
    if args.write:
        page = _PAGE.read_text("utf-8")
        before, _, rest = page.partition(_BEGIN)
        _, _, after = rest.partition(_END)
        _PAGE.write_text(f"{before}{_BEGIN}\n\n{text}\n\n{_END}{after}", "utf-8")


if __name__ == "__main__":
    main()
