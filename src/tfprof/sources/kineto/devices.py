"""The devices of a trace: the host, its accelerators, and their streams."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from tfprof.columns import Ints, distinct_rows
from tfprof.formats.kineto.columns import Slices, Trace
from tfprof.model.builder import ProfileBuilder
from tfprof.model.devices import Device, Role

HOST = "cpu"
_CPU_TYPE = 0


class TraceDevices:
    """Adds the devices of a recording when they are first needed."""

    def __init__(self, builder: ProfileBuilder, recording: int, trace: Trace) -> None:
        self._builder, self._recording = builder, recording
        self._models = _models(trace.header)
        self._kind = _kind(trace.slices.category.values)
        self.host = self._add(Device(HOST, Role.HOST, True, False, HOST))

    def accelerator(self, number: int) -> int:
        """An accelerator, on which ops can be placed."""
        model = self._models.get(number, "")
        return self._add(Device(self._name(number), Role.ACCELERATOR, True, False, HOST, model))

    def stream(self, number: int, stream: int) -> int:
        """A stream of an accelerator, on which its kernels run."""
        model, name = self._models.get(number, ""), f"{self._name(number)}/stream:{stream}"
        return self._add(Device(name, Role.ACCELERATOR, False, True, HOST, model))

    def copies(self, number: int) -> int:
        """The transfers of an accelerator."""
        name = f"{self._name(number)}/memcpy"
        return self._add(Device(name, Role.COPY_ENGINE, False, False, HOST))

    def streams(self, slices: Slices, rows: Ints) -> Ints:
        """The stream of each activity."""
        pairs, place = distinct_rows((slices.device[rows], slices.stream[rows]))
        found = [self.stream(number, stream) for number, stream in pairs.tolist()]
        return np.array(found, np.int64)[place]

    def allocator(self, kind: int, number: int) -> tuple[int, str]:
        """The device of an allocator, and the allocator's name."""
        if kind == _CPU_TYPE or number < 0:
            return self.host, HOST
        return self.accelerator(number), self._name(number)

    def _name(self, number: int) -> str:
        return f"{self._kind}:{max(number, 0)}"

    def _add(self, device: Device) -> int:
        return self._builder.add_device(self._recording, device)


def _kind(categories: Iterable[str]) -> str:
    """What PyTorch calls the accelerators of a trace; it calls those of AMD `cuda` too."""
    for category in categories:
        kind = category.partition("_")[0]
        if kind in {"xpu", "mtia", "hpu", "privateuse1"}:
            return kind
    return "cuda"


def _models(header: Mapping[str, Any]) -> dict[int, str]:
    """The model of each accelerator, as far as the trace states it."""
    stated = header.get("deviceProperties")
    rows = [row for row in stated if isinstance(row, dict)] if isinstance(stated, list) else []
    return {
        row["id"]: str(row.get("name", ""))
        for row in rows
        if isinstance(row.get("id"), int) and not isinstance(row["id"], bool)
    }
