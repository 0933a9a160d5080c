"""Writes the reports of the gallery; `make docs` puts them into the site."""

from __future__ import annotations

import subprocess
import sys
from contextlib import chdir
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import tfprof

ROOT = Path(__file__).parent.parent


@dataclass(frozen=True, slots=True)
class Entry:
    """A report: its title, and the files, or the number of ops of a generated model.

    With `base`, it is a comparison with that file.
    """

    title: str
    files: str
    generated_ops: int = 0
    base: str = ""


ENTRIES = {
    "resnet32": Entry("ResNet-32", "examples/resnet32/*.gz"),
    "transformer": Entry("A Keras transformer", "examples/transformer/*.tfprof"),
    "diff": Entry(
        "Attention in float32 and float64",
        "examples/compare/float64.tfprof",
        base="examples/compare/float32.tfprof",
    ),
    "large": Entry("A model of 100,000 ops", "large/*", generated_ops=100_000),
}


def write(name: str, folder: Path) -> Path:
    """Write a report to `folder`, and return its path."""
    entry = ENTRIES[name]
    path = folder.resolve() / f"{name}.html"
    with TemporaryDirectory() as generated:
        if entry.generated_ops:
            _generate(Path(generated) / "large", entry.generated_ops)
        # Relative, because the report offers commands with these paths.
        with chdir(generated if entry.generated_ops else ROOT):
            profile = tfprof.load(*sorted(Path().glob(entry.files)))
            if entry.base:
                tfprof.diff(entry.base, profile).report().save(path)
            else:
                profile.report(title=entry.title).save(path)
    return path


def _generate(folder: Path, ops: int) -> None:
    program = [sys.executable, ROOT / "benchmarks" / "generate.py", folder, "--ops", str(ops)]
    subprocess.run(program, check=True, stdout=subprocess.DEVNULL)  # noqa: S603 -- our own
