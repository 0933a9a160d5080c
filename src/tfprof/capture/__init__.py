"""Taking profiles from a live program; a framework is imported only when that is called for.

`tfprof.capture` is this package and can be called as well: `with tfprof.capture("runs/a"): …`.
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import os

    from tfprof.capture.recording import Capture


class _CallablePackage(ModuleType):
    """A package whose name is also that of what it is for."""

    def __call__(self, folder: str | os.PathLike[str]) -> Capture:
        from tfprof.capture.recording import capture  # noqa: PLC0415 -- for those who record

        return capture(folder)


sys.modules[__name__].__class__ = _CallablePackage
