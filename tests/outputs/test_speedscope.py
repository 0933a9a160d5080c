"""A view as a file for speedscope."""

from __future__ import annotations

import json

import pytest

from asking import ask
from build import op, profile, run
from tfprof.errors import OptionError
from tfprof.outputs import speedscope

MAIN, NET = "/src/main.py:1:main", "/src/net.py:7:build"
SCOPES = profile(op("a/b"), op("a/b/c"), op("d"), run("a/b", 1), run("a/b/c", 20), run("d", 300))


def written(view):
    return json.loads(b"".join(speedscope.encode(view)))


def events(found, place=0):
    """The events of a profile, with the names of their frames."""
    frames = found["shared"]["frames"]
    return [
        (event["type"], frames[event["frame"]]["name"], event["at"])
        for event in found["profiles"][place]["events"]
    ]


def test_a_row_is_open_for_its_total_with_the_rows_below_it_inside():
    assert events(written(ask("scope", SCOPES))) == [
        ("O", "a", 0),
        ("O", "a/b", 0),
        ("O", "a/b/c", 0),
        ("C", "a/b/c", 20),
        ("C", "a/b", 21),
        ("C", "a", 21),
        ("O", "d", 21),
        ("C", "d", 321),
    ]


def test_the_file_says_what_it_is():
    found = written(ask("scope", SCOPES))

    assert found["$schema"] == "https://www.speedscope.app/file-format-schema.json"
    assert found["name"] == "tfprof scope"
    (only,) = found["profiles"]
    del only["events"]
    assert only == {
        "type": "evented",
        "name": "micros: total execution time",
        "unit": "microseconds",
        "startValue": 0,
        "endValue": 321,
    }


def test_each_selected_number_is_a_profile_in_its_unit():
    sized = profile(op("w", shape=(3,)), run("w", 5, memory={"requested": 7}))

    found = written(ask("scope", sized, select=["micros", "params", "bytes", "device"]))

    assert [(p["name"].partition(":")[0], p["unit"], p["endValue"]) for p in found["profiles"]] == [
        ("bytes", "bytes", 7),
        ("micros", "microseconds", 5),
        ("params", "none", 3),
    ]


def test_a_line_of_code_is_a_frame_wherever_it_is_called_from():
    code = profile(
        op("w", code=[MAIN, NET]), op("x", code=["/src/main.py:2:main", NET]), run("w"), run("x")
    )

    assert written(ask("code", code))["shared"]["frames"][1:] == [
        {"name": "main:main", "file": "/src/main.py", "line": 1},
        {"name": "main:main", "file": "/src/main.py", "line": 2},
        {"name": "net:build", "file": "/src/net.py", "line": 7},
    ]


def test_an_op_is_a_frame_inside_what_it_feeds():
    chain = profile(op("a", inputs=["b"]), op("b"), run("a", 1), run("b", 20))

    assert events(written(ask("graph", chain))) == [
        ("O", "a", 0),
        ("O", "b", 0),
        ("C", "b", 20),
        ("C", "a", 21),
    ]


def test_what_no_shown_row_holds_is_the_root_s():
    found = written(ask("scope", SCOPES, start_name_regexes=["d"]))

    assert events(found) == [
        ("O", "d", 0),
        ("C", "d", 300),
        ("O", "_TFProfRoot", 300),
        ("C", "_TFProfRoot", 321),
    ]


def test_less_than_nothing_is_drawn_as_nothing_and_a_note_says_so():
    odd = profile(
        op("a"),
        op("b"),
        run("a", memory={"requested": 10}),
        run("b", memory={"requested": -4}),
    )
    view = ask("scope", odd, select=["bytes"], min_bytes=-100)

    assert events(written(view)) == [("O", "a", 0), ("C", "a", 10)]
    (note,) = speedscope.lacks(view)
    assert note == (
        "rows with less than nothing of `bytes` are drawn as if they had nothing: "
        "the speedscope file has 4B more than the view."
    )


def test_names_are_escaped():
    found = written(ask("scope", profile(op('a"\\é'), run('a"\\é'))))

    assert found["shared"]["frames"][1]["name"] == 'a"\\é'


def test_a_view_without_weight_is_a_file_without_events():
    found = written(ask("scope", profile(op("a"))))

    assert [p["events"] for p in found["profiles"]] == [[]]


def test_long_answers_are_the_same_in_small_pieces(monkeypatch):
    whole = written(ask("scope", SCOPES))
    monkeypatch.setattr(speedscope, "_BLOCK_ROWS", 1)

    assert written(ask("scope", SCOPES)) == whole


@pytest.mark.parametrize("select", [["device"], ["occurrence"]])
def test_what_is_no_number_is_refused(select):
    with pytest.raises(OptionError, match="cannot be added up along a stack"):
        written(ask("scope", SCOPES, select=select))


def test_code_lines_of_an_older_dialect_keep_their_frames():
    p = profile(
        op("conv", code=["net.py:3:build"]),
        op("gradients/conv_grad/mul", code=["train.py:7:step"]),
        run("gradients/conv_grad/mul", micros=5),
    )

    view = ask("code", p, dialect="early", select=["micros"])

    assert [frame["name"] for frame in written(view)["shared"]["frames"]][1:] == [
        "net:build",
        "train:step",
    ]
