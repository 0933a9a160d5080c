"""Asks TensorFlow's own profiler one question, as its Python API does.

    python benchmarks/original.py VIEW MAX_DEPTH GRAPH RUN_META OP_LOG TABLE

Needs an interpreter that has TensorFlow. The answer is written to the file TABLE.
"""

from __future__ import annotations

import sys
from pathlib import Path

import tensorflow as tf  # noqa: F401 -- what a program that asks it has to import
from tensorflow.core.profiler import tfprof_options_pb2
from tensorflow.python.util import _pywrap_tfprof as profiler


def main() -> None:
    view, max_depth, graph, run_meta, op_log, table = sys.argv[1:]
    profiler.NewProfiler(Path(graph).read_bytes(), Path(op_log).read_bytes())
    profiler.AddStep(0, b"", Path(run_meta).read_bytes(), b"")
    options = tfprof_options_pb2.OptionsProto(
        max_depth=int(max_depth),
        step=-1,
        order_by="name",
        account_type_regexes=[".*"],
        start_name_regexes=[".*"],
        show_name_regexes=[".*"],
        select=["micros"],
        output=f"file:outfile={table}",
    )
    profiler.Profile(view.encode(), options.SerializeToString())
    profiler.DeleteProfiler()


if __name__ == "__main__":
    main()
