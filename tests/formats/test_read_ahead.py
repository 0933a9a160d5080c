"""Pieces that are read ahead are the same, and so are errors."""

from itertools import count
from threading import Thread, active_count

import pytest

from tfprof.formats.read_ahead import read_ahead


def test_the_pieces_and_their_order_stay_the_same():
    pieces = [bytes([number]) * number for number in range(100)]

    assert list(read_ahead(pieces)) == pieces


def test_an_error_comes_after_the_pieces_before_it():
    def failing():
        yield b"a"
        raise OSError("gone")

    pieces = read_ahead(failing())

    assert next(pieces) == b"a"
    with pytest.raises(OSError, match="gone"):
        next(pieces)


def test_only_a_few_pieces_are_read_ahead():
    taken = []

    def counting():
        for number in count():
            taken.append(number)
            yield b"x"

    before = active_count()
    pieces = read_ahead(counting())
    next(pieces)
    pieces.close()

    assert len(taken) < 10
    assert active_count() == before


def test_without_another_thread_pieces_are_read_when_they_are_needed(monkeypatch):
    def refuse(_):
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(Thread, "start", refuse)

    assert list(read_ahead([b"a", b"b"])) == [b"a", b"b"]
