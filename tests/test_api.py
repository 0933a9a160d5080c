"""The Python API: load files, ask for views, convert and write answers."""

from __future__ import annotations

import builtins
import copy
import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import tfprof
from asking import RUNS, ZERO
from build import CPU, op, profile, run
from checkpointed import with_tensors
from model_files import OpLogProto
from tfprof.api import Profile

ROWS = ["_TFProfRoot", "net", "net/act", "net/mul", "net/w", "prob", "x"]
GPU = Path(__file__).parent / "samples" / "tensorflow" / "gpu_synth"
CHECKPOINT = Path(__file__).parent / "samples" / "checkpoints" / "v2" / "model.ckpt"


@pytest.fixture
def model(files):
    """The small model, loaded from all its files."""
    names = ("graph.pb", "run_meta_0", "run_meta_1", "tfprof_log")
    return tfprof.load(*(files / name for name in names))


def loaded(*facts, **options):
    return Profile(profile(*facts, **options))


def test_a_run_of_1400_nanoseconds_is_1_4_microseconds_in_json_csv_and_data_frame(tmp_path):
    answer = Profile(profile(run("kernel", 1.4, start=5.8))).scope(select="micros")
    answer.write(f"csv:outfile={tmp_path / 'rows.csv'}")

    (row,) = (row for row in answer.to_dict()["rows"] if row["name"] == "kernel")
    assert (row["micros"], row["total_micros"]) == (1.4, 1.4)
    assert answer.to_dataframe().set_index("name")["micros"]["kernel"] == 1.4
    assert "kernel,2,_TFProfRoot,1.4,1.4" in (tmp_path / "rows.csv").read_text()
    assert "kernel (2us/2us" in answer.table  # tables always show whole microseconds


ANSWERS = ("scope", "graph", "code", "op", "layers", "flops", "memory", "step_times", "advise")


@pytest.mark.parametrize("question", ANSWERS)
def test_every_answer_converts_in_the_same_ways(question):
    recorded = tfprof.load(GPU / "graph.pb.gz", GPU / "run_meta_0.gz", GPU / "tfprof_log.gz")
    answer = getattr(recorded, question)()

    assert str(answer) in answer.report
    assert json.loads(answer.to_json()) == json.loads(json.dumps(answer.to_dict()))
    assert answer.to_dict()["notes"] == list(answer.notes)
    assert len(list(answer)) == len(answer)
    assert answer.to_dataframe() is not None
    assert "</div>" in answer._repr_html_()


@pytest.mark.usefixtures("files")
def test_files_may_come_in_any_order():
    one = tfprof.load("graph.pb", "run_meta_0", "tfprof_log")
    other = tfprof.load("tfprof_log", "run_meta_0", "graph.pb")

    assert one.scope(select="micros,op_types").table == other.scope(select="micros,op_types").table


@pytest.mark.usefixtures("files")
def test_the_kinds_of_files_may_be_given_by_keyword():
    by_place = tfprof.load("graph.pbtxt", "run_meta_0", "tfprof_log")
    by_name = tfprof.load(
        graph_path="graph.pbtxt", run_meta_path="run_meta_0", op_log_path="tfprof_log"
    )

    assert by_name.code().table == by_place.code().table


@pytest.mark.usefixtures("files")
def test_positional_and_keyword_files_may_be_mixed():
    model = tfprof.load("graph.pb", op_log_path="tfprof_log")

    assert model.columns.has_code


def test_a_path_may_be_a_path_object(files):
    assert len(tfprof.load(files / "graph.pb", run_meta_path=files / "run_meta_0").scope()) == 7


@pytest.mark.usefixtures("files")
def test_run_metadata_counts_steps_from_zero():
    assert tfprof.load("run_meta_0", "run_meta_1").steps == [0, 1]
    assert tfprof.load(run_meta_path=["run_meta_1", "run_meta_0"]).steps == [0, 1]


@pytest.mark.usefixtures("files")
def test_run_metadata_may_have_explicit_step_numbers():
    model = tfprof.load(run_meta_path={70: "run_meta_1", 5: "run_meta_0"})

    assert model.steps == [5, 70]
    assert model.scope(step=70)["net/mul"]["micros"] == 12


