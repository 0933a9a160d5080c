"""`tfprof check` on the command line."""

from __future__ import annotations

import json
import shlex
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from command_runs import is_one_line, shell, tfprof
from tfprof.cli import main

ROOT = Path(__file__).parent.parent.parent
TRANSFORMER = ROOT / "examples" / "transformer" / "transformer.tfprof"
SMALL_KERAS = ROOT / "tests" / "samples" / "keras" / "small.keras"


@pytest.fixture(autouse=True)
def _no_summary(monkeypatch):
    monkeypatch.delenv("GITHUB_STEP_SUMMARY", raising=False)


@pytest.fixture
def budgets(files):
    """Writes the budget file of the small model."""

    def write(text, name="tfprof.toml"):
        (files / name).write_text(text, "utf-8")

    return write


def test_budgets_that_are_met_end_with_status_0(budgets, capsys):
    budgets("[model]\nparams = 18\nfloat_ops = 96\n[scope.net]\nparams = 12\n")

    assert main(["check", "graph.pb"]) == 0
    out, err = capsys.readouterr()
    assert out.endswith("\nAll 3 budgets met.\n")
    assert err == ""


def test_a_budget_that_is_not_met_ends_with_status_3(budgets, capsys):
    budgets("[model]\nparams = 17\nfloat_ops = 96\n")

    assert main(["check", "graph.pb"]) == 3
    assert capsys.readouterr().out.endswith("\n1 of 2 budgets met, 1 not met.\n")


def test_a_number_that_the_files_lack_ends_with_status_3(budgets, capsys):
    budgets('[model]\npeak_bytes = "1 GB"\n')

    assert main(["check", "graph.pb"]) == 3
    assert "requires run metadata" in capsys.readouterr().out.replace("RunMetadata", "run metadata")


