"""Fuzzes one target with atheris, in this process; `fuzz_all.py` runs all of them.

    python tests/fuzz/fuzz_one.py TARGET FOLDER [options of libFuzzer]

An input that breaks the promise of the target (see `contract`) is stored in `FOLDER`, one for each
place in the code, and the run goes on. A crash, a hang or too much memory ends the process, and
libFuzzer stores the input.
"""

from __future__ import annotations

import pkgutil
import random
import resource
import sys
import traceback
import warnings
from contextlib import suppress
from importlib import import_module
from pathlib import Path

import atheris

sys.path.insert(0, str(Path(__file__).parents[1]))

# More than this is never needed; a larger request for memory is an exception.
MOST_ADDRESSES = 2 << 30

with atheris.instrument_imports(include=["tfprof"]):
    import tfprof

    for _module in pkgutil.walk_packages(tfprof.__path__, "tfprof."):
        if not _module.name.endswith("__main__"):
            with suppress(ImportError):  # of an optional package
                import_module(_module.name)

from fuzz.contract import Memory, refused_or_answered  # noqa: E402 -- after the instrumentation
from fuzz.mutations import changed_message  # noqa: E402
from fuzz.targets import TARGETS, Target  # noqa: E402


def main() -> None:
    name, folder, *options = sys.argv[1:]
    target = TARGETS[name]
    warnings.simplefilter("error")
    for seed in target.seeds():  # loads what is loaded on first use
        with suppress(Exception):
            refused_or_answered(target.run, seed)
    _limit_memory()
    mutator = {"custom_mutator": _changed} if target.is_message else {}
    atheris.Setup([sys.argv[0], *options], _checked(target, Path(folder)), **mutator)
    atheris.Fuzz()


def _checked(target: Target, folder: Path):
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


def _changed(data: bytes, most: int, seed: int) -> bytes:
    """A change of a field of a message in half of the cases, else one of libFuzzer's."""
    chance = random.Random(seed)  # noqa: S311 -- no secret
    if chance.random() < 0.5:
        return atheris.Mutate(data, most)
    return changed_message(data, chance)[:most]


def _limit_memory() -> None:
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    limit = pages * resource.getpagesize() + MOST_ADDRESSES
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))


if __name__ == "__main__":
    main()