@pytest.mark.usefixtures("files")
def test_float_ops_may_be_taken_only_from_the_log():
    counted = tfprof.load("graph.pb").scope(select="float_ops")
    logged = tfprof.load("graph.pb", "tfprof_log", count_float_ops=False).scope(select="float_ops")

    assert counted["_TFProfRoot"]["total_float_ops"] == 96
    assert logged["_TFProfRoot"]["total_float_ops"] == 0


@pytest.mark.usefixtures("files")
def test_progress_is_called_for_each_file():
    seen = []

    tfprof.load("tfprof_log", "graph.pb", progress=seen.append)

    assert seen == ["graph.pb", "tfprof_log"]


@pytest.mark.usefixtures("files")
def test_the_arguments_of_the_caller_are_not_modified():
    steps = {5: "run_meta_0"}
    regexes = ["net.*", "prob"]
    select = ["params", "micros", "micros"]
    before = copy.deepcopy((steps, regexes, select))

    model = tfprof.load("graph.pb", run_meta_path=steps)
    model.scope(show_name_regexes=regexes, select=select)

    assert (steps, regexes, select) == before


@pytest.mark.usefixtures("files")
def test_two_loaded_profiles_are_independent():
    graph, runs = tfprof.load("graph.pb"), tfprof.load("run_meta_0")

    assert len(graph.scope()) == 7
    assert len(runs.scope()) == 6
    assert graph.scope().view.total["micros"][0] == 0
    assert runs.scope().view.total["micros"][0] == 1515


@pytest.mark.usefixtures("files")
def test_asking_twice_gives_the_same_answer(model):
    assert model.op(select="micros").table == model.op(select="micros").table


@pytest.mark.parametrize(
    ("inputs", "error", "complaint"),
    [
        ({"graf_path": "x"}, tfprof.OptionError, "Unknown option `graf_path`. Did you mean"),
        ({"graph_path": 3}, tfprof.OptionError, "`graph_path` takes a file path, not 3"),
        ({"run_meta_path": {"a": "x"}}, tfprof.OptionError, "takes a whole number, not 'a'"),
        ({"graph_path": "gone"}, tfprof.InputError, "gone: no such file; check the path."),
        (
            {"graph_path": "run_meta_0"},
            tfprof.UnknownFormatError,
            "run_meta_0: is a RunMeta",
        ),
    ],
)
@pytest.mark.usefixtures("files")
def test_a_file_that_cannot_be_loaded_raises(inputs, error, complaint):
    with pytest.raises(error) as caught:
        tfprof.load(**inputs)

    assert complaint in str(caught.value)


@pytest.mark.usefixtures("files")
def test_an_input_error_has_the_path_of_the_file():
    with pytest.raises(tfprof.InputError) as caught:
        tfprof.load("gone.pb")

    assert caught.value.path == "gone.pb"
    assert caught.value.trouble == "no such file; check the path."


@pytest.mark.usefixtures("files")
def test_a_saved_profile_cannot_be_loaded_together_with_its_parts(model):
    model.save("profile.pb")

    with pytest.raises(tfprof.OptionError) as caught:
        tfprof.load("graph.pb", "profile.pb", "run_meta_0")

    assert str(caught.value) == (
        "profile.pb is a saved profile, which contains its graph and runs: "
        "leave out graph.pb and run_meta_0."
    )


@pytest.mark.usefixtures("files")
def test_a_saved_profile_may_be_loaded_with_a_checkpoint(model):
    model.save("profile.pb")

    assert len(tfprof.load("profile.pb", CHECKPOINT).columns.tensors) > 0


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        ({"max_dept": 3}, "Unknown option `max_dept`. Did you mean `max_depth`?"),
        ({"max_depth": "3"}, "`max_depth` takes a whole number, not '3'."),
        ({"select": ["micro"]}, "`select` cannot be `micro`. Did you mean `micros`?"),
        ({"order_by": "tensor_value"}, "`order_by` cannot be `tensor_value`."),
        ({"show_name_regexes": ["("]}, "`show_name_regexes`: pattern `(`: `(` is not closed"),
        ({"output": "jso"}, "Unknown output `jso`. Did you mean `json`?"),
        ({"step": 7}, "No step 7. Recorded: 0"),
    ],
)
def test_an_invalid_option_raises(options, complaint):
    with pytest.raises(tfprof.OptionError) as caught:
        loaded(op("a"), run("a")).scope(**options)

    assert complaint in str(caught.value)


