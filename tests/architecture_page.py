"""The rules on imports that docs/explanation/architecture.md states, read from its tables."""

from __future__ import annotations

import re
from pathlib import Path

PAGE = (Path(__file__).parent.parent / "docs/explanation/architecture.md").read_text("utf-8")


def rows(heading: str) -> list[list[str]]:
    """The cells of each row of the table under a heading of the page."""
    section = PAGE.partition(f"\n## {heading}\n")[2].partition("\n## ")[0]
    lines = [line for line in section.splitlines() if line.startswith("|")]
    return [line.strip("|").split("|") for line in lines[2:]]


def names(cell: str) -> list[str]:
    """The names in a cell that are written as code."""
    return re.findall(r"`([\w.]+)`", cell)


LAYER = {
    name: int(layer) for layer, modules, _ in rows("Layers and imports") for name in names(modules)
}


def layers(clause: str) -> set[str]:
    """The modules of `layer 0` or of `layers 0 to 6 except ...`."""
    numbers = [int(number) for number in re.findall(r"\d+", clause)]
    found = {name for name, layer in LAYER.items() if numbers[0] <= layer <= numbers[-1]}
    return found - set(names(clause.partition("except")[2]))


def may_import(cell: str) -> set[str]:
    """The modules that a cell allows: whole layers and single names."""
    clauses = cell.split(";")
    return set().union(*(layers(c) if "layer" in c else set(names(c)) for c in clauses))


def named(cell: str) -> set[str]:
    """The modules that a cell allows by name."""
    return {name for c in cell.split(";") if "layer" not in c for name in names(c)}


MAY_IMPORT = {
    name: may_import(allowed)
    for _, modules, allowed in rows("Layers and imports")
    for name in names(modules)
}
SHARED = {
    names(package)[0]: set(names(shared)) for package, shared, _ in rows("Imports inside packages")
}


def other_imports(cell: str) -> set[tuple[str, str]]:
    """The imports of a cell such as `a` `b` → `c`; each may also lead to `all`."""
    pairs = set()
    for clause in cell.split(";"):
        importers, _, imported_ = clause.partition("→")
        targets = ["all"] if imported_.strip() == "all" else names(imported_)
        pairs |= {(name, target) for name in names(importers) for target in targets}
    return pairs


OTHER_IMPORTS = {
    names(package)[0]: other_imports(cell) for package, _, cell in rows("Imports inside packages")
}
