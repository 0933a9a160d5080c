"""
Prints the oldest versions that pyproject.toml allows, as requirements for pip: `make test-oldest`.

They include what builds the package and what the tests need, without TensorFlow.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

PYPROJECT = Path(__file__).parent.parent / "pyproject.toml"

EXTRAS = ("shell", "check", "fleet", "test")

# The tests do without these.
LEFT_OUT = {
    "grpcio-tools": "requires a newer protobuf",
    "import-linter": "`make check` runs it",
    "mypy": "`make check` runs it",
    "pandas-stubs": "for mypy",
    "pip-audit": "`make check-dependencies` runs it",
    "ruff": "`make check` runs it",
    "tensorflow-cpu": "requires its own versions of numpy and protobuf",
    "tfprof": "the extra `docs`, which builds the manual",
    "types-protobuf": "for mypy",
}


def oldest(pyproject: str) -> Iterator[str]:
    """The requirements of a pyproject.toml, each with its oldest version."""
    tables = tomllib.loads(pyproject)
    project = tables["project"]
    listed = [*tables["build-system"]["requires"], *project["dependencies"]]
    for extra in EXTRAS:
        listed += project["optional-dependencies"][extra]
    for requirement in dict.fromkeys(listed):
        if re.match(r"[\w-]+", requirement)[0] not in LEFT_OUT:
            yield re.sub(r",<[\d.]+", "", requirement).replace(">=", "==", 1)


if __name__ == "__main__":
    print(*oldest(PYPROJECT.read_text("utf-8")), sep="\n")
