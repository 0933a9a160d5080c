"""Records some steps of a PyTorch program, as its optimizer counts them."""

from __future__ import annotations

import weakref
from typing import Any

from tfprof.capture.recorded_steps import RecordedSteps
from tfprof.capture.recording import Capture
from tfprof.errors import CaptureError
from tfprof.frameworks import torch


class OptimizerSteps:
    """Counts the steps of the first optimizer that the program uses; `finish` must be called."""

    def __init__(self, capture: Capture, first: int, end: int) -> None:
        self._steps = RecordedSteps(capture, first, end)
        self._first = first
        self._optimizer: weakref.ref[Any] | None = None
        self._problem: CaptureError | None = None
        torch()  # raises an error with advice if it is missing
        from torch.optim.optimizer import (  # noqa: PLC0415 -- optional
            register_optimizer_step_post_hook,
        )

        self._hook = register_optimizer_step_post_hook(self._end_step)

    def _end_step(self, optimizer: Any, *_: Any) -> None:
        if self._optimizer is None:
            self._optimizer = weakref.ref(optimizer)
        if self._optimizer() is not optimizer:
            return
        try:
            is_done = self._steps.end_step()
        except CaptureError as error:  # must not stop the program
            self._problem, is_done = error, True
        if is_done:
            self._hook.remove()

    def finish(self) -> Capture:
        """The complete recording; raises CaptureError if there is none."""
        self._hook.remove()
        if self._problem is not None:
            raise self._problem
        if not self._steps.has_started and not self._steps.count:
            raise CaptureError(
                f"no optimizer made a step, so the {self._first} to skip could not be counted: "
                "nothing was recorded. Record the whole program, without `skip_steps`, or some of "
                "its steps with tfprof.TorchCallback."
            )
        if not self._steps.has_started:
            raise CaptureError(
                f"the optimizer made {self._steps.count} steps, not more than the {self._first} to "
                "skip: nothing was recorded."
            )
        self._steps.stop()
        return self._steps.capture
