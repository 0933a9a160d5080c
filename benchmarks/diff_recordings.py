"""How reliably a comparison of two recordings names a slowed layer, and claims nothing otherwise.

    python benchmarks/diff_recordings.py FOLDER [--pairs 20]

Records pairs of runs of `slowed_layers.py`, one after the other, on the machine as it is: half of
the pairs have a slowed layer in the second run. Recordings that FOLDER already has are not made
again.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import tfprof

PROGRAM = Path(__file__).with_name("slowed_layers.py")
LAYERS = ("position", "local", "scale", "attention", "feed_forward")


@dataclass(frozen=True)
class Trial:
    """Two recordings: of the program, and of the program with a slowed layer, if it has a name."""

    folder: Path
    slowed: str

    @property
    def base(self) -> Path:
        return self.folder / "base"

    @property
    def new(self) -> Path:
        return self.folder / "new"

    def record(self) -> None:
        for folder, slowed in ((self.base, []), (self.new, [self.slowed] if self.slowed else [])):
            if not folder.exists():
                command = [sys.executable, str(PROGRAM), str(folder), *slowed]
                quiet = os.environ | {"TF_CPP_MIN_LOG_LEVEL": "3"}
                subprocess.run(command, check=True, env=quiet, stderr=subprocess.DEVNULL)

    def verdict(self) -> tuple[bool, str]:
        """Whether the answer is right, and the answer."""
        summary = tfprof.diff(self.base, self.new).summary
        cause = summary.cause
        claim = f"{cause.name}, {cause.line}" if cause else "-"
        if not self.slowed:
            return cause is None and not summary.step.is_shown[0], claim
        wanted = f"{PROGRAM.name}:{slowed_line(self.slowed)}"
        found = cause is not None and cause.name.endswith(f"/{self.slowed}")
        return found and cause.line == wanted, claim


def slowed_line(layer: str) -> int:
    """The line of the program that is marked as the slow one of a layer."""
    lines = PROGRAM.read_text("utf-8").splitlines()
    return 1 + next(place for place, line in enumerate(lines) if line.endswith(f"# slow {layer}"))


def trials(folder: Path, pairs: int) -> Iterator[Trial]:
    """Pairs with and without a slowed layer, in turns."""
    for number in range(pairs):
        yield Trial(folder / f"slowed-{number}", LAYERS[number % len(LAYERS)])
        yield Trial(folder / f"same-{number}", "")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--pairs", type=int, default=20, help="pairs of each kind (20)")
    args = parser.parse_args()
    right = {True: 0, False: 0}
    for trial in trials(args.folder, args.pairs):
        trial.record()
        is_right, claim = trial.verdict()
        right[bool(trial.slowed)] += is_right
        print(f"{trial.folder.name}: {trial.slowed or '-'}; found {claim}", flush=True)
    print(f"The slowed layer and its line are named in {right[True]} of {args.pairs} comparisons.")
    print(f"Nothing is claimed in {right[False]} of {args.pairs} comparisons of the same program.")


if __name__ == "__main__":
    main()
