"""The compiled modules of `tfprof.kernels` as plain Python."""

import runpy
from pathlib import Path
from types import ModuleType, SimpleNamespace


def plain(module: ModuleType) -> SimpleNamespace:
    """The names of a module, from its source, whether it is compiled or not."""
    source = f"{module.__name__.rpartition('.')[2]}.py"
    return SimpleNamespace(**runpy.run_path(str(Path(module.__file__).with_name(source))))
