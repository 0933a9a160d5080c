"""A Keras callback that records some steps of `model.fit`."""

from __future__ import annotations

import os
import warnings
from typing import Any

from tfprof.capture.recorded_steps import checked_steps
from tfprof.capture.recording import Capture
from tfprof.frameworks import tensorflow


def KerasCallback(  # noqa: N802 -- used like a class; its Keras base is imported late
    folder: str | os.PathLike[str], steps: tuple[int, int] = (10, 13), *, overwrite: bool = False
) -> Any:
    """A callback that records steps: `model.fit(…, callbacks=[tfprof.KerasCallback("runs/a")])`.

    Steps are training batches, counted from 0 over all epochs; `steps=(10, 13)` records 10, 11 and
    12. The first steps are not representative: they trace functions and are slow. With
    `overwrite`, a recording that already exists is replaced once the new one is complete.
    """
    first, end = checked_steps(steps)
    keras = tensorflow().keras
    capture = Capture(folder, overwrite=overwrite, framework="tensorflow")
    capture.require_room()
    return type("KerasCallback", (_Callback, keras.callbacks.Callback), {})(capture, first, end)


class _Callback:
    """The callback; `KerasCallback` adds the base class once Keras is imported."""

    def __init__(self, capture: Capture, first: int, end: int) -> None:
        super().__init__()
        self.capture = capture
        self._first, self._end = first, end
        self._step = 0
        self._is_recording = False
        self._mark: Any = None

    def on_train_batch_begin(self, batch: int, logs: Any = None) -> None:  # noqa: ARG002 -- Keras API
        if self._step == self._first:
            self.capture.start()
            self._is_recording = True
        if self._is_recording:
            trace = tensorflow().profiler.experimental.Trace
            self._mark = trace("train", step_num=self._step, _r=1)
            self._mark.__enter__()

    def on_train_batch_end(self, batch: int, logs: Any = None) -> None:  # noqa: ARG002 -- Keras API
        self._end_mark()
        self._step += 1
        if self._step == self._end:
            self._stop()

    def on_train_end(self, logs: Any = None) -> None:  # noqa: ARG002 -- Keras API
        self._end_mark()
        if self._step <= self._first and not self._is_recording:
            warnings.warn(
                f"Training ended after {self._step} steps, before step {self._first}: "
                "nothing was recorded.",
                stacklevel=2,
            )
        self._stop()

    def _end_mark(self) -> None:
        if self._mark is not None:
            self._mark.__exit__(None, None, None)
            self._mark = None

    def _stop(self) -> None:
        if self._is_recording:
            self._is_recording = False
            self.capture.stop()
            self.capture.warn()
