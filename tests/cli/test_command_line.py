"""Command lines: their output and exit status."""

from __future__ import annotations

import io
import json
from importlib.metadata import version
from pathlib import Path

import pytest

import tfprof
from asking import ROOT, RUNS, ZERO
from model_files import GraphDef, OpLogProto
from tfprof.api import VIEWS
from tfprof.cli import main
from tfprof.cli.command_line import CommandLine

pytestmark = pytest.mark.usefixtures("files")

SAMPLES = Path(__file__).parent.parent / "samples"
CHECKPOINT = SAMPLES / "checkpoints" / "v2" / "model.ckpt"
TRACED = str(SAMPLES / "tensorflow" / "mlp_tiny" / "run_meta_1.gz")
FILES = ("graph.pb", "run_meta_0", "run_meta_1", "tfprof_log")


@pytest.fixture
def ask(capsys):
    """Runs a command line; returns the status, standard output and standard error."""

    def answer(*words):
        status = main(words)
        shown = capsys.readouterr()
        return status, shown.out, shown.err

    return answer


def test_options_can_be_written_with_equals_signs(ask):
    status, out, err = ask(
        "scope", "--graph_path=graph.pbtxt", "--run_meta_path=run_meta_0", "--max_depth=2"
    )

    assert status == 0
    assert err == "tfprof: 3 rows below depth 2 are not shown; -max_depth 3 shows all.\n"
    assert out.endswith(
        "\n\nProfile:\n"
        "node name | total execution time | accelerator execution time | cpu execution time\n"
        "_TFProfRoot (--/1.51ms, --/0us, --/1.51ms)\n"
        "  prob (1.50ms/1.50ms, 0us/0us, 1.50ms/1.50ms)\n"
        "  net (0us/15us, 0us/0us, 0us/15us)\n"
        "  x (0us/0us, 0us/0us, 0us/0us)\n"
    )


@pytest.mark.parametrize(
    "line",
    [
        "scope graph.pbtxt run_meta_0 -max_depth 2",
        "scope run_meta_0 graph.pbtxt --max_depth 2",
        "scope graph.pbtxt -max_depth=2 run_meta_0",
        "-max_depth 2 scope graph.pbtxt run_meta_0",
        "--graph_path graph.pbtxt scope --run_meta_path 0:run_meta_0 --max_depth 2",
        "scope -max_depth 9 -max_depth 2 -- graph.pbtxt run_meta_0",
        "scope graph.pb run_meta_0 -max_depth 2 -select micros -account_displayed_op_only false",
    ],
)
def test_equivalent_command_lines_give_the_same_answer(line, ask):
    wanted = ask("scope", "--graph_path=graph.pbtxt", "--run_meta_path=run_meta_0", "--max_depth=2")

    assert ask(*line.split()) == wanted


@pytest.mark.parametrize("view", VIEWS)
def test_a_view_is_printed_as_a_report(view, ask):
    model = tfprof.load(*FILES)

    status, out, err = ask(view, *FILES)

    assert (status, out, err) == (0, getattr(model, view)().report, "")


def test_unnumbered_steps_are_numbered_from_zero(ask):
    _, average, _ = ask("scope", "graph.pb", "run_meta_0", "run_meta_1")
    _, last, _ = ask("scope", "graph.pb", "run_meta_0", "run_meta_1", "-step", "1")
    _, numbered, _ = ask(
        "scope", "graph.pb", "--run_meta_path=7:run_meta_0,9:run_meta_1", "--step=9"
    )

    assert "net/mul (11us/11us" in average
    assert "net/mul (12us/12us" in last
    assert numbered == last


def test_count_float_ops_false_uses_only_the_op_log(ask):
    status, out, _ = ask(
        "op", "graph.pb", "tfprof_log", "-select", "float_ops", "--count_float_ops=false"
    )

    assert status == 0
    assert "48" not in out


def test_a_list_may_be_quoted(ask):
    plain = ask("scope", "graph.pb", "-select", "params,float_ops")

    assert ask("scope", "graph.pb", "-select", '"params,float_ops"') == plain


@pytest.mark.parametrize("view", VIEWS)
def test_json_is_a_single_document(view, ask):
    status, out, _ = ask(view, *FILES, "--json", "-select", "params,micros")

    assert status == 0
    assert json.loads(out) == getattr(tfprof.load(*FILES), view)(select="params,micros").to_dict()


