"""The rank of this process in a distributed PyTorch program."""

from __future__ import annotations

import os
import sys
from typing import Any

from tfprof.sources.capture_folder import RANK


def part() -> str:
    """The folder of this rank inside that of the recording; empty if the program has one process.

    Known from the process group or, before it is initialised, from what `torchrun` sets.
    """
    found = sys.modules.get("torch.distributed")
    rank, count = _of_group(found) if found else (0, 1)
    if count == 1:
        rank, count = _number("RANK", 0), _number("WORLD_SIZE", 1)
    return f"{RANK}{rank}" if count > 1 else ""


def _of_group(distributed: Any) -> tuple[int, int]:
    if not distributed.is_available() or not distributed.is_initialized():
        return 0, 1
    return distributed.get_rank(), distributed.get_world_size()


def _number(name: str, default: int) -> int:
    text = os.environ.get(name, "")
    return int(text) if text.isdecimal() else default
