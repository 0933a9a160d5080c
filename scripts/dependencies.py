"""
Checks licences and known vulnerabilities of what users install: `make check-dependencies`.

These are the dependencies of the core and of the extras in `EXTRAS`, with their own dependencies,
in the installed versions. TensorFlow is left out: whoever profiles programs has it already.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from importlib.util import find_spec
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parent.parent
VENDORED = ROOT / "src/tfprof/page/static/vendor/README.md"

EXTRAS = ("shell", "check", "fleet")


@dataclass(frozen=True, slots=True)
class Package:
    """A row on the page of licences."""

    name: str
    licence: str
    installed_with: str
    reason: str


PACKAGES = [
    Package("google-re2", "BSD-3-Clause", "tfprof", "matches regexes in linear time"),
    Package("numpy", "BSD-3-Clause", "tfprof", "stores profiles in columns, and adds them up"),
    Package("protobuf", "BSD-3-Clause", "tfprof", "reads and writes protobuf messages"),
    Package("prompt_toolkit", "BSD-3-Clause", "tfprof[shell]", "completion menu of the shell"),
    Package("wcwidth", "MIT", "tfprof[shell]", "required by prompt_toolkit: widths of characters"),
    Package("tomlkit", "MIT", "tfprof[check]", "updates budget files and keeps their comments"),
    Package("distributed", "BSD-3-Clause", "tfprof[fleet]", "Dask clusters that collect files"),
    Package("duckdb", "MIT", "tfprof[fleet]", "sums over the tables of a store"),
    Package("fsspec", "BSD-3-Clause", "tfprof[fleet]", "files at URLs"),
    *(
        Package(name, licence, "tfprof[fleet]", f"required by {user}")
        for name, licence, user in (
            ("click", "BSD-3-Clause", "dask and distributed"),
            ("cloudpickle", "BSD-3-Clause", "dask and distributed"),
            ("dask", "BSD-3-Clause", "distributed"),
            ("importlib-metadata", "Apache-2.0", "dask, before Python 3.12"),
            ("Jinja2", "BSD-3-Clause", "distributed"),
            ("lazy-importer", "Apache-2.0", "importlib-metadata"),
            ("locket", "BSD-2-Clause", "distributed and partd"),
            ("MarkupSafe", "BSD-3-Clause", "Jinja2"),
            ("msgpack", "Apache-2.0", "distributed"),
            ("packaging", "Apache-2.0", "dask and distributed"),
            ("partd", "BSD-3-Clause", "dask"),
            ("psutil", "BSD-3-Clause", "distributed"),
            ("PyYAML", "MIT", "dask and distributed"),
            ("sortedcontainers", "Apache-2.0", "distributed"),
            ("tblib", "BSD-2-Clause", "distributed"),
            ("toolz", "BSD-3-Clause", "dask and distributed"),
            ("tornado", "Apache-2.0", "distributed"),
            ("urllib3", "MIT", "distributed, before version 2026"),
            ("zict", "BSD-3-Clause", "distributed"),
            ("zipp", "MIT", "importlib-metadata"),
        )
    ),
]

# All of them allow use, changes and distribution, and ask only for their notice to be kept.
PERMISSIVE = {
    *("0BSD", "Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "CC0-1.0"),
    *("ISC", "MIT", "PSF-2.0", "Zlib"),
}

# How packages without a licence expression name their licence.
_SPELLINGS = {
    "3-Clause BSD License": "BSD-3-Clause",
    "Apache Software License": "Apache-2.0",
    "BSD": "BSD-3-Clause",
    "BSD License": "BSD-3-Clause",
    "MIT License": "MIT",
}

_PAGE = """\
# Licences

tfprof is published under the Apache License 2.0.
The packages that it installs, and the libraries in its report page, have permissive licences: they
allow use, changes and distribution, and ask only for their notice to be kept.
`make check-dependencies` compares the table with the installed packages, and also searches for
known vulnerabilities in them with pip-audit.

## Packages

| package | licence | installed with | purpose |
|---|---|---|---|
{packages}

Optional packages that tfprof uses but never installs, such as pandas, are not listed, and neither
are TensorFlow and PyTorch, which the extras `tensorflow` and `torch` install.

## Libraries in the report page

The package contains these files, and every report includes them with their licence texts.

