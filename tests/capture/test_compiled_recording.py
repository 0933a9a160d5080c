"""What PyTorch compiles now is at the lines of the program, with the log of Inductor."""

from pathlib import Path

import pytest

import live_programs
import tfprof
from tfprof.model.ops import Phase

# The log is a tool of PyTorch's own developers, which differs between versions.
pytest.importorskip("torch", minversion="2.13", reason="PyTorch 2.13 is not installed")

pytestmark = pytest.mark.live

PROGRAM = Path(__file__).parent / "compiled_program.py"
NO_COMPILER = ("InvalidCxxCompiler", "CppCompileError", "Python.h")


@pytest.fixture(scope="module")
def recorded(tmp_path_factory):
    """The profile of a recording and its log."""
    folder = tmp_path_factory.mktemp("compiled")
    done = live_programs.finished(
        *(PROGRAM, folder / "recorded"),
        INDUCTOR_PROVENANCE="1",
        TORCH_TRACE=str(folder / "log"),
        TORCHINDUCTOR_CACHE_DIR=str(folder / "cache"),
        TORCHINDUCTOR_COMPILE_THREADS="1",
    )
    if any(trouble in done.stderr for trouble in NO_COMPILER):
        pytest.skip("Inductor cannot compile C++ here")
    assert done.returncode == 0, done.stderr
    return tfprof.load(folder / "recorded", folder / "log")


def line_of(comment):
    lines = PROGRAM.read_text().splitlines()
    return next(number for number, text in enumerate(lines, 1) if text.endswith(f"# {comment}"))


def stacks(profile, kind, phase):
    """The lines of the ops of a kind in a phase."""
    columns = profile.columns
    rows = zip(columns.ops.kind, columns.phase.tolist(), columns.ops.code.tolist(), strict=True)
    codes = [code for one, own, code in rows if (one, own) == (kind, phase)]
    return {tuple(frame.line for frame in columns.code.stack(code))[-2:] for code in codes}


def test_ops_of_a_compiled_model_are_at_their_lines(recorded):
    assert stacks(recorded, "aten::addmm", Phase.FORWARD) == {
        (line_of("step"), line_of("inner")),
        (line_of("step"), line_of("outer")),
    }


def test_so_are_those_of_its_backward_pass(recorded):
    assert stacks(recorded, "aten::mm", Phase.BACKWARD) == {
        (line_of("step"), line_of("inner")),
        (line_of("step"), line_of("outer")),
    }
    rows = {row["name"] for row in recorded.code(select=["occurrence"], max_depth=9)}
    name = f"compiled_program.py:{line_of('inner')}:forward"
    assert rows >= {name, f"{name} (gradient)"}


def test_all_of_them_were_matched(recorded):
    [note] = [note for note in recorded.notes if "in compiled regions" in note]

    assert "5 of 5 ops in compiled regions are shown at the lines" in note
