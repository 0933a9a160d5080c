"""
Copies the page's libraries from node_modules into the package, in the form that its linker reads.

The page must work without a build step, so the package contains the libraries. package.json says
which versions; the table in `vendor/README.md` and the licence texts come from their packages.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parent.parent
VENDOR = ROOT / "src/tfprof/page/static/vendor"

README = """\
# Vendored libraries

The report page contains these libraries. `make vendor` copies them from their npm packages, whose
versions are in `package.json`, and rewrites this page. Do not edit the files.
Each file starts with the licence text of its library.

| file | library | version | licence | SHA-256 | why |
|---|---|---|---|---|---|
"""


@dataclass(frozen=True, slots=True)
class Library:
    """A file of the page: the npm package and file it is copied from, and why the page has it."""

    file: str
    package: str
    source: str
    link: Callable[[str], str]
    reason: str


def as_is(source: str) -> str:
    """A style sheet needs no changes."""
    return source


def export_variable(source: str) -> str:
    """A script that assigns its library to a variable exports that variable."""
    return re.sub(r"^var (\w+)=", r"export const \1=", source, count=1, flags=re.MULTILINE)


def export_constants(source: str) -> str:
    """A module that ends in `export{a as b,…}` exports each name in a statement of its own."""
    code, _, rest = source.rpartition("export{")
    pairs = re.findall(r"(\w+) as (\w+)", rest.partition("}")[0])
    exports = [f"export const {name}={local};\n" for local, name in pairs if name != "default"]
    return code + "\n" + "".join(exports)


LIBRARIES = [
    Library(
        "uplot.js",
        "uplot",
        "dist/uPlot.iife.min.js",
        export_variable,
        "draws curves with many points, with axes, cursor and zoom, in 50 kB",
    ),
    Library("uplot.css", "uplot", "dist/uPlot.min.css", as_is, "the style of these curves"),
    Library(
        "dagre.js",
        "@dagrejs/dagre",
        "dist/dagre.esm.js",
        export_constants,
        "lays out directed graphs in layers with few crossings, in 50 kB",
    ),
]


def vendored(library: Library, modules: Path) -> str:
    """The text of a vendored file, with the licence of its library at the top."""
    package = modules / library.package
    about = json.loads((package / "package.json").read_text("utf-8"))
    licence = (package / "LICENSE").read_text("utf-8").strip()
    notice = f"{library.package} {about['version']}\n\n{licence}"
    header = "".join(f" * {line}".rstrip() + "\n" for line in notice.splitlines())
    source = (package / library.source).read_text("utf-8")
    return f"/*!\n{header} */\n" + library.link(source).strip() + "\n"


def table(modules: Path) -> Iterator[str]:
    """The rows of the table in the README."""
    for library in LIBRARIES:
        about = json.loads((modules / library.package / "package.json").read_text("utf-8"))
        digest = hashlib.sha256(vendored(library, modules).encode()).hexdigest()
        yield (
            f"| `{library.file}` | {library.package} | {about['version']} | {about['license']}"
            f" | `{digest}` | {library.reason} |\n"
        )


def files(modules: Path) -> dict[str, str]:
    """All files that `make vendor` writes, by name."""
    copies = {library.file: vendored(library, modules) for library in LIBRARIES}
    return {**copies, "README.md": README + "".join(table(modules))}


def main() -> None:
    for name, text in files(ROOT / "node_modules").items():
        (VENDOR / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
