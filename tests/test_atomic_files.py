"""Files that appear complete or not at all, and what killed processes leave."""

from __future__ import annotations

import os
import re
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from tfprof import atomic_files
from tfprof.errors import OutputError, TfprofError

on_posix = pytest.mark.skipif(os.name == "nt", reason="Windows has no such locks")


@pytest.fixture(autouse=True)
def _new_process():
    """Leftovers are searched for once per process and folder; each test is a new process."""
    atomic_files._remove_left.cache_clear()


def broken_pieces(error):
    yield b"half of it"
    raise error


@pytest.fixture
def umask():
    """Sets the umask for one test."""
    before = os.umask(0o022)
    yield os.umask
    os.umask(before)


def mode_of(path):
    return stat.S_IMODE(path.stat().st_mode)


def names(folder):
    return sorted(path.name for path in folder.iterdir())


@pytest.mark.parametrize(
    "error", [ValueError("a bug"), OSError(28, "No space left"), OutputError("too deep")]
)
def test_a_failed_write_keeps_the_old_file_and_leaves_nothing_else(error, tmp_path):
    target = tmp_path / "answer"
    target.write_text("old")

    with pytest.raises((ValueError, TfprofError)):
        atomic_files.write(str(target), broken_pieces(error))

    assert target.read_text() == "old"
    assert list(tmp_path.iterdir()) == [target]


def test_a_failed_write_leaves_no_new_file(tmp_path):
    with pytest.raises(KeyboardInterrupt):
        atomic_files.write(str(tmp_path / "answer"), broken_pieces(KeyboardInterrupt()))

    assert list(tmp_path.iterdir()) == []


def test_a_file_does_not_exist_before_its_last_piece(tmp_path):
    target = tmp_path / "answer"

    def pieces():
        yield b"one"
        assert not target.exists()
        yield b"two"

    atomic_files.write(str(target), pieces())

    assert target.read_bytes() == b"onetwo"


@pytest.mark.parametrize(("mask", "mode"), [(0o022, 0o644), (0o077, 0o600), (0o002, 0o664)])
def test_the_permissions_of_a_file_follow_the_umask(mask, mode, tmp_path, umask):
    umask(mask)

    atomic_files.write(str(tmp_path / "answer"), [b"x"])

    assert mode_of(tmp_path / "answer") == mode
    assert os.umask(mask) == mask


def test_a_symbolic_link_stays_a_link(tmp_path):
    (tmp_path / "real").write_text("old")
    (tmp_path / "link").symlink_to("real")

    atomic_files.write(str(tmp_path / "link"), [b"new"])

    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real").read_text() == "new"


def test_a_pipe_is_written_to_and_not_replaced(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    # Already open, so that `write` neither waits for a reader nor loses what it writes.
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)

    atomic_files.write(str(pipe), [b"one", b"two"])
    written = os.read(reader, 100)
    os.close(reader)

    assert written == b"onetwo"
    assert pipe.is_fifo()


def test_a_file_may_have_the_longest_possible_name(tmp_path):
    name = "x" * 255

    atomic_files.write(str(tmp_path / name), [b"x"])

    assert (tmp_path / name).exists()


def test_the_error_names_a_missing_folder(tmp_path):
    path = tmp_path / "gone" / "answer"

    with pytest.raises(OutputError) as caught:
        atomic_files.write(str(path), [b"x"])

    assert str(caught.value) == (
        f"{path}: cannot be written: there is no folder {tmp_path / 'gone'}; make it first."
    )


def test_a_folder_cannot_be_written_as_a_file(tmp_path):
    with pytest.raises(OutputError, match=r"it is a folder; name a file in it\.$"):
        atomic_files.write(str(tmp_path), [b"x"])

    assert list(tmp_path.iterdir()) == []


def test_a_file_cannot_be_used_as_a_folder(tmp_path):
    (tmp_path / "file").touch()

    with pytest.raises(OutputError, match="cannot be written: Not a directory"):
        atomic_files.write(str(tmp_path / "file" / "answer"), [b"x"])


def test_a_bare_file_name_is_written_to_the_current_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    atomic_files.write("answer", [b"x"])

    assert Path("answer").read_bytes() == b"x"


def test_an_existing_file_keeps_its_permissions(tmp_path):
    target = tmp_path / "answer"
    target.write_text("old")
    target.chmod(0o640)

    atomic_files.write(str(target), [b"new"])

    assert (target.read_text(), mode_of(target)) == ("new", 0o640)


def test_a_write_protected_file_is_not_replaced(tmp_path, monkeypatch):
    target = tmp_path / "answer"
    target.write_text("old")
    monkeypatch.setattr(os, "access", lambda *_: False)  # simulated: root may write anywhere

    with pytest.raises(OutputError, match=r"the file is write-protected; choose another\.$"):
        atomic_files.write(str(target), [b"new"])

    assert target.read_text() == "old"
    assert names(tmp_path) == ["answer"]


def test_a_link_to_a_missing_file_creates_the_file(tmp_path):
    (tmp_path / "folder").mkdir()
    (tmp_path / "link").symlink_to("folder/real")

    atomic_files.write(str(tmp_path / "link"), [b"new"])

    assert (tmp_path / "folder" / "real").read_text() == "new"
    assert (tmp_path / "link").is_symlink()