def test_the_json_option_may_come_before_the_files(ask):
    status, out, _ = ask("scope", "--json", "graph.pb", "-select", "params")

    assert status == 0
    assert json.loads(out)["rows"][0]["name"] == ROOT


def test_output_writes_the_answer_to_a_file(ask):
    status, out, err = ask("op", *FILES, "-output", "file:outfile=report.txt")

    assert (status, out, err) == (0, "", "tfprof: wrote report.txt\n")
    assert Path("report.txt").read_text() == tfprof.load(*FILES).op().report


def test_a_timeline_has_a_file_per_step_and_a_hint_where_to_open_it(ask):
    status, out, err = ask("graph", *FILES, "-output", "timeline:outfile=time")

    notes = [line for line in err.splitlines() if "wrote" in line or "open" in line]
    assert (status, out) == (0, "")
    assert notes == [
        "tfprof: wrote time_0",
        "tfprof: wrote time_1",
        "tfprof: open it in https://ui.perfetto.dev or chrome://tracing",
    ]


def test_a_timeline_of_the_op_view_is_rejected_before_files_are_read(ask):
    status, out, err = ask("op", "gone.pb", "-output", "timeline:outfile=time")

    assert (status, out) == (2, "")
    assert "does not support the op view" in err


@pytest.mark.parametrize("kind", ["json", "csv", "message"])
def test_an_answer_can_be_written_in_other_formats(kind, ask):
    status, out, _ = ask("scope", *FILES, f"--output={kind}:outfile=answer")

    assert (status, out) == (0, "")
    assert ROOT.encode() in Path("answer").read_bytes()


def test_output_none_prints_nothing(ask):
    assert ask("scope", *FILES, "-output", "none") == (0, "", "")


def test_json_and_output_cannot_be_combined(ask):
    status, out, err = ask("scope", "graph.pb", "--json", "-output", "stdout")

    assert (status, out) == (2, "")
    assert err == "tfprof: Use -json or -output, not both; -output json:outfile=F writes JSON.\n"


@pytest.mark.parametrize("view", VIEWS)
def test_a_saved_profile_gives_the_same_answers_as_its_files(view, ask):
    status, out, err = ask("save", *FILES, "--outfile", "profile.pb")

    assert (status, out, err) == (0, "", "tfprof: wrote profile.pb\n")
    assert ask(view, "profile.pb") == ask(view, *FILES)
    assert ask(view, "--profile_path=profile.pb") == ask(view, *FILES)


def test_save_has_a_short_option(ask):
    assert ask("save", "graph.pb", "-o", "profile.pb")[0] == 0
    assert Path("profile.pb").exists()


def test_save_reports_that_values_stay_in_the_checkpoint(ask):
    _, _, err = ask("save", "graph.pb", str(CHECKPOINT), "-o", "profile.pb")

    assert err == (
        "tfprof: values stay in the checkpoint: give it together with the saved profile.\n"
        "tfprof: wrote profile.pb\n"
    )


@pytest.mark.parametrize("word", [TRACED, f"--run_meta_path=7:{TRACED}"])
def test_timeline_writes_a_file(word, ask):
    status, out, err = ask("timeline", word, "-o", "timeline.json")

    assert (status, out, err) == (0, "", "tfprof: wrote timeline.json\n")
    written = json.loads(Path("timeline.json").read_text("utf-8"))["traceEvents"]
    assert {event["ph"] for event in written} >= {"M", "X", "N", "O", "D", "C"}


def test_timeline_can_leave_out_details(ask):
    switches = ("--show_memory=false", "--show_dataflow=false")

    assert ask("timeline", TRACED, "-o", "timeline.json", *switches)[0] == 0
    written = json.loads(Path("timeline.json").read_text("utf-8"))["traceEvents"]
    assert {event["ph"] for event in written} == {"M", "X"}


@pytest.mark.parametrize(
    ("compiled", "reader"),
    [
        (True, "compiled readers"),
        (False, "files are read with protobuf: no compiler was found at installation"),
    ],
)
def test_version_prints_the_package_version_and_the_reader(ask, monkeypatch, compiled, reader):
    monkeypatch.setattr("tfprof.formats.text.is_compiled", lambda: compiled)

    assert ask("--version") == (0, f"tfprof {version('tfprof')} ({reader})\n", "")


def test_a_missing_input_is_noted_on_standard_error(ask):
    status, out, err = ask("scope", "graph.pb", "-select", "micros")

    assert status == 0
    assert "_TFProfRoot (--/0us, --/0us, --/0us)\n" in out
    assert err == (f"tfprof: `micros` requires {RUNS}, {ZERO}\n")


