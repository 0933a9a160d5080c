"""A crash of TensorFlow's own profiler is distinguished from a missing answer."""

import signal

import pytest

from parity import original
from parity.original import Inputs, Original, Unanswered


def test_the_end_of_the_worker_is_no_crash():
    with Original() as worker:
        worker._worker.kill()

        for _ in range(2):
            with pytest.raises(Unanswered, match=r"the worker ended instead of answering .*scope"):
                worker.ask(Inputs(), "scope", {})


def test_slowness_is_no_crash(monkeypatch):
    monkeypatch.setattr(original, "_MAX_WORKER_SECONDS", 0)
    monkeypatch.setattr(original, "_MAX_SECONDS", 0)

    with Original() as worker:
        worker._worker.send_signal(signal.SIGSTOP)

        with pytest.raises(Unanswered, match=r"no reply within 0 seconds to .*scope"):
            worker.ask(Inputs(), "scope", {})
