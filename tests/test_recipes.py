"""The recipes in CONTRIBUTING.md work: additions are available everywhere."""

from __future__ import annotations

import csv
import io
import json
import sys
from types import ModuleType
from typing import NamedTuple

import numpy as np
import pytest

import tfprof
from asking import ask
from build import op, profile, run
from tfprof import api
from tfprof.answers import Answer
from tfprof.cli import main
from tfprof.columns import Ragged, Shapes, Strings
from tfprof.commands.command import Place
from tfprof.commands.table import available
from tfprof.dialects import FLAT, NESTED
from tfprof.errors import OptionError
from tfprof.metrics import BY_KEY, Metric, Need
from tfprof.model.builder import OpColumns
from tfprof.options import Options
from tfprof.outputs import (
    registry,
    schemas,  # noqa: F401 -- lists the views when it is imported
)
from tfprof.outputs.registry import Output
from tfprof.shell.completion import Completer
from tfprof.sources import registry as sources
from tfprof.sources.source import Stage, summary
from tfprof.views import scope
from tfprof.views.accounting import account_single
from tfprof.views.facts import FACTS, Column, Counts, ShapeLists, Sizes, Texts
from tfprof.views.registry import VIEWS, Trait, ViewKind
from tfprof.views.select import select

# The row of the same op in each view.
ROWS = {"scope": "a", "graph": "a", "code": "m.py:1:f", "op": "Add"}


def small_profile():
    return profile(op("a", "Add", code=["m.py:1:f"]), run("a", 3))


def written(kind, view):
    return b"".join(registry.FILE_OUTPUTS[kind].encode(view))


# A source: a module with `read` and `add`, and a row in the table of sources.


@pytest.fixture
def names_file(monkeypatch, tmp_path):
    """A file of a new format: the names of ops, one per line."""

    def add(names, builder, file):
        nothing = [()] * len(names)
        builder.add_ops(OpColumns.of(names, names, nothing, [(2, 3)] * len(names), nothing))
        return summary(file, ops=len(names))

    module = ModuleType("names_of_ops")
    module.read = lambda file: file.content.read(1 << 20)[0].decode().split()[1:]
    module.add = add
    row = sources.BuiltIn(
        name="op_names",
        title="OpNames",
        stage=Stage.DEFINITIONS,
        brings=frozenset({Need.DEFINITIONS}),
        module="names_of_ops",
        recognises=lambda content: content.head.startswith(b"OPS\n"),
    )
    monkeypatch.setitem(sys.modules, "names_of_ops", module)
    monkeypatch.setattr(sources, "SOURCES", (*sources.SOURCES, row))
    path = tmp_path / "model.ops"
    path.write_text("OPS\nnet/a\nnet/b\n")
    return str(path)


def test_a_file_of_a_new_source_is_recognised_and_read(names_file, capsys):
    assert main(["scope", names_file, "-select", "params"]) == 0

    assert "  net (0/12 params)\n" in capsys.readouterr().out
    assert tfprof.load(names_file).op(select=["params"])["net/a"]["params"] == 6


def test_a_file_of_a_new_source_is_described(names_file):
    assert tfprof.info(names_file).to_dict()["files"] == [
        {"path": names_file, "kind": "op_names", "ops": 2, "devices": []}
    ]


def test_a_file_of_a_new_source_is_merged_with_others(names_file, files):
    profile_ = tfprof.load(names_file, files / "run_meta_0")

    assert {"net/a", "net/b"} < set(profile_.columns.ops.name)
    assert tfprof.load(files / "run_meta_0").columns.ops.name[0] in profile_.columns.ops.name


@pytest.mark.usefixtures("names_file")
def test_hints_name_a_new_source(files):
    notes = tfprof.load(files / "run_meta_0").scope(select=["params"]).notes

    assert any("OpNames" in note for note in notes), notes


@pytest.mark.usefixtures("names_file")
def test_an_unknown_file_is_refused_with_the_formats_of_all_sources(tmp_path):
    (tmp_path / "other").write_text("something else")

    with pytest.raises(tfprof.TfprofError, match=r"unknown file format; .*OpNames"):
        tfprof.load(tmp_path / "other")


# A fact: a row in the table of metrics, and a function that returns its column.


