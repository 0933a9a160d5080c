"""Measures `tfprof scope` with large traces of PyTorch, beside other programs that read them.

    python benchmarks/trace_speed.py [--sizes 1e8,1e9] [--peers PYTHON] [--write docs/benchmarks.md]

PYTHON is an interpreter with HolisticTraceAnalysis and msgspec; a program that it cannot import is
left out. Exits with 1 if a target is missed.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import NamedTuple

from bytecode import compile_sources
from page_section import TRACES, replaced
from phases import Measure
from processes import in_new_process, run
from results import busy_note
from tasks import MAX_GROWTH
from trace_files import write

_HERE = Path(__file__).resolve().parent
RECORDED = _HERE.parent / "tests" / "samples" / "h200" / "gpt.json.gz"
OURS, HTA = "`tfprof scope`", "HolisticTraceAnalysis"
# The module that a program needs, and its name in `trace_peers.py`.
PEERS = {HTA: ("hta", "hta"), "`json.load`": ("json", "json"), "msgspec": ("msgspec", "msgspec")}

# The targets for a trace of this size, and for ten times this size.
TARGET_BYTES, MAX_SECONDS, MAX_MB, LARGE_MB = 100_000_000, 3.0, 600.0, 3000.0
FASTER_THAN_HTA = 10

_HEADINGS = ("trace", "program", "s", "CPU s", "MB", "CPU time, tfprof = 1")


class Row(NamedTuple):
    """The medians of one program for one file."""

    size: int  # unpacked bytes, about
    is_packed: bool
    program: str
    taken: Measure

    @property
    def file(self) -> str:
        return f"{self.size / 1e6:,.0f} MB{', gzipped' if self.is_packed else ''}"


def main() -> int:
    args = _arguments()
    compile_sources()
    programs = {name: row for name, row in PEERS.items() if _has(args.peers, row[0])}
    rows = [row for size in args.sizes for row in measured(size, args.repeat, args.peers, programs)]
    missed = list(shortfalls(rows))
    left_out = [
        f"{name} was not measured: it is not installed." for name in PEERS.keys() - programs
    ]
    text = "\n".join(
        [
            *(_introduction(args.repeat), table(rows), ""),
            *(missed or ["All targets are met."]),
            *sorted(left_out),
            "",
        ]
    )
    print(text)
    if args.write:
        page = args.write.read_text("utf-8")
        args.write.write_text(replaced(page, TRACES, text), encoding="utf-8")
    return 1 if missed else 0


def _has(python: str, module: str) -> bool:
    """Whether an interpreter has a module."""
    code = f"import importlib.util, sys; sys.exit(not importlib.util.find_spec({module!r}))"
    return subprocess.run([python, "-c", code], check=False).returncode == 0


def measured(
    size: int, repeat: int, python: str, programs: dict[str, tuple[str, str]]
) -> Iterator[Row]:
    """The figures of one size, plain and gzipped; the programs take turns."""
    script = str(_HERE / "trace_peers.py")
    with TemporaryDirectory(prefix="tfprof-traces-") as scratch:
        printed = Path(scratch, "printed")
        for name in ("trace.json", "trace.json.gz"):
            path = Path(scratch, name)
            in_new_process(write, RECORDED, path, size)
            commands = {
                OURS: [sys.executable, "-m", "tfprof", "scope", str(path), "-max_depth", "3"]
            }
            for program, (_, peer) in programs.items():
                commands[program] = [python, "-W", "ignore", script, peer, str(path)]
            taken: dict[str, list[Measure]] = {program: [] for program in commands}
            for turn in range(repeat):
                for program, command in commands.items():
                    if turn == 0 or program == OURS or size <= TARGET_BYTES:
                        taken[program].append(run(command, output=printed))
            for program, measures in taken.items():
                yield Row(size, path.suffix == ".gz", program, _median(measures))
            path.unlink()


def _median(taken: Sequence[Measure]) -> Measure:
    return Measure(
        median(one.seconds for one in taken),
        median(one.peak_mb for one in taken),
        median(one.cpu_seconds for one in taken),
    )


def shortfalls(rows: Sequence[Row]) -> Iterator[str]:
    """The targets that are missed, in sentences."""
    found = {(row.size, row.is_packed, row.program): row.taken for row in rows}
    for row in rows:
        if row.program != OURS:
            continue
        seconds, megabytes = row.taken.seconds, row.taken.peak_mb
        what = f"{OURS} of {row.file}"
        is_small = row.size <= TARGET_BYTES
        if is_small and seconds >= MAX_SECONDS:
            yield f"**Not met**: {what} takes {seconds:.1f} s, not {MAX_SECONDS:g} s."
        if megabytes >= (most := MAX_MB if is_small else LARGE_MB):
            yield f"**Not met**: {what} takes {megabytes:.0f} MB, not {most:g} MB."
        used = row.taken.cpu_seconds
        hta = found.get((row.size, row.is_packed, HTA))
        if hta and hta.cpu_seconds < FASTER_THAN_HTA * used:
            ratio = hta.cpu_seconds / used
            yield f"**Not met**: {what} is only {ratio:.1f} times as fast as {HTA}."
        small = found.get((row.size // 10, row.is_packed, OURS))
        if small and used >= MAX_GROWTH * small.cpu_seconds:
            growth = used / small.cpu_seconds
            yield f"**Not met**: {what} takes {growth:.1f} times as long as a tenth of it."


def table(rows: Sequence[Row]) -> str:
    """The figures as Markdown."""
    ours = {row.file: row.taken.cpu_seconds for row in rows if row.program == OURS}
    lines = [_HEADINGS, ("--:", "---", *(["--:"] * 4))]
    for row in rows:
        taken = row.taken
        figures = (f"{taken.seconds:.2f}", f"{taken.cpu_seconds:.2f}", f"{taken.peak_mb:,.0f}")
        ratio = f"{taken.cpu_seconds / ours[row.file]:.1f}"
        lines.append((row.file, row.program, *figures, ratio))
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


def _introduction(repeat: int) -> str:
    text = Path(__file__).with_name("trace_template.md").read_text("utf-8")
    text = text.format(
        date=datetime.now(UTC).date().isoformat(),
        repeat=repeat,
        size=f"{TARGET_BYTES / 1e6:.0f}",
        seconds=MAX_SECONDS,
        megabytes=MAX_MB,
        growth=MAX_GROWTH,
        large=LARGE_MB,
    )
    return "\n".join([text, *(f"{note}\n" for note in busy_note())])


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sizes", type=_sizes, default="1e8,1e9", help="in bytes (1e8,1e9)")
    parser.add_argument("--repeat", type=int, default=3, help="runs; the median counts (3)")
    parser.add_argument("--peers", default=sys.executable, metavar="PYTHON", help="(this one)")
    parser.add_argument("--write", type=Path, metavar="FILE", help="page with the section")
    return parser.parse_args()


def _sizes(text: str) -> list[int]:
    return sorted({int(float(size)) for size in text.split(",")})


if __name__ == "__main__":
    sys.exit(main())
