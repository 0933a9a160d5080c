"""How often a budget of a time is not met by chance, and how often because of a slower program.

    python benchmarks/check_chances.py [--pairs 1000]

Draws the times of 20 steps of each recording, whose medians vary by 5 % or 10 % between runs of the
same program, and judges `step_time = "+10 %"`.
"""

from __future__ import annotations

import argparse

import numpy as np

from tfprof.budgets.changes import Times, compare
from tfprof.budgets.time_verdicts import exceeds

STEPS = 20
LIMIT = 0.1  # of the time before
VARIATIONS = (0.05, 0.1)
RECORDINGS = (1, 2, 3, 5)
FACTORS = (1.0, 1.3, 1.6)


def times(recordings: int, factor: float, variation: float, random: np.random.Generator) -> Times:
    """The steps of recordings of a program that is slower by a factor."""
    runs = factor * np.exp(random.normal(0, variation, recordings))
    nanos = 1e6 * np.repeat(runs, STEPS) * np.exp(random.normal(0, 0.03, recordings * STEPS))
    run = np.repeat(np.arange(recordings), STEPS)
    return Times(nanos, run, run, (("", -1),) * recordings)


def is_not_met(before: Times, after: Times) -> bool:
    """Whether the time before may not grow to that after it."""
    change = compare(before, after)
    return change.amount > LIMIT * change.before and exceeds(before, after, 0)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pairs", type=int, default=1_000, help="pairs of each kind (1000)")
    args = parser.parse_args()
    random = np.random.default_rng(1)
    for variation in VARIATIONS:
        for recordings in RECORDINGS:
            found = []
            for factor in FACTORS:
                sides = (
                    [times(recordings, scale, variation, random) for scale in (1.0, factor)]
                    for _ in range(args.pairs)
                )
                count = sum(is_not_met(*pair) for pair in sides)
                found.append(f"x{factor} {count / args.pairs:.1%}")
            print(f"runs vary by {variation:.0%}, {recordings} on each side:", *found)


if __name__ == "__main__":
    main()