class Example(NamedTuple):
    """A column with the same value in all rows, and how outputs show that value."""

    column: Column
    in_nested_rows: str
    in_flat_rows: str
    plain: dict[str, object]


def example(kind, view, rows):
    """An example column of that kind."""
    count = rows.stop - rows.start
    zeros, each = np.zeros(count, np.int64), np.arange(count + 1)
    if kind == "texts":
        texts = Texts(Ragged(each, zeros), Strings(["red"]))
        return Example(texts, "(red)", "red", {"colours": ["red"]})
    if kind == "number":
        return Example(zeros + 1500, "(1500)", "1500", {"colours": 1500})
    if kind == "counts":
        counts = Counts({"hits": zeros + 2}, {"hits": zeros + 1500})
        return Example(counts, "(2/1.50k)", "2", {"hits": 2, "total_hits": 1500})
    if kind == "size":
        return Example(Sizes(zeros + 1500), "(1.50KB)", "1.50KB", {"colours": 1500})
    if kind == "shape":
        return Example(Shapes(zeros, ((2, 3),)), "(2x3)", "2x3", {"colours": [2, 3]})
    ops = view.members.take(np.arange(rows.start, rows.stop))
    each = np.arange(len(ops.values) + 1)
    lists = ShapeLists(ops, Ragged(each, np.zeros(len(ops.values), np.int64)), ((4,),))
    plain = [[[4]]] if view.is_gathered else [[4]]
    return Example(lists, "(0:4)", "input_type: 0:4\t", {"colours": plain})


@pytest.fixture(params=["texts", "number", "size", "counts", "shape", "shape lists"])
def colour(request, monkeypatch):
    """A newly registered fact, with each kind of column."""
    metric = Metric(
        "colour", "op colours", "op colours: as painted.", Need.DEFINITIONS, fact="colours"
    )
    monkeypatch.setitem(BY_KEY, "colour", metric)
    monkeypatch.setitem(
        FACTS, "colours", lambda view, rows: example(request.param, view, rows).column
    )
    return request.param


@pytest.mark.parametrize("view", ROWS)
def test_a_new_fact_is_in_the_table(view, colour):
    answer = Answer(ask(view, small_profile(), select=["colour"]))

    wanted = example(colour, answer.view, slice(0, 2))
    shown = answer.table.partition(f"\n{'' if view == 'op' else '  '}{ROWS[view]} ")[2].lstrip()
    assert shown.startswith(wanted.in_flat_rows if view == "op" else wanted.in_nested_rows)
    assert answer.table.startswith("node name | op colours\n")
    assert "\nop colours: as painted.\n" in answer.report


@pytest.mark.parametrize("view", ROWS)
def test_a_new_fact_is_in_json_csv_and_data_frames(view, colour):
    answer = Answer(ask(view, small_profile(), select=["colour"]))

    wanted = example(colour, answer.view, slice(0, 2)).plain
    row = {"name": ROWS[view], "depth": 2, "parent": "_TFProfRoot"} | wanted
    assert answer[ROWS[view]] == row
    assert json.loads(written("json", answer.view))["rows"][1] == row
    assert answer.to_dict()["rows"][1] == row
    assert answer.to_dataframe().iloc[0].to_dict() == row
    heading, _, line = csv.reader(io.StringIO(written("csv", answer.view).decode()))
    cells = [json.dumps(value) if isinstance(value, list) else str(value) for value in row.values()]
    assert dict(zip(heading, line, strict=True)) == dict(zip(row, cells, strict=True))


@pytest.mark.usefixtures("colour")
@pytest.mark.parametrize("view", ROWS)
def test_a_new_fact_has_no_field_in_messages(view):
    p = small_profile()

    assert written("message", ask(view, p, select=["colour"])) == written("message", ask(view, p))


@pytest.mark.usefixtures("colour")
def test_a_new_fact_is_completed():
    completer = Completer(small_profile(), available(Place.SHELL))

    found = {one.shown: one.meaning for one in completer.complete("op -select col").candidates}

    assert found == {"colour": "as painted."}


@pytest.mark.usefixtures("colour")
@pytest.mark.parametrize("topic", ["colour", "select", "scope"])
def test_help_explains_a_new_fact(topic, capsys):
    assert main(["help", topic]) == 0

    shown = capsys.readouterr().out
    assert "colour" in shown
    assert "As painted." in shown