def test_parameters_of_a_keras_file_are_those_that_keras_counts(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("tfprof.toml").write_text(
        "[model]\nparams = { exact = 163 }\n[layer.conv]\nparams = { exact = 112 }\n"
    )

    assert main(["check", str(SMALL_KERAS)]) == 0  # 3x3x3x4 + 4 = 112
    capsys.readouterr()


def test_a_keras_file_has_no_float_ops_so_their_budget_is_not_met(tmp_path, capsys):
    path = tmp_path / "budgets.toml"
    path.write_text('[model]\nfloat_ops = "8.2 G"\nops = 1000\n')

    assert main(["check", str(SMALL_KERAS), "--budget", str(path)]) == 3
    out, _ = capsys.readouterr()
    assert out.count("missing") == 3
    assert "export the model with model.export(FOLDER)" in out


@pytest.mark.parametrize(
    ("words", "status", "message"),
    [
        (["graph.pb"], 1, "tfprof.toml: there is no such budget file; `tfprof check FILES…"),
        (["graph.pb", "--budget", "bad.toml"], 1, "bad.toml: is not valid TOML: "),
        (["graph.pb", "--budget", "relative.toml"], 2, "relative.toml: [model] params is relative"),
        (["graph.pb", "--budget", "scope.toml"], 1, "scope.toml: [scope.ne] params: there is no"),
        (["graph.pb", "--budget", "good.toml", "--json", "--markdown"], 2, "Use --json or"),
        (["graph.pb", "--budget", "good.toml", "--only", "parms"], 2, "`only` cannot be `parms`"),
        (["graph.pb", "--budget", "good.toml", "--only", "ops"], 2, "good.toml has no budget of"),
        (["graph.pb", "--budget", "good.toml", "--partial"], 2, "`check` has no option `partial`"),
        (["graph.pb", "--budget", "good.toml", "--base", "none.pb"], 1, "none.pb: "),
        (["graph.pb", "--budget", "good.toml", "--junit", "no/f.xml"], 1, "no/f.xml: cannot be"),
        (["graph.pb", "--update", "--json"], 2, "--update writes all budgets: leave out --json."),
        (["none.pb", "--budget", "good.toml"], 1, "none.pb: "),
        ([], 2, "No input files"),
    ],
)
def test_a_mistake_is_one_line(words, status, message, budgets, capsys):
    budgets("[model]\nparams = 18\n", "good.toml")
    budgets("[model", "bad.toml")
    budgets('[model]\nparams = "+3 %"\n', "relative.toml")
    budgets("[scope.ne]\nparams = 3\n", "scope.toml")

    assert main(["check", *words]) == status
    err = capsys.readouterr().err
    assert err.startswith(f"tfprof: {message}")
    assert is_one_line(err)


def test_a_part_of_the_budgets_can_be_checked(budgets, capsys):
    budgets('[model]\nparams = 18\nstep_time = "+3 %"\n')

    assert main(["check", "graph.pb", "--only", "params,float_ops"]) == 0
    assert capsys.readouterr().out.endswith("\nAll 1 budget met; 1 other not checked.\n")


def test_a_base_may_have_several_files(budgets, capsys):
    budgets('[model]\nparams = "+0 %"\nop_runs = "+0 %"\n')
    files = ["graph.pb", "run_meta_0", "run_meta_1"]
    base = [word for file in files for word in ("--base", file)]

    assert main(["check", *files, *base]) == 0
    assert "All 2 budgets met." in capsys.readouterr().out


def test_every_command_that_is_shown_runs(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("tfprof.toml").write_text(
        "".join(
            f"[{place}]\nparams = 1\nfloat_ops = 1\nmacs = '+1 %'\nmicros = '+1 %'\n"
            "peak_bytes = 1\nops = 1\nuncounted_ops = 0\nop_runs = 1\n"
            for place in ("model", "scope.transformer_1", 'layer."transformer/block_1"')
        )
    )

    assert main(["check", str(TRANSFORMER), "--base", str(TRANSFORMER), "--json"]) == 3
    commands = {one["command"] for one in json.loads(capsys.readouterr().out)["budgets"]}
    assert len(commands) > 10
    assert sum(command.startswith("tfprof diff ") for command in commands) == 6
    for command in commands:
        assert main(shlex.split(command)[1:]) == 0, command
        capsys.readouterr()


# Outputs.


def test_junit_is_written_beside_the_answer(budgets, capsys):
    budgets("[model]\nparams = 17\n")

    assert main(["check", "graph.pb", "--junit", "check.xml"]) == 3
    root = ET.parse("check.xml").getroot()  # noqa: S314 -- our own
    assert root.get("failures") == "1"
    assert "1 not met" in capsys.readouterr().out


def test_markdown_is_printed(budgets, capsys):
    budgets("[model]\nparams = 17\n")

    assert main(["check", "graph.pb", "--markdown"]) == 3
    assert capsys.readouterr().out.startswith("### tfprof check: 0 of 1 budget met, 1 not met.\n")


def test_the_result_is_added_to_the_summary_of_a_workflow_step(budgets, monkeypatch, capsys):
    budgets("[model]\nparams = 18\n")
    Path("summary.md").write_text("before\n")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", "summary.md")

    assert main(["check", "graph.pb"]) == 0
    assert main(["check", "graph.pb"]) == 0
    text = Path("summary.md").read_text("utf-8")
    assert text.startswith("before\n### tfprof check: All 1 budget met.\n")
    assert text.count("###") == 2
    capsys.readouterr()


def test_a_summary_that_cannot_be_written_is_a_note(budgets, monkeypatch, capsys):
    budgets("[model]\nparams = 18\n")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", "no/summary.md")

    assert main(["check", "graph.pb"]) == 0
    assert capsys.readouterr().err == (
        "tfprof: the result was not added to no/summary.md, which GITHUB_STEP_SUMMARY names: No "
        "such file or directory.\n"
    )


@pytest.mark.usefixtures("files")
def test_names_cannot_control_a_terminal_or_the_output():
    Path("tfprof.toml").write_text('[scope."\\u001b[31m"]\nparams = 1\n')

    ran = tfprof("check", "graph.pb")

    assert ran.returncode == 1
    assert "\x1b" not in ran.stderr


@pytest.mark.parametrize("form", ["--json", "--markdown"])
def test_the_status_does_not_depend_on_who_reads_the_answer(form, budgets):
    keys = ("params", "float_ops", "macs", "ops", "uncounted_ops", "slots", "trainable_params")
    places = ("model", "scope.net", 'scope."net/w"', "scope.prob", "scope.x", "layer.net")
    budgets("".join(f"[{place}]\n" + "".join(f"{key} = 1\n" for key in keys) for place in places))

    ran = shell('"$@" | true; exit ${PIPESTATUS[0]}', "check", "graph.pb", form)

    assert (ran.returncode, ran.stderr) == (3, "")


# Updating.


def test_update_creates_a_file_that_is_met(files, capsys):
    assert main(["check", "graph.pb", "--update"]) == 0
    assert capsys.readouterr().err == (
        "tfprof: wrote tfprof.toml; edit it, and check it with `tfprof check`.\n"
    )
    assert "params = 18\nfloat_ops = 96\nops = 5\n" in (files / "tfprof.toml").read_text("utf-8")
    assert main(["check", "graph.pb"]) == 0
    assert "All 3 budgets met." in capsys.readouterr().out


def test_update_changes_a_file_and_says_what(files, budgets, capsys):
    pytest.importorskip("tomlkit", reason="tomlkit updates budget files")
    budgets("# ours\n[model]\nparams = 100  # weights\n")

    assert main(["check", "graph.pb", "--update"]) == 0
    assert capsys.readouterr() == ("[model] params: 100 -> 18\n", "tfprof: wrote tfprof.toml\n")
    assert (files / "tfprof.toml").read_text("utf-8") == "# ours\n[model]\nparams = 18  # weights\n"

    assert main(["check", "graph.pb", "--update"]) == 0
    assert capsys.readouterr() == ("", "tfprof: tfprof.toml is up to date.\n")


def test_update_keeps_a_file_that_it_cannot_read(files, budgets, capsys):
    budgets("[model\n")

    assert main(["check", "graph.pb", "--update"]) == 1
    assert is_one_line(capsys.readouterr().err)
    assert (files / "tfprof.toml").read_text("utf-8") == "[model\n"
