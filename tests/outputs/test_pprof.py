"""A view as a pprof file."""

from __future__ import annotations

import gzip
import json
import shutil
import subprocess
from dataclasses import replace

import pytest

from asking import ask
from build import op, profile, run
from pprof_reader import PprofFile
from tfprof.answers import Answer
from tfprof.errors import OptionError, OutputError
from tfprof.outputs import pprof, stacks

MAIN, NET, LOSS = "/src/main.py:1:main", "/src/net.py:7:build", "/src/net.py:9:loss"
CALLS = profile(
    op("w", code=[MAIN, NET]),
    op("x", code=[MAIN, NET, LOSS]),
    op("y", code=[MAIN, LOSS]),
    run("w", 5, memory={"requested": 100}),
    run("x", 20, memory={"requested": 200}),
    run("y", 300, memory={"requested": 400}),
)
SCOPES = profile(op("a/b"), op("a/b/c"), op("d"), run("a/b", 1), run("a/b/c", 20), run("d", 300))


def written(view, **settings):
    return PprofFile(b"".join(pprof.encode(view, **settings)))


# The code view with one metric, as the original wrote it.


def test_a_location_is_the_line_of_a_caller_and_the_function_it_calls():
    found = written(ask("code", CALLS))

    assert found.weights("micros") == {
        ("net:build:1", "net:loss:7"): 20,
        ("net:loss:1",): 300,
    }


def test_a_sample_names_its_op_and_counts_it():
    found = written(ask("code", CALLS))

    assert [(s.labels, s.values["count"]) for s in found.samples] == [
        ({"graph node:": "x"}, 1),
        ({"graph node:": "y"}, 1),
    ]
    assert found.units == {"count": "count", "micros": "microseconds"}


def test_ops_of_a_line_that_calls_another_are_omitted_with_a_note(tmp_path):
    answer = Answer(ask("code", CALLS))

    (file,) = answer.write(f"pprof:outfile={tmp_path / 'p'}")

    (note,) = file.notes
    assert note == (
        "the pprof file omits 1 op and 5us of `micros`: it contains only ops whose line calls "
        "no other; pprof:outfile=PATH,complete contains everything."
    )


def test_a_complete_file_has_no_note(tmp_path):
    answer = Answer(ask("code", CALLS, show_name_regexes=["main.*", ".*loss"]))
    (file,) = answer.write(f"pprof:outfile={tmp_path / 'p'},complete")

    assert file.notes == ()


def test_hidden_ops_count_towards_the_nearest_shown_row_above():
    found = written(ask("code", CALLS, hide_name_regexes=[".*:9:loss"]))

    assert found.weights("micros") == {("net:build:1",): 20}


def test_a_gradient_is_marked_in_the_function_name():
    grad = profile(
        op("w", code=[MAIN, NET]), op("gradients/w_grad/x", code=[MAIN]), run("w"), run("w")
    )

    names = {frame for s in written(ask("code", grad)).samples for frame in s.stack}

    assert names == {"net:build:1", "net:build (gradient):1"}


def test_a_view_whose_rows_call_nothing_is_rejected():
    with pytest.raises(OptionError, match=r"No row calls another.*raise -max_depth"):
        written(ask("code", CALLS, max_depth=2))


# Complete files.


def test_a_scope_is_a_frame():
    found = written(ask("scope", SCOPES))

    assert found.weights("micros") == {("a", "a/b"): 1, ("a", "a/b", "a/b/c"): 20, ("d",): 300}
    assert [sample.labels["op"] for sample in found.samples] == ["a/b", "a/b/c", "d"]


def test_an_op_is_a_frame_below_the_op_it_feeds():
    chain = profile(op("a", inputs=["b"]), op("b"), run("a", 1), run("b", 20))

    assert written(ask("graph", chain)).weights("micros") == {("a",): 1, ("a", "b"): 20}


