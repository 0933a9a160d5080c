"""Hooks for `MonitoredSession` and `Estimator` that write profiling data to files."""

from __future__ import annotations

from os import PathLike, fspath
from pathlib import Path
from typing import Any, Self

from tfprof.classic.files import write
from tfprof.classic.option_builder import ProfileOptionBuilder
from tfprof.classic.profiler import profile
from tfprof.classic.traced_run import write_files
from tfprof.formats import step_stats
from tfprof.formats.records import Records
from tfprof.frameworks import tensorflow
from tfprof.outputs import step_timeline


class _Hook:
    """Becomes a `SessionRunHook` when instantiated, so defining it does not import TensorFlow."""

    def __new__(cls, *_: Any, **__: Any) -> Self:
        base = tensorflow().compat.v1.train.SessionRunHook
        if issubclass(cls, base):
            return object.__new__(cls)
        real: type[Self] = type(cls.__name__, (cls, base), {"__module__": cls.__module__})
        return object.__new__(real)


class MetadataCaptureHook(_Hook):
    """Traces one training step and writes its graph, run metadata, op log and timeline to a folder.

    The traced run is the one after the global step reaches `step`. The files in `output_dir` are
    `graph.pbtxt`, `run_meta`, `tfprof_log` and `timeline.json`.
    """

    def __init__(self, output_dir: str | PathLike[str], step: int = 10) -> None:
        self._folder = output_dir
        self._wanted_step = step
        self._is_next = self._is_done = False
        self._global_step: Any = None

    def begin(self) -> None:
        """Find the global step, which counts training steps."""
        self._global_step = tensorflow().compat.v1.train.get_global_step()
        if self._global_step is None:
            raise RuntimeError("MetadataCaptureHook requires a global step: create one first.")

    def before_run(self, run_context: Any) -> Any:  # noqa: ARG002 -- part of the interface
        """Fetch the global step, and trace this run if it is the chosen one."""
        v1 = tensorflow().compat.v1
        options = v1.RunOptions(trace_level=v1.RunOptions.FULL_TRACE) if self._is_next else None
        return v1.train.SessionRunArgs(self._global_step, options=options)

    def after_run(self, run_context: Any, run_values: Any) -> None:
        """Write the files of a traced run, or check whether to trace the next one."""
        if self._is_done:
            return
        if self._is_next:
            self._write(run_context.session.graph, run_values.run_metadata)
            self._is_next, self._is_done = False, True
        elif run_values.results == self._wanted_step:
            self._is_next = True

    def _write(self, graph: Any, run_meta: Any) -> None:
        write_files(self._folder, graph, run_meta)
        step = step_stats.decode(Records("run_meta", run_meta.SerializeToString()))
        write(self._folder, "timeline.json", b"".join(step_timeline.encode(step)))


class PrintModelAnalysisHook(_Hook):
    """Writes a table of the trainable variables and their sizes before the first run.

    The table goes to the file `filename` and to TensorFlow's log.
    """

    def __init__(self, filename: str | PathLike[str]) -> None:
        self._path = fspath(filename)

    def begin(self) -> None:
        """Write the table for the default graph."""
        tf = tensorflow()
        options = ProfileOptionBuilder.trainable_variables_parameter() | {
            "output": f"file:outfile={self._path}"
        }
        profile(tf.compat.v1.get_default_graph(), options=options)
        if Path(self._path).exists():
            tf.get_logger().info("%s", Path(self._path).read_text("utf-8"))
