"""Comparisons as text, JSON, CSV, Markdown, pprof and speedscope files."""

import csv
import io
import json

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tfprof
from build import op, profile, run
from pprof_reader import PprofFile
from profile_strategies import often, profiles
from tfprof.api import Profile
from tfprof.comparison_outputs import DIFF_OUTPUTS
from tfprof.comparisons import Diff
from tfprof.errors import OptionError
from tfprof.outputs import schemas
from tfprof.views.registry import VIEWS


def diff(base, new):
    return Diff(Profile(base), Profile(new))


def layers(*sizes):
    """A scope per size, numbered like those of Keras."""
    names = ["dense", *(f"dense_{place}" for place in range(1, len(sizes)))]
    return profile(
        *(op(f"net/{n}/kernel", "Var", shape=(size,)) for n, size in zip(names, sizes, strict=True))
    )


REPORT = """\
base: a profile
new:  a profile

Parameters 8 → 15 (+87.5%), ops 2 → 3 (+50.0%).

            before  after  change
parameters       8     15      +7  +87.5%
ops              2      3      +1  +50.0%

parameters, scope view (% of before, share of the change of all rows, +7):
                           before  after  change           share
_TFProfRoot                     8     15      +7  +87.5%  100.0%
  net                           8     15      +7  +87.5%  100.0%
    + dense_1                   0      7      +7     new  100.0%
      + kernel                  0      7      +7     new  100.0%
    dense_2 (was dense_1)       5      5       =            0.0%
… left out: 3 rows without a change; -unchanged shows all.
"""


def test_an_inserted_layer_is_reported_as_that():
    assert diff(layers(3, 5), layers(3, 7, 5)).scope().report == REPORT


def test_a_removed_row_and_a_moved_row_are_marked():
    base = profile(op("a/x/w", "Var", shape=(3,)), op("a/x/v", "Var"), op("a/old", "Old", (9,)))
    new = profile(op("b/y/x/w", "Var", shape=(3,)), op("b/y/x/v", "Var"), op("a/z", "Z"))
    report = diff(base, new).scope(select=["params"]).report

    assert "- old " in report
    assert "x (moved from a/x)" in report


def test_nothing_to_report_is_said():
    side = layers(3, 5)
    report = diff(side, side).scope().report

    assert "Parameters and ops did not change." in report
    assert "parameters, scope view: no row changed." in report


def test_names_cannot_control_a_terminal_or_break_a_table():
    name = "net/\x1b[31mred\n|x|"
    base, new = profile(op("net/a", "Var", shape=(3,))), profile(op(name, "Var", shape=(9,)))
    answer = diff(base, new).scope(select=["params"])

    assert "\x1b" not in answer.report
    table = [line for line in answer.to_markdown().splitlines() if "red" in line]
    assert table == ["| &emsp;&emsp;+ \\\\x1b\\[31mred \\|x\\| | 0 | 9 | +9 | new | 150.0% |"]


@pytest.mark.parametrize("kind", VIEWS)
@often
@given(base=profiles(), new=profiles(), unchanged=st.booleans())
def test_json_has_all_keys_of_its_schema(kind, base, new, unchanged):
    question = {"select": ["micros", "params", "occurrence"], "unchanged": unchanged}
    answer = getattr(diff(base, new), kind)(**question)
    found = json.loads(answer.to_json())

    jsonschema.validate(found, schemas.schema_of("diff"))
    assert found == answer.to_dict()
    assert found["rows"] == list(answer)


def test_csv_has_a_line_per_row():
    answer = diff(layers(3, 5), layers(3, 7, 5)).scope()
    written = b"".join(DIFF_OUTPUTS["csv"].encode(answer.compared)).decode()
    rows = list(csv.DictReader(io.StringIO(written)))

    assert [row["status"] for row in rows] == ["same", "same", "added", "added", "renamed"]
    assert rows[2] == {
        "name": "net/dense_1",
        "old_name": "",
        "status": "added",
        "depth": "3",
        "parent": "net",
        "params_before": "0",
        "params_after": "7",
        "params_change": "7",
        "params_share": "1.0",
    }


def test_a_data_frame_has_a_row_per_row():
    pytest.importorskip("pandas")
    frame = diff(layers(3, 5), layers(3, 7, 5)).scope().to_dataframe()

    assert frame["params_change"].tolist() == [7, 7, 7, 7, 0]


def test_markdown_has_tables_for_a_pull_request():
    written = diff(layers(3, 5), layers(3, 7, 5)).scope().to_markdown()

    assert "| parameters | 8 | 15 | +7 | +87.5% |" in written
    assert "| &emsp;&emsp;dense\\_2 (was dense\\_1) | 5 | 5 | = |  | 0.0% |" in written
    assert "left out: 3 rows without a change" in written


def test_a_notebook_shows_tables():
    shown = diff(layers(3, 5), layers(3, 7, 5)).scope()._repr_html_()

    assert "<p>Parameters 8 → 15 (+87.5%), ops 2 → 3 (+50.0%).</p>" in shown
    assert shown.count("<table") == 2
    assert "dense_2 (was dense_1)" in shown