def test_a_line_of_code_is_a_frame():
    found = written(ask("code", CALLS), complete=True)

    assert found.weights("micros") == {
        ("main:main:1", "net:build:7"): 5,
        ("main:main:1", "net:build:7", "net:loss:9"): 20,
        ("main:main:1", "net:loss:9"): 300,
    }
    assert sorted(sample.labels["op"] for sample in found.samples) == ["w", "x", "y"]


def test_selected_metrics_are_sample_types():
    found = written(ask("code", CALLS, select=["bytes", "micros", "params"]), complete=True)

    assert found.units == {"bytes": "bytes", "micros": "microseconds", "params": "count"}
    assert found.total("bytes") == 700
    assert found.total("micros") == 325
    assert found.default == ["bytes"]


def test_hidden_amounts_without_a_shown_row_above_belong_to_the_root():
    found = written(ask("scope", SCOPES, start_name_regexes=["d"]))

    assert found.weights("micros") == {("d",): 300, ("_TFProfRoot",): 21}


def test_the_notes_of_a_view_are_comments():
    found = written(replace(ask("scope", SCOPES), noted=lambda: ("half of it",)))

    assert found.comments == ["half of it"]


# Errors.


def test_several_metrics_require_a_complete_file():
    with pytest.raises(OptionError, match="pprof:outfile=PATH,complete for all of them"):
        written(ask("scope", SCOPES, select=["micros", "bytes"]))


@pytest.mark.parametrize("select", [["device"], ["occurrence"], ["op_types", "input_shapes"]])
def test_a_metric_that_is_not_a_number_is_rejected(select):
    with pytest.raises(OptionError, match="cannot be summed along a stack"):
        written(ask("scope", SCOPES, select=select), complete=True)


def test_stacks_that_would_fill_a_disk_are_rejected(monkeypatch):
    monkeypatch.setattr(stacks, "_MAX_FRAMES", 5)

    with pytest.raises(OutputError, match=r"have 6 frames; at most 5 can be written.*-max_depth"):
        written(ask("scope", SCOPES))


# The file.


def test_equal_answers_give_equal_files():
    first, second = (b"".join(pprof.encode(ask("scope", SCOPES))) for _ in range(2))

    assert first == second
    assert first[4:8] == bytes(4)  # no timestamp


def test_the_block_size_does_not_change_the_file(monkeypatch):
    whole = b"".join(pprof.encode(ask("scope", SCOPES)))
    monkeypatch.setattr(stacks, "_BLOCK_FRAMES", 2)
    monkeypatch.setattr(pprof.file, "_BLOCK_ROWS", 1)

    assert gzip.decompress(b"".join(pprof.encode(ask("scope", SCOPES)))) == gzip.decompress(whole)


READ = """
const {Profile} = require('pprof-format'), {gunzipSync} = require('zlib');
const found = Profile.decode(gunzipSync(require('fs').readFileSync(process.argv[1])));
const text = n => found.stringTable.strings[Number(n)];
const functions = new Map(found.function.map(f => [f.id, text(f.name)]));
const places = new Map(found.location.map(l => [l.id, functions.get(l.line[0].functionId)]));
console.log(JSON.stringify(found.sample.map(
  s => [s.locationId.map(id => places.get(id)).reverse(), s.value.map(Number)])));
"""


def has_reader():
    node = shutil.which("node")
    return (
        node
        and not subprocess.run(
            [node, "-e", "require('pprof-format')"], capture_output=True, check=False
        ).returncode
    )


def test_another_reader_finds_the_same_samples(tmp_path):
    if not has_reader():
        pytest.skip("needs node and, on NODE_PATH, its package pprof-format")
    path = tmp_path / "p.gz"
    view = ask("code", CALLS, select=["micros", "bytes"])
    Answer(view).write(f"pprof:outfile={path},complete")

    read = subprocess.run(["node", "-e", READ, path], capture_output=True, text=True, check=True)

    assert sorted(json.loads(read.stdout)) == [
        [["main:main", "net:build"], [100, 5]],
        [["main:main", "net:build", "net:loss"], [200, 20]],
        [["main:main", "net:loss"], [400, 300]],
    ]
