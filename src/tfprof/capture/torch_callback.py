"""Records some steps of a training loop of PyTorch, Lightning or the Trainer of transformers."""

from __future__ import annotations

import os
import sys
import warnings
from types import TracebackType
from typing import Any, Self

from tfprof.capture.recorded_steps import RecordedSteps, checked_steps
from tfprof.capture.recording import Capture

# The base classes of callbacks, if the program has imported them.
_BASES = (
    ("lightning.pytorch.callbacks", "Callback"),
    ("pytorch_lightning.callbacks", "Callback"),
    ("transformers.trainer_callback", "TrainerCallback"),
)


def TorchCallback(  # noqa: N802 -- used like a class; its bases are known late
    folder: str | os.PathLike[str],
    steps: tuple[int, int] = (10, 13),
    *,
    overwrite: bool = False,
    all_threads: bool = False,
) -> Any:
    """Records steps of a PyTorch loop: call its `step()` after each step.

    It is also a callback for `Trainer(callbacks=[tfprof.TorchCallback("runs/a")])` of Lightning and
    transformers. Steps are counted from 0; `steps=(10, 13)` records 10, 11 and 12. The first steps
    are slow and not representative. `overwrite` and `all_threads` are those of `tfprof.capture`.
    """
    first, end = checked_steps(steps)
    capture = Capture(
        folder,
        overwrite=overwrite,
        framework="torch",
        all_threads=all_threads,
        first_step=first,
    )
    capture.require_room()
    found = [getattr(sys.modules.get(module), name, None) for module, name in _BASES]
    bases = dict.fromkeys(base for base in found if base is not None)
    return type("TorchCallback", (_Callback, *bases), {})(capture, first, end)


class _Callback:
    """The callback; `TorchCallback` adds the base classes that the program has imported."""

    def __init__(self, capture: Capture, first: int, end: int) -> None:
        super().__init__()
        self.capture = capture
        self._first = first
        self._steps = RecordedSteps(capture, first, end)

    def step(self) -> None:
        """Say that a step has ended."""
        if self._steps.end_step():
            self.capture.warn()

    def close(self) -> None:
        """Say that the training has ended; a recording in progress is finished."""
        if self._steps.is_recording:
            self._steps.stop()
            self.capture.warn()
        elif not self._steps.has_started:
            warnings.warn(
                f"Training ended after {self._steps.count} steps, before step {self._first}: "
                "nothing was recorded.",
                stacklevel=2,
            )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def on_train_batch_end(self, *_: Any, **__: Any) -> None:  # of Lightning
        self.step()

    def on_step_end(self, *_: Any, **__: Any) -> None:  # of transformers
        self.step()

    def on_train_end(self, *_: Any, **__: Any) -> None:  # of both
        self.close()

    def on_exception(self, *_: Any, **__: Any) -> None:  # of Lightning
        self.close()