def test_an_unknown_view_raises_with_the_closest_name():
    with pytest.raises(tfprof.OptionError, match=r"Unknown view `scop`\. Did you mean `scope`"):
        loaded(op("a")).view("scop", None)


def test_the_code_view_needs_code_lines():
    with pytest.raises(tfprof.MissingInputError, match="--op_log_path"):
        loaded(op("a")).code()


def test_every_error_is_a_tfprof_error():
    for name in ("InputError", "MissingInputError", "OptionError", "OutputError"):
        assert issubclass(getattr(tfprof, name), tfprof.TfprofError)
    assert issubclass(tfprof.UnknownFormatError, tfprof.InputError)


def test_a_problem_with_the_files_is_noted_in_every_answer(files):
    log = OpLogProto(log_entries=[{"name": "stranger", "types": ["t"]}])
    (files / "other_log").write_bytes(log.SerializeToString())

    model = tfprof.load("graph.pb", "other_log")

    (note,) = model.notes
    assert note.startswith("other_log has entries for 1 op")
    assert model.scope(select="params").notes == (note,)


@pytest.mark.usefixtures("files")
def test_files_that_belong_together_give_no_notes():
    assert tfprof.load("graph.pb", "tfprof_log", "run_meta_0").notes == ()


def test_missing_inputs_are_noted_in_the_answer():
    answer = loaded(op("a")).scope(select=["micros"])

    assert answer.notes == (f"`micros` requires {RUNS}, {ZERO}",)


@pytest.mark.usefixtures("files")
def test_the_repr_of_a_profile_shows_its_size(model):
    assert repr(model) == "<tfprof profile: 5 ops, 2 steps, 1 devices, 0 checkpoint tensors>"


def test_the_repr_of_an_answer_shows_its_size():
    answer = loaded(op("a"), op("b")).scope(hide_name_regexes=["b"])

    assert repr(answer) == "<tfprof scope view: 2 rows, 1 ops hidden>"


@pytest.mark.usefixtures("files")
def test_a_profile_lists_the_questions_it_can_answer():
    only_graph = tfprof.load("graph.pb").questions()
    only_run = tfprof.load("run_meta_0").questions()

    assert only_graph["params"]
    assert not only_graph["micros"]
    assert not only_graph["code view"]
    assert only_run["micros"]
    assert not only_run["params"]
    assert tfprof.load("graph.pb", "tfprof_log").questions()["code view"]
    assert tfprof.load("graph.pb", CHECKPOINT).questions()["tensor_value"]


def test_a_number_that_no_op_has_is_not_one_of_the_questions():
    weights = loaded(op("w", "Parameter", shape=(2, 3))).questions()
    graph = loaded(op("a", "Relu", float_ops=5)).questions()

    assert (weights["params"], weights["float_ops"], weights["macs"]) == (True, False, False)
    assert (graph["params"], graph["float_ops"]) == (False, True)


def test_an_answer_is_a_sequence_of_its_rows(model):
    answer = model.scope(select="params", order_by="name")

    assert [row["name"] for row in answer] == ROWS
    assert len(answer) == 7


def test_a_row_is_found_by_its_name(model):
    assert model.scope(select="params")["net/w"] == {
        "name": "net/w",
        "depth": 3,
        "parent": "net",
        "shape": [3, 4],
        "params": 12,
        "total_params": 12,
    }


def test_a_row_that_is_not_shown_raises_with_the_closest_name(model):
    with pytest.raises(KeyError, match=r"no row 'net/v' is shown\. Did you mean `net/w`"):
        model.scope()["net/v"]


def test_up_to_three_rows_are_suggested(model):
    with pytest.raises(KeyError, match=r"Did you mean `net/act`, `net/w` or `net`\?"):
        model.scope()["net/a"]


def test_a_row_is_suggested_by_its_name_without_scope(model):
    with pytest.raises(KeyError, match=r"Did you mean `net/act`"):
        model.scope()["act"]


def test_the_message_about_an_unknown_row_stays_short_in_a_large_view():
    view = loaded(*(op(f"net/layer_{row}/x") for row in range(3000))).scope()

    with pytest.raises(KeyError) as typo:
        view["net/layer_77/y"]
    with pytest.raises(KeyError) as nothing_alike:
        view["???"]

    assert "`net/layer_77/x`" in str(typo.value)
    assert len(str(nothing_alike.value)) < 300
    assert "and 5,994 more." in str(nothing_alike.value)


