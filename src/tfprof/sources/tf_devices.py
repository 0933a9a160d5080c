"""What the names of TensorFlow devices tell."""

from __future__ import annotations

import re

from tfprof.model.builder import ProfileBuilder

_PLACEMENT = re.compile(r".*/(device:gpu|gpu|device:cpu|cpu):\d+", re.ASCII)
_GPU = re.compile(r"gpu:\d+", re.ASCII)


def add_device(builder: ProfileBuilder, name: str) -> int:
    """The code of a device; TensorFlow spells one device in several cases, so case is dropped."""
    name = name.lower()
    return builder.add_device(
        name,
        is_placement=_PLACEMENT.fullmatch(name) is not None,
        is_accelerator_lane="stream:all" in name,
        host=_GPU.sub("cpu:0", name),
    )


def is_copy_lane(name: str) -> bool:
    """Whether a lane holds transfers to and from a GPU; its streams hold them a second time."""
    return name.lower().endswith("/memcpy")


def misses_accelerator_stream(names: list[str]) -> bool:
    """Whether a run on a GPU recorded no stream of it, so that its own time is missing."""
    gpus = [name.lower() for name in names if "gpu" in name.lower()]
    return bool(gpus) and not any("stream:all" in name for name in gpus)
