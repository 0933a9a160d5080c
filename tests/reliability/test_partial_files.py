"""Files that are cut short: refused with advice, or read as far as they are intact."""

from __future__ import annotations

import gzip
import io
import json
from pathlib import Path

import pytest

import tfprof
from command_runs import is_one_line
from model_files import GraphDef
from tfprof.cli import main
from tfprof.errors import TfprofError

SAMPLES = Path(__file__).parents[1] / "samples"
NOTE = "could be read ("
ADVICE = "--partial (in Python: partial=True) reads what is intact."


@pytest.fixture(autouse=True)
def _cut(files):
    """Files of the small model, cut short."""
    whole = tfprof.load("graph.pb", "run_meta_0", "tfprof_log")
    whole.save("profile", "profile_proto")
    whole.save("saved.tfprof")
    for name, kept in {"graph.pb": 200, "graph.pbtxt": 900, "run_meta_0": 100}.items():
        data = (files / name).read_bytes()
        (files / f"cut_{name}").write_bytes(data[:kept])
        packed = gzip.compress(data * 50 if name == "graph.pb" else data, 0)
        (files / f"cut_{name}.gz").write_bytes(packed[: kept + 40])
    for name in ("tfprof_log", "profile", "saved.tfprof"):
        data = (files / name).read_bytes()
        (files / f"cut_{name}").write_bytes(data[: len(data) * 2 // 3])


CUT = [
    "cut_graph.pb",
    "cut_graph.pbtxt",
    "cut_graph.pb.gz",
    "cut_graph.pbtxt.gz",
    "cut_run_meta_0",
    "cut_tfprof_log",
    "cut_profile",
]


@pytest.mark.parametrize("name", CUT)
def test_a_file_that_is_cut_short_is_refused_with_its_place_and_advice(name, capsys):
    status = main(["op", name])

    shown = capsys.readouterr()
    assert (status, shown.out) == (1, "")
    assert is_one_line(shown.err)
    assert shown.err.endswith(f" {ADVICE}\n")
    assert any(place in shown.err for place in ("at byte ", "column ", "bytes could be unpacked"))


@pytest.mark.parametrize("name", CUT)
def test_the_intact_part_is_read_and_the_rest_noted(name, capsys):
    status = main(["op", name, "--partial", "-select", "occurrence"])

    error = capsys.readouterr().err
    assert status == 0, error
    assert f"tfprof: {name} is cut short or damaged: " in error
    assert NOTE in error


@pytest.mark.parametrize(
    "words",
    [
        "scope", "graph", "op", "layers", "flops", "steps", "advise", "info",
        "save -o saved", "report -o report.html", "scope -output json:outfile=x",
        "scope -output timeline:outfile=x", "scope -output csv:outfile=x",
    ],
)  # fmt: skip
def test_every_command_notes_what_is_missing(words, capsys):
    command, *options = words.split()

    status = main([command, "cut_graph.pb", "cut_run_meta_0", "--partial", *options])

    shown = capsys.readouterr()
    assert status == 0, shown.err
    page = Path("report.html").read_text() if command == "report" else ""
    assert NOTE in " ".join((shown.out + shown.err + page).split())


@pytest.mark.parametrize("words", ["scope", "flops", "steps", "advise", "info"])
def test_the_note_is_part_of_json_answers(words, capsys):
    main([words, "cut_graph.pb", "cut_run_meta_0", "--partial", "--json"])

    assert any(NOTE in note for note in json.loads(capsys.readouterr().out)["notes"])


def test_the_numbers_are_those_of_the_intact_part():
    part = tfprof.load("cut_graph.pb", partial=True)

    assert [part.columns.ops.name[row] for row in range(2)] == ["net/w", "x"]
    assert part.columns.ops.shape.sizes().sum() == 18
    assert " ".join(part.notes) == (
        "cut_graph.pb is cut short or damaged: 145 of 200 bytes could be read (72.5 %; ops: 2), "
        "and at least 6 more are missing. The numbers cover only this part."
    )


@pytest.mark.parametrize("view", ["scope", "graph"])
def test_an_op_whose_inputs_are_missing_is_in_every_view(view):
    whole = GraphDef.FromString(Path("graph.pb").read_bytes())
    part = GraphDef(node=whole.node[3:]).SerializeToString()
    Path("tail.pb").write_bytes(part + b"\x0a\x7f")  # and the start of another op

    found = getattr(tfprof.load("tail.pb", partial=True), view)(max_depth=9, select=["op_types"])

    assert found["net/act"]["op_types"]
    assert found["prob"]["op_types"]


def test_a_saved_profile_keeps_the_note():
    tfprof.load("cut_graph.pb", partial=True).save("part.tfprof")

    assert any(NOTE in note for note in tfprof.load("part.tfprof").scope().notes)


def test_a_whole_file_has_no_note():
    assert tfprof.load("graph.pb", "run_meta_0", partial=True).notes == ()
    assert tfprof.load("graph.pbtxt", partial=True).notes == ()


def test_a_timeline_of_an_intact_part_can_be_drawn(capsys):
    assert main(["timeline", "cut_run_meta_0", "-o", "timeline.json"]) == 1
    assert ADVICE in capsys.readouterr().err

    assert main(["timeline", "cut_run_meta_0", "--partial", "-o", "timeline.json"]) == 0
    assert "runs: 2" in capsys.readouterr().err
    assert json.loads(Path("timeline.json").read_text())


def test_the_shell_answers_from_the_intact_part(monkeypatch, capsys):
    monkeypatch.setattr("sys.stdin", io.StringIO("op\ntimeline timeline.json\n"))

    assert main(["cut_run_meta_0", "--partial"]) == 0
    shown = capsys.readouterr().err
    assert NOTE in shown
    assert "wrote timeline.json" in shown


@pytest.mark.parametrize("size", [1, 3, 20])
def test_a_file_without_an_intact_record_is_refused(size, files):
    (files / "start").write_bytes((files / "graph.pb").read_bytes()[:size])

    with pytest.raises(TfprofError):
        tfprof.load("start", partial=True)


def test_the_advice_is_not_repeated_if_it_was_followed(capsys):
    Path("start").write_bytes(Path("graph.pb").read_bytes()[:40])

    assert main(["op", "start", "--partial"]) == 1
    assert capsys.readouterr().err.endswith("No part of it is intact.\n")


@pytest.mark.parametrize("name", ["cut_saved.tfprof", "model.keras"])
def test_formats_that_cannot_be_read_in_part_say_so(name, files, capsys):
    keras = (SAMPLES / "keras" / "small.keras").read_bytes()
    (files / "model.keras").write_bytes(keras[: len(keras) // 2])

    status = main(["op", name, "--partial"])

    assert status == 2
    assert "`partial` requires a ProfileProto file or a GraphDef file" in capsys.readouterr().err
