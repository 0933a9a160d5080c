"""Lists the compiled modules; everything else about the package is in pyproject.toml."""

import sys
from pathlib import Path

from Cython.Build import cythonize
from setuptools import Extension, setup

COMPILED = [
    "tfprof.formats.scan",
    "tfprof.formats.scan_bytes",
    "tfprof.formats.scan_rows",
    "tfprof.formats.text",
    "tfprof.kernels.lanes",
    "tfprof.kernels.lines",
    "tfprof.kernels.name_order",
    "tfprof.kernels.name_scopes",
    "tfprof.kernels.name_search",
    "tfprof.kernels.name_table",
    "tfprof.kernels.rows",
    "tfprof.kernels.timelines",
    "tfprof.kernels.trees",
]
ARGUMENTS = [] if sys.platform == "win32" else ["-g0"]  # debug info would be most of the size

extensions = cythonize(
    [
        Extension(name, [f"src/{name.replace('.', '/')}.py"], extra_compile_args=ARGUMENTS)
        for name in COMPILED
    ],
    build_dir="build",
    include_path=["src"],  # for the .pxd files of other modules
)
TYPES = [str(path) for path in Path("src").rglob("*.pxd")]  # for rebuilds and the sdist

for extension in extensions:
    extension.depends = TYPES
    # Without a C compiler the modules run as plain Python. This is set here because `cythonize`
    # creates new extensions and drops the attribute.
    extension.optional = True

setup(ext_modules=extensions)
