import subprocess
import sys
from pathlib import Path

import pytest
from generate import generate
from measure import Bench, has_tensorflow
from processes import FailedError, run
from results import Results
from tasks import RUNS, TASKS, Command, Session

pytestmark = pytest.mark.dist

BENCH = Path(__file__).parents[2] / "benchmarks" / "bench.py"


@pytest.fixture(scope="module")
def ran(tmp_path_factory):
    """One run without the original: `false` acts as an interpreter without TensorFlow."""
    kept = tmp_path_factory.mktemp("bench") / "kept.json"
    command = [sys.executable, BENCH, "--sizes", "300", "--repeat", "1", "--original", "false"]
    ended = subprocess.run([*command, "--json", kept], check=True, capture_output=True, text=True)
    return ended.stdout, Results.read(kept)


def test_every_task_is_measured(ran):
    _, results = ran

    assert [row.task for row in results.rows] == [task.name for task in TASKS]
    assert all(row.ours.seconds > 0 and row.ours.peak_mb > 10 for row in results.rows)


def test_without_tensorflow_a_note_says_that_the_original_was_not_measured(ran):
    printed, results = ran

    assert all(row.original is None for row in results.rows)
    assert "The original was not measured" in printed


def test_the_machine_is_described_without_its_name(ran):
    _, results = ran

    assert {"processor", "memory", "system", "Python", "numpy", "tensorflow"} <= set(
        results.machine
    )


def test_the_error_quotes_the_output_of_a_failed_process(tmp_path):
    with pytest.raises(FailedError, match=r"(?s)ended with 3:.*no luck"):
        run(
            [sys.executable, "-c", "import sys; print('no luck', file=sys.stderr); sys.exit(3)"],
            output=tmp_path / "printed",
        )


@pytest.mark.skipif(not has_tensorflow(sys.executable), reason="needs TensorFlow")
def test_tensorflows_profiler_gives_the_same_tables(tmp_path):
    session = next(process for process in RUNS if isinstance(process, Session))

    figures = Bench(generate(tmp_path, 300), 300, sys.executable).measure(1, 1, [session])

    load, first, further = figures.rows
    assert (first.is_same_table, further.is_same_table) == (True, True)
    assert all(row.original.seconds > 0 for row in (load, first, further))
    assert figures.original_import.peak_mb > 100
    assert figures.faults == []


def test_a_failure_of_the_original_is_reported_and_it_is_not_run_again(tmp_path, capsys):
    commands = [process for process in RUNS if isinstance(process, Command)][:2]

    figures = Bench(generate(tmp_path, 300), 300, "false").measure(1, 1, commands)

    assert [row.original for row in figures.rows] == [None, None]
    assert figures.faults == ["The original failed on 300 ops and was not run again."]
    assert "ended with 1" in capsys.readouterr().err
