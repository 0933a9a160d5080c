"""Files that appear whole or not at all, here or wherever TensorFlow can write."""

from __future__ import annotations

from os import PathLike, fspath
from pathlib import Path

from tfprof.frameworks import tensorflow
from tfprof.outputs.registry import write_file


def write(folder: str | PathLike[str], name: str, data: bytes) -> None:
    """Write a file of a folder that is there."""
    where = fspath(folder)
    if "://" not in where:
        write_file(str(Path(where) / name), [data])
        return
    gfile = tensorflow().io.gfile
    partial = f"{where.rstrip('/')}/.tfprof-{name}"
    with gfile.GFile(partial, "wb") as file:
        file.write(data)
    gfile.rename(partial, f"{where.rstrip('/')}/{name}", overwrite=True)


def make_folder(folder: str | PathLike[str]) -> None:
    """Make a folder, and those above it, unless it is there."""
    tensorflow().io.gfile.makedirs(fspath(folder))