def test_printing_an_answer_prints_the_table(model, capsys):
    print(model.scope(select="params", max_depth=2))

    assert capsys.readouterr().out == (
        "node name | # parameters\n"
        "_TFProfRoot (--/18 params)\n"
        "  net (0/12 params)\n"
        "  x (2x3, 6/6 params)\n"
        "  prob (0/0 params)\n"
        "\n"
    )


def test_a_report_is_the_table_after_explanations(model):
    answer = model.scope(select="params")

    assert answer.report.startswith("\nDoc:\n")
    assert answer.report.endswith(f"\nProfile:\n{answer.table}")


def test_hidden_ops_are_counted_with_their_numbers(model):
    hidden = model.scope(select="params", show_name_regexes=["net.*"]).hidden

    assert hidden.ops == 2
    assert hidden.numbers["params"] == 6
    assert hidden.numbers["micros"] == 1501


@pytest.mark.usefixtures("files")
def test_op_kinds_without_a_float_op_rule_are_listed():
    p = profile(op("a", "Gelu"), op("b", "Const"), counts_float_ops=True)

    assert Profile(p).scope(select="float_ops").uncounted == {"Gelu": 1}


@pytest.mark.parametrize("kind", ["scope", "graph", "code", "op"])
def test_to_dict_contains_the_whole_answer(model, kind):
    answer = getattr(model, kind)(select="micros,params")

    found = answer.to_dict()

    assert found["view"] == kind
    assert found["steps"] == [0, 1]
    assert found["rows"] == list(answer)
    assert json.loads(json.dumps(found, allow_nan=False)) == found


def test_to_dict_can_be_encoded_as_json_even_with_nan_in_tensors():
    p = with_tensors(profile(op("w")), {"w": np.float32([np.nan])})

    found = Profile(p).scope(select="tensor_value").to_dict()

    assert found["rows"][1]["tensor_value"] == ["NaN"]


def test_a_data_frame_has_one_line_per_row(model):
    frame = model.scope(select="params,device", order_by="name").to_dataframe()

    assert list(frame.columns) == [
        "name",
        "depth",
        "parent",
        "shape",
        "params",
        "total_params",
        "share_params",
        "devices",
    ]
    assert list(frame["name"]) == ROWS[1:]
    assert frame.set_index("name").loc["net", "total_params"] == 12
    assert frame.set_index("name").loc["net/w", "devices"] == [CPU]


def test_a_data_frame_without_pandas_says_what_to_install(model, monkeypatch):
    plain_import = builtins.__import__

    def without_pandas(name, *rest, **others):
        if name == "pandas":
            raise ImportError(name)
        return plain_import(name, *rest, **others)

    monkeypatch.setattr(builtins, "__import__", without_pandas)

    with pytest.raises(tfprof.OptionError, match=r"^A data frame needs pandas: pip install"):
        model.scope().to_dataframe()


def test_a_message_has_nested_rows(model):
    message = model.scope(order_by="name").to_message()

    assert message.name == "_TFProfRoot"
    assert [child.name for child in message.children] == ["net", "prob", "x"]


def test_a_notebook_shows_a_table(model):
    shown = model.scope(select="params")._repr_html_()

    assert ">parameters</th>" in shown
    assert ">net</td>" in shown


def test_a_notebook_shows_the_notes_of_an_answer():
    shown = loaded(op("a")).scope(select=["micros"])._repr_html_()

    assert shown.endswith(f'<p class="quiet">`micros` requires {RUNS}, {ZERO}</p></div>')


def test_an_answer_is_written_to_standard_output(model, capsys):
    answer = model.op(select="params")

    answer.write("stdout")

    assert capsys.readouterr().out == answer.report


def test_an_answer_is_written_to_a_file(model, files, capsys):
    answer = model.op(select="params")

    answer.write("file:outfile=report.txt")

    assert (files / "report.txt").read_text() == answer.report
    assert capsys.readouterr().out == ""


def test_the_output_none_writes_nothing(model, files, capsys):
    before = sorted(files.iterdir())

    model.op().write("none")

    assert capsys.readouterr() == ("", "")
    assert sorted(files.iterdir()) == before


