"""The line that says what is being read."""

from __future__ import annotations

import io
import threading

import pytest

from tfprof.commands import progress
from tfprof.commands.progress import Progress


class Terminal(io.StringIO):
    """A stream that somebody watches, and that tells when something was shown."""

    def __init__(self):
        super().__init__()
        self.has_shown = threading.Event()

    def isatty(self):
        return True

    def write(self, text):
        written = super().write(text)
        self.has_shown.set()
        return written


@pytest.fixture
def _impatient(monkeypatch):
    monkeypatch.setattr(progress, "_PATIENCE_SECONDS", 0.01)
    monkeypatch.setattr(progress, "_TICK_SECONDS", 0.01)


@pytest.mark.usefixtures("_impatient")
def test_a_file_that_takes_a_while_is_shown_and_then_wiped_out():
    stream = Terminal()
    line = Progress(stream)
    line.reading("graph.pb")

    with line:
        assert stream.has_shown.wait(5)

    assert stream.getvalue().startswith("\r\x1b[Ktfprof: reading graph.pb … 0 s")
    assert stream.getvalue().endswith("\r\x1b[K")


@pytest.mark.usefixtures("_impatient")
def test_a_name_of_many_lines_is_one_line():
    stream = Terminal()
    line = Progress(stream)
    line.reading("two\nlines")

    with line:
        assert stream.has_shown.wait(5)

    assert "\n" not in stream.getvalue()


def test_a_quick_file_is_not_shown():
    stream = Terminal()

    with Progress(stream) as line:
        line.reading("graph.pb")

    assert stream.getvalue() == ""


@pytest.mark.usefixtures("_impatient")
def test_nothing_is_shown_where_nobody_watches():
    stream = io.StringIO()

    with Progress(stream) as line:
        line.reading("graph.pb")
        threading.Event().wait(0.05)

    assert stream.getvalue() == ""


@pytest.mark.usefixtures("_impatient")
def test_the_line_is_wiped_out_when_reading_fails():
    stream = Terminal()

    def read():
        with Progress(stream) as line:
            line.reading("graph.pb")
            assert stream.has_shown.wait(5)
            raise OSError

    with pytest.raises(OSError):  # noqa: PT011 -- that it gets through is the fact
        read()

    assert stream.getvalue().endswith("\r\x1b[K")
