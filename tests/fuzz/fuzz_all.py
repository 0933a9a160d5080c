"""Fuzzes all targets, as many at a time as there are cores; `make fuzz TIME=60` runs it.

    python tests/fuzz/fuzz_all.py --seconds 60 [--only TARGET]... [--jobs 2]

Prints the executions, the coverage (edges of Python code) and the findings of each target, and
stores findings, corpora and logs in `build/fuzz`. The status is 1 if there is a finding.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from hashlib import sha1
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "tests"))

from fuzz.targets import TARGETS  # noqa: E402 -- after the path is set

BUILD = ROOT / "build" / "fuzz"
HANG_SECONDS = 10
MOST_MEGABYTES = 2048


class Result(NamedTuple):
    """What a target did."""

    target: str
    executions: int
    coverage: int
    seconds: int
    findings: list[str]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=int, default=60, help="for each target")
    parser.add_argument("--only", choices=TARGETS, action="append", help="these targets only")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="targets at a time")
    options = parser.parse_args()
    names = options.only or list(TARGETS)
    print(
        f"{'target':20}{'executions':>12}{'per second':>12}{'coverage':>10}{'seconds':>9}  findings"
    )
    results = []
    with ThreadPoolExecutor(options.jobs) as pool:
        for result in pool.map(lambda name: fuzzed(name, options.seconds), names):
            results.append(result)
            show(result)
            with (BUILD / "runs.jsonl").open("a") as file:
                file.write(json.dumps(result._asdict()) + "\n")
    total = sum(result.executions for result in results)
    found = [path for result in results for path in result.findings]
    print(f"{total:,} executions of {len(results)} targets, {len(found)} findings")
    for path in found:
        print(path)
    return 1 if found else 0


def show(result: Result) -> None:
    rate = result.executions / max(result.seconds, 1)
    print(
        f"{result.target:20}{result.executions:12,}{rate:12,.0f}{result.coverage:10,}"
        f"{result.seconds:9,}  {len(result.findings)}",
        flush=True,
    )


def fuzzed(name: str, seconds: int) -> Result:
    """Fuzz one target; it is started again after a crash, until its time is over."""
    findings = BUILD / "findings" / name
    findings.mkdir(parents=True, exist_ok=True)
    began = time.monotonic()
    executions = coverage = 0
    for options in rounds(name, findings, began + seconds):
        log = started(name, findings, options)
        drop_stalls(name, findings)
        executions += last(rb"^#(\d+)", log)
        coverage = max(coverage, last(rb"cov: (\d+)", log))
    texts = sorted(path for path in findings.iterdir() if path.suffix != ".txt")
    paths = [str(path.relative_to(ROOT)) for path in texts]
    return Result(name, executions, coverage, round(time.monotonic() - began), paths)


def rounds(name: str, findings: Path, end: float) -> Iterator[list[str]]:
    """The options of libFuzzer for one start after the other."""
    corpus = written_corpus(name)
    while (left := round(end - time.monotonic())) > 0:
        if not TARGETS[name].is_guided:
            yield ["--random", str(left)]
            continue
        words = dictionary(name)
        yield [
            *(f"-max_total_time={left}", f"-timeout={HANG_SECONDS}", "-detect_leaks=0"),
            *(f"-rss_limit_mb={MOST_MEGABYTES}", f"-max_len={TARGETS[name].longest}"),
            *(f"-artifact_prefix={findings}/", *([f"-dict={words}"] if words else [])),
            str(corpus),
        ]


def started(name: str, findings: Path, options: list[str]) -> bytes:
    """The output of a process that fuzzes a target until it ends or crashes."""
    log = BUILD / f"{name}.log"
    with log.open("wb") as file:
        process(name, findings, options, file)
    data = log.read_bytes()
    if b"\n#" not in data:
        raise SystemExit(f"{name} could not be started; see {log}")
    return data


def drop_stalls(name: str, findings: Path) -> None:
    """Remove inputs during which the whole machine was busy: they take no processor time."""
    for path in findings.iterdir():
        is_time = path.name.startswith(("timeout-", "slow-unit-"))
        if is_time and process(name, findings, ["--once", str(path)], subprocess.DEVNULL) == 0:
            path.unlink()


def process(name: str, findings: Path, options: list[str], output: object) -> int:
    """Run a target in a process of its own, and return its status."""
    script = Path(__file__).with_name("fuzz_one.py")
    return subprocess.run(
        [sys.executable, script, name, str(findings), *options],
        stdout=output,
        stderr=output,
        check=False,
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT / "src"), "OPENBLAS_NUM_THREADS": "1"},
    ).returncode


def last(pattern: bytes, log: bytes) -> int:
    found = re.findall(pattern, log, re.MULTILINE)
    return int(found[-1]) if found else 0


def written_corpus(name: str) -> Path:
    """The folder of a target's corpus, to which its seeds are added."""
    folder = BUILD / "corpus" / name
    folder.mkdir(parents=True, exist_ok=True)
    for data in TARGETS[name].seeds():
        (folder / sha1(data, usedforsecurity=False).hexdigest()).write_bytes(data)
    return folder


def dictionary(name: str) -> Path | None:
    """The file with the words of a target, if it has any."""
    words = ["".join(rf"\x{byte:02x}" for byte in word) for word in TARGETS[name].words()]
    path = BUILD / f"{name}.dict"
    path.write_text("".join(f'"{word}"\n' for word in words))
    return path if words else None


if __name__ == "__main__":
    sys.exit(main())