def test_names_in_a_notebook_are_text():
    base = profile(op("a", "Var", shape=(3,)))
    new = profile(op("<b>a</b>", "Var", shape=(5,)))

    assert "<b>" not in diff(base, new).scope()._repr_html_()


def test_long_tables_of_markdown_are_cut():
    base, new = (
        profile(*(op(f"o{n}", "Var", shape=(n + more,)) for n in range(90))) for more in (1, 2)
    )
    written = diff(base, new).scope(select=["params"]).to_markdown()

    assert "… 51 more rows." in written
    assert written.count("\n| ") < 60


@often
@given(base=profiles(), new=profiles())
def test_a_pprof_file_has_the_difference_of_both_sides(base, new):
    answer = diff(base, new).scope(select=["params", "float_ops"], max_depth=100)
    found = PprofFile(b"".join(DIFF_OUTPUTS["pprof"].encode(answer.compared)))

    view = answer.compared.view
    for number in view.numbers:
        amounts = [sample.values[number.key] for sample in found.samples]
        assert sum(amounts) == int(view.change(number.key)[0])
        assert sum(amount for amount in amounts if amount < 0) == -int(view.before(number.key)[0])


def test_samples_of_the_base_are_labelled_for_pprof(tmp_path):
    path = tmp_path / "diff.pb.gz"
    diff(layers(3), layers(4)).scope(select=["params"]).write(f"pprof:outfile={path}")
    found = PprofFile(path.read_bytes())

    labels = [(sample.values, sample.labels) for sample in found.samples]
    assert labels == [({"params": -3}, {"pprof::base": "true"}), ({"params": 4}, {})]


def test_a_speedscope_file_has_what_grew_and_what_shrank(tmp_path):
    path = tmp_path / "diff.json"
    diff(layers(3, 9), layers(8, 2)).scope(select=["params"]).write(f"speedscope:outfile={path}")
    found = json.loads(path.read_text(encoding="utf-8"))

    ends = {one["name"]: one["endValue"] for one in found["profiles"]}
    assert ends == {
        "parameters: more than before": 5,
        "parameters: less than before": 7,
        "parameters: before": 12,
        "parameters: after": 10,
    }


def test_an_unknown_output_is_refused_with_the_nearest():
    with pytest.raises(OptionError, match=r"has no output `markdwn`. Did you mean `markdown`"):
        diff(layers(3), layers(4)).scope(output="markdwn:outfile=x")


def test_an_output_without_a_file_is_refused():
    with pytest.raises(OptionError, match=r"takes a file only: csv:outfile=PATH"):
        diff(layers(3), layers(4)).scope(output="csv")


def test_an_output_of_stacks_refuses_a_flat_view():
    with pytest.raises(OptionError, match="`pprof` does not support the op view"):
        diff(layers(3), layers(4)).op(output="pprof:outfile=x")


def test_files_are_compared_from_python(tmp_path):
    for name, size in (("a", 3), ("b", 4)):
        text = (
            'node { name: "w" op: "VariableV2" attr { key: "shape" value { shape { dim { size: '
            f"{size} }} }} }} }} }}"
        )
        (tmp_path / f"{name}.pbtxt").write_text(text, encoding="utf-8")
    found = tfprof.diff(tmp_path / "a.pbtxt", [tmp_path / "b.pbtxt"])

    assert [row["name"] for row in found.scope()] == ["_TFProfRoot", "w"]
    assert found.summary.totals[0][1:] == (3, 4)
    with pytest.raises(OptionError, match="`batch_size` applies to paths"):
        tfprof.diff(found.base, found.new, batch_size=3)


def test_a_regex_that_matches_nothing_is_explained():
    notes = diff(layers(3), layers(4)).scope(show_name_regexes=["nothing"]).notes

    available = "Available: net, net/dense, net/dense/kernel."
    assert notes == (f"-show_name_regexes: no row matches `nothing`. {available}",)


def test_ops_whose_float_operations_are_not_counted_are_named_for_their_side():
    ops = [op("a", "MatMul", float_ops=3), op("b", "MyOp")]
    base, new = (profile(*some, counts_float_ops=True) for some in (ops[:1], ops))
    notes = diff(base, new).scope(select=["float_ops"]).notes

    assert notes == (
        "new: float ops of 1 op of 1 kind (MyOp 1) are not counted: there is no rule for them.",
    )


def test_a_number_that_one_side_lacks_is_not_compared():
    base = profile(op("a", "Var", shape=(3,)))
    new = profile(op("a", "Var", shape=(3,), float_ops=9))
    found = diff(base, new)
    answer = found.scope()

    assert "only the new profile has `float_ops`, so it is not compared." in answer.notes
    assert "FLOPs" not in answer.report
    assert [row["numbers"].keys() for row in answer] == [{"params"}]


def test_a_time_of_one_step_has_no_interval():
    base, new = profile(run("a", 10)), profile(run("a", 20))
    report = diff(base, new).scope(select=["micros"]).report

    assert "~+10us" in report
    assert "unknown" in report
