"""Compiles tfprof's sources to byte code, as installing a wheel does."""

from __future__ import annotations

import compileall
from importlib.util import find_spec


def compile_sources() -> None:
    """Compile all modules before measuring; an editable install has no byte code."""
    spec = find_spec("tfprof")
    for folder in (spec.submodule_search_locations or []) if spec else []:
        compileall.compile_dir(folder, quiet=1)