@pytest.mark.usefixtures("colour", "files")
def test_a_new_fact_can_be_selected_on_the_command_line(capsys):
    assert main(["scope", "graph.pbtxt", "-select", "colour"]) == 0

    assert "node name | op colours\n" in capsys.readouterr().out


# An output: a module with `encode(view)`, and a row in the table of outputs.


@pytest.fixture
def names_output(monkeypatch):
    """A newly registered output that writes the names of rows."""
    module = ModuleType("names_of_rows")
    module.encode = lambda view: (f"{name}\n".encode() for name in view.name)
    monkeypatch.setitem(sys.modules, "names_of_rows", module)
    monkeypatch.setitem(
        registry.FILE_OUTPUTS, "names", Output("names_of_rows", "one name per line", hint="read it")
    )


@pytest.mark.usefixtures("names_output", "files")
@pytest.mark.parametrize("view", ["scope", "op"])
def test_a_new_output_can_be_written_by_the_command_line(view, tmp_path, capsys):
    assert main([view, "graph.pbtxt", "-output", "names:outfile=names.txt"]) == 0

    assert (tmp_path / "names.txt").read_text().startswith("_TFProfRoot\n")
    assert capsys.readouterr().err.startswith("tfprof: wrote names.txt\ntfprof: read it\n")


@pytest.mark.usefixtures("names_output")
def test_a_new_output_can_be_written_from_python(tmp_path):
    answer = api.Profile(small_profile()).scope(select=[])

    (file,) = answer.write(f"names:outfile={tmp_path / 'names.txt'}")

    assert file.path == str(tmp_path / "names.txt")
    assert (tmp_path / "names.txt").read_text() == "_TFProfRoot\na\n"


@pytest.mark.usefixtures("names_output")
@pytest.mark.parametrize("topic", ["output", "scope"])
def test_help_lists_a_new_output(topic, capsys):
    assert main(["help", topic]) == 0

    shown = " ".join(capsys.readouterr().out.split())
    assert "names:outfile=FILE One name per line." in shown


@pytest.mark.usefixtures("names_output")
def test_a_new_output_is_completed():
    found = (
        Completer(small_profile(), available(Place.SHELL)).complete("scope -output nam").candidates
    )

    assert [one.text for one in found] == ["names:outfile="]


# A view: a module with `build(profile, options)`, and a row in the table of views.


@pytest.fixture(params=[Trait.NESTED, Trait.NESTED | Trait.TIMED, Trait.GATHERED], ids=str)
def new_view(request, monkeypatch):
    """A newly registered view that arranges rows like the scope view, with varying traits."""

    usual = NESTED if Trait.NESTED in request.param else FLAT

    def build(profile, options):
        policy = options.generation.policy("again", usual)
        arrangement = scope.arrange(profile)
        accounts = account_single(profile, options, arrangement, policy)
        return select(
            "again", profile, options, arrangement=arrangement, accounts=accounts, policy=policy
        )

    module = ModuleType("tfprof.views.again")
    module.build = build
    monkeypatch.setitem(sys.modules, "tfprof.views.again", module)
    monkeypatch.setitem(VIEWS, "again", ViewKind("Ops again: as before.", request.param))
    return request.param


@pytest.mark.parametrize("output", registry.FILE_OUTPUTS)
def test_a_new_view_is_written_by_every_output_that_supports_its_traits(output, new_view, tmp_path):
    options = Options.of(output=f"{output}:outfile={tmp_path / 'answer'}", step=0)
    profile_ = api.Profile(small_profile())
    if registry.FILE_OUTPUTS[output].needs not in new_view:
        with pytest.raises(OptionError, match="does not support the again view: use"):
            profile_.view("again", options)
        return

    answer = profile_.view("again", options)

    (file,) = answer.write()
    assert (tmp_path / file.path).stat().st_size > 0


@pytest.mark.usefixtures("new_view")
def test_a_new_view_is_explained_and_shown_in_notebooks():
    answer = api.Profile(small_profile()).view("again", Options())

    assert "\nDoc:\nOps again: as before.\n" in answer.report
    assert '<p class="quiet">Ops again' in answer._repr_html_()
    assert repr(answer) == "<tfprof again view: 2 rows, 0 ops hidden>"
