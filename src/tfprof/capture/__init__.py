"""Records and traces live programs; the framework is imported only when needed.

`tfprof.capture` is this package, and also a function: `with tfprof.capture("runs/a"): …`.
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import os

    from tfprof.capture.recording import Capture


class _CallablePackage(ModuleType):
    """A package that can be called like the function `capture`, which shares its name."""

    def __call__(
        self,
        folder: str | os.PathLike[str],
        *,
        overwrite: bool = False,
        framework: str = "auto",
        all_threads: bool = False,
    ) -> Capture:
        from tfprof.capture.recording import capture  # noqa: PLC0415 -- only needed to record

        return capture(folder, overwrite=overwrite, framework=framework, all_threads=all_threads)


sys.modules[__name__].__class__ = _CallablePackage
