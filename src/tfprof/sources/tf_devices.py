"""What the names of TensorFlow devices say."""

from __future__ import annotations

import re
from collections.abc import Iterable

from tfprof.model.builder import ProfileBuilder
from tfprof.model.devices import Device, Role

_PLACEMENT = re.compile(r".*/(device:gpu|gpu|device:cpu|cpu):\d+", re.ASCII)
_GPU = re.compile(r"gpu:\d+", re.ASCII)
_TASK = re.compile(r"/job:([^/]+)/(?:replica:\d+/)?task:(\d+)", re.ASCII)
_ACCELERATORS = ("gpu", "tpu")


def add_device(builder: ProfileBuilder, recording: int, name: str) -> int:
    """The code of a device; TensorFlow spells one device in several cases, so case is ignored."""
    name = name.lower()
    return builder.add_device(
        recording,
        Device(
            name,
            role=_role(name),
            is_placement=_PLACEMENT.fullmatch(name) is not None,
            is_accelerator_lane="stream:all" in name,
            host=_GPU.sub("cpu:0", name),
        ),
    )


def _role(name: str) -> Role:
    if is_copy_lane(name):
        return Role.COPY_ENGINE
    return Role.ACCELERATOR if any(kind in name for kind in _ACCELERATORS) else Role.HOST


def is_copy_lane(name: str) -> bool:
    """Whether a lane holds the transfers of a GPU; its streams hold them a second time."""
    return name.lower().endswith("/memcpy")


def misses_accelerator_stream(names: Iterable[str]) -> bool:
    """Whether a run on a GPU has no stream of it, so that its own time is missing."""
    gpus = [name.lower() for name in names if "gpu" in name.lower()]
    return bool(gpus) and not any("stream:all" in name for name in gpus)


def tasks_of(names: Iterable[str]) -> frozenset[tuple[str, int]]:
    """The tasks of a distributed job that devices belong to: job and number."""
    found = (_TASK.match(name.lower()) for name in names)
    return frozenset((match[1], int(match[2])) for match in found if match)
