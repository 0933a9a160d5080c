"""Searches for traces that the scanner reads differently from `json`. Not part of the test suite.

    python tests/fuzz/fuzz_traces.py --count 100000

Small traces are damaged at random. `CONTRIBUTING.md` explains how to run this with sanitizers.
"""

import argparse
import sys
import time
from pathlib import Path
from random import Random

sys.path.insert(0, str(Path(__file__).parents[1]))

from formats.kineto_traces import damaged, plainly, scanned
from fuzz import seeds


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=100_000, help="traces to try")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    pool = list(seeds.traces())
    chance = Random(options.seed)  # noqa: S311 -- for tests
    began = time.monotonic()
    for turn in range(options.count):
        data = damaged(chance.choice(pool), chance)
        if scanned(data, chance.choice([1, 7, 64, 1 << 20])) != plainly(data):
            print(f"turn {turn:,}: {data!r}")
            return 1
    print(f"{options.count:,} traces in {time.monotonic() - began:.0f} s")
    return 0


if __name__ == "__main__":
    sys.exit(main())
