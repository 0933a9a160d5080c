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
from formats.wire_messages import Maker, span, varint
from sources.tf_files import FILES, MESSAGES, content
from tfprof.errors import InputError
from tfprof.formats import op_log, scan, step_stats
from tfprof.formats.messages import message_class
from tfprof.formats.records import Records

POOL = 400  # messages of each kind to start from
LONGEST = 1500  # bytes of the longest message to start from
SAMPLES = [name for name in FILES if not name.endswith("txt")]
EDGES = (0, 1, 2, 7, 8, 0x7F, 0x80, 0xFF)
LENGTHS = (0, 1, 127, 128, 2**14, 2**28, 2**31 - 1, 2**31, 2**32, 2**63, 2**64 - 1)


class Stacks:
    """The call stacks of an op log as a format of its own, separated by two bytes 0xFF."""

    @staticmethod
    def _scanned(data):
        return op_log._scanned_stacks(data.split(b"\xff\xff"))

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


def changed(chance: random.Random, pool: list[bytes]) -> bytes:
    """A message with a few changes."""
    data = bytearray(chance.choice(pool))
    for _ in range(chance.choice((0, 1, 1, 1, 2, 3))):
        chance.choice(CHANGES)(chance, data, pool)
    return bytes(data)


def flip(chance, data, _):
    if data:
        data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)


def overwrite(chance, data, _):
    if data:
        data[chance.randrange(len(data))] = chance.choice(EDGES)


def cut(chance, data, _):
    del data[chance.randrange(len(data) + 1) :]


def remove(chance, data, _):
    at = chance.randrange(len(data) + 1)
    del data[at : at + chance.randrange(1, 6)]


def insert(chance, data, _):
    at = chance.randrange(len(data) + 1)
    data[at:at] = chance.randbytes(chance.randrange(1, 4))


def repeat(chance, data, _):
    start = chance.randrange(len(data) + 1)
    piece = data[start : start + chance.randrange(1, 40)]
    at = chance.choice((start, chance.randrange(len(data) + 1)))
    data[at:at] = piece


def splice(chance, data, pool):
    other = chance.choice(pool)
    start = chance.randrange(len(other) + 1)
    at = chance.randrange(len(data) + 1)
    data[at : at + chance.choice((0, 4))] = other[start : start + chance.randrange(1, 40)]


def lengthen(chance, data, _):
    """Replace a byte with another length or number."""
    at = chance.randrange(len(data) + 1)
    data[at : at + 1] = varint(chance.choice(LENGTHS))


def wrap(chance, data, _):
    """Wrap a piece in a field with a correct length."""
    start = chance.randrange(len(data) + 1)
    end = min(len(data), start + chance.randrange(20))
    data[start:end] = span(chance.randrange(1, 20), bytes(data[start:end]))


CHANGES = (flip, flip, overwrite, cut, remove, insert, repeat, splice, lengthen, wrap)


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
