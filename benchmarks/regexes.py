"""Measures how long it takes to match patterns against op names, compared with Python's `re`.

    python benchmarks/regexes.py [--ops 1e5]

Prints a table in microseconds per name. `tfprof` is what tfprof does. The other columns are
alternatives: one call per name, or one scan of the names joined into lines.
"""

from __future__ import annotations

import argparse
import re
import time
from collections.abc import Callable

import numpy as np
import re2
from generate import op_count
from towers import Model

from tfprof.columns import Strings
from tfprof.patterns import Patterns

# First literals, which tfprof matches without RE2; then patterns with few to many matches.
_PATTERNS = (
    "tower_1/block_1",
    "tower_1/.*",
    ".*Momentum",
    ".*conv.*",
    "(.*/)?gradients_[0-9]+/.*",
    ".*(weights|biases)",
    ".*/(read|Assign)",
    ".*[0-9]",
    "tower_[0-9]+/.*conv.*",
    ".*[a-m]",
    "(?i).*GRAD.*",
    "[^/]+/[^/]+/.*",
)
_ROUNDS = 3


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--ops", type=op_count, default=100_000, help="number of ops (1e5)")
    names = Strings(op.name for op in Model.of_size(parser.parse_args().ops).ops())
    headings = ("pattern", "matches", "runs", *WAYS, "tfprof / re")
    print(f"| {' | '.join(headings)} |\n|---|{'--:|' * (len(headings) - 1)}")
    for pattern in _PATTERNS:
        matched = match_re(pattern, names)
        runs = int(matched[:1].sum() + (matched[1:] & ~matched[:-1]).sum())
        micros = {name: measure(way, pattern, names, matched) for name, way in WAYS.items()}
        cells = [
            f"`{pattern}`".replace("|", r"\|"),
            f"{matched.mean():.1%}",
            f"{runs / len(names):.1%}",
            *(f"{value:.3f}" for value in micros.values()),
            f"{micros['tfprof'] / micros['re']:.2f}",
        ]
        print(f"| {' | '.join(cells)} |")


def match_tfprof(pattern: str, names: Strings) -> np.ndarray:
    return Patterns([pattern]).match_column(names)


def match_re(pattern: str, names: Strings) -> np.ndarray:
    matches = re.compile(pattern, re.ASCII).fullmatch
    return np.array([matches(name) is not None for name in names])


def match_str(pattern: str, names: Strings) -> np.ndarray:
    matches = compiled(pattern).fullmatch
    return np.array([matches(name) is not None for name in names])


def match_bytes(pattern: str, names: Strings) -> np.ndarray:
    matches, data = compiled(pattern).fullmatch, names.data
    spans = zip(names.starts.tolist(), names.ends.tolist(), strict=True)
    return np.array([matches(data[start:end]) is not None for start, end in spans])


def match_set(pattern: str, names: Strings) -> np.ndarray:
    one, data = re2.Set.FullMatchSet(), names.data
    one.Add(pattern)
    one.Compile()
    spans = zip(names.starts.tolist(), names.ends.tolist(), strict=True)
    return np.array([one.Match(data[start:end]) is not None for start, end in spans])


def match_lines(pattern: str, names: Strings) -> np.ndarray:
    """One scan that finds each line separately; tfprof finds runs of matching lines."""
    lines, flags = names.lines(), np.zeros(len(names), np.bool_)
    regex = compiled(f"(?m)^(?:{pattern})$", never_nl=True)
    found = [match.start() for match in regex.finditer(lines.data)]
    flags[lines.starts.searchsorted(found)] = True
    return flags


def compiled(pattern: str, *, never_nl: bool = False) -> re2._Regexp:
    options = re2.Options()
    options.never_capture = True
    options.never_nl = never_nl
    return re2.compile(pattern, options)


WAYS: dict[str, Callable[[str, Strings], np.ndarray]] = {
    "tfprof": match_tfprof,
    "re": match_re,
    "RE2, str": match_str,
    "RE2, bytes": match_bytes,
    "RE2, set": match_set,
    "RE2, lines": match_lines,
}


def measure(
    way: Callable[[str, Strings], np.ndarray], pattern: str, names: Strings, expected: np.ndarray
) -> float:
    """The microseconds per name of the fastest round."""
    seconds = []
    for _ in range(_ROUNDS):
        started = time.process_time()
        matched = way(pattern, names)
        seconds.append(time.process_time() - started)
        if not np.array_equal(matched, expected):
            raise SystemExit(f"`{pattern}` gives different matches.")
    return min(seconds) / len(names) * 1e6


if __name__ == "__main__":
    main()
