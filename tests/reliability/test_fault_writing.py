"""Faults while files are written: they appear complete or not at all, and nothing else is left."""

from __future__ import annotations

import os
import resource
import signal
import stat
from pathlib import Path

import pytest

from command_runs import (
    SECONDS,
    big_graph,
    is_one_line,
    limited,
    obey_permissions,
    require_permissions,
    shell,
    small_disk,
    tfprof,
)
from held_commands import held_while_writing
from model_files import CPU, RunMetadata, graph

pytestmark = [
    pytest.mark.process,
    pytest.mark.skipif(os.name == "nt", reason="Windows has no such signals and limits"),
]

OPS = 20_000
# Ways to write a file, as words with the path of the file as OUT.
WRITES = {
    "file": "scope BIG -max_depth 9 -output file:outfile=OUT",
    "json": "scope BIG -max_depth 9 -output json:outfile=OUT",
    "csv": "scope BIG -max_depth 9 -output csv:outfile=OUT",
    "message": "scope BIG -max_depth 9 -output message:outfile=OUT",
    "tfprof": "save BIG -o OUT",
    "profile_proto": "save BIG -o OUT --format profile_proto",
    "report": "report BIG -o OUT",
    "perfetto": "scope BIG RUN -max_depth 9 -output perfetto:outfile=OUT",
    "pprof": "scope BIG RUN -max_depth 9 -select micros -output pprof:outfile=OUT",
}
SIGNALS = {signal.SIGINT: 130, signal.SIGTERM: 143, signal.SIGHUP: 129}


@pytest.fixture(scope="module")
def inputs(tmp_path_factory):
    """A graph that is too large for a small disk in any format, and a recorded step of it."""
    folder = tmp_path_factory.mktemp("inputs")
    big_graph(folder / "big.pb", OPS)
    (folder / "run_meta").write_bytes(_recorded(OPS))
    (folder / "graph.pb").write_bytes(graph().SerializeToString())
    return folder


def _recorded(ops):
    recorded = RunMetadata()
    device = recorded.step_stats.dev_stats.add(device=CPU)
    for number in range(ops):
        device.node_stats.add(
            node_name=f"scope_{number % 100:02}/op_{number:06}",
            all_start_micros=1000 + number,
            op_end_rel_micros=1,
            all_end_rel_micros=1,
        )
    return recorded.SerializeToString()


@pytest.fixture
def hold(tmp_path_factory):
    """Starts a command that is held while its temporary file is beside a target."""
    folder = tmp_path_factory.mktemp("held") / "hook"
    return lambda target, *words: held_while_writing(folder, target, *words)


def names(folder):
    return [path.name for path in folder.iterdir()]


def words(kind, inputs, out):
    places = {"BIG": inputs / "big.pb", "RUN": inputs / "run_meta", "OUT": out}
    text = WRITES[kind]
    for name, path in places.items():
        text = text.replace(name, str(path))
    return text.split()


@pytest.mark.parametrize("number", SIGNALS)
@pytest.mark.parametrize("kind", ["json", "tfprof"])
def test_a_signal_leaves_the_old_file_and_nothing_else(number, kind, inputs, tmp_path, hold):
    target = tmp_path / "answer"
    target.write_text("old")
    with hold(target, *words(kind, inputs, target)) as held:
        assert len(names(tmp_path)) == 2
        held.command.send_signal(number)
        _, error = held.command.communicate(timeout=SECONDS)

    assert (held.command.returncode, error) == (SIGNALS[number], "tfprof: stopped.\n")
    assert target.read_text() == "old"
    assert names(tmp_path) == ["answer"]


def test_what_kill_9_leaves_is_removed_by_the_next_run(inputs, tmp_path, hold):
    target = tmp_path / "answer"
    with hold(target, *words("json", inputs, target)) as held:
        held.command.kill()
        held.command.wait()
    assert len(names(tmp_path)) == 1

    ran = tfprof("op", inputs / "graph.pb", "-output", f"csv:outfile={tmp_path / 'other'}")

    assert ran.returncode == 0
    assert names(tmp_path) == ["other"]


def test_two_runs_that_write_to_one_path_do_not_mix(inputs, tmp_path, hold):
    target = tmp_path / "answer"
    with hold(target, *words("json", inputs, target)) as held:
        small = tfprof("op", inputs / "graph.pb", "-output", f"json:outfile={target}")
        first = target.read_text()
        held.release()
        held.command.communicate(timeout=SECONDS)

    assert (small.returncode, held.command.returncode) == (0, 0)
    assert first.startswith("{")
    assert '"MatMul"' in first
    assert f"scope_99/op_{OPS - 1:06}" in target.read_text()
    assert names(tmp_path) == ["answer"]


