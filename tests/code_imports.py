"""What each module of the package imports, read from its source."""

from __future__ import annotations

import ast
import re
from pathlib import Path

SOURCE = Path(__file__).parent.parent / "src" / "tfprof"
OURS = rf"tfprof\.({'|'.join(path.stem for path in SOURCE.iterdir())})(\.\w+)*"


def module_name(path: Path) -> str:
    """The name of a module below the package, such as `views.scope`; a package has its own name."""
    parts = path.relative_to(SOURCE).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" and len(parts) > 1 else parts)


TREES = {module_name(path): ast.parse(path.read_text("utf-8")) for path in SOURCE.rglob("*.py")}


def imported(tree: ast.Module) -> set[str]:
    """Every module that is imported anywhere in a file, by its full name or deeper.

    A string that is the name of one of our modules counts too: it is there to be imported.
    """
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports are absolute"
            found.update(f"{node.module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Constant) and re.fullmatch(OURS, str(node.value)):
            found.add(str(node.value))
    return found


def own_modules(tree: ast.Module) -> set[str]:
    """Our modules that are imported anywhere in a file, by their names in `TREES`."""
    found = set()
    for name in imported(tree):
        package, _, inner = name.partition(".")
        while package == "tfprof" and inner and inner not in TREES:
            inner = inner.rpartition(".")[0]  # the import names something in a module
        if package == "tfprof":
            found.add(inner or "__init__")
    return found


IMPORTS = {name: own_modules(tree) - {name} for name, tree in TREES.items()}
OTHERS = {
    name: {full.partition(".")[0] for full in imported(tree)} - {"tfprof"}
    for name, tree in TREES.items()
}
PACKAGES = {name for name in TREES if any(other.startswith(f"{name}.") for other in TREES)}


def top(name: str) -> str:
    return name.partition(".")[0]


def siblings(name: str, other: str) -> tuple[str, str, str]:
    """The innermost package of both modules, and the part of it that each belongs to.

    The package itself is its part `__init__`.
    """
    here, there = name.split("."), other.split(".")
    depth = 0
    while here[depth:] and there[depth:] and here[depth] == there[depth]:
        depth += 1
    part, other_part = (path[depth] if path[depth:] else "__init__" for path in (here, there))
    return ".".join(here[:depth]), part, other_part


INSIDE = {siblings(name, other) for name, others in IMPORTS.items() for other in others}