def test_save_reports_oddities_of_the_files(ask, files):
    (files / "empty_run").write_text("partition_graphs { node { name: 'a' } }")

    status, _, err = ask("save", "graph.pb", "empty_run", "-o", "profile.pb")

    assert status == 0
    assert err.startswith("tfprof: empty_run contains no step statistics")


def test_run_metadata_without_statistics_is_not_reported_as_missing(ask, files):
    (files / "empty_run").write_text("partition_graphs { node { name: 'a' } }")

    _, _, err = ask("scope", "graph.pb", "empty_run", "-select", "micros")

    assert f"`micros` requires RunMetadata with step statistics, {ZERO}\n" in err


def test_piped_lines_are_answered_by_the_shell(ask, monkeypatch):
    monkeypatch.setattr("sys.stdin", io.StringIO("op -select params\n"))

    shell = ask("graph.pb")

    assert shell == ask("op", "graph.pb", "-select", "params", "-order_by", "name")


def test_the_shell_starts_with_the_options_of_the_command_line(ask, monkeypatch):
    monkeypatch.setattr("sys.stdin", io.StringIO("op\n"))

    shell = ask("shell", "graph.pb", "-select", "params")

    assert shell == ask("op", "graph.pb", "-select", "params", "-order_by", "name")


def test_ctrl_c_exits_with_status_130(ask, monkeypatch):
    def interrupt(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(CommandLine, "load", interrupt)

    assert ask("scope", "graph.pb") == (130, "", "tfprof: stopped.\n")


def test_an_error_is_one_line_even_if_a_file_name_has_several(ask):
    name = "two\nlines\r\x1b[31m.pb"

    status, out, err = ask("scope", name)

    assert (status, out) == (1, "")
    assert err == "tfprof: two lines \\x1b[31m.pb: no such file; check the path.\n"


def test_a_note_is_one_line_even_if_a_file_name_has_several(ask, files):
    log = OpLogProto(log_entries=[{"name": "stranger", "types": ["t"]}])
    (files / "two\nlines").write_bytes(log.SerializeToString())

    _, _, err = ask("scope", "graph.pb", "two\nlines", "-select", "params")

    assert err.startswith("tfprof: two lines has entries for 1 op")
    assert err.count("\n") == 1


def test_an_unreadable_tensor_is_an_error_without_partial_json(ask, files):
    graph = GraphDef()
    for name in ("empty/rows", "parts/tall"):
        graph.node.add(name=name, op="VariableV2")
    (files / "model.pb").write_bytes(graph.SerializeToString())
    for file in CHECKPOINT.parent.glob("model.ckpt*"):
        if "00001" not in file.name:
            (files / file.name).write_bytes(file.read_bytes())

    status, out, err = ask("scope", "model.pb", "model.ckpt", "-select", "tensor_value", "--json")

    assert (status, out) == (1, "")
    assert "model.ckpt.data-00001-of-00002" in err


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("scope graph.pb --outfile x", "`scope` has no option `outfile`. Write the answer"),
        ("save graph.pb -o x --json", "`save` has no option `json`. It is an option of"),
        ("memory graph.pb -select x", "`memory` has no option `select`. It is an option of"),
        (
            "info graph.pb -max_depth 3",
            "`info` has no option `max_depth`. It is an option of",
        ),
        (
            "graph.pb --json",
            ("`shell` has no option `json`. It is an option of scope, graph, code, op,"),
        ),
    ],
)
def test_an_option_that_a_command_does_not_take_is_rejected(line, message, ask):
    status, out, err = ask(*line.split())

    assert (status, out) == (2, "")
    assert err.startswith(f"tfprof: {message}")


def test_help_is_shown_whatever_the_other_options_are(ask):
    status, out, _ = ask("flops", "--help", "-select", "x")

    assert (status, out.splitlines()[0]) == (0, "Usage: tfprof flops FILES… [--json]")


def test_help_and_version_can_be_turned_off_anywhere(ask):
    assert ask("op", "graph.pb", "-select", "params", "--help=no", "--version=no")[0] == 0


def test_a_command_after_the_files_is_rejected_with_a_hint(ask):
    status, _, err = ask("graph.pb", "scope")

    assert status == 2
    assert err == "tfprof: Put the command before the files: tfprof scope FILES….\n"


def test_a_file_may_have_the_name_of_a_command(ask, files):
    (files / "graph").write_bytes(Path("graph.pb").read_bytes())

    assert ask("op", "graph", "-select", "params") == ask("op", "graph.pb", "-select", "params")


