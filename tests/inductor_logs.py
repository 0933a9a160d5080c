"""Small logs of `torch.compile`, record by record."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

FILE = "/home/user/net.py"


def record(payload: Any = None, *, frame: int = 0, **content: Any) -> str:
    """A record, as the logger writes it; `frame` numbers the compiled functions."""
    about = {"frame_id": frame, "frame_compile_id": 0, "attempt": 0}
    line = "V1118 03:01:44.612000 9741 torch/_inductor/compile_fx.py:1632] "
    line += json.dumps(content | about) + "\n"
    return line + ("" if payload is None else f"\t{json.dumps(payload)}\n")


def kernels(table: Any, *, frame: int = 0) -> str:
    """The table of the kernels of a graph."""
    name = "inductor_provenance_tracking_kernel_stack_traces"
    return record(table, frame=frame, artifact={"name": name, "encoding": "json"})


def cached(key: Any, state: str = "miss", *, frame: int = 0) -> str:
    """What happened to a graph in the cache, which has its key."""
    return record({"key": key}, frame=frame, artifact={"name": f"fx_graph_cache_{state}"})


def metrics(name: Any, line: Any, *, frame: int = 0) -> str:
    """Which function was compiled."""
    function = {"co_name": name, "co_filename": FILE, "co_firstlineno": line, "guard_count": 3}
    return record(frame=frame, compilation_metrics=function)


def stack(*lines: int, function: str = "forward") -> str:
    """A stack as text; the lines are those of the frames, outermost first."""
    frames = [
        f'  File "{FILE}", line {one}, in {function}\n    x = y\n    ^^^^^\n' for one in lines
    ]
    return "".join(frames)


def table(*called: tuple[str, Sequence[str]]) -> Mapping[str, Sequence[str]]:
    """The kernels of a graph in order, each with its stacks."""
    return {f"{name}:{place}": stacks for place, (name, stacks) in enumerate(called, 1)}


def graph(*called: tuple[str, Sequence[str]], key: str = "", frame: int = 0) -> str:
    """The records of a graph."""
    return kernels(table(*called), frame=frame) + (cached(key, frame=frame) if key else "")
