"""
Plants mutants in the package, and reports by tier which tests notice them: `make mutants N=60`.

First records which lines each test reaches (`--contexts`, once; with coverage, so slow). Then each
mutant, a small change of one line, is put into a copy of the repository, where the tests that reach
the line run until one fails: those of the gate, and if none of them fails, those of other tiers.

Mutants are spread over the packages by their lines. Compiled modules are left out, because coverage
does not see which tests reach them. All results are in build/mutants; a run continues there.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import shutil
import subprocess
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import closing, contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from queue import Queue

from mutant_tests import CHOSEN
from mutations import Mutation, mutations
from run_tests import ROOT, pytest_command

from tiers import GATE, RANDOM, TIERS

FOLDER = ROOT / "build" / "mutants"
SOURCE = Path("src/tfprof")
SCRIPTS = Path(__file__).parent
PROCESSES = 2
# A mutant may loop forever. Tests take much less.
_MAX_SECONDS = 120
_MAX_TESTS = 4_000  # per mutant and tier; the quickest

_SETTINGS = """\
[run]
branch = false
source = {source}
parallel = true
patch = subprocess, _exit
concurrency = thread, multiprocessing
context = ${{TFPROF_TEST-}}
data_file = {data}
"""


@dataclass(slots=True)
class Mutant:
    """A mutation of a file, and what became of it."""

    path: str
    line: int
    change: str
    mutation: dict[str, object]
    killed_by: str = ""  # a test
    tier: str = ""  # of that test; empty if the mutant survived
    tests: int = 0  # that ran


def main(words: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="Plant mutants, and see which tests notice them.")
    parser.add_argument("--contexts", metavar="TIERS", help="record what tests of tiers reach")
    parser.add_argument("--count", type=int, default=60, help="mutants to plant [60]")
    parser.add_argument("--seed", type=int, default=1, help="of the choice of mutants [1]")
    given = parser.parse_args(words)
    if given.contexts:
        for tier in given.contexts.split(","):
            record(tier)
        return 0
    return judge(given.count, given.seed)


def record(tier: str) -> None:
    """Run the tests of a tier under coverage, and keep which lines each reaches."""
    folder = FOLDER / tier
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    settings = folder / "settings"
    settings.write_text(_SETTINGS.format(source=ROOT / SOURCE, data=folder / "data"), "utf-8")
    environment = os.environ | {
        "PYTHONPATH": os.pathsep.join([str(SCRIPTS), os.environ.get("PYTHONPATH", "")]),
        "COVERAGE_PROCESS_START": str(settings),
    }
    python, *words = pytest_command(tier, folder / "outcomes.json")
    coverage = [python, "-m", "coverage"]
    subprocess.run(
        [*coverage, "run", f"--rcfile={settings}", *words, "-p", "mutant_tests"],
        cwd=ROOT,
        env=environment,
        check=False,
    )
    subprocess.run([*coverage, "combine", "--quiet", f"--rcfile={settings}"], cwd=ROOT, check=True)


def judge(count: int, seed: int) -> int:
    """Run the tests of each mutant, and report the tiers that kill."""
    reached = {tier: Reached(tier) for tier in TIERS if (FOLDER / tier / "data").exists()}
    kept = FOLDER / f"mutants-{seed}-{count}.json"
    if kept.exists():
        mutants = [Mutant(**row) for row in json.loads(kept.read_text("utf-8"))]
    else:
        mutants = planted(count, seed)
    copies: Queue[Path] = Queue()
    for number in range(PROCESSES):
        copies.put(_copy_of_repository(number))

    def run(mutant: Mutant) -> None:
        folder = copies.get()
        try:
            _run(mutant, folder, reached)
        finally:
            copies.put(folder)
        print(
            f"{mutant.tier or 'SURVIVED':8} {mutant.path}:{mutant.line}: {mutant.change}"
            f"  [{mutant.tests} tests] {mutant.killed_by}",
            flush=True,
        )

    with ThreadPoolExecutor(PROCESSES) as pool:
        waiting = [pool.submit(run, mutant) for mutant in mutants if not mutant.tests]
        for done in as_completed(waiting):
            done.result()
            kept.write_text(json.dumps([asdict(mutant) for mutant in mutants], indent=1), "utf-8")
    return report(mutants)


def report(mutants: Sequence[Mutant]) -> int:
    tiers = Counter(mutant.tier for mutant in mutants)
    killed = len(mutants) - tiers[""]
    print(f"\n{len(mutants)} mutants, {killed} killed, {tiers['']} survived")
    for tier in TIERS:
        for mutant in mutants:
            if mutant.tier == tier != GATE:
                print(f"only {tier}: {mutant.path}:{mutant.line}: {mutant.change}")
    share = tiers[GATE] / killed if killed else 0
    print(f"the gate kills {tiers[GATE]} of the {killed} killed: {share:.1%}")
    return 0 if share >= 0.95 else 1


# Mutants.


def planted(count: int, seed: int) -> list[Mutant]:
    """Mutants in packages in proportion to their lines, each in a random line of the package."""
    draw = random.Random(seed)  # noqa: S311 -- a sample
    files = defaultdict(list)
    for path in sorted((ROOT / SOURCE).rglob("*.py")):
        if path.relative_to(ROOT).as_posix() not in _compiled():
            files[_package(path)].append(path)
    lines = {
        name: sum(path.read_text("utf-8").count("\n") for path in paths)
        for name, paths in files.items()
    }
    found = []
    for name, number in _shares(lines, count).items():
        choices = [
            (path, mutation)
            for path in files[name]
            for mutation in mutations(path.read_text("utf-8"))
        ]
        by_line = defaultdict(list)
        for path, mutation in choices:
            by_line[path, mutation.line].append(mutation)
        for path, line in draw.sample(sorted(by_line), number):
            mutation = draw.choice(by_line[path, line])
            found.append(
                Mutant(
                    path.relative_to(ROOT).as_posix(),
                    line,
                    str(mutation),
                    {name: getattr(mutation, name) for name in Mutation.__slots__},
                )
            )
    return found


def _compiled() -> set[str]:
    """The modules that setup.py compiles."""
    text = (ROOT / "setup.py").read_text("utf-8")
    return {f"src/{name.replace('.', '/')}.py" for name in re.findall(r'"(tfprof\.[\w.]+)"', text)}


def _package(path: Path) -> str:
    inner = path.relative_to(ROOT / SOURCE)
    return inner.parts[0] if len(inner.parts) > 1 else ""


def _shares(lines: Mapping[str, int], count: int) -> dict[str, int]:
    """How many of `count` each package gets; the largest remainders get one more."""
    total = sum(lines.values())
    exact = {name: count * number / total for name, number in lines.items()}
    shares = {name: int(number) for name, number in exact.items()}
    rest = sorted(exact, key=lambda name: shares[name] - exact[name])
    for name in rest[: count - sum(shares.values())]:
        shares[name] += 1
    return shares


# Their tests.


class Reached:
    """Which tests of a tier reach a line."""

    def __init__(self, tier: str) -> None:
        self.tier = tier
        recorded = json.loads((FOLDER / tier / "outcomes.json").read_text("utf-8"))
        self.seconds: dict[str, float] = recorded["seconds"]
        self.passed = {
            name for name, outcome in recorded["outcomes"].items() if outcome == "passed"
        }

    def tests(self, path: str, line: int) -> list[str]:
        """The tests that reach a line, or its file if that was only reached by an import."""
        names = set(self._contexts(path, line)) or set(self._contexts(path, None))
        return sorted(names & self.passed, key=lambda name: self.seconds.get(name, 0))[:_MAX_TESTS]

    def _contexts(self, path: str, line: int | None) -> Iterator[str]:
        import coverage  # noqa: PLC0415 -- only needed to read its data

        data = coverage.CoverageData(str(FOLDER / self.tier / "data"))
        data.read()
        with closing(data):
            file = str(ROOT / path)
            by_line = data.contexts_by_lineno(file)
            for number, contexts in by_line.items():
                if line is None or number == line:
                    yield from filter(None, contexts)  # without a test: an import


def _copy_of_repository(number: int) -> Path:
    """A copy in which a file may be changed, with the compiled modules."""
    folder = FOLDER / f"copy-{number}"
    shutil.rmtree(folder, ignore_errors=True)
    left_out = shutil.ignore_patterns(
        ".git", ".venv", "build", "node_modules", "__pycache__", ".*_cache", "_build"
    )
    shutil.copytree(ROOT, folder, ignore=left_out, symlinks=True)
    return folder


def _run(mutant: Mutant, folder: Path, reached: Mapping[str, Reached]) -> None:
    change = Mutation(**mutant.mutation)
    for tier, lines in reached.items():
        # Those of the same package first: they are few modules, and the likeliest to fail.
        tests = lines.tests(mutant.path, mutant.line)
        near = [name for name in tests if _is_near(name, mutant.path)]
        for batch in (near, [name for name in tests if name not in set(near)]):
            while batch:
                with _changed(folder / mutant.path, change):
                    failed = _first_failure(folder, tier, batch)
                mutant.tests += len(batch)
                if failed is None:
                    break
                if failed == "" or _first_failure(folder, tier, [failed]) is None:
                    mutant.tier, mutant.killed_by = tier, failed or "(collection, or a hang)"
                    return
                batch.remove(failed)  # it fails in the copy without the mutant, too
    mutant.tests = mutant.tests or 1


def _is_near(test: str, path: str) -> bool:
    package = Path(path).relative_to(SOURCE).with_suffix("").parts
    return test.startswith((f"tests/{package[0]}/", f"tests/test_{package[0]}"))


@contextmanager
def _changed(file: Path, change: Mutation) -> Iterator[None]:
    """Change a file for a while; compiled forms of it are removed, which may be as old."""
    source = file.read_text("utf-8")
    try:
        file.write_text(change.applied(source), "utf-8")
        _remove_compiled(file)
        yield
    finally:
        file.write_text(source, "utf-8")
        _remove_compiled(file)


def _remove_compiled(file: Path) -> None:
    for path in file.parent.glob(f"__pycache__/{file.stem}.*.pyc"):
        path.unlink()


def _first_failure(folder: Path, tier: str, tests: Sequence[str]) -> str | None:
    """The first of some tests that fails; empty if pytest itself fails, None if all pass."""
    chosen = folder / "chosen"
    chosen.write_text("\n".join(tests), "utf-8")
    outcomes = folder / "outcomes.json"
    outcomes.unlink(missing_ok=True)
    environment = os.environ | {
        "PYTHONPATH": os.pathsep.join([str(folder / "src"), str(SCRIPTS)]),
        CHOSEN: str(chosen),
    }
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    words = ["-m", "pytest", "-q", "-x", "-p", "mutant_tests", f"--outcomes={outcomes}"]
    words += [f"--timeout={_MAX_SECONDS}", *(["--tier=random"] if tier == RANDOM else [])]
    files = sorted({name.partition("::")[0] for name in tests})
    ran = subprocess.run(
        [sys.executable, *words, *files],
        cwd=folder,
        env=environment,
        check=False,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    if ran.returncode in (0, 5):
        return None
    if not outcomes.exists():
        return ""
    found = json.loads(outcomes.read_text("utf-8"))["outcomes"]
    failed = [name for name, outcome in found.items() if outcome == "failed"]
    return failed[0] if failed and failed[0] in tests else ""


if __name__ == "__main__":
    sys.exit(main())
