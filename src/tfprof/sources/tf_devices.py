"""Facts derived from the names of TensorFlow devices."""

from __future__ import annotations

import re
from collections.abc import Iterable

from tfprof.model.builder import ProfileBuilder
from tfprof.model.devices import Device, Role

_PLACEMENT = re.compile(r".*/(device:gpu|gpu|device:cpu|cpu):\d+", re.ASCII)
_GPU = re.compile(r"gpu:\d+", re.ASCII)
_TASK = re.compile(r"/job:([^/]+)/(?:replica:\d+/)?task:(\d+)", re.ASCII)
_ACCELERATORS = ("gpu", "tpu")


def add_device(builder: ProfileBuilder, recording: int, name: str, model: str = "") -> int:
    """The id of a device, added if new; case is ignored because TensorFlow's spelling varies."""
    name = name.lower()
    return builder.add_device(
        recording,
        Device(
            name,
            role=_role(name),
            is_placement=_PLACEMENT.fullmatch(name) is not None,
            is_accelerator_lane="stream:all" in name,
            host=_GPU.sub("cpu:0", name),
            model=model,
        ),
    )


def _role(name: str) -> Role:
    if is_copy_lane(name):
        return Role.COPY_ENGINE
    return Role.ACCELERATOR if any(kind in name for kind in _ACCELERATORS) else Role.HOST


def is_copy_lane(name: str) -> bool:
    """Whether a lane contains the transfers of a GPU, which its streams contain as well."""
    return name.lower().endswith("/memcpy")


def misses_accelerator_stream(names: Iterable[str]) -> bool:
    """Whether there is a GPU but no lane with the times of its kernels."""
    gpus = [name.lower() for name in names if "gpu" in name.lower()]
    return bool(gpus) and not any("stream:all" in name for name in gpus)


def tasks_of(names: Iterable[str]) -> frozenset[tuple[str, int]]:
    """The tasks of a distributed job to which the devices belong: job name and number."""
    found = (_TASK.match(name.lower()) for name in names)
    return frozenset((match[1], int(match[2])) for match in found if match)