def test_a_loop_of_links_is_an_error(tmp_path):
    (tmp_path / "one").symlink_to("two")
    (tmp_path / "two").symlink_to("one")

    with pytest.raises(OutputError, match="Too many levels of symbolic links"):
        atomic_files.write(str(tmp_path / "one"), [b"x"])


@pytest.mark.parametrize("end", ["new/", "old/", ""])
def test_a_path_that_ends_with_a_slash_is_a_folder(end, tmp_path):
    (tmp_path / "old").mkdir()

    with pytest.raises(OutputError, match="it is a folder; name a file in it"):
        atomic_files.write(f"{tmp_path}/{end}", [b"x"])


def test_a_name_that_is_too_long_is_an_error(tmp_path):
    with pytest.raises(OutputError, match="File name too long"):
        atomic_files.write(str(tmp_path / ("x" * 256)), [b"x"])

    assert names(tmp_path) == []


WRITE = """
import sys
from tfprof import atomic_files
def pieces():
    yield b"half"
    print("writing", flush=True)
    sys.stdin.read()
    yield b" and half"
atomic_files.write(sys.argv[1], pieces())
"""


@pytest.fixture
def start():
    """Starts another process that writes to a path until its standard input is closed."""
    started = []

    def start(path):
        process = subprocess.Popen(
            [sys.executable, "-c", WRITE, path], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        started.append(process)
        assert process.stdout.readline() == b"writing\n"
        return process

    yield start
    for process in started:
        process.kill()
        process.communicate()


@on_posix
def test_the_next_process_removes_what_a_killed_one_left(tmp_path, start):
    process = start(tmp_path / "answer")
    process.kill()
    process.wait()
    assert len(names(tmp_path)) == 1

    atomic_files.write(str(tmp_path / "other"), [b"x"])

    assert names(tmp_path) == ["other"]


@on_posix
def test_two_processes_that_write_to_one_path_do_not_mix(tmp_path, start):
    target = tmp_path / "answer"
    process = start(target)
    atomic_files.write(str(target), [b"mine"])
    assert target.read_bytes() == b"mine"

    process.communicate()

    assert target.read_bytes() == b"half and half"
    assert names(tmp_path) == ["answer"]


@on_posix
def test_a_leftover_of_another_machine_stays(tmp_path):
    left = tmp_path / ".tfprof-01234567-89abcdef-0123456789abcdef"
    left.touch()

    atomic_files.write(str(tmp_path / "answer"), [b"x"])

    assert left.exists()


@on_posix
@pytest.mark.parametrize("same", [0, 1])
def test_a_leftover_is_removed_after_a_restart_and_from_another_container(same, tmp_path):
    machine = ["01234567", "89abcdef"]
    machine[same] = atomic_files._machine()[same]
    (tmp_path / f".tfprof-{'-'.join(machine)}-0123456789abcdef").touch()

    atomic_files.write(str(tmp_path / "answer"), [b"x"])

    assert names(tmp_path) == ["answer"]


@on_posix
def test_only_regular_files_with_a_temporary_name_are_removed(tmp_path):
    name = atomic_files._temporary_name()
    (tmp_path / name).mkdir()
    (tmp_path / f"{name}x").touch()
    (tmp_path / ".tfprof-0123456789abcdef").touch()
    before = names(tmp_path)
    (tmp_path / "precious").write_text("keep")
    (tmp_path / f"{name[:-1]}g").symlink_to("precious")
    (tmp_path / atomic_files._temporary_name()).symlink_to("precious")

    atomic_files.write(str(tmp_path / "answer"), [b"x"])

    assert {*before, "precious", "answer"} <= {*names(tmp_path)}
    assert (tmp_path / "precious").read_text() == "keep"
    assert len(names(tmp_path)) == len(before) + 4


@on_posix
def test_a_new_file_that_was_taken_for_a_leftover_is_created_again(tmp_path, monkeypatch):
    lock, taken = atomic_files._lock, []

    def remove_first(descriptor, how=0):
        if not taken:
            taken.append(names(tmp_path))
            (tmp_path / taken[0][0]).unlink()
        return lock(descriptor, how)

    monkeypatch.setattr(atomic_files, "_lock", remove_first)

    atomic_files.write(str(tmp_path / "answer"), [b"x"])

    assert taken
    assert names(tmp_path) == ["answer"]


@on_posix
def test_a_folder_is_removed_only_if_the_process_that_claimed_it_is_dead(tmp_path):
    folder = tmp_path / "folder"
    folder.mkdir()
    assert not atomic_files.remove_abandoned(folder)
    claim = atomic_files.Claim(folder)
    assert not atomic_files.remove_abandoned(folder)
    os.close(claim._descriptor)  # as when the process dies

    assert atomic_files.remove_abandoned(folder)
    assert names(tmp_path) == []


def test_no_other_module_opens_files_for_writing():
    package = Path(atomic_files.__file__).parent
    writing = re.compile(r"""open\([^)]*["'][rb+]*[wax]|write_text|write_bytes|O_WRONLY|O_RDWR""")

    found = {
        str(path.relative_to(package))
        for path in package.rglob("*.py")
        if writing.search(path.read_text("utf-8"))
    }

    assert found == {
        "atomic_files.py",
        "capture/recorded_graph.py",  # into the folder of a recording, which appears at the end
        "capture/torch_recorder.py",  # the same
        "cli/process.py",  # the null device
        "commands/checking.py",  # appends to the summary of a CI job
        "shell/history.py",  # appends lines
    }
