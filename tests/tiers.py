"""Tiers of tests: `pytest --tier=gate`.

A test without a marker belongs to the gate, which every change must pass. A marker moves a test, or
with `pytestmark` a whole module, to another tier:

    pytestmark = pytest.mark.live

Properties (`@given`) belong to two tiers: they check the same examples in every run, and new ones
in the tier `random`, with a new seed, which is printed. Where `CI` is set, its seed is always the
same.
"""

from __future__ import annotations

import os
import re
from contextlib import suppress
from functools import cache
from pathlib import Path
from random import SystemRandom

import pytest
from hypothesis import HealthCheck, settings

ROOT = Path(__file__).parent.parent

SEED_OF_CI = 1

GATE = "gate"
RANDOM = "random"
TIERS = {
    GATE: "quick and deterministic; every change must pass it",
    "live": "running programs of TensorFlow and PyTorch, and TensorFlow's own profiler",
    "browser": "the report page in Chromium",
    "process": "signals, kills, terminals, servers and Dask clusters",
    RANDOM: "new random examples, and fuzz targets",
    "dist": "builds, the manual as a site, and programs that only measure",
}

# Which further tiers check a file, by the start of its path: the longest that matches counts.
# Test modules are not listed, because their markers say it. A file without a row means all tiers.
TOUCHES: dict[str, tuple[str, ...]] = {
    "src/tfprof/": (RANDOM,),
    "src/tfprof/capture/": ("live",),
    "src/tfprof/classic/": ("live",),
    "src/tfprof/cli/": ("process",),
    "src/tfprof/commands/": ("process",),
    "src/tfprof/contrib/": ("live",),
    "src/tfprof/fleet/": ("process", RANDOM),
    "src/tfprof/formats/schemas/": tuple(TIERS),
    "src/tfprof/frameworks.py": ("live",),
    "src/tfprof/page/": ("browser",),
    "src/tfprof/shell/": ("process",),
    "src/tfprof/sources/": ("live", RANDOM),
    "src/tfprof/terminal.py": ("process",),
    "src/tfprof/testing.py": ("live",),
    "src/tfprof/web/": ("browser", "process"),
    "tests/golden/": (),
    "tests/parity/": ("live",),
    "tests/fuzz/": (RANDOM,),
    "tests/browser/": ("browser",),
    "benchmarks/": ("dist",),
    "docs/": ("dist",),
    "docs/images/": ("browser",),
    "examples/": ("live",),
    "scripts/": ("dist",),
    ".ci/": (),
    ".gitignore": (),
    "CHANGELOG.md": (),
    "CONTRIBUTING.md": (),
    "LICENSE": (),
    "Makefile": ("dist",),
    "MANIFEST.in": ("dist",),
    "README.md": (),
    "SECURITY.md": (),
    "eslint.config.js": (),
    "package.json": (),
    "package-lock.json": (),
    "setup.py": ("dist",),
    "tsconfig.json": (),
}

# The marker of a whole module, which need not be imported to know it.
_MODULE_MARKS = re.compile(r"^pytestmark = (?:\[\n.*?^\]|[^\n]*)", re.MULTILINE | re.DOTALL)
_MARK = re.compile(rf"pytest\.mark\.({'|'.join(TIERS)})\b")

# Hypothesis also draws constants of the modules that the process has imported. Which these are
# depends on the tests that ran before, so examples would not be the same each time.
with suppress(ImportError, AttributeError):  # older versions have no such constants
    from hypothesis.internal.conjecture import providers

    _NO_CONSTANTS = providers._local_constants  # empty until the function is called
    providers._get_local_constants = lambda: _NO_CONSTANTS

# Neither profile judges time: how long an example takes depends on the load of the machine.
_UNTIMED = {"deadline": None, "suppress_health_check": [HealthCheck.too_slow]}
settings.register_profile("same", derandomize=True, database=None, **_UNTIMED)
# Where the variable `CI` is set, Hypothesis would draw the same examples each time by default.
settings.register_profile("new", derandomize=False, print_blob=True, **_UNTIMED)


def pytest_addoption(parser):
    parser.addoption(
        "--tier", type=_tiers, default=(), help=f"run tests of these tiers: {', '.join(TIERS)}"
    )


def _tiers(text: str) -> tuple[str, ...]:
    names = tuple(text.split(","))
    if unknown := set(names) - TIERS.keys():
        raise pytest.UsageError(f"no tier {', '.join(sorted(unknown))}: use {', '.join(TIERS)}")
    if RANDOM in names and len(names) > 1:
        raise pytest.UsageError("the tier random draws its own examples: run it by itself")
    return names


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config):
    for tier, purpose in TIERS.items():
        config.addinivalue_line("markers", f"{tier}: {purpose}")
    is_new = is_random(config)
    settings.load_profile("new" if is_new else "same")
    if is_new and not hasattr(config, "workerinput"):
        # One seed for the order of the tests and for their examples. It is set before the options
        # are sent to the worker processes, which must agree.
        seed = int(config.option.hypothesis_seed or _new_seed())
        config.option.hypothesis_seed = str(seed)
        config.option.randomly_seed = seed


def _new_seed() -> int:
    """A new seed each time, except in CI: an old failure must not stop a change by chance."""
    return SEED_OF_CI if os.environ.get("CI") else SystemRandom().getrandbits(32)


def is_random(config) -> bool:
    """Whether properties check new examples in this run."""
    return config.getoption("tier") == (RANDOM,)


def pytest_ignore_collect(collection_path, config):
    tiers = config.getoption("tier")
    if tiers and collection_path.name.startswith("test_") and collection_path.suffix == ".py":
        return tiers_of_module(collection_path).isdisjoint(tiers) or None
    return None


@cache
def tiers_of_module(path: Path) -> frozenset[str]:
    """The tiers that the tests of a module may belong to, without importing it."""
    text = path.read_text("utf-8")
    marks = _MODULE_MARKS.search(text)
    whole = _MARK.findall(marks[0]) if marks else []
    tiers = whole or [GATE, *_MARK.findall(text)]
    return frozenset([*tiers, RANDOM] if "@given" in text else tiers)


def tiers_touched_by(path: str) -> frozenset[str]:
    """The tiers that check a file of the repository, which may be gone."""
    name = Path(path).name
    if path.startswith("tests/") and name.startswith("test_") and name.endswith(".py"):
        module = ROOT / path
        return tiers_of_module(module) if module.exists() else frozenset()
    rows = [start for start in TOUCHES if path.startswith(start)]
    return frozenset(TOUCHES[max(rows, key=len)]) if rows else frozenset(TIERS)


def pytest_collection_modifyitems(config, items):
    tiers = config.getoption("tier")
    if not tiers:
        return
    kept, others = [], []
    for item in items:
        (others if _tiers_of(item).isdisjoint(tiers) else kept).append(item)
    config.hook.pytest_deselected(items=others)
    items[:] = kept


def _tiers_of(item) -> set[str]:
    marks = [mark.name for mark in item.iter_markers() if mark.name in TIERS]
    found = {marks[0] if marks else GATE}  # the marker of a test precedes that of its module
    return found | {RANDOM} if is_property(item) else found


def is_property(item) -> bool:
    """Whether a test checks examples that hypothesis draws."""
    return getattr(getattr(item, "obj", None), "is_hypothesis_test", False)
