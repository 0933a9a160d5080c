"""Puts byte code beside tfprof's sources, as installing a wheel does."""

from __future__ import annotations

import compileall
from importlib.util import find_spec


def compile_sources() -> None:
    """Let no measured process compile Python: an editable install comes without byte code."""
    spec = find_spec("tfprof")
    for folder in (spec.submodule_search_locations or []) if spec else []:
        compileall.compile_dir(folder, quiet=1)