@pytest.mark.parametrize("kind", WRITES)
def test_a_full_disk_leaves_the_old_file_and_nothing_else(kind, inputs, tmp_path):
    with small_disk(tmp_path / "disk") as disk:
        (disk / "answer").write_text("old")

        ran = tfprof(*words(kind, inputs, disk / "answer"))

        assert ran.returncode == 1
        assert ran.stderr == (
            f"tfprof: {disk / 'answer'}: cannot be written: No space left on device.\n"
        )
        assert (disk / "answer").read_text() == "old"
        assert names(disk) == ["answer"]


@pytest.mark.parametrize("kind", ["json", "tfprof", "report"])
def test_a_limit_on_the_size_of_files_leaves_nothing(kind, inputs, tmp_path):
    limit = limited(resource.RLIMIT_FSIZE, 16_384)

    ran = tfprof(*words(kind, inputs, tmp_path / "answer"), preexec_fn=limit)

    assert ran.returncode == 1
    assert ran.stderr.endswith("answer: cannot be written: File too large.\n")
    assert is_one_line(ran.stderr)
    assert names(tmp_path) == []


@pytest.mark.parametrize("kind", ["json", "tfprof"])
def test_a_folder_without_write_permission_is_an_error(kind, inputs, tmp_path):
    require_permissions(tmp_path)
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "answer").write_text("old")
    (folder / "answer").chmod(0o666)
    folder.chmod(0o555)

    ran = tfprof(*words(kind, inputs, folder / "answer"), preexec_fn=obey_permissions)

    assert ran.returncode == 1
    assert ran.stderr.endswith(
        f"answer: cannot be written: no permission to write to the folder {folder}; "
        "choose another.\n"
    )
    assert (folder / "answer").read_text() == "old"


def test_a_write_protected_file_is_kept(inputs, tmp_path):
    require_permissions(tmp_path)
    target = tmp_path / "answer"
    target.write_text("old")
    target.chmod(0o444)

    ran = tfprof(*words("json", inputs, target), preexec_fn=obey_permissions)

    assert ran.returncode == 1
    assert ran.stderr.endswith("cannot be written: the file is write-protected; choose another.\n")
    assert target.read_text() == "old"


def test_a_read_only_disk_is_an_error(inputs, tmp_path):
    with small_disk(tmp_path / "disk", options=",ro") as disk:
        ran = tfprof(*words("json", inputs, disk / "answer"))

    assert ran.returncode == 1
    assert ran.stderr.endswith("answer: cannot be written: Read-only file system.\n")
    assert is_one_line(ran.stderr)


def test_a_replaced_file_keeps_its_permissions(inputs, tmp_path):
    target = tmp_path / "answer"
    target.touch()
    target.chmod(0o600)

    tfprof("op", inputs / "graph.pb", "-output", f"csv:outfile={target}")

    assert target.read_text()
    assert stat.S_IMODE(target.stat().st_mode) == 0o600


def test_an_answer_written_to_standard_output_is_appended(inputs, tmp_path):
    log = tmp_path / "log"
    log.write_text("before\n")

    ran = shell(f'"$@" >> {log}', "op", inputs / "graph.pb", "-output", "csv:outfile=/dev/stdout")

    assert ran.returncode == 0
    assert log.read_text().startswith("before\n")
    assert "MatMul" in log.read_text()


@pytest.mark.parametrize(
    "more", [[], ["--json"], ["-output", "json:outfile=/dev/stdout"]], ids=["text", "json", "file"]
)
def test_a_reader_that_closes_the_pipe_is_not_an_error(more, inputs):
    script = '"$@" | head -c 1 > /dev/null; exit ${PIPESTATUS[0]}'

    ran = shell(script, "scope", inputs / "big.pb", "-max_depth", "9", *more)

    assert (ran.returncode, ran.stderr) == (0, "")


def test_a_full_disk_behind_standard_output_is_an_error(inputs):
    with Path("/dev/full").open("w") as full:
        ran = tfprof("op", inputs / "graph.pb", stdout=full)

    assert ran.returncode == 1
    assert ran.stderr == "tfprof: cannot write to standard output: No space left on device.\n"


def test_a_full_disk_behind_standard_error_does_not_hide_the_status(inputs):
    with Path("/dev/full").open("w") as full:
        ran = tfprof("op", inputs / "gone.pb", stderr=full)

    assert (ran.returncode, ran.stdout) == (1, "")


def test_a_named_pipe_is_written_to(inputs, tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    # Already open, so that the command neither waits for a reader nor loses what it writes.
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)

    ran = tfprof("op", inputs / "graph.pb", "-output", f"csv:outfile={pipe}")
    written = os.read(reader, 1 << 16)
    os.close(reader)

    assert ran.returncode == 0
    assert b"MatMul" in written
    assert pipe.is_fifo()
