"""The folder of a recording, and what is refused before anything is recorded: no TensorFlow."""

import subprocess
import sys
from pathlib import Path

import pytest

import tfprof
from tfprof.cli import main
from tfprof.errors import CaptureError, InputError, OptionError

SAMPLE = Path(__file__).parents[1] / "samples" / "capture"


@pytest.fixture(scope="module")
def profile():
    return tfprof.load(SAMPLE)


def test_a_folder_is_read_with_its_graph_and_its_lines(profile):
    assert profile.steps == [3, 4]
    assert profile.columns.has_code
    assert profile.scope(max_depth=9, select=["params"])["cnn_1/conv2d_1"]["total_params"] == 224


def test_forward_backward_and_optimiser_are_apart(profile):
    whole = profile.scope(select=["micros"], max_depth=9, step=3)

    assert [whole[name]["total_micros"] for name in ("cnn_1", "gradient_tape", "sgd_1")] == [
        569.111,
        864.85,
        17.84,
    ]


def test_every_kind_of_answer_says_the_coverage(profile):
    note = (
        "coverage: 45 of 47 ops that ran are in the graph; of 3,283 microseconds of ops, in all "
        "steps, 95.1 % is under a scope of the model, 98.0 % has a code line, "
        "100.0 % a float-op count."
    )

    assert note in profile.notes
    assert all(note in getattr(profile, view)().notes for view in ("scope", "graph", "code", "op"))
    assert note in profile.advise().notes
    assert note in tfprof.info(SAMPLE).to_dict()["notes"]


@pytest.mark.parametrize("view", ["scope", "graph", "code"])
def test_a_timeline_can_be_drawn_of_it(profile, view, tmp_path):
    path = tmp_path / "timeline"
    options = {"step": 3, "max_depth": 100, "select": ["micros"]}
    written = getattr(profile, view)(**options).write(f"timeline:outfile={path}")

    assert written
    assert "cnn_1" in Path(written[0].path).read_text() or view == "code"


def test_without_a_recording_a_folder_is_none_of_a_capture(tmp_path):
    (tmp_path / "graph.pb").write_bytes(b"")

    with pytest.raises(InputError, match="is a folder; name the files in it"):
        tfprof.load(tmp_path)


def test_a_recording_that_is_not_finished_is_said_to_be(tmp_path):
    (tmp_path / ".a.tfprof-partial").mkdir()

    with pytest.raises(InputError, match="its recording was not finished"):
        tfprof.load(tmp_path / "a")


def test_a_place_that_is_taken_is_refused_before_anything_runs(tmp_path):
    (tmp_path / "file").write_text("")

    with pytest.raises(CaptureError, match="there is something already"):
        tfprof.capture(tmp_path).require_room()


def test_the_package_is_what_is_called():
    import tfprof.capture.recording  # noqa: PLC0415 -- this binds the package's name

    assert isinstance(tfprof.capture("a"), tfprof.capture.recording.Capture)


@pytest.mark.parametrize("steps", [(3, 3), (-1, 2), (5,), 7, ("a", "b")])
def test_steps_that_are_none_are_refused(steps):
    with pytest.raises(OptionError, match=r"`steps` is \(first, end\)"):
        tfprof.KerasCallback("a", steps=steps)


def test_without_tensorflow_the_way_to_get_it_is_said(tmp_path):
    program = (
        "import sys; sys.modules['tensorflow'] = None; import tfprof\n"
        "try:\n    tfprof.capture('a').start()\n"
        "except tfprof.CaptureError as error:\n    print(error)"
    )
    words = [sys.executable, "-c", program]
    done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, check=True)

    assert "pip install 'tfprof[tensorflow]'" in done.stdout
    assert list(tmp_path.iterdir()) == []


# tfprof run


def test_a_program_without_tensorflow_runs_and_leaves_nothing(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delitem(sys.modules, "tensorflow", raising=False)  # another test may have it
    Path("plain.py").write_text("import sys\nprint(__name__, sys.argv)\nsys.exit('gone')\n")
    before = list(sys.argv), list(sys.path), list(sys.meta_path)

    status = main(["run", "plain.py", "-o", "x", "--json"])

    output = capsys.readouterr()
    assert status == 1
    assert output.out == "__main__ ['plain.py', '-o', 'x', '--json']\n"
    assert output.err.startswith("gone\n")
    assert (list(sys.argv), list(sys.path), list(sys.meta_path)) == before
    assert [path.name for path in tmp_path.iterdir()] == ["plain.py"]


def test_an_error_of_a_program_is_shown_from_its_own_first_line_on(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("bad.py").write_text("raise ValueError('its own')\n")

    assert main(["run", "bad.py"]) == 1
    error = capsys.readouterr().err
    assert error.startswith('Traceback (most recent call last):\n  File "bad.py", line 1')
    assert "runpy" not in error


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ([], "`run` needs a program"),
        (["-o", "folder"], "`run` needs a program"),
        (["--json", "a.py"], "`run` has no option `json`"),
        (["missing.py"], "no such program"),
        (["--outfil", "x", "a.py"], "Did you mean `outfile`?"),
    ],
)
def test_a_line_that_names_no_program_is_refused(words, told, capsys):
    assert main(["run", *words]) == 2
    assert told in capsys.readouterr().err


def test_run_stands_before_its_options(capsys):
    assert main(["-o", "folder", "run", "a.py"]) == 2
    assert "`run` comes before its options" in capsys.readouterr().err


def test_help_on_run_is_given(capsys):
    assert main(["run", "--help"]) == 0
    assert "Usage: tfprof run" in capsys.readouterr().out
