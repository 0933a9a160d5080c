"""The registry of output formats, and atomic writing of files."""

from __future__ import annotations

import gzip
import os
import stat
import threading
from pathlib import Path

import pytest

from asking import ask
from build import op, profile, run
from tfprof.errors import OptionError, OutputError, TfprofError
from tfprof.options import OutputSpec
from tfprof.outputs import registry
from tfprof.outputs.parts import Written

ALL_KINDS = [*registry.PLAIN_OUTPUTS, *registry.FILE_OUTPUTS]
VIEW = ask("scope", profile(op("a"), run("a")), step=0)


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


@pytest.mark.parametrize(
    ("text", "kind", "outfile"),
    [
        ("", "stdout", ""),
        ("stdout", "stdout", ""),
        ("stdout:", "stdout", ""),
        ("none", "none", ""),
        ("file:outfile=report.txt", "file", "report.txt"),
        ("json:outfile=a=b.json", "json", "a=b.json"),
        ("csv:,outfile=x.csv,", "csv", "x.csv"),
        ("message:outfile=x.pb", "message", "x.pb"),
    ],
)
def test_an_output_is_parsed(text, kind, outfile):
    spec = OutputSpec.parse(text)
    registry.require(spec)

    assert (spec.kind, spec.outfile) == (kind, outfile)


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("jsn:outfile=x", "Unknown output `jsn`. Did you mean `json`?"),
        ("???", f"Unknown output `???`. Available: {', '.join(sorted(ALL_KINDS))}."),
        ("file", "Output `file` needs a file: file:outfile=PATH."),
        ("json:", "Output `json` needs a file: json:outfile=PATH."),
        ("file:outfile=", "Output `file` needs a file: file:outfile=PATH."),
        ("file:=", "Output `file` needs a file: file:outfile=PATH."),
        ("file:outfile=x,mode=y", "Output `file` has no setting `mode`, only `outfile`."),
        (
            "pprof:outfile=x,complet",
            "Output `pprof` has no setting `complet`, only `outfile` and `complete`.",
        ),
        (
            "none:outfile=x",
            "Output `none` takes no settings; use file:outfile=PATH to write a file.",
        ),
    ],
)
def test_an_invalid_output_is_rejected_with_a_correction(text, complaint):
    with pytest.raises(OptionError) as caught:
        registry.require(OutputSpec.parse(text))

    assert str(caught.value) == complaint


@pytest.mark.parametrize("kind", registry.FILE_OUTPUTS)
def test_every_output_writes_a_file(kind, tmp_path):
    written = registry.write(VIEW, OutputSpec.parse(f"{kind}:outfile={tmp_path / 'answer'}"))

    (path,) = tmp_path.iterdir()
    assert [file.path for file in written] == [str(path)]
    assert path.name == ("answer_0" if kind == "timeline" else "answer")
    data = path.read_bytes()
    assert b"_TFProfRoot" in (gzip.decompress(data) if data.startswith(b"\x1f\x8b") else data)


def test_an_output_is_rejected_for_a_view_that_it_does_not_support():
    with pytest.raises(OptionError) as caught:
        registry.require(OutputSpec.parse("timeline:outfile=x"), "op")

    complaint = (
        "Output `timeline` does not support the op view: use graph or scope or code or layers."
    )
    assert str(caught.value) == complaint


def test_messages_list_the_written_files_their_notes_and_a_hint():
    spec = OutputSpec.parse("timeline:outfile=x")
    written = [Written("x_0", ("a note",)), Written("x_1")]

    messages = registry.sentences(spec, written)

    hint = "open it in https://ui.perfetto.dev or chrome://tracing"
    assert messages == ["wrote x_0", "a note", "wrote x_1", hint]
    assert registry.sentences(spec, written, hints=False) == messages[:-1]
    assert registry.sentences(spec, []) == []


@pytest.mark.parametrize("kind", registry.FILE_OUTPUTS)
def test_every_output_has_a_help_text(kind):
    assert registry.FILE_OUTPUTS[kind].help


@pytest.mark.parametrize(
    "error", [ValueError("a bug"), OSError(28, "No space left"), OutputError("too deep")]
)
def test_a_failed_write_keeps_the_old_file_and_leaves_nothing_else(error, tmp_path):
    target = tmp_path / "answer"
    target.write_text("old")

    with pytest.raises((ValueError, TfprofError)):
        registry.write_file(str(target), broken_pieces(error))

    assert target.read_text() == "old"
    assert list(tmp_path.iterdir()) == [target]


def test_a_failed_write_leaves_no_new_file(tmp_path):
    with pytest.raises(KeyboardInterrupt):
        registry.write_file(str(tmp_path / "answer"), broken_pieces(KeyboardInterrupt()))

    assert list(tmp_path.iterdir()) == []


def test_a_file_does_not_exist_before_its_last_piece(tmp_path):
    target = tmp_path / "answer"

    def pieces():
        yield b"one"
        assert not target.exists()
        yield b"two"

    registry.write_file(str(target), pieces())

    assert target.read_bytes() == b"onetwo"


@pytest.mark.parametrize(("mask", "mode"), [(0o022, 0o644), (0o077, 0o600), (0o002, 0o664)])
def test_the_permissions_of_a_file_follow_the_umask(mask, mode, tmp_path, umask):
    umask(mask)

    registry.write_file(str(tmp_path / "answer"), [b"x"])

    assert mode_of(tmp_path / "answer") == mode
    assert os.umask(mask) == mask


def test_a_symbolic_link_stays_a_link(tmp_path):
    (tmp_path / "real").write_text("old")
    (tmp_path / "link").symlink_to("real")

    registry.write_file(str(tmp_path / "link"), [b"new"])

    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real").read_text() == "new"


def test_a_pipe_is_written_to_and_not_replaced(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    read = []
    reader = threading.Thread(target=lambda: read.append(pipe.read_bytes()), daemon=True)
    reader.start()

    registry.write_file(str(pipe), [b"one", b"two"])
    reader.join(5)

    assert read == [b"onetwo"]
    assert pipe.is_fifo()


def test_a_file_may_have_the_longest_possible_name(tmp_path):
    name = "x" * 255

    registry.write_file(str(tmp_path / name), [b"x"])

    assert (tmp_path / name).exists()


def test_the_error_names_a_missing_folder(tmp_path):
    path = tmp_path / "gone" / "answer"

    with pytest.raises(OutputError) as caught:
        registry.write_file(str(path), [b"x"])

    assert str(caught.value) == (
        f"{path}: cannot be written: there is no folder {tmp_path / 'gone'}; make it first."
    )


def test_a_folder_cannot_be_written_as_a_file(tmp_path):
    with pytest.raises(OutputError, match=r"it is a folder; name a file in it\.$"):
        registry.write_file(str(tmp_path), [b"x"])

    assert list(tmp_path.iterdir()) == []


def test_a_file_cannot_be_used_as_a_folder(tmp_path):
    (tmp_path / "file").touch()

    with pytest.raises(OutputError, match="cannot be written: Not a directory"):
        registry.write_file(str(tmp_path / "file" / "answer"), [b"x"])


def test_the_error_names_a_folder_without_write_permission(tmp_path, monkeypatch):
    def refuse(*_):  # simulated, because root may write anywhere
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "open", refuse)

    with pytest.raises(OutputError, match="no permission to write to the folder"):
        registry.write_file(str(tmp_path / "answer"), [b"x"])


def test_a_bare_file_name_is_written_to_the_current_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    registry.write_file("answer", [b"x"])

    assert Path("answer").read_bytes() == b"x"
