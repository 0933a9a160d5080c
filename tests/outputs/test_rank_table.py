"""The comparison of hosts as text, JSON, a data frame and HTML."""

import json

import jsonschema
import pytest

from build import op, profile, run
from tfprof.api import Profile
from tfprof.outputs import schemas


@pytest.fixture
def table():
    """Four hosts, the last of which is slow."""
    facts = [op("sum", kind="CollectiveReduceV2")]
    for step in range(4):
        begin = 1000 * (step + 1)
        for host, micros in enumerate((50, 50, 52, 100)):
            label = f"worker:{host}"
            facts += [
                run("net/a", micros, step=step, start=begin, recording=label),
                run("sum", 120 - micros, step=step, start=begin + micros, recording=label),
            ]
    return Profile(profile(*facts)).ranks()


def test_the_report_has_a_row_per_host_and_what_stands_out(table):
    _, shown = table.report.split("\n\n", 1)

    assert shown == (
        "recording  rank  steps  median    p10    p90   mean  compute  communication  waiting  "
        "input wait  idle    own  deviation\n"
        "worker:3      3      4   120us  120us  120us  120us    100us           20us      0us  "
        "       0us   0us  100us     +96.1%  slow\n"
        "worker:2      2      4   120us  120us  120us  120us     52us           68us     48us  "
        "       0us   0us   52us      +2.0%\n"
        "worker:0      0      4   120us  120us  120us  120us     50us           70us     50us  "
        "       0us   0us   50us      -2.0%\n"
        "worker:1      1      4   120us  120us  120us  120us     50us           70us     50us  "
        "       0us   0us   50us      -2.0%\n"
        "\n"
        "1 of 4 recordings is slow.\n"
        "worker:3 is slow in all steps, because it computes the same more slowly: its own time is "
        "96% (49us per step) longer than usual, lost in net/a (50us). 100% of the waiting in "
        "collectives is for it.\n"
        "\n"
        "collective  hosts  runs  transfer  waiting  longest wait  arrives last\n"
        "sum             4     4      20us     37us          50us  worker:3 (100%)\n"
    )
    assert str(table) == table.report


def test_json_has_every_number_and_agrees_with_its_schema(table):
    found = json.loads(table.to_json())

    assert found == table.to_dict()
    assert found["ranks"][0]["own_ns"] == 100_000
    assert found["slow"][0]["steps"] == [0, 1, 2, 3]
    jsonschema.validate(found, schemas.schema_of("ranks"))


def test_a_data_frame_has_a_row_per_host(table):
    pytest.importorskip("pandas")
    frame = table.to_dataframe()

    assert frame["recording"].tolist() == ["worker:3", "worker:2", "worker:0", "worker:1"]
    assert frame["own_ns"].tolist() == [100_000, 52_000, 50_000, 50_000]


def test_html_has_a_row_per_host_and_the_findings(table):
    shown = table._repr_html_()

    assert shown.count("worker:3") >= 2
    assert "100% of the waiting in collectives is for it" in shown


def test_a_host_is_found_by_its_label(table):
    assert table["worker:2"].own_ns == 52_000
    assert len(table) == 4
    with pytest.raises(KeyError, match="no recording worker:9"):
        table["worker:9"]


def test_the_table_describes_itself(table):
    assert repr(table) == "<tfprof hosts: 4 recordings, 1 slow>"
