"""Checks that files given together define the same model, so that no answer mixes two models."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, TypeAlias

import numpy as np

from tfprof.columns import Shape
from tfprof.errors import OptionError
from tfprof.model.builder import ProfileBuilder
from tfprof.sources.source import InputFile

Definitions: TypeAlias = dict[str, tuple[str, Shape]]  # the kind and shape of each op

# Two graphs that share this part of their ops belong to two runs of a program.
_MOSTLY = 0.9

# TensorFlow adds these ops when it splits a graph by device.
_PARTITIONED = frozenset({"_Send", "_Recv", "_HostSend", "_HostRecv"})

_ADVICE = "ask about one at a time"


def require_single(files: Iterable[InputFile], whole: Iterable[str]) -> None:
    """Refuse several files of sources that always describe a whole model; `whole` names them."""
    models = [file.path for file in files if file.source.name in set(whole)]
    if len(models) > 1:
        raise OptionError(f"{' and '.join(models)} are {len(models)} models: {_ADVICE}.")


class OneModel:
    """The model that several files define; `add` refuses a file that defines another one."""

    def __init__(self, files: Iterable[InputFile], compared: Iterable[str]) -> None:
        """Compare those of `files` whose sources are named in `compared`."""
        self._compared = set(compared)
        self._is_checked = sum(file.source.name in self._compared for file in files) > 1
        self._paths: list[str] = []
        self._known: Definitions = {}
        self._is_partitioned = False

    def add(self, file: InputFile, found: Any) -> None:
        """Check a file; `found` is what its source read."""
        if not self._is_checked or file.source.name not in self._compared:
            return
        builder = ProfileBuilder()
        file.source.add(found, builder, file)
        new = dict(_definitions(builder))
        self._is_partitioned |= any(kind in _PARTITIONED for kind, _ in new.values())
        if self._known and new and not self._is_partitioned:
            self._require_same(file.path, new)
        self._paths.append(file.path)
        self._known = new | self._known

    def _require_same(self, path: str, new: Definitions) -> None:
        both = f"{self._paths[0]} and {path} define different models"
        shared = self._known.keys() & new.keys()
        for name in sorted(shared):
            if trouble := _difference(self._known[name], new[name]):
                raise OptionError(f"{both}: `{name}` is {trouble}; {_ADVICE}.")
        is_part = len(shared) in (len(self._known), len(new))
        if not is_part and len(shared) < _MOSTLY * max(len(self._known), len(new)):
            counts = f"{len(self._known):,} and {len(new):,} ops"
            raise OptionError(f"{both}: they share {len(shared):,} of {counts}; {_ADVICE}.")


def _definitions(builder: ProfileBuilder) -> Iterator[tuple[str, tuple[str, Shape]]]:
    ops = builder.build().ops
    # The ops of a trace depend on the shapes of their inputs: the same model may have others.
    for row in np.flatnonzero(ops.is_defined & (ops.signature == 0)).tolist():
        kind = ops.kind[row]
        # The size of a placeholder may depend on the batch.
        yield ops.name[row], (kind, None if kind.startswith("Placeholder") else ops.shape[row])


def _difference(one: tuple[str, Shape], other: tuple[str, Shape]) -> str:
    """How the definitions of an op differ, or nothing."""
    if one[0] != other[0]:
        return f"{one[0]} in the first and {other[0]} in the second"
    if one[1] is not None and other[1] is not None and one[1] != other[1]:
        shapes = ["x".join(map(str, shape)) or "a scalar" for shape in (one[1], other[1])]
        return f"{shapes[0]} in the first and {shapes[1]} in the second"
    return ""
