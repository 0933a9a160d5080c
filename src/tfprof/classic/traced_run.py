"""The files of a traced run: its graph, its run metadata and its op log."""

from __future__ import annotations

from os import PathLike
from typing import Any

from tfprof.classic.files import make_folder, write
from tfprof.classic.op_log import write_op_log


def write_files(
    folder: str | PathLike[str], graph: Any, run_meta: Any, run_meta_name: str = "run_meta"
) -> None:
    """Write `graph.pbtxt`, the run metadata and `tfprof_log` to `folder`, created if missing."""
    make_folder(folder)
    write(folder, "graph.pbtxt", str(graph.as_graph_def(add_shapes=True)).encode())
    write(folder, run_meta_name, run_meta.SerializeToString())
    write_op_log(graph, folder, run_meta=run_meta)
