"""Programs that read a trace of PyTorch; `trace_speed.py` runs each in a process of its own.

python benchmarks/trace_peers.py {json,msgspec,hta} TRACE
"""

from __future__ import annotations

import gzip
import sys
from pathlib import Path
from typing import BinaryIO


def main() -> None:
    _, name, path = sys.argv
    PEERS[name](path)


def _opened(path: str) -> BinaryIO:
    return gzip.open(path) if path.endswith(".gz") else Path(path).open("rb")


def json_load(path: str) -> None:
    """The standard library."""
    import json  # noqa: PLC0415 -- each process imports what it needs

    with _opened(path) as file:
        json.load(file)


def msgspec_decode(path: str) -> None:
    """Typed objects; only the arguments that tfprof reads are decoded."""
    import msgspec  # noqa: PLC0415 -- as above

    keys = {
        "External id": int | None,
        "Record function id": int | None,
        "Sequence number": int | None,
        "Fwd thread id": int | None,
        "Python id": int | None,
        "Python parent id": int | None,
        "Python module id": int | None,
        "correlation": int | None,
        "device": int | None,
        "stream": int | None,
        "bytes": int | None,
        "Input Dims": msgspec.Raw,
        "Input type": msgspec.Raw,
        "Concrete Inputs": msgspec.Raw,
        "Bytes": int | None,
        "Addr": int | None,
    }
    names = {f"arg{number}": key for number, key in enumerate(keys)}
    args = msgspec.defstruct(
        "Args",
        [
            (name, keys[key], None if keys[key] is not msgspec.Raw else msgspec.Raw())
            for name, key in names.items()
        ],
        rename=names,
        gc=False,
    )
    event = msgspec.defstruct(
        "Event",
        [
            ("ph", str, ""),
            ("cat", str, ""),
            ("name", str, ""),
            ("pid", int | str, 0),
            ("tid", int | str, 0),
            ("ts", msgspec.Raw, msgspec.Raw()),
            ("dur", msgspec.Raw, msgspec.Raw()),
            ("id", int, 0),
            ("args", args | None, None),
        ],
        gc=False,
    )
    trace = msgspec.defstruct("Trace", [("traceEvents", list[event])])
    with _opened(path) as file:
        msgspec.json.Decoder(trace).decode(file.read())


def hta_breakdowns(path: str) -> None:
    """HolisticTraceAnalysis: the time of kernels, and what the GPU waited for."""
    from hta.trace_analysis import TraceAnalysis  # noqa: PLC0415 -- as above

    found = TraceAnalysis(trace_files={0: path}, trace_dir=str(Path(path).parent))
    found.get_gpu_kernel_breakdown(visualize=False)
    found.get_idle_time_breakdown(visualize=False)


PEERS = {"json": json_load, "msgspec": msgspec_decode, "hta": hta_breakdowns}

if __name__ == "__main__":
    main()
