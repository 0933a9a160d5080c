"""The progress line that shows which file is being read."""

from __future__ import annotations

import io
import threading

import pytest

from tfprof.commands import progress
from tfprof.commands.progress import Bar, Progress


class Terminal(io.StringIO):
    """A terminal that signals when something was written to it."""

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
def test_a_slow_file_is_shown_and_then_erased():
    stream = Terminal()
    line = Progress(stream)
    line.reading("graph.pb")

    with line:
        assert stream.has_shown.wait(5)

    assert stream.getvalue().startswith("\r\x1b[Ktfprof: reading graph.pb … 0 s")
    assert stream.getvalue().endswith("\r\x1b[K")


@pytest.mark.usefixtures("_impatient")
def test_a_file_name_of_several_lines_is_shown_on_one():
    stream = Terminal()
    line = Progress(stream)
    line.reading("two\nlines")

    with line:
        assert stream.has_shown.wait(5)

    assert "\n" not in stream.getvalue()


@pytest.mark.usefixtures("_impatient")
def test_a_long_file_name_is_shortened_to_one_row_of_the_terminal(monkeypatch):
    monkeypatch.setenv("COLUMNS", "60")
    stream = Terminal()
    line = Progress(stream)
    line.reading(f"{'folder/' * 100}graph.pb")

    with line:
        assert stream.has_shown.wait(5)

    shown = stream.getvalue().split("\r\x1b[K")[1]
    assert len(shown) < 60
    assert shown.endswith("/graph.pb … 0 s")


def test_a_quick_file_is_not_shown():
    stream = Terminal()

    with Progress(stream) as line:
        line.reading("graph.pb")

    assert stream.getvalue() == ""


@pytest.mark.usefixtures("_impatient")
def test_nothing_is_shown_if_the_stream_is_not_a_terminal():
    stream = io.StringIO()

    with Progress(stream) as line:
        line.reading("graph.pb")
        threading.Event().wait(0.05)

    assert stream.getvalue() == ""


@pytest.mark.usefixtures("_impatient")
def test_the_line_is_erased_when_reading_fails():
    stream = Terminal()

    def read():
        with Progress(stream) as line:
            line.reading("graph.pb")
            assert stream.has_shown.wait(5)
            raise OSError

    with pytest.raises(OSError):  # noqa: PT011 -- any OSError will do
        read()

    assert stream.getvalue().endswith("\r\x1b[K")


# Many files.


@pytest.mark.usefixtures("_impatient")
def test_a_bar_shows_files_throughput_and_the_time_left():
    stream = Terminal()
    bar = Bar(stream)
    bar.reached(3, 8, 25_000_000, 100_000_000)

    assert bar._line(10.0) == ("tfprof: 3/8 files  [#####               ]  2.5 MB/s  0:00:30 left")
    with bar:
        assert stream.has_shown.wait(5)
    assert stream.getvalue().endswith("\r\x1b[K")


def test_a_bar_shows_that_files_are_searched_and_that_none_is_done():
    bar = Bar(io.StringIO())

    assert bar._line(1.0) == "tfprof: looking for files"
    bar.reached(0, 8, 0, 100)
    assert bar._line(1.0) == f"tfprof: 0/8 files  [{' ' * 20}]"


def test_a_bar_is_no_wider_than_the_terminal(monkeypatch):
    monkeypatch.setenv("COLUMNS", "40")
    bar = Bar(io.StringIO())
    bar.reached(1_000, 10_000, 10**9, 10**10)

    assert len(bar._line(10.0)) == 39


@pytest.mark.usefixtures("_impatient")
def test_a_message_is_written_on_a_line_of_its_own():
    stream = Terminal()

    with Bar(stream) as bar:
        assert stream.has_shown.wait(5)
        with bar.erased():
            stream.write("message\n")

    assert "\r\x1b[Kmessage\n" in stream.getvalue()
