"""How often `tfprof ranks` names the slow rank of a job on GPUs, and why it is slow.

    python benchmarks/fleets.py --count 200 --seed 1

Makes random fleets one after the other, in a temporary folder: 4 to 16 ranks, 6 to 12 steps, jobs
of three plans, clocks that differ, hosts that read the loss in each step or run ahead; in some
fleets any host stalls now and then. One rank has a slow GPU, a slow host, more work, a slow link or
late input, or none has. Each fault costs at least 5 % of a step. Prints the wrong answers, and a
table by kind of fault.
"""

from __future__ import annotations

import argparse
from collections import Counter

from gpu_findings import KINDS, RIGHT, VERDICTS, judge


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=200, help="number of fleets (200)")
    parser.add_argument("--seed", type=int, default=1, help="(1)")
    parser.add_argument("--kind", choices=KINDS, action="append", help="only these faults")
    args = parser.parse_args()
    found: Counter[tuple[str, str]] = Counter()
    for verdict in judge(args.count, args.seed, tuple(args.kind or KINDS)):
        found[verdict.kind, verdict.word] += 1
        if verdict.word != RIGHT:
            print(f"{verdict.word}: {verdict}", flush=True)
    shown = [word for word in VERDICTS if any(found[kind, word] for kind in KINDS)]
    print(f"\n{'fault':<10}" + "".join(f"{word:>13}" for word in shown))
    for kind in args.kind or KINDS:
        print(f"{kind:<10}" + "".join(f"{found[kind, word]:>13}" for word in shown))


if __name__ == "__main__":
    main()
