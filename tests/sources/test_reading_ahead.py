"""Function calls that run ahead in a thread."""

from threading import Thread

import pytest

from tfprof.sources.ahead import Ahead


def test_a_result_is_the_same_with_and_without_a_thread(monkeypatch):
    assert Ahead(sum, [1, 2]).result() == 3

    def refuse(_):
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(Thread, "start", refuse)
    assert Ahead(sum, [1, 2]).result() == 3


def test_an_exception_is_raised_with_the_result():
    ahead = Ahead(int, "x")

    with pytest.raises(ValueError, match="invalid literal"):
        ahead.result()
