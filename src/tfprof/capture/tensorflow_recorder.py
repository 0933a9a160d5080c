"""Records what TensorFlow runs, with the graph of the functions that ran."""

from __future__ import annotations

from pathlib import Path

from tfprof.capture import recorded_graph
from tfprof.capture.kept_functions import KeptFunctions
from tfprof.errors import CaptureError
from tfprof.frameworks import tensorflow


class Recorder:
    """A recording by `tf.profiler.experimental`, which records all threads in any case."""

    title = "TensorFlow"

    def __init__(
        self,
        *,
        all_threads: bool,  # noqa: ARG002 -- as of other recorders
        usual_step_ns: int,  # noqa: ARG002 -- same
    ) -> None:
        self._profiler = tensorflow().profiler.experimental

    def start(self, folder: Path) -> None:
        """Start recording to a folder."""
        kept = KeptFunctions()
        try:
            self._profiler.start(str(folder))
        except BaseException:
            kept.release()
            raise
        self._kept = kept

    def step(self, number: int) -> None:  # noqa: ARG002 -- as of other recorders
        """Steps are marked in another way."""
        raise CaptureError(
            "`step` marks steps of PyTorch; for TensorFlow, use tfprof.KerasCallback or "
            'tf.profiler.experimental.Trace("train", step_num=…).'
        )

    def stop(self, folder: Path) -> tuple[str, ...]:
        """Stop recording and write the graph; returns what is missing from the recording."""
        try:
            self._profiler.stop()
            return recorded_graph.write(folder, self._kept)
        finally:
            self._kept.release()
