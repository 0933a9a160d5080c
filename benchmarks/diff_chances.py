"""How often a comparison claims what is not there, and misses what is.

    python benchmarks/diff_chances.py [--pairs 60]

Writes small PyTorch traces with random times, whose truth is known, and compares them. The noise of
each kind of machine is drawn here; nothing of tfprof takes part in it:

- quiet: each layer varies by 1.5 % from step to step, independently;
- drifting: the pace varies by 3 %, and neighbouring steps have a similar one (correlation 0.5);
- busy: recordings differ by 10 % in pace, layers feel it more or less than others, and a tenth of
  the steps takes half as long again;
- preempted: now and then something else runs for 40 ms, in which a layer makes no progress.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from pathlib import Path

import numpy as np
import numpy.typing as npt

import tfprof

Floats = npt.NDArray[np.float64]

# Milliseconds of each layer; a step takes 100.
LAYERS = {"Embedding": 2, "Norm": 1, "Attention": 30, "Gate": 4, "Up": 20, "Act": 3, "Down": 18}
LAYERS |= {"Pool": 2, "Head": 12, "Loss": 8}
MACHINES = ("quiet", "drifting", "busy", "preempted")
SLOWED: tuple[dict[str, float], ...] = ({}, {"Up": 1.25}, {"Up": 1.5})
SIZES = ((10, 1), (30, 1), (10, 3), (10, 5))  # steps, and recordings of each side
# That a step takes another time because of the program; a layer as its cause; rows of the table.
CLAIMS = ("step", "right layer", "wrong layer", "row")
_MAIN = {"ph": "X", "pid": 1, "tid": 1}


@dataclass(frozen=True)
class Program:
    """A program, with the factors by which layers take longer."""

    slowed: dict[str, float]

    def times(self, machine: str, steps: int, random: np.random.Generator) -> Floats:
        """The milliseconds of each layer (a row) in each step."""
        usual = np.array([LAYERS[name] * self.slowed.get(name, 1.0) for name in LAYERS])
        times = np.repeat(usual[:, None], steps, axis=1)
        if machine == "preempted":
            return times + 40 * random.poisson(times / 40)
        times *= np.exp(random.normal(0, 0.015, times.shape))
        if machine == "drifting":
            times *= np.exp(0.03 * _similar(steps, random))
        if machine == "busy":
            pace = np.exp(random.normal(0, 0.1)) * np.where(random.random(steps) < 0.1, 1.5, 1.0)
            times *= pace ** (1 + random.normal(0, 0.08, (len(usual), 1)))
        return times


def _similar(steps: int, random: np.random.Generator) -> Floats:
    """Normal numbers, each correlated with the one before by 0.5."""
    found = random.normal(0, 1, steps)
    for step in range(1, steps):
        found[step] = 0.5 * found[step - 1] + 0.75**0.5 * found[step]
    return found


def write(path: Path, times: Floats) -> str:
    """Write a trace of a recording with these times; returns its path."""
    events, now = [], 0.0
    for step, column in enumerate(times.T.tolist(), 10):
        begin = now
        now += 100
        parts = []
        for name, millis in zip(LAYERS, column, strict=True):
            took = 1_000 * millis
            parts += [
                _event(f"nn.Module: {name}_0", "python_function", now, took),
                _event(f"aten::{name.lower()}", "cpu_op", now + 1, took - 2),
            ]
            now += took
        parts.insert(0, _event("nn.Module: Net_0", "python_function", begin + 50, now - begin - 50))
        events += [_event(f"ProfilerStep#{step}", "user_annotation", begin, now - begin), *parts]
    end = {"name": "Record Window End", "ph": "i", "s": "g", "pid": "", "tid": "", "ts": now}
    document = {"schemaVersion": 1, "displayTimeUnit": "ms", "traceEvents": [*events, end]}
    path.write_text(json.dumps(document), "utf-8")
    return str(path)


def _event(name: str, kind: str, start: float, took: float) -> dict[str, object]:
    return _MAIN | {"name": name, "cat": kind, "ts": start, "dur": took, "args": {}}


@dataclass(frozen=True)
class Trial:
    """What is compared: recordings of a program and of one with slowed layers."""

    machine: str
    steps: int
    recordings: int
    slowed: dict[str, float]

    def claims(self, folder: Path, seed: int) -> Iterator[str]:
        """What a comparison claims."""
        random = np.random.default_rng([seed, self.steps, self.recordings])
        sides = [
            [
                write(
                    folder / f"{side}{number}.json",
                    Program(slowed).times(self.machine, self.steps, random),
                )
                for number in range(self.recordings)
            ]
            for side, slowed in enumerate(({}, self.slowed))
        ]
        found = tfprof.diff(*sides)
        summary = found.summary
        if summary.step.is_shown[0]:
            yield "step"
        if summary.cause is not None:
            is_right = summary.cause.name.rpartition("/")[2] in self.slowed
            yield "right layer" if is_right else "wrong layer"
        view = found.layers(select=["micros"]).compared.view
        if view.times("nanos").is_shown[1:].any():
            yield "row"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pairs", type=int, default=60, help="pairs of each kind (60)")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        for slowed, machine, (steps, recordings) in product(SLOWED, MACHINES, SIZES):
            trial = Trial(machine, steps, recordings, slowed)
            claims = (trial.claims(Path(folder), seed) for seed in range(args.pairs))
            found = Counter(claim for some in claims for claim in some)
            what = ", ".join(f"{name} x{factor}" for name, factor in slowed.items()) or "the same"
            size = f"{recordings} of {steps} steps"
            counts = ", ".join(f"{claim} {found[claim]}" for claim in CLAIMS)
            print(f"{machine}, {what}, {size}: {counts} of {args.pairs}", flush=True)


if __name__ == "__main__":
    main()
