"""A view as a file for speedscope."""

from __future__ import annotations

import json

import pytest

from asking import ask
from build import op, profile, run
from tfprof.errors import OptionError, OutputError
from tfprof.outputs import flames, speedscope

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


def test_a_row_is_as_long_as_its_total_and_contains_its_children():
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


def test_sums_past_64_bits_are_refused():
    # Averages of negative bytes are huge, as in the original.
    runs = [run(name, step=step, memory={"residual": -5}) for name in "ab" for step in (0, 1)]
    options = {"select": "residual_bytes", "min_residual_bytes": -(2**63)}
    whole = ask("scope", profile(*runs), **options)
    part = ask("scope", profile(*runs), **options, hide_name_regexes="b")

    for view in (whole, part):
        with pytest.raises(OutputError, match="The sum of `residual_bytes` exceeds 64 bits"):
            written(view)
        with pytest.raises(OutputError, match="exceeds 64 bits"):
            speedscope.notes(view)


def test_the_file_describes_its_schema_name_and_unit():
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


def test_each_selected_number_becomes_a_profile_in_its_unit():
    sized = profile(op("w", shape=(3,)), run("w", 5, memory={"requested": 7}))

    found = written(ask("scope", sized, select=["micros", "params", "bytes", "device"]))

    assert [(p["name"].partition(":")[0], p["unit"], p["endValue"]) for p in found["profiles"]] == [
        ("bytes", "bytes", 7),
        ("micros", "microseconds", 5),
        ("params", "none", 3),
    ]


def test_a_line_of_code_is_one_frame_wherever_it_is_called_from():
    code = profile(
        op("w", code=[MAIN, NET]), op("x", code=["/src/main.py:2:main", NET]), run("w"), run("x")
    )

    assert written(ask("code", code))["shared"]["frames"][1:] == [
        {"name": "main:main", "file": "/src/main.py", "line": 1},
        {"name": "main:main", "file": "/src/main.py", "line": 2},
        {"name": "net:build", "file": "/src/net.py", "line": 7},
    ]


def test_an_op_is_a_frame_inside_the_op_it_feeds():
    chain = profile(op("a", inputs=["b"]), op("b"), run("a", 1), run("b", 20))

    assert events(written(ask("graph", chain))) == [
        ("O", "a", 0),
        ("O", "b", 0),
        ("C", "b", 20),
        ("C", "a", 21),
    ]


def test_amounts_outside_the_shown_rows_belong_to_the_root():
    found = written(ask("scope", SCOPES, start_name_regexes=["d"]))

    assert events(found) == [
        ("O", "d", 0),
        ("C", "d", 300),
        ("O", "_TFProfRoot", 300),
        ("C", "_TFProfRoot", 321),
    ]


def test_negative_values_are_drawn_as_0_with_a_note():
    negative = profile(
        op("a"),
        op("b"),
        run("a", memory={"requested": 10}),
        run("b", memory={"requested": -4}),
    )
    view = ask("scope", negative, select=["bytes"], min_bytes=-100)

    assert events(written(view)) == [("O", "a", 0), ("C", "a", 10)]
    (note,) = speedscope.notes(view)
    assert note == (
        "rows with negative `bytes` are drawn as 0: "
        "the speedscope file shows 4B more than the view."
    )


def test_names_are_escaped():
    found = written(ask("scope", profile(op('a"\\é'), run('a"\\é'))))

    assert found["shared"]["frames"][1]["name"] == 'a"\\é'


def test_a_view_of_zeros_has_no_events():
    found = written(ask("scope", profile(op("a"))))

    assert [p["events"] for p in found["profiles"]] == [[]]


def test_the_block_size_does_not_change_the_file(monkeypatch):
    whole = written(ask("scope", SCOPES))
    monkeypatch.setattr(flames, "_BLOCK_ROWS", 1)

    assert written(ask("scope", SCOPES)) == whole


@pytest.mark.parametrize("select", [["device"], ["occurrence"]])
def test_a_metric_that_is_not_a_number_is_rejected(select):
    with pytest.raises(OptionError, match="cannot be summed along a stack"):
        written(ask("scope", SCOPES, select=select))


def test_lines_of_code_of_an_older_dialect_keep_their_frames():
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
