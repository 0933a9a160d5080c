"""The time of each op agrees with XProf, whose numbers for two recordings are samples."""

import json
from pathlib import Path

import pytest
from xprof_times import Compared, compared, renamed, unmatched

import tfprof

SAMPLES = Path(__file__).parents[1] / "samples"
RECORDINGS = {
    "fit": SAMPLES / "capture" / "plugins" / "profile" / "sample" / "host.xplane.pb.gz",
    "tape": SAMPLES / "xprof" / "tape.xplane.pb.gz",
}


@pytest.fixture(params=RECORDINGS)
def pair(request):
    """The numbers of XProf, and the profile of the same recording."""
    xprof = json.loads((SAMPLES / "xprof" / f"{request.param}.json").read_text("utf-8"))
    return xprof, tfprof.load(RECORDINGS[request.param])


def test_the_time_of_every_op_that_both_report_is_the_same(pair):
    rows = compared(*pair)

    assert len(rows) > 40
    assert max(row.difference for row in rows) < 0.01


def test_every_op_of_xprof_is_reported(pair):
    theirs, ours = unmatched(*pair)

    assert theirs == []
    assert all(name.startswith("eager/") for name in ours)


def test_ops_have_the_names_of_tfprof():
    names = {"StatefulPartitionedCall/net/Mul": 1.0, "net/Mul": 2.0, "Iterator::Root::Map[3]": 4.0}

    assert renamed(names) == {"net/Mul": 3.0, "tf_data/Root/Map": 4.0}


def test_differences_within_the_rounding_of_xprof_do_not_count():
    assert Compared("a", 0.010, 0.011).difference == 0
    assert Compared("a", 100, 102).difference == pytest.approx(0.02)
