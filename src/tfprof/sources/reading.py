"""What a user may say about how files are to be read."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Reading:
    """Choices that sources of programs are told."""

    functions: bool = False  # count the ops in the functions of a graph
    signature: str = ""  # of a SavedModel, which is read; empty for the usual one
    batch_size: int = 0  # how many examples there are where a program leaves that open; 0: unknown
