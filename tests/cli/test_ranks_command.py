"""`tfprof ranks` on the example of eight hosts."""

import json
from pathlib import Path

from tfprof.cli import main

FILES = sorted(map(str, (Path(__file__).parents[2] / "examples" / "eight_hosts").glob("*.gz")))


def test_ranks_names_the_slow_host(capsys):
    assert main(["ranks", *FILES]) == 0

    shown = capsys.readouterr()
    assert "host-5 is slow from step 104 on" in shown.out
    assert shown.err == ""


def test_ranks_can_print_json_of_some_hosts(capsys):
    assert main(["ranks", *FILES, "-recording", "host-[0-3]", "--json"]) == 0

    found = json.loads(capsys.readouterr().out)
    assert {one["recording"] for one in found["ranks"]} == {f"host-{n}" for n in range(4)}
    assert found["slow"] == []


def test_ranks_rejects_an_unknown_step(capsys):
    assert main(["ranks", *FILES, "-step", "9"]) == 2

    assert "No step 9. Recorded: 100, 101," in capsys.readouterr().err


def test_ranks_of_a_graph_alone_says_what_is_missing(capsys):
    graph = FILES[0].replace("eight_hosts/host-0.xplane.pb.gz", "two_workers/graph.pb.gz")

    assert main(["ranks", graph]) == 1
    assert "no step with times was recorded" in capsys.readouterr().err
