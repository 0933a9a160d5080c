"""Parses a text graph with the parser in TensorFlow's library, as its C++ tool did.

    python benchmarks/original_text.py JOB

TensorFlow's Python API accepts only binary graphs, and protobuf's Python text parser is an order of
magnitude slower than the one in C++, so this script calls the C++ symbol in the library.
"""

from __future__ import annotations

import ctypes
import sys
from pathlib import Path

from phases import Job, Phases

_LIBRARY = "libtensorflow_framework.so.2"
_NEW_GRAPH = "_ZN10tensorflow8GraphDefC1EPN6google8protobuf5ArenaE"
_PARSE = (
    "_ZN6google8protobuf10TextFormat15ParseFromString"
    "ESt17basic_string_viewIcSt11char_traitsIcEEPNS0_7MessageE"
)
_ROOM_FOR_A_MESSAGE = 4096  # more than the size of a GraphDef object


def main() -> None:
    job, phases = Job.given(), Phases()
    with phases.phase("import"):
        import tensorflow as tf  # noqa: PLC0415 -- the import is measured
    library = ctypes.CDLL(str(Path(tf.sysconfig.get_lib()) / _LIBRARY))
    new_graph, parse = library[_NEW_GRAPH], library[_PARSE]
    new_graph.argtypes, new_graph.restype = [ctypes.c_void_p, ctypes.c_void_p], None
    # A `string_view` is passed as two arguments: length and pointer.
    parse.argtypes = [ctypes.c_size_t, ctypes.c_char_p, ctypes.c_void_p]
    parse.restype = ctypes.c_bool
    graph = ctypes.create_string_buffer(_ROOM_FOR_A_MESSAGE)
    new_graph(graph, None)
    with phases.phase(job.load):
        text = Path(job.graph).read_bytes()
        is_parsed = parse(len(text), text, graph)
    if not is_parsed:
        sys.exit(f"{job.graph} is not a text graph.")
    phases.report()


if __name__ == "__main__":
    main()
