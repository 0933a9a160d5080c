"""The registry of output formats."""

from __future__ import annotations

import gzip

import pytest

from asking import ask
from build import op, profile, run
from tfprof.errors import OptionError
from tfprof.options import OutputSpec
from tfprof.outputs import registry
from tfprof.outputs.parts import Written

ALL_KINDS = [*registry.PLAIN_OUTPUTS, *registry.FILE_OUTPUTS]
VIEW = ask("scope", profile(op("a"), run("a")), step=0)


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
