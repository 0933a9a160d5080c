"""The command `collect`: messages and exit status."""

from __future__ import annotations

import json
import re

import pytest
from collected_stores import recorded

from command_runs import is_one_line
from tfprof.cli import main

HOSTS = 6


@pytest.fixture(scope="module")
def traces(tmp_path_factory):
    """The traces of a few hosts."""
    folder = tmp_path_factory.mktemp("fleet")
    assert len(recorded(folder)) == HOSTS
    return folder


@pytest.fixture
def collect(tmp_path, monkeypatch, capsys):
    """Runs `tfprof collect` in a folder; returns its status, its answer and its notes."""
    monkeypatch.chdir(tmp_path)

    def run(*words):
        return main(["collect", *map(str, words)]), *capsys.readouterr()

    return run


def test_the_summary_says_what_was_read_and_written(traces, collect, tmp_path):
    status, answer, notes = collect(traces, "-o", "store")

    assert (status, answer) == (0, "")
    assert is_one_line(notes)
    assert re.fullmatch(
        rf"tfprof: {tmp_path}/store: collected 6 files in [\d.]+ s; "
        r"read [\d.]+[KM]B, wrote [\d.]+[KM]B \([\d.]+%\)\.\n",
        notes,
    )


def test_the_summary_can_be_json(traces, collect):
    collect(traces, "-o", "store", "--jobs", 1)

    _, answer, notes = collect(traces, "-o", "store", "--json")

    found = json.loads(answer)
    assert notes == ""
    assert {name: found[name] for name in ("schema", "files", "finished", "collected")} == {
        "schema": "tfprof/collected/1",
        "files": HOSTS,
        "finished": HOSTS,
        "collected": 0,
    }


def test_damaged_files_are_reported_in_one_line_each_and_if_there_are_no_others_the_status_is_1(
    collect, tmp_path
):
    for name in ("a", "b"):
        (tmp_path / f"{name}.xplane.pb").write_bytes(b"\x0a\xffdamaged")

    status, _, notes = collect(tmp_path, "-o", "store", "--jobs", 1)

    assert status == 1
    *skipped, summary = notes.splitlines()
    assert [line.partition(":")[2].partition(":")[0].strip() for line in skipped] == [
        f"skipped {tmp_path}/a.xplane.pb",
        f"skipped {tmp_path}/b.xplane.pb",
    ]
    assert re.search(r"collected 0 files in [\d.]+ s; 2 files skipped\.$", summary)


@pytest.mark.parametrize(
    ("words", "status", "message"),
    [
        (("-o", "store"), 2, "No sources: list files, folders or patterns after the command."),
        (("runs",), 2, "`collect` requires --outfile STORE"),
        (("missing", "-o", "store"), 1, "missing: cannot be read: No such file"),
        (("missing", "-o", "store", "--jobs", "-1"), 2, "`jobs` takes a number of processes"),
        (
            ("missing", "-o", "store", "--jobs", "2", "--scheduler", "tcp://a:1"),
            2,
            "Choose one of `scheduler` and `jobs`.",
        ),
        (("missing", "-o", "store", "--graph_path", "g"), 2, "Name the file after the command."),
    ],
)
def test_a_mistake_gives_one_line(words, status, message, collect, tmp_path):
    found, _, notes = collect(*words)

    assert found == status
    assert is_one_line(notes)
    assert message in notes
    assert list(tmp_path.iterdir()) == []


def test_many_damaged_files_are_counted_but_not_all_named(collect, tmp_path):
    for number in range(30):
        (tmp_path / f"{number}.xplane.pb").touch()

    _, _, notes = collect(tmp_path, "-o", "store", "--jobs", 1)

    assert len(notes.splitlines()) == 21
    assert "30 files skipped" in notes
