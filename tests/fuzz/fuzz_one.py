"""Fuzzes one target in this process; `fuzz_all.py` runs all of them.

    python tests/fuzz/fuzz_one.py TARGET FOLDER [options of libFuzzer]
    python tests/fuzz/fuzz_one.py TARGET FOLDER --random SECONDS
    python tests/fuzz/fuzz_one.py TARGET FOLDER --once INPUT

An input that breaks the promise of the target (see `contract`) is stored in `FOLDER`, one for each
place in the code, and the run goes on. A crash, a hang or too much memory ends the process, and
the input is in `FOLDER`. With `--random`, inputs are random and atheris is not used. With `--once`,
one input is run, and the process is killed if it takes too much processor time.
"""

from __future__ import annotations

import faulthandler
import importlib.metadata
import os
import pkgutil
import random
import resource
import signal
import sys
import time
import traceback
import warnings
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from importlib import import_module
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

# More than this is never needed; a larger request for memory is an exception.
MOST_ADDRESSES = 2 << 30

RANDOM_BYTES = 32  # of a random input
HANG_SECONDS = 10  # of processor time for a single input
STALL_SECONDS = 100  # of any time, as a busy machine makes all inputs slow

Run = Callable[[bytes], None]


def main() -> None:
    name, folder, *options = sys.argv[1:]
    warnings.simplefilter("error")
    # Searching installed packages for additions would take a third of the time of a question.
    importlib.metadata.entry_points = cache(importlib.metadata.entry_points)
    if options[:1] == ["--random"]:
        _run_random(_prepared(name, Path(folder)), Path(folder), float(options[1]))
    elif options[:1] == ["--once"]:
        run = _prepared(name, Path(folder))
        limit = int(time.process_time()) + HANG_SECONDS
        resource.setrlimit(resource.RLIMIT_CPU, (limit, limit))
        run(Path(options[1]).read_bytes())
    else:
        _run_guided(name, Path(folder), options)


def _run_guided(name: str, folder: Path, options: list[str]) -> None:
    import atheris  # noqa: PLC0415 -- not needed for random inputs

    with atheris.instrument_imports(include=["tfprof"]):
        _import_everything()
    run = _prepared(name, folder)
    from fuzz.mutations import changed_message  # noqa: PLC0415 -- after the instrumentation
    from fuzz.targets import TARGETS  # noqa: PLC0415

    def mutate(data: bytes, most: int, seed: int) -> bytes:
        """A change of a field of a message in half of the cases, else one of libFuzzer's."""
        chance = random.Random(seed)  # noqa: S311 -- no secret
        if chance.random() < 0.5:
            return atheris.Mutate(data, most)
        return changed_message(data, chance)[:most]

    mutator = {"custom_mutator": mutate} if TARGETS[name].is_message else {}
    atheris.Setup([sys.argv[0], *options], run, **mutator)
    atheris.Fuzz()


def _run_random(run: Run, folder: Path, seconds: float) -> None:
    """Run random inputs, and print their number in the form of libFuzzer."""
    chance, end, count = random.SystemRandom(), time.monotonic() + seconds, 0
    current = folder / f"crash-{os.getpid()}"  # stays if the process ends early
    while time.monotonic() < end:
        data = chance.randbytes(RANDOM_BYTES)
        current.write_bytes(data)
        signal.setitimer(signal.ITIMER_PROF, HANG_SECONDS)  # its signal ends the process
        faulthandler.dump_traceback_later(STALL_SECONDS, exit=True)
        run(data)
        count += 1
        if count % 100 == 0:
            print(f"#{count}", flush=True)
    signal.setitimer(signal.ITIMER_PROF, 0)
    faulthandler.cancel_dump_traceback_later()
    current.unlink()
    print(f"#{count} DONE", flush=True)


def _import_everything() -> None:
    """Import all modules, since those that are imported later are not instrumented."""
    import tfprof  # noqa: PLC0415 -- to instrument it

    for module in pkgutil.walk_packages(tfprof.__path__, "tfprof."):
        if not module.name.endswith("__main__"):
            with suppress(ImportError):  # of an optional package
                import_module(module.name)


def _prepared(name: str, folder: Path) -> Run:
    """The function of a target, after its seeds loaded what is loaded on first use."""
    from fuzz.contract import Memory, refused_or_answered  # noqa: PLC0415 -- after instrumentation
    from fuzz.targets import TARGETS  # noqa: PLC0415

    target = TARGETS[name]
    for seed in target.seeds():
        with suppress(Exception):
            target.run(seed)
    _limit_memory()
    memory = Memory()

    def run(data: bytes) -> None:
        try:
            refused_or_answered(target.run, data)
            memory.check(len(data))
        except Exception as error:  # noqa: BLE001 -- each is a finding
            _keep(folder, data, error)

    return run


def _keep(folder: Path, data: bytes, error: Exception) -> None:
    """Store the shortest input for the place where an exception was raised."""
    frames = traceback.extract_tb(error.__traceback__)
    places = [frame for frame in frames if "/tfprof/" in frame.filename] or frames
    where = places[-1]
    path = folder / f"{type(error).__name__}-{Path(where.filename).stem}-{where.lineno}"
    if not path.exists() or path.stat().st_size > len(data):
        folder.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
        text = "".join(traceback.format_exception(error))
        path.with_suffix(".txt").write_text(text[-8000:], errors="backslashreplace")


def _limit_memory() -> None:
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    limit = pages * resource.getpagesize() + MOST_ADDRESSES
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))


if __name__ == "__main__":
    main()
