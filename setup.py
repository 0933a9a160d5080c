"""
Lists the compiled modules, and makes builds reproducible.

Everything else about the package is in pyproject.toml and MANIFEST.in.
"""

import gzip
import io
import os
import sys
import tarfile
from operator import attrgetter
from pathlib import Path

from Cython.Build import cythonize
from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext
from setuptools.command.sdist import sdist

COMPILED = [
    "tfprof.formats.kineto.scan",
    "tfprof.formats.kineto.scan_fields",
    "tfprof.formats.kineto.scan_json",
    "tfprof.formats.kineto.scan_texts",
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
    "tfprof.kernels.nesting",
    "tfprof.kernels.rows",
    "tfprof.kernels.timelines",
    "tfprof.kernels.trees",
]
ARGUMENTS = [] if sys.platform == "win32" else ["-g0"]  # debug info would be most of the size

TYPES = [str(path) for path in Path("src").rglob("*.pxd")]  # for rebuilds and the sdist


def extension(name: str) -> Extension:
    """A compiled module. Without a C compiler it runs as plain Python."""
    source = f"src/{name.replace('.', '/')}.py"
    return Extension(name, [source], depends=TYPES, extra_compile_args=ARGUMENTS, optional=True)


class CythonBuild(build_ext):
    """Compiles Python to C, and does not leave the folder of this Python in the result."""

    def finalize_options(self) -> None:
        super().finalize_options()
        self.parallel = self.parallel or os.cpu_count()

    def build_extensions(self) -> None:
        linker = getattr(self.compiler, "linker_so", [])  # Windows has no such paths
        linker[:] = [word for word in linker if not word.startswith("-Wl,-rpath")]
        # Only the sources are taken over: `cythonize` returns new extensions without `optional`.
        # The include path is for the .pxd files of other modules.
        translated = cythonize(self.extensions, build_dir="build", include_path=["src"])
        for own, other in zip(self.extensions, translated, strict=True):
            own.sources = other.sources
        super().build_extensions()


class ReproducibleSdist(sdist):
    """An sdist whose bytes depend only on the files, if `SOURCE_DATE_EPOCH` sets their time.

    A wheel that is built from it is reproducible too, with the same compiler and versions of
    Python, setuptools and Cython. Setuptools sets the times in it.
    """

    def make_archive(self, *args: str, **options: str) -> str:
        archive: str = super().make_archive(*args, **options)
        if time := os.environ.get("SOURCE_DATE_EPOCH"):
            normalise(Path(archive), int(time))
        return archive


def normalise(archive: Path, time: int) -> None:
    """Give all files in a .tar.gz the same time, no owner, and the usual permissions."""
    content = io.BytesIO()
    with tarfile.open(archive) as old, tarfile.open(fileobj=content, mode="w") as new:
        for member in sorted(old.getmembers(), key=attrgetter("name")):
            member.mtime, member.pax_headers = time, {}
            member.uid, member.gid, member.uname, member.gname = 0, 0, "", ""
            member.mode = 0o755 if member.mode & 0o100 else 0o644
            new.addfile(member, old.extractfile(member))
    archive.write_bytes(gzip.compress(content.getvalue(), mtime=time))


setup(
    ext_modules=[extension(name) for name in COMPILED],
    cmdclass={"build_ext": CythonBuild, "sdist": ReproducibleSdist},
)
