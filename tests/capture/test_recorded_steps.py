"""Which steps of a PyTorch loop are recorded; the recording itself is only noted."""

import sys
from itertools import accumulate
from types import SimpleNamespace

import pytest

import tfprof
from tfprof.capture import torch_callback
from tfprof.capture.recorded_steps import RecordedSteps


class NotedCapture:
    """Notes what is called, in place of a recording."""

    def __init__(self, *_, **__):
        self.calls = []
        self.usual_step_ns = 0

    def require_room(self):
        """There is room."""

    def __getattr__(self, name):
        return lambda: self.calls.append(name)


@pytest.mark.parametrize(
    ("first", "end", "steps", "calls"),
    [
        (0, 1, 2, ["start", "step", "stop"]),
        (2, 4, 6, ["start", "step", "step", "stop"]),
        (1, 9, 3, ["start", "step", "step", "stop"]),  # the loop ends early
        (1, 0, 3, ["start", "step", "step", "stop"]),  # up to the end
        (9, 12, 3, []),
    ],
)
def test_a_recording_covers_the_steps_from_the_first_up_to_the_end(first, end, steps, calls):
    capture = NotedCapture()
    recorded = RecordedSteps(capture, first, end)

    is_done = [recorded.end_step() for _ in range(steps)]
    recorded.stop()

    assert capture.calls == calls
    assert is_done.count(True) == (0 < end <= steps)
    assert (recorded.count, recorded.has_started) == (steps, bool(calls))


def test_the_usual_time_is_the_median_of_the_last_steps_before_the_recording(monkeypatch):
    # Only the last nine count; the median of all twelve is 100.
    ends = accumulate([0, *[1000] * 3, *[100] * 4, *[10] * 5])
    clock = SimpleNamespace(perf_counter_ns=lambda: next(ends))
    monkeypatch.setattr("tfprof.capture.recorded_steps.time", clock)
    capture = NotedCapture()
    recorded = RecordedSteps(capture, 13, 14)

    for _ in range(13):
        recorded.end_step()
    recorded.stop()

    assert capture.usual_step_ns == 10


@pytest.fixture
def callback(monkeypatch):
    """Makes a callback for steps whose recording is only noted, on these base classes."""
    monkeypatch.setattr(torch_callback, "Capture", NotedCapture)

    def make(steps, **modules):
        for name, base in modules.items():
            monkeypatch.setitem(sys.modules, name.replace("__", "."), base)
        return tfprof.TorchCallback("a", steps=steps)

    return make


@pytest.mark.parametrize(
    ("module", "base", "end_step"),
    [
        ("lightning__pytorch__callbacks", "Callback", "on_train_batch_end"),
        ("pytorch_lightning__callbacks", "Callback", "on_train_batch_end"),
        ("transformers__trainer_callback", "TrainerCallback", "on_step_end"),
    ],
)
def test_trainers_that_were_imported_call_it_after_each_step(module, base, end_step, callback):
    kind = type(base, (), {})
    made = callback((1, 3), **{module: SimpleNamespace(**{base: kind})})

    for _ in range(3):
        getattr(made, end_step)("trainer", "model", outputs=1)
    made.on_train_end("trainer")

    assert isinstance(made, kind)
    assert made.capture.calls == ["start", "step", "step", "stop", "warn"]


@pytest.mark.parametrize("close", ["close", "on_train_end", "on_exception"])
def test_the_end_of_the_training_ends_the_recording(close, callback):
    made = callback((0, 100))

    made.step()
    getattr(made, close)()

    assert made.capture.calls == ["start", "step", "stop", "warn"]


def test_a_training_that_ends_before_the_first_step_has_a_warning(callback):
    made = callback((10, 13))

    made.step()
    with pytest.warns(UserWarning, match="after 1 steps, before step 10: nothing was recorded"):
        made.close()

    assert made.capture.calls == []
