import json
import subprocess
import sys
from pathlib import Path

ONE_QUESTION = Path(__file__).parents[2] / "benchmarks" / "one_question.py"


def ask(*options):
    # `false` stands for an interpreter without TensorFlow.
    command = [sys.executable, ONE_QUESTION, "--ops", "300", "--repeat", "1", "--original", "false"]
    return subprocess.run([*command, *options], check=True, capture_output=True, text=True).stdout


def test_without_tensorflow_only_tfprof_is_measured_and_the_table_says_so():
    printed = ask("--views", "scope,code")

    rows = [line.split(" | ")[0] for line in printed.splitlines() if line.startswith("| ")]
    assert rows == ["| view", "| ---", "| scope", "| code"]
    assert "The original was not measured" in printed


def test_the_figures_can_be_had_as_json():
    (result,) = json.loads(ask("--json"))

    assert (result["view"], result["ops"]) == ("scope", 300)
    assert result["tfprof_seconds"] > 0
    assert result["tfprof_mb"] > 10
    assert result["original_seconds"] is None
