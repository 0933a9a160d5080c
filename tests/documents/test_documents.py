"""Commands typed as in tfprof's older documents print what the documents show."""

from __future__ import annotations

import io
import json
import re
import shlex
from pathlib import Path

import pytest

from documents import architecture, memory, readme, seq2seq, times
from tfprof.cli import main
from tfprof.errors import OptionError
from tfprof.options import Options

ROWS = [*seq2seq.ROWS, *architecture.ROWS, *times.ROWS, *readme.ROWS, *memory.ROWS]
PAGE = Path(__file__).parents[2] / "docs" / "explanation" / "generations.md"

_NAME = re.compile(r"^( *)\S.*?(?= \(|  |$)")
_DEVICE = re.compile(r"/job:[^|,\s)]+")
_NUMBER = re.compile(r"(?<![\w.])\d+(\.\d+)?(us|ms|sec|B|KB|MB|[kmb])?\b")


@pytest.fixture(scope="session")
def folder_of(tmp_path_factory):
    """A function that returns the folder with the files of a model."""
    folders = {}

    def folder(model):
        if model not in folders:
            folders[model] = tmp_path_factory.mktemp("model")
            model(folders[model])
        return folders[model]

    return folder


@pytest.fixture
def show(folder_of, monkeypatch, capsys):
    """A function that runs the commands of a row and returns the lines printed."""

    def run(row):
        monkeypatch.chdir(folder_of(row.model))
        monkeypatch.setattr("sys.stdin", io.StringIO(row.typed))
        dialect = [f"--dialect={row.dialect}"] if row.dialect else []

        status = main([*shlex.split(row.start), *dialect])

        printed = capsys.readouterr()
        assert status == 0, printed.err
        shown = Path(row.file).read_text("utf-8") if row.file else printed.out
        return [line.rstrip() for line in shown.splitlines()]

    return run


def rows(keep):
    chosen = [row for row in ROWS if keep(row)]
    return pytest.mark.parametrize("row", chosen, ids=[row.place for row in chosen])


@rows(lambda row: not row.is_cut and not row.is_form)
def test_a_listing_is_reproduced_exactly(row, show):
    assert show(row) == row.shown
    if row.timeline:
        (written,) = Path().glob(f"{row.timeline}*")  # the name may end in the step
        assert json.loads(written.read_text("utf-8"))["traceEvents"]


@rows(lambda row: row.is_cut)
def test_the_lines_of_a_shortened_listing_appear_in_the_same_order(row, show):
    printed = show(row)
    rest = iter(printed)

    missing = [line for line in row.shown if line not in rest]  # each search continues the last

    assert not missing, "\n".join(printed[:50])


@rows(lambda row: row.is_form)
def test_another_model_is_printed_in_the_form_of_the_listing(row, show):
    printed = show(row)

    assert len(printed) >= 2
    assert {form(line) for line in printed} <= {form(line) for line in row.shown}


def test_the_manual_lists_everything_that_cannot_be_reproduced():
    table = (
        PAGE.read_text("utf-8").partition("## What cannot be reproduced")[2].partition("\n## ")[0]
    )
    named = {
        (place, piece)
        for places, pieces, *_ in re.findall(r"^\| (.+?) \| (.+?) \| .+ \|$", table, re.MULTILINE)
        for place in places.split("; ")
        for piece in re.findall(r"`([^`]+)`", pieces)
    }

    assert named == {(row.place, piece.strip()) for row in ROWS for piece in row.instead}


def test_a_sort_key_that_no_version_supported_is_refused():
    with pytest.raises(OptionError, match="`order_by` cannot be `depth`"):
        Options.of(order_by="depth")


def form(line: str) -> str:
    """A line without the parts that depend on the model."""
    if line.startswith("node name"):
        return line
    line = line if "_TFProfRoot" in line else _NAME.sub("NAME", line)
    devices = re.sub(r"\|?DEVICE(\|DEVICE)*", "DEVICES", _DEVICE.sub("DEVICE", line))
    return " ".join(_NUMBER.sub("#", devices).split())