| file | library | version | licence | purpose |
|---|---|---|---|---|
{libraries}
"""


def main() -> int:
    try:
        packages = list(installed(tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))))
    except PackageNotFoundError as error:
        print(f"{error.name} is not installed: pip install -e '.[test]'")
        return 1
    problems = [*licence_problems(packages), *vulnerabilities(packages)]
    print(*problems, sep="\n", end="\n" if problems else "")
    return 1 if problems else 0


def installed(pyproject: dict[str, dict[str, object]]) -> Iterator[Distribution]:
    """The packages that a user of this project installs, in their installed versions."""
    project = pyproject["project"]
    listed = [*project["dependencies"]]
    for extra in EXTRAS:
        listed += project["optional-dependencies"][extra]
    waiting = [Requirement(one) for one in listed]
    known = set()
    for requirement in waiting:  # grows during the loop
        if canonicalize_name(requirement.name) in known:
            continue
        known.add(canonicalize_name(requirement.name))
        found = distribution(requirement.name)
        yield found
        inner = [Requirement(one) for one in found.requires or []]
        waiting += [one for one in inner if _applies(one, requirement.extras)]


def _applies(requirement: Requirement, extras: set[str]) -> bool:
    marker = requirement.marker
    return marker is None or any(marker.evaluate({"extra": one}) for one in ("", *extras))


def licence_problems(packages: Sequence[Distribution]) -> Iterator[str]:
    """A line for each package that is not in the table or whose licence is not permissive."""
    listed = {canonicalize_name(package.name) for package in PACKAGES}
    for package in packages:
        if canonicalize_name(package.name) not in listed:
            yield f"{package.name} is not in PACKAGES: add it to scripts/dependencies.py, make docs"
        stated = licences(package)
        if not stated or not stated <= PERMISSIVE:
            names = ", ".join(sorted(stated - PERMISSIVE)) or "none stated"
            yield f"{package.name} {package.version}: licence not known as permissive: {names}"


def licences(package: Distribution) -> set[str]:
    """The licences that a package states, by their SPDX names where they are known."""
    about = package.metadata
    if expression := about.get("License-Expression"):
        return set(re.split(r" AND | OR |[()]", expression)) - {""}
    classifiers = about.get_all("Classifier") or []
    stated = [one.rpartition(" :: ")[2] for one in classifiers if one.startswith("License :: ")]
    texts = stated or [about.get("License") or ""]
    return {_SPELLINGS.get(text, text.partition("\n")[0]) for text in texts} - {""}


def vulnerabilities(packages: Sequence[Distribution]) -> Iterator[str]:
    """A line for each known vulnerability; one line is printed for what could not be searched."""
    if find_spec("pip_audit") is None:
        print("Skipped the search for known vulnerabilities: pip-audit is not installed.")
        return
    with tempfile.TemporaryDirectory() as folder:
        pinned = Path(folder, "requirements.txt")
        pinned.write_text("".join(f"{one.name}=={one.version}\n" for one in packages), "utf-8")
        options = ["--no-deps", "--disable-pip", "--progress-spinner=off", "--timeout=5"]
        audited = subprocess.run(
            [sys.executable, "-m", "pip_audit", "--format=json", *options, "--requirement", pinned],
            capture_output=True,
            text=True,
            check=False,
        )
    if audited.returncode > 1:  # 1: a vulnerability, or no answer from the service
        raise RuntimeError(audited.stderr)
    yield from reported(audited.stdout, audited.stderr)


def reported(output: str, errors: str) -> Iterator[str]:
    """What pip-audit found."""
    if not output.strip():  # the service did not answer
        reason = (errors.strip().splitlines() or ["no answer"])[-1]
        print(f"Skipped the search for known vulnerabilities: {reason[:200]}")
        return
    audited = json.loads(output)["dependencies"]
    skipped = [one["name"] for one in audited if "skip_reason" in one]
    if skipped:
        names = ", ".join(skipped)
        print(f"Skipped the search for known vulnerabilities in {names}: not found on PyPI.")
    for one in audited:
        for found in one.get("vulns", []):
            fixed = ", ".join(found["fix_versions"]) or "no version"
            yield f"{one['name']} {one['version']}: vulnerability {found['id']}, fixed in {fixed}"


def page() -> str:
    """The page of licences. It has no installed versions, so it is the same on every machine."""
    packages = (
        f"| {one.name} | {one.licence} | `{one.installed_with}` | {one.reason} |"
        for one in PACKAGES
    )
    return _PAGE.format(packages="\n".join(packages), libraries="\n".join(_libraries()))


def _libraries() -> Iterator[str]:
    """The rows of the table of vendored files, without their checksums."""
    for line in VENDORED.read_text("utf-8").splitlines():
        if line.startswith("| `"):
            file, library, version, licence, _, reason = line.strip("| ").split(" | ")
            yield f"| {file} | {library} | {version} | {licence} | {reason} |"


if __name__ == "__main__":
    sys.exit(main())