def test_a_file_name_may_start_with_a_dash(ask, files):
    (files / "-graph").write_bytes(Path("graph.pb").read_bytes())

    assert ask("op", "-select", "params", "--", "-graph")[0] == 0


# Reports on the folder of a training run.

USAGE = "tfprof profile [DIR] [--model_dir DIR] [--output_dir DIR] [--json]"


def test_profile_lists_the_files_found_and_written(ask, tmp_path):
    status, out, err = ask("profile", "--model_dir=.", f"--output_dir={tmp_path}")

    assert status == 0
    assert out.splitlines() == [
        "Found graph.pbtxt",
        "Found tfprof_log",
        "Missing metadata/run_meta, which shows times, memory and devices",
        "Missing model.ckpt*, which shows which variables were saved",
        f"Wrote {tmp_path / 'params.txt'}",
        f"Wrote {tmp_path / 'flops.txt'}",
        "Did not write micro.txt, which requires metadata/run_meta",
        "Did not write device.txt, which requires metadata/run_meta",
    ]
    assert "`bytes` requires RunMetadata (--run_meta_path)" in err


def test_profile_can_print_json(ask):
    status, out, _ = ask("profile", ".", "--json")

    answer = json.loads(out)
    assert (status, answer["written"]) == (0, ["params.txt", "flops.txt"])
    assert answer["found"]["graph_path"] == "graph.pbtxt"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["profile"], f"`profile` requires one folder: {USAGE}."),
        (["profile", "a", "b"], f"`profile` requires one folder: {USAGE}."),
        (
            ["profile", ".", "--graph_path=graph.pb"],
            "`profile` has no option `graph_path`. It finds the files in the folder.",
        ),
    ],
)
def test_profile_takes_exactly_one_folder_and_no_files(words, message, ask):
    assert ask(*words) == (2, "", f"tfprof: {message}\n")


def test_dump_to_file_writes_the_report(ask):
    status, out, err = ask("scope", "--graph_path=graph.pbtxt", "--dump_to_file=dump")

    assert (status, out) == (0, "")
    assert err.startswith("tfprof: wrote dump\n")
    assert "_TFProfRoot" in Path("dump").read_text("utf-8")


def test_viz_lists_the_outputs_that_draw_pictures(ask):
    _, _, err = ask("scope", "graph.pb", "-viz", "-select", "params")

    assert err.startswith("tfprof: -viz has no effect; to draw the view, use -output timeline:")


def test_dump_to_file_takes_precedence_over_output(ask):
    _, _, err = ask(
        *("scope", "graph.pb", "-select", "params"),
        *("-dump_to_file", "dump", "-output", "json:outfile=new"),
    )

    assert "-dump_to_file takes precedence; -output json:outfile=new was ignored." in err
    assert not Path("new").exists()


# Long answers.


class Stream(io.StringIO):
    """A standard output that records the size of each write."""

    def __init__(self):
        super().__init__()
        self.sizes = []

    def write(self, text):
        self.sizes.append(len(text))
        return super().write(text)


@pytest.mark.parametrize("more", [[], ["--json"]])
def test_a_long_answer_is_streamed(more, files, monkeypatch):
    graph = GraphDef()
    for number in range(100):
        graph.node.add(name=f"op_{number:02}", op="NoOp")
    (files / "model.pb").write_bytes(graph.SerializeToString())
    monkeypatch.setattr("tfprof.outputs.text._BLOCK_ROWS", 10)
    stream = Stream()
    monkeypatch.setattr("sys.stdout", stream)

    assert main(["scope", "model.pb", "-select", "params", *more]) == 0

    assert len(stream.sizes) > 10
    assert max(stream.sizes) < sum(stream.sizes) / 4


def test_info_describes_files_that_are_not_one_model_one_by_one(tmp_path, capsys):
    samples = SAMPLES / "pytorch"
    (tmp_path / "notes.txt").write_text("hello")
    files = [samples / "net.safetensors", samples / "module.pt", tmp_path / "notes.txt"]

    assert main(["info", *map(str, files)]) == 1

    shown = capsys.readouterr()
    first, second, third = shown.out.splitlines()
    assert first == f"{files[0]}: safetensors, 10 tensors, 97 values"
    assert second.startswith(f"{files[1]}: PyTorch checkpoint, ")
    assert third.startswith(f"{files[2]}: unknown file format; ")
    assert shown.err.count("\n") == 1
