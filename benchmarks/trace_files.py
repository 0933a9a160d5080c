"""Writes large Kineto traces: two recorded training steps of a small GPT, many times over.

    python benchmarks/trace_files.py RECORDED.json.gz OUT.json --size 100e6

Every repetition has later times and ids of its own, so that the trace has the shape of a real one:
Python stacks and modules, ops with their inputs, calls of the CUDA runtime, kernels, memory events
and a thread for backward ops with sequence numbers.
"""

from __future__ import annotations

import argparse
import gzip
import re
from collections.abc import Iterator
from pathlib import Path

# What is different in each repetition, and by how much: the numbers of a repetition do not overlap
# with those of the next one. Times are in nanoseconds; PyTorch numbers ops in blocks of 512.
_KEYS = {
    "ts": 150_000_000,
    "id": 10_000,
    "External id": 20 * 512,
    "Record function id": 10_000,
    "Sequence number": 1_000,
    "correlation": 10_000,
    "Python id": 10_000,
    "Python parent id": 10_000,
    "Ev Idx": 20_000,
}
_NUMBER = re.compile(rf'("(?:{"|".join(_KEYS)})": )([0-9]+)(?:\.([0-9]{{3}}))?')
# The first frame of the program, during which a repetition takes place.
_FRAME = re.compile(
    r'"pid": ([0-9]+), "tid": ([0-9]+),\s*"ts": ([0-9.]+), "dur": ([0-9.]+),\s*"args": \{\s*'
    r'"Python parent id": null'
)
_STEP = """
  {{
    "ph": "X", "cat": "user_annotation", "name": "ProfilerStep#{number}",
    "pid": {pid}, "tid": {tid}, "ts": {ts}, "dur": {dur},
    "args": {{
      "Record function id": 0, "Ev Idx": 0
    }}
  }},"""


def pieces(recorded: str, size: int) -> Iterator[str]:
    """The text of a trace with about `size` bytes, in pieces."""
    start = recorded.index("[", recorded.index('"traceEvents"')) + 1
    # Names of threads and the event that ends the recording are written once.
    names = re.compile(r'\{\s*"name": "(?:process_|thread_)').search(recorded, start)
    end = len(recorded) if names is None else names.start()
    events = recorded[start:end]
    frame = _FRAME.search(events)
    place = dict(zip(("pid", "tid", "ts", "dur"), frame.groups(), strict=True)) if frame else {}
    yield recorded[:start]
    for number in range(max(1, round((size - len(recorded) + len(events)) / len(events)))):
        step = _STEP.format(number=number, **place) if place else ""
        yield _repeated(_NUMBER.split(step + events), number)
    yield recorded[end:]


def _repeated(parts: list[str], number: int) -> str:
    """The events with the times and ids of one repetition; `parts` has the text between them."""
    found = parts[:1]
    for at in range(1, len(parts), 4):
        key, whole, decimals, after = parts[at : at + 4]
        value = int(whole + (decimals or "")) + number * _KEYS[key[1:-3]]
        text = f"{value // 1000}.{value % 1000:03}" if decimals else str(value)
        found += (key, text, after)
    return "".join(found)


def write(recorded: Path, out: Path, size: int) -> None:
    """Write a trace of about `size` bytes; gzipped if the name says so."""
    text = gzip.decompress(recorded.read_bytes()).decode()
    with gzip.open(out, "wb", 6) if out.suffix == ".gz" else out.open("wb") as file:
        for piece in pieces(text, size):
            file.write(piece.encode())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("recorded", type=Path, metavar="RECORDED.json.gz")
    parser.add_argument("out", type=Path, metavar="OUT.json")
    parser.add_argument("--size", type=float, default=100e6, help="in bytes, unpacked (100e6)")
    args = parser.parse_args()
    write(args.recorded, args.out, int(args.size))


if __name__ == "__main__":
    main()
