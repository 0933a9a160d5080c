"""Memory over time as text and as JSON."""

import json

import pytest

from build import CPU, allocator, op, profile, run
from tfprof.api import Profile

LINE = ["/home/me/net.py:3:conv"]


def two_steps():
    """An op that allocates memory in two steps, and one that does not free all of its own."""
    return Profile(
        profile(
            op("net/conv", "Conv2D", code=LINE),
            op("net/keep", "Keep"),
            run(
                "net/conv",
                memory={"micros": 3000},
                allocators=[allocator("host", [(2000, 4000), (4000, -4000)], level=9000)],
            ),
            run("net/keep", allocators=[allocator("host", [(3000, 1000), (5000, -200)])]),
            run("net/conv", step=1, allocators=[allocator("host", [(1500, 3000)])]),
        ),
        ["the file is truncated."],
    )


def test_a_report_shows_peak_step_curve_and_holders():
    answer = two_steps().memory()

    assert answer.report == str(answer)
    assert answer.report == (
        """
Doc:
Memory that ops allocated and have not freed, from 0 at the start of the step.
Earlier allocations, such as variables, are only in the allocator's own count.
Memory counts towards the op that allocated it until it is freed.

host on /job:localhost/replica:0/task:0/device:cpu:0
Peak: 5.00KB at 2.00ms, when net/keep allocated 1.00KB.
Step: 0 (of 2 steps, with peaks from 3.00KB to 5.00KB).
5.00KB │                                    ██████████████████
       │                  ▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄██████████████████
       │                  ████████████████████████████████████
       │                  ████████████████████████████████████
       │                  ████████████████████████████████████
       │                  ████████████████████████████████████
       │                  ████████████████████████████████████▅▅▅▅▅▅▅▅▅▅▅▅▅▅▅▅▅▅
       │                  ██████████████████████████████████████████████████████
    0B └────────────────────────────────────┴───────────────────────────────────
        0us                              2.00ms                           4.00ms

Allocator's own count: at most 9.00KB, at 2.00ms (curve: 5.00KB).
Left at the end: 800B.

Held at the peak, by scope:
     5.00KB  100.00%      2 ops  net
     4.00KB   80.00%       1 op    net/conv
     1.00KB   20.00%       1 op    net/keep

Held at the peak, by op kind:
     4.00KB   80.00%       1 op  Conv2D
     1.00KB   20.00%       1 op  Keep

Held at the peak, by line of code:
     4.00KB   80.00%       1 op  net.py:3:conv
     1.00KB   20.00%       1 op  (no line known)
"""
    )


def test_rows_that_are_not_shown_are_counted():
    report = two_steps().memory(max_rows=1).report

    assert "     1.00KB   20.00%             elsewhere (1 row not shown)\n" in report
    assert "         0B    0.00%             elsewhere (2 rows not shown)\n" in report


def test_a_report_can_be_drawn_in_another_width_and_encoding():
    report = two_steps().memory().draw(60, "ascii")

    assert report.isascii()
    assert "    0B +" in report
    assert max(len(line) for line in report.splitlines() if line.startswith("     ")) == 60


def test_control_characters_in_names_are_escaped():
    p = profile(run("a\x1b[2J", allocators=[allocator("x\n", [(5, 1)])]))

    report = Profile(p).memory().report

    assert "\x1b" not in report
    assert "a\\x1b[2J" in report


def test_a_nameless_allocator_is_called_unknown():
    p = profile(run("a", allocators=[allocator("", [(5, 1)])]))

    assert f"unknown allocator on {CPU}" in Profile(p).memory().report


def test_an_answer_converts_to_plain_values():
    answer = two_steps().memory(max_rows=1)
    (found,) = answer.to_dict()["allocators"]
    curve, levels = found.pop("curve"), found.pop("allocator_level")

    assert curve == {"micros": [1000, 2000, 3000, 4000], "bytes": [4000, 5000, 1000, 800]}
    assert levels == {"micros": [2000], "bytes": [9000]}
    assert found == {
        "allocator": "host",
        "device": CPU,
        "step": 0,
        "recording": "here",
        "start_micros": 1000,
        "peak_bytes": 5000,
        "peak_micros": 2000,
        "reached_by": [{"op": "net/keep", "bytes": 1000}],
        "left_bytes": 800,
        "step_peaks": [{"step": 0, "bytes": 5000}, {"step": 1, "bytes": 3000}],
        "held_at_peak": {
            "scope": {
                "rows": [{"name": "net", "depth": 1, "bytes": 5000, "ops": 2}],
                "hidden_rows": 2,
                "hidden_bytes": 0,
            },
            "op": {
                "rows": [{"name": "Conv2D", "depth": 1, "bytes": 4000, "ops": 1}],
                "hidden_rows": 1,
                "hidden_bytes": 1000,
            },
            "code": {
                "rows": [{"name": "net.py:3:conv", "depth": 1, "bytes": 4000, "ops": 1}],
                "hidden_rows": 1,
                "hidden_bytes": 1000,
            },
        },
    }


def test_an_answer_contains_its_options_and_notes():
    found = two_steps().memory(step=1).to_dict()

    assert found["options"] == {
        "step": 1,
        "max_depth": 10,
        "recording": [".*"],
        "rank": [],
        "max_rows": 10,
    }
    assert found["notes"] == ["the file is truncated."]


def test_the_json_text_equals_the_dictionary():
    answer = two_steps().memory()

    assert json.loads(answer.to_json()) == answer.to_dict()
    assert len(answer.to_json().splitlines()) < 20


def test_an_answer_iterates_over_its_allocators():
    answer = two_steps().memory()

    assert len(answer) == len(list(answer)) == 1
    assert answer.allocators[0].curve.bytes.max() == 5000
    assert repr(answer) == "<tfprof memory, peaks of host: 5,000 bytes>"


@pytest.mark.parametrize(("is_terminal", "columns"), [(True, 60), (False, 80)])
def test_a_report_fills_a_terminal_and_has_80_columns_in_a_pipe(
    is_terminal, columns, capsys, monkeypatch
):
    monkeypatch.setattr("sys.stdout.isatty", lambda: is_terminal)
    monkeypatch.setenv("COLUMNS", "60")

    two_steps().memory().show()

    assert capsys.readouterr().out == two_steps().memory().draw(columns)


def test_showing_a_report_without_a_standard_output_does_nothing(monkeypatch):
    monkeypatch.setattr("sys.stdout", None)

    two_steps().memory().show()
