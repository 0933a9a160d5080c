"""`tfprof diff`."""

import json

import pytest

from tfprof.cli import main

NODE = (
    'node {{ name: "{name}" op: "VariableV2" '
    'attr {{ key: "shape" value {{ shape {{ dim {{ size: {size} }} }} }} }} }}\n'
)


@pytest.fixture
def graphs(tmp_path):
    """Two graphs: a layer is larger in the second."""
    for name, size in (("a", 3), ("b", 4)):
        nodes = NODE.format(name="net/w", size=size) + NODE.format(name="net/v", size=9)
        (tmp_path / f"{name}.pbtxt").write_text(nodes, encoding="utf-8")
    return tmp_path


@pytest.fixture
def tell(graphs, monkeypatch, capsys):
    """Runs `tfprof diff` and returns its exit status, its answer and its notes."""
    monkeypatch.chdir(graphs)

    def run(*words):
        return main(["diff", *words]), *capsys.readouterr()

    return run


def test_two_files_are_compared(tell):
    status, answer, notes = tell("a.pbtxt", "b.pbtxt")

    assert (status, notes) == (0, "")
    assert answer.startswith("base: a.pbtxt\nnew:  b.pbtxt\n\nParameters 12 → 13 (+8.3%).\n")
    assert "    w             3      4      +1  +33.3%  100.0%\n" in answer


def test_several_files_of_a_side_are_separated_by_a_word(tell, graphs):
    (graphs / "run_meta").write_bytes(b"")
    _, answer, _ = tell("a.pbtxt", "vs", "b.pbtxt", "--json")

    found = json.loads(answer)
    assert found["base"] == ["a.pbtxt"]
    assert found["summary"]["totals"][0] == {
        "key": "params",
        "label": "parameters",
        "before": 12,
        "after": 13,
    }


@pytest.mark.parametrize(
    "words",
    [
        ["a.pbtxt"],
        ["a.pbtxt", "b.pbtxt", "c.pbtxt"],
        ["vs", "b.pbtxt"],
        ["a.pbtxt", "vs"],
        ["a", "vs", "b", "vs", "c"],
    ],
)
def test_sides_that_cannot_be_told_apart_are_refused(tell, words):
    status, _, notes = tell(*words)

    assert status == 2
    assert "tfprof diff A1 A2 vs B1 B2" in notes


def test_nothing_to_compare_is_refused(tell):
    assert tell() == (2, "", "tfprof: Nothing to compare: tfprof diff BASE NEW [-option value]….\n")


def test_an_unknown_view_is_refused_with_the_nearest(tell):
    status, _, notes = tell("a.pbtxt", "b.pbtxt", "-view", "layer")

    assert status == 2
    assert "Did you mean `layers`" in notes


def test_only_one_format_is_printed(tell):
    status, _, notes = tell("a.pbtxt", "b.pbtxt", "--json", "--markdown")

    assert status == 2
    assert "Use only one of" in notes


def test_markdown_is_printed(tell):
    assert "| parameters | 12 | 13 | +1 | +8.3% |" in tell("a.pbtxt", "b.pbtxt", "--markdown")[1]


def test_a_comparison_is_written_to_a_file(tell, graphs):
    status, answer, notes = tell("a.pbtxt", "b.pbtxt", "-output", "csv:outfile=diff.csv")

    assert (status, answer, notes) == (0, "", "tfprof: wrote diff.csv\n")
    assert (graphs / "diff.csv").read_text(encoding="utf-8").startswith("name,old_name,status,")


def test_a_missing_file_is_one_line(tell):
    status, _, notes = tell("a.pbtxt", "gone.pbtxt")

    assert status == 1
    assert notes.count("\n") == 1
    assert "gone.pbtxt" in notes


def test_a_dialect_is_not_an_option(tell):
    status, _, notes = tell("a.pbtxt", "b.pbtxt", "-dialect", "early")

    assert status == 2
    assert "`diff` has no option `dialect`" in notes
