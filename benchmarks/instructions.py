"""Counts the instructions that tfprof takes and compares them with the baseline.

    python benchmarks/instructions.py check|baseline

Unlike time, instruction counts hardly depend on how busy the machine is. `check` exits with 1 if a
count has grown beyond the tolerance, and with 2 if it cannot be compared with `baseline.json`.
`baseline` rewrites that file.
"""

from __future__ import annotations

import argparse
import os
import platform
import shutil
import subprocess
import sys
from collections.abc import Sequence
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory

from baseline import Baseline, Count, compare
from bytecode import compile_sources
from generate import Files, generate
from phases import Job, reported
from tasks import LOAD_TEXT, RUNS, Session

_HERE = Path(__file__).resolve().parent
_BASELINE = _HERE / "baseline.json"
_SMALL, _LARGE = 5_000, 10_000
_QUESTIONS = [
    question for process in RUNS if isinstance(process, Session) for question in process.questions
]
# Removes differences between runs.
_STEADY = {"PYTHONHASHSEED": "0", "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("action", choices=["check", "baseline"])
    action = parser.parse_args().action
    if shutil.which("valgrind") is None:
        print("Counting instructions requires valgrind: apt install valgrind.", file=sys.stderr)
        return 2
    compile_sources()
    if action == "baseline":
        Baseline(environment(), count()).write(_BASELINE)
        print(f"Wrote {_BASELINE.relative_to(_HERE.parent)}.")
        return 0
    held = Baseline.read(_BASELINE)
    if held.environment != environment():
        print(
            f"The baseline was measured with {_listed(held.environment)}; this is "
            f"{_listed(environment())}. Write a baseline from unchanged sources first: "
            "make bench-baseline.",
            file=sys.stderr,
        )
        return 2
    comparison = compare(held.counts, count())
    print(comparison.report)
    return 1 if comparison.has_grown else 0


def environment() -> dict[str, str]:
    """What the counts depend on besides tfprof's own sources."""
    return {
        "Python": ".".join(platform.python_version_tuple()[:2]),
        "numpy": ".".join(version("numpy").split(".")[:2]),
        "machine": platform.machine(),
        "compiled modules": _compiled_modules(),
    }


def _compiled_modules() -> str:
    spec = find_spec("tfprof")
    folders = (spec and spec.submodule_search_locations) or []
    return "yes" if any(any(Path(folder).rglob("*.so")) for folder in folders) else "no"


def _listed(facts: dict[str, str]) -> str:
    return ", ".join(f"{name} {fact}" for name, fact in facts.items())


def count() -> dict[str, Count]:
    """The instructions that each task takes now."""
    with TemporaryDirectory(prefix="tfprof-instructions-") as scratch:
        folder = Path(scratch)
        (bare,) = _callgrind(folder, ["-c", "pass"])
        (helped,) = _callgrind(folder, ["-m", "tfprof", "--help"])
        small, large = (_phases(folder / str(ops), ops) for ops in (_SMALL, _LARGE))
    counts = {
        "command: --help": Count(helped - bare),
        "import": Count(large.pop("import") - bare),
    }
    for task, instructions in large.items():
        counts[task] = Count(instructions, (instructions - small[task]) / (_LARGE - _SMALL))
    return counts


def _phases(folder: Path, ops: int) -> dict[str, int]:
    """The instructions of each phase on a model of this size."""
    files = generate(folder, ops, with_text=True)
    questions = [question.as_dict(folder / "answer") for question in _QUESTIONS]
    return {
        **_session(files, LOAD_TEXT, files.graph_text, ()),
        **_session(files, "load", files.graph, questions),
    }


def _session(files: Files, load: str, graph: Path, questions: Sequence[dict]) -> dict[str, int]:
    job = Job(load, str(graph), str(files.run_meta), str(files.op_log), questions)
    command = [str(_HERE / "ours.py"), job.argument()]
    printed = _plain(command)
    return dict(zip(reported(printed), _callgrind(files.folder, command), strict=False))


def _plain(arguments: Sequence[str]) -> str:
    """Run Python and return what it prints; also writes the byte code of all modules."""
    return subprocess.run(
        [sys.executable, *arguments],
        check=True,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, **_STEADY},
    ).stdout


def _callgrind(folder: Path, arguments: Sequence[str]) -> list[int]:
    """Run Python under callgrind and return the instructions of each phase."""
    _plain(arguments)
    for old in folder.glob("callgrind*"):
        old.unlink()
    subprocess.run(
        [
            "valgrind",
            "--quiet",
            "--tool=callgrind",
            "--dump-before=getpgrp",
            f"--callgrind-out-file={folder / 'callgrind'}",
            sys.executable,
            *arguments,
        ],
        check=True,
        stdout=subprocess.DEVNULL,
        env={**os.environ, **_STEADY},
    )
    parts = sorted(folder.glob("callgrind.*"), key=lambda path: int(path.suffix[1:]))
    return [_instructions(path) for path in parts or [folder / "callgrind"]]


def _instructions(path: Path) -> int:
    with path.open() as lines:
        return next(int(line.split()[1]) for line in lines if line.startswith("summary:"))


if __name__ == "__main__":
    sys.exit(main())
