"""Writes files atomically, on local disk or any file system that TensorFlow supports."""

from __future__ import annotations

from os import PathLike, fspath, urandom
from pathlib import Path

from tfprof import atomic_files
from tfprof.frameworks import tensorflow


def write(folder: str | PathLike[str], name: str, data: bytes) -> None:
    """Write the file `name` to an existing folder."""
    where = fspath(folder)
    if "://" not in where:
        atomic_files.write(str(Path(where) / name), [data])
        return
    gfile = tensorflow().io.gfile
    partial = f"{where.rstrip('/')}/.tfprof-{urandom(8).hex()}"
    try:
        with gfile.GFile(partial, "wb") as file:
            file.write(data)
        gfile.rename(partial, f"{where.rstrip('/')}/{name}", overwrite=True)
    except BaseException:
        if gfile.exists(partial):
            gfile.remove(partial)
        raise


def make_folder(folder: str | PathLike[str]) -> None:
    """Create a folder and its parents if they do not exist."""
    tensorflow().io.gfile.makedirs(fspath(folder))