@pytest.mark.usefixtures("files")
def test_info_describes_each_file_and_the_whole_profile():
    info = tfprof.info("graph.pb", run_meta_path="7:run_meta_0", op_log_path="tfprof_log")

    assert info.to_dict() == {
        "schema": "tfprof/info/1",
        "files": [
            {"path": "graph.pb", "kind": "graph", "ops": 5, "devices": []},
            {
                "path": "run_meta_0",
                "kind": "run_meta",
                "ops": 4,
                "steps": 1,
                "runs": 4,
                "devices": [CPU],
            },
            {
                "path": "tfprof_log",
                "kind": "op_log",
                "entries": 5,
                "with_types": 1,
                "with_float_ops": 0,
                "with_code_lines": 5,
                "devices": [],
            },
        ],
        "ops": 5,
        "ops_seen_running": 4,
        "steps": [7],
        "recordings": [
            {
                "label": "run_meta",
                "host": None,
                "rank": None,
                "framework": "tensorflow",
                "file": "run_meta_0",
                "steps": [7],
                "devices": [CPU],
            }
        ],
        "devices": [CPU],
        "can_answer": info.profile.questions(),
        "notes": [],
    }


@pytest.mark.usefixtures("files")
def test_a_loaded_profile_describes_its_own_files():
    named = {"run_meta_path": "7:run_meta_0", "op_log_path": "tfprof_log"}

    described = tfprof.load("graph.pb", **named).info()

    assert described.to_dict() == tfprof.info("graph.pb", **named).to_dict()
    assert [file.path for file in described.files] == ["graph.pb", "run_meta_0", "tfprof_log"]


def test_a_profile_not_loaded_from_files_describes_no_files():
    assert Profile(profile(op("a"))).info().to_dict()["files"] == []


def test_info_counts_the_tensors_of_a_checkpoint():
    expected = json.loads((CHECKPOINT.parent / "expected.json").read_text())

    (file,) = tfprof.info(CHECKPOINT).to_dict()["files"]

    assert (file["kind"], file["tensors"]) == ("checkpoint", len(expected))


def test_importing_tfprof_loads_neither_numpy_nor_protobuf_nor_re2():
    code = (
        "import sys, tfprof; "
        "print([m for m in ('numpy', 'google.protobuf', 're2') if m in sys.modules])"
    )

    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert shown.stdout == "[]\n"


def test_an_unknown_name_in_the_package_is_an_attribute_error():
    with pytest.raises(AttributeError, match="module 'tfprof' has no attribute 'laod'"):
        _ = tfprof.laod


# Advice


def test_advice_contains_findings_by_checker(files):
    advice = tfprof.load(files / "graph.pb", files / "run_meta_0", files / "tfprof_log").advise()

    assert [finding.sentence for finding in advice] == [
        finding.sentence for finding in advice["ExpensiveOperationChecker"]
    ]
    assert len(advice) == len(list(advice))
    assert str(advice) == advice.text()
    assert repr(advice) == f"<tfprof advice: {len(advice)} findings>"


def test_checkers_can_be_given_as_a_string_or_a_list(files):
    profile = tfprof.load(files / "graph.pb")

    for chosen in ("OperationChecker,JobChecker", ["OperationChecker", "JobChecker"]):
        assert profile.advise(chosen).text() == "\nOperationChecker:\n"
    assert profile.advise([]).text() == ""


@pytest.mark.parametrize("chosen", [3, [3], "Operation"])
def test_an_invalid_checker_is_refused(chosen, files):
    with pytest.raises(tfprof.OptionError):
        tfprof.load(files / "graph.pb").advise(chosen)


def test_asking_for_the_findings_of_a_checker_that_did_not_run_raises(files):
    advice = tfprof.load(files / "graph.pb").advise(["OperationChecker"])

    with pytest.raises(KeyError, match=r"was not run\. These were: OperationChecker\."):
        _ = advice["DataFeedingChecker"]
    with pytest.raises(KeyError, match=r"was not run\. Did you mean `OperationChecker`"):
        _ = advice["OperationsChecker"]


def test_advice_includes_the_notes_about_the_files(files):
    advice = tfprof.load(files / "graph.pb").advise()

    assert any("--run_meta_path" in note for note in advice.notes)
    assert advice.to_dict()["notes"] == list(advice.notes)
