"""Curves drawn in characters."""

import pytest

from tfprof.columns import ints
from tfprof.model.memory_curves import MemoryCurve
from tfprof.outputs.chart import ASCII, UNICODE, draw, pen_for


def curve(*points):
    micros, sizes = zip(*points, strict=True)
    return MemoryCurve(1000 * ints(micros), ints(sizes))


def test_a_curve_rises_and_falls():
    lines = draw(curve((0, 1000), (1000, 4000), (1100, 2000), (3000, 0)), 40, UNICODE)

    assert lines == [
        "4.00KB │          ██",
        "       │          ██",
        "       │          ██",
        "       │          ██",
        "       │          ██████████████████████",
        "       │          ██████████████████████",
        "       │████████████████████████████████",
        "       │████████████████████████████████",
        "    0B └──────────┴─────────────────────",
        "        0us    1.00ms             3.00ms",
    ]


def test_a_curve_can_be_drawn_in_ascii():
    lines = draw(curve((0, 1), (1000, 3)), 40, ASCII)

    assert "\n".join(lines).isascii()
    assert lines[-2] == "0B +" + "-" * 35 + "^"


@pytest.mark.parametrize(
    ("encoding", "pen"),
    [("utf-8", UNICODE), ("ascii", ASCII), ("latin-1", ASCII), ("no such thing", ASCII)],
)
def test_the_pen_depends_on_the_encoding(encoding, pen):
    assert pen_for(encoding) is pen


@pytest.mark.parametrize("width", [40, 80, 133])
def test_a_chart_has_the_requested_width(width):
    assert max(map(len, draw(curve((0, 5), (10, 7)), width, UNICODE))) == width


def test_a_chart_has_a_minimum_width():
    assert len(draw(curve((0, 5), (10, 7)), 3, UNICODE)[-2]) == 40


def test_a_peak_of_one_microsecond_is_visible():
    lines = draw(curve((0, 1), (500_000, 800), (500_001, 1), (1_000_000, 1)), 80, UNICODE)

    assert lines[0].count("█") == 1
    assert lines[7] == "     │" + lines[7][6:].replace(" ", "").rjust(74)
    assert "500.00ms" in lines[-1]


def test_a_curve_is_empty_before_its_first_point():
    lines = draw(curve((5000, 100), (10_000, 100)), 40, UNICODE)

    assert lines[0] == "100B │" + " " * 17 + "█" * 17


def test_a_single_point_can_be_drawn():
    assert draw(curve((0, 5)), 40, UNICODE)[0] == "5B │" + "█" * 36


@pytest.mark.parametrize("size", [0, -7])
def test_only_positive_values_are_drawn(size):
    lines = draw(curve((0, size), (10, size)), 40, UNICODE)

    assert lines[0] == "0B │"
    assert not any("█" in line for line in lines)
