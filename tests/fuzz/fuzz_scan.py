"""Searches for files that a scan reads differently from protobuf. Not part of the test suite.

    python tests/fuzz/fuzz_scan.py --count 1000000

Valid messages of all kinds are changed as damage or an attacker would change them. A scan must read
them as protobuf does. The first file for which it does not is reduced and printed, and the status
is 1. `CONTRIBUTING.md` explains how to run this with sanitizers.
"""

import argparse
import random
import sys
import time
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from formats.scan_agreement import FORMATS, plain
from formats.wire_messages import Maker
from fuzz.mutations import changed
from sources.tf_files import FILES, MESSAGES, content
from tfprof.errors import InputError
from tfprof.formats import op_log, scan, step_stats
from tfprof.formats.messages import message_class
from tfprof.formats.records import Records

POOL = 400  # messages of each kind to start from
LONGEST = 1500  # bytes of the longest message to start from
SAMPLES = [name for name in FILES if not name.endswith("txt")]


class Stacks:
    """The call stacks of an op log as a format of its own, separated by two bytes 0xFF."""

    @staticmethod
    def _scanned(data):
        found = op_log._scanned_stacks(data.split(b"\xff\xff"))
        return None if found is None else [list(stack) for stack in found]

    @staticmethod
    def _parsed(records):
        reader = op_log.StackReader(records.path, {})
        return [reader._parsed(stack) for stack in records.data.split(b"\xff\xff")]


READERS = {kind.name: reader for kind, reader in FORMATS.items()} | {
    "STACKS": Stacks,
    "STEP": step_stats,  # reads a RunMetadata for a timeline
}
NAMES = {kind.name: name for kind, name in MESSAGES.items()} | {
    "STACKS": "tensorflow.tfprof.CodeDef",
    "STEP": "tensorflow.RunMetadata",
}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=100_000, help="files to try, over all kinds")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--kind", choices=READERS, action="append", help="these kinds only")
    options = parser.parse_args()
    kinds = options.kind or list(READERS)
    pools = {kind: messages(kind, options.seed) for kind in kinds}
    chance = random.Random(options.seed)  # noqa: S311 -- for tests
    outcomes = Counter()
    began = time.monotonic()
    for turn in range(options.count):
        kind = kinds[turn % len(kinds)]
        data = changed(chance, pools[kind])
        outcome = compare(kind, data)
        outcomes[kind, outcome] += 1
        if outcome == "differs":
            print(f"turn {turn:,}: {kind} {smallest(kind, data)!r}")
            return 1
    print(f"{options.count:,} files in {time.monotonic() - began:.0f} s, scanner", end=" ")
    print("compiled" if scan.is_compiled() else "as plain Python")
    for (kind, outcome), count in sorted(outcomes.items()):
        print(f"{kind:8} {outcome:8} {count:9,}")
    return 0


def messages(kind: str, seed: int) -> list[bytes]:
    """Valid messages; a scan reads most of them."""
    found = [content(name) for name in SAMPLES if FILES[name].name == kind]
    found = [data for data in found if len(data) <= LONGEST]
    descriptor = message_class(NAMES[kind]).DESCRIPTOR
    maker, odd = Maker(seed), Maker(seed, oddity=0.03)
    while len(found) < POOL:
        data = (odd if len(found) % 4 == 0 else maker).message(descriptor)
        if len(data) <= LONGEST and (len(found) % 4 == 0 or compare(kind, data) == "agrees"):
            found.append(data)
    return found


def compare(kind: str, data: bytes) -> str:
    """Whether a scan agrees with protobuf, differs from it, or leaves the file to it."""
    found = READERS[kind]._scanned(data)
    if found is None:
        return "left"  # to protobuf, so there is nothing to compare
    try:
        expected = READERS[kind]._parsed(Records("file", data))
    except InputError:
        return "differs"
    return "agrees" if plain(found) == plain(expected) else "differs"


def smallest(kind: str, data: bytes) -> bytes:
    """A shorter file for which the readers still differ."""
    size = len(data) // 2
    while size:
        at = 0
        while at < len(data):
            shorter = data[:at] + data[at + size :]
            if compare(kind, shorter) == "differs":
                data = shorter
            else:
                at += size
        size //= 2
    return data


if __name__ == "__main__":
    sys.exit(main())
