"""How fast a graph in text is read: by our compiled reader, and by protobuf's.

python benchmarks/text_reader.py [--ops 1e4]
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

from generate import generate, op_count

from tfprof.formats.messages import message_class, parse_text
from tfprof.formats.text import Schema, is_compiled, to_wire

GRAPH = "tensorflow.GraphDef"
REPEATS = 3


def seconds(read: Callable[[], object], repeats: int) -> float:
    """The shortest of a few times that `read` takes."""
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        read()
        times.append(time.perf_counter() - start)
    return min(times)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--ops", type=op_count, default=10_000, help="of the graph (1e4)")
    with TemporaryDirectory() as folder:
        files = generate(Path(folder), parser.parse_args().ops, with_text=True)
        data = files.graph_text.read_bytes()
    schema = Schema(message_class(GRAPH).DESCRIPTOR)
    ours = "compiled reader" if is_compiled() else "our reader, not compiled"
    readers = {
        ours: seconds(lambda: to_wire(schema, data), REPEATS),
        "protobuf's reader": seconds(
            lambda: parse_text(GRAPH, data.decode()).SerializeToString(), 1
        ),
    }
    for name, taken in readers.items():
        print(f"{name:<26}{taken:8.3f} s{len(data) / taken / 1e6:8.1f} MB/s")


if __name__ == "__main__":
    main()
