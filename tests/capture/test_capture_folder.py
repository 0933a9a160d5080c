"""The folder of a recording, and errors before recording starts; without a framework."""

import os
import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace

import pytest

import tfprof
from tfprof.capture import recorded_graph, tensorflow_recorder
from tfprof.capture.recording_folder import RecordingFolder
from tfprof.capture.variable_roles import VariableRoles
from tfprof.cli import main
from tfprof.errors import CaptureError, InputError, OptionError

SAMPLE = Path(__file__).parents[1] / "samples" / "capture"


@pytest.fixture(scope="module")
def profile():
    return tfprof.load(SAMPLE)


def test_a_folder_is_read_with_its_graph_and_code_lines(profile):
    assert profile.steps == [3, 4]
    assert profile.columns.has_code
    assert profile.scope(max_depth=9, select=["params"])["cnn_1/conv2d_1"]["total_params"] == 224


def test_forward_pass_backward_pass_and_optimizer_have_separate_scopes(profile):
    whole = profile.scope(select=["micros"], max_depth=9, step=3)

    assert [whole[name]["total_micros"] for name in ("cnn_1", "gradient_tape", "sgd_1")] == [
        569.111,
        864.85,
        17.84,
    ]


def test_every_kind_of_answer_has_a_note_on_coverage(profile):
    note = (
        "coverage: 45 of 47 ops that ran are in the graph; of 3,283 microseconds of op time in all "
        "steps, 95.1 % is under a scope of the model, 98.0 % has a code line, "
        "100.0 % has a float-op count."
    )

    assert note in profile.notes
    assert all(note in getattr(profile, view)().notes for view in ("scope", "graph", "code", "op"))
    assert note in profile.advise().notes
    assert note in tfprof.info(SAMPLE).to_dict()["notes"]


@pytest.mark.parametrize("view", ["scope", "graph", "code"])
def test_a_timeline_of_a_recording_can_be_written(profile, view, tmp_path):
    path = tmp_path / "timeline"
    options = {"step": 3, "max_depth": 100, "select": ["micros"]}
    written = getattr(profile, view)(**options).write(f"timeline:outfile={path}")

    assert written
    assert "cnn_1" in Path(written[0].path).read_text() or view == "code"


def test_a_recording_has_the_batch_size_that_was_fed():
    with pytest.raises(OptionError, match="`batch_size` does not apply to recordings"):
        tfprof.load(SAMPLE, batch_size=4)


def test_a_folder_without_a_recording_is_rejected(tmp_path):
    (tmp_path / "program.py").write_text("pass")

    with pytest.raises(InputError, match="is a folder without files that tfprof reads"):
        tfprof.load(tmp_path)


def test_an_unfinished_recording_is_rejected(tmp_path):
    (tmp_path / ".a.tfprof-partial").mkdir()

    with pytest.raises(InputError, match="its recording is unfinished"):
        tfprof.load(tmp_path / "a")


def test_a_folder_that_is_not_empty_is_rejected_before_recording_starts(tmp_path):
    (tmp_path / "file").write_text("")

    with pytest.raises(CaptureError, match="already exists"):
        tfprof.capture(tmp_path).require_room()


def test_a_folder_that_is_being_recorded_to_is_refused(tmp_path):
    (tmp_path / ".a.tfprof-partial").mkdir()

    with pytest.raises(CaptureError, match=r"remove .*a\.tfprof-partial"):
        RecordingFolder(tmp_path / "a").make()


def test_a_recording_of_a_killed_program_is_replaced(tmp_path):
    killed = RecordingFolder(tmp_path / "a")
    killed.make()
    (tmp_path / ".a.tfprof-partial" / "plugins").mkdir()
    os.close(killed._claim._descriptor)  # as when the process dies

    RecordingFolder(tmp_path / "a").make()

    assert not (tmp_path / ".a.tfprof-partial" / "plugins").exists()


def test_a_recording_that_was_moved_away_when_the_program_was_killed_is_restored(tmp_path):
    (tmp_path / ".a.tfprof-replaced" / "plugins").mkdir(parents=True)

    with pytest.raises(CaptureError, match="already exists"):
        RecordingFolder(tmp_path / "a").make()

    assert (tmp_path / "a" / "plugins").exists()


def test_a_folder_that_cannot_be_created_is_refused(tmp_path):
    (tmp_path / "file").write_text("")

    with pytest.raises(CaptureError, match="Not a directory"):
        RecordingFolder(tmp_path / "file" / "a").make()


@pytest.fixture
def started(tmp_path, monkeypatch):
    """A recording that has started, without TensorFlow; its profiler stops without an error."""
    profiler = SimpleNamespace(start=lambda _: None, stop=lambda: None)
    module = SimpleNamespace(profiler=SimpleNamespace(experimental=profiler))
    kept = SimpleNamespace(release=lambda: None)
    monkeypatch.setattr(tensorflow_recorder, "tensorflow", lambda: module)
    monkeypatch.setattr(tensorflow_recorder, "KeptFunctions", lambda: kept)
    monkeypatch.setattr(recorded_graph, "write", lambda *_: ())
    return tfprof.capture(tmp_path / "a", overwrite=True, framework="tensorflow").start()


def test_a_recording_appears_when_it_is_stopped(started, tmp_path):
    assert not (tmp_path / "a").exists()

    started.stop()

    assert [path.name for path in tmp_path.iterdir()] == ["a"]


def test_a_recording_that_cannot_be_moved_is_left_where_it_is(started, tmp_path):
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "file").write_text("")

    with pytest.raises(CaptureError, match=r"see .*a\.tfprof-partial"):
        started.stop()

    assert (tmp_path / ".a.tfprof-partial").exists()


@pytest.fixture
def recorded(tmp_path):
    """The folder of a complete recording."""
    host = tmp_path / "a" / "plugins" / "profile" / "1" / "host.xplane.pb"
    host.parent.mkdir(parents=True)
    host.write_bytes(b"old")
    (tmp_path / "a" / "graph.pb").write_bytes(b"old")
    return tmp_path / "a"


def test_a_recording_is_replaced_when_the_new_one_is_complete(started, recorded, tmp_path):
    (tmp_path / ".a.tfprof-partial" / "graph.pb").write_bytes(b"new")
    assert (recorded / "graph.pb").read_bytes() == b"old"

    started.stop()

    assert [path.name for path in tmp_path.iterdir()] == ["a"]
    assert [path.name for path in recorded.iterdir()] == ["graph.pb"]
    assert (recorded / "graph.pb").read_bytes() == b"new"


def test_a_recording_is_kept_if_the_new_one_fails(started, recorded, monkeypatch):
    monkeypatch.setattr(recorded_graph, "write", lambda *_: 1 / 0)

    with pytest.raises(CaptureError):
        started.stop()

    assert (recorded / "graph.pb").read_bytes() == b"old"
    assert [path.name for path in recorded.parent.iterdir()] == ["a"]


def test_only_recordings_are_overwritten(recorded):
    tfprof.capture(recorded, overwrite=True).require_room()
    (recorded / "events.out.tfevents.1").write_text("")

    with pytest.raises(CaptureError, match="is not a recording, or also contains other files"):
        tfprof.capture(recorded, overwrite=True).require_room()


@pytest.mark.parametrize("name", ["graph.pb", "notes.txt"])
def test_a_folder_without_a_recording_is_not_overwritten(tmp_path, name):
    (tmp_path / name).write_text("")

    with pytest.raises(CaptureError, match="is not a recording"):
        tfprof.capture(tmp_path, overwrite=True).require_room()


def test_the_error_of_a_program_is_kept_if_its_recording_fails(started, monkeypatch):
    def fail(*_):
        raise RuntimeError("no events")

    monkeypatch.setattr(recorded_graph, "write", fail)
    error = ValueError("of the program")

    started.__exit__(ValueError, error, None)

    assert "no events" in error.__notes__[0]
    started.start()
    with pytest.raises(CaptureError, match="no events"):
        started.__exit__(None, None, None)


def test_the_package_can_be_called():
    recording = import_module("tfprof.capture.recording")  # binds `tfprof.capture` to the package

    assert isinstance(tfprof.capture("a"), recording.Capture)


@pytest.mark.parametrize("callback", ["KerasCallback", "TorchCallback"])
@pytest.mark.parametrize("steps", [(3, 3), (-1, 2), (5,), 7, ("a", "b")])
def test_invalid_steps_are_rejected(callback, steps):
    with pytest.raises(OptionError, match=r"`steps` must be \(first, end\)"):
        getattr(tfprof, callback)("a", steps=steps)


def test_an_existing_folder_is_refused_before_training(tmp_path):
    (tmp_path / "file").write_text("")

    with pytest.raises(CaptureError, match="already exists"):
        tfprof.TorchCallback(tmp_path)


def test_an_unknown_framework_is_refused():
    with pytest.raises(OptionError, match="`framework` must be tensorflow, torch or auto"):
        tfprof.capture("a", framework="jax")


@pytest.mark.parametrize("method", ["step", "stop"])
def test_a_recording_that_was_not_started_cannot_go_on(method, tmp_path):
    with pytest.raises(CaptureError, match=f"`{method}` was called outside of a recording"):
        getattr(tfprof.capture(tmp_path / "a"), method)()


def test_the_framework_that_was_imported_first_is_recorded(monkeypatch):
    recording = import_module("tfprof.capture.recording")
    for name in ("torch", "tensorflow"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    assert recording.first_imported() == "tensorflow"

    monkeypatch.setitem(sys.modules, "torch", SimpleNamespace())
    assert recording.first_imported() == "torch"
    monkeypatch.setitem(sys.modules, "tensorflow", SimpleNamespace())
    assert recording.first_imported() == "torch"


def test_without_tensorflow_the_error_says_how_to_install_it(tmp_path):
    program = (
        "import sys; sys.modules['tensorflow'] = None; import tfprof\n"
        "try:\n    tfprof.capture('a').start()\n"
        "except tfprof.CaptureError as error:\n    print(error)"
    )
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)

    assert "pip install 'tfprof[tensorflow]'" in done.stdout
    assert list(tmp_path.iterdir()) == []


# tfprof run


def test_a_program_without_tensorflow_runs_and_leaves_no_files(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("tensorflow", "torch"):  # another test may import them
        monkeypatch.delitem(sys.modules, name, raising=False)
    Path("plain.py").write_text("import sys\nprint(__name__, sys.argv)\nsys.exit('gone')\n")
    before = list(sys.argv), list(sys.path), list(sys.meta_path)

    status = main(["run", "plain.py", "-o", "x", "--json"])

    output = capsys.readouterr()
    assert status == 1
    assert output.out == f"__main__ ['{tmp_path}/plain.py', '-o', 'x', '--json']\n"
    assert output.err.startswith("gone\n")
    assert (list(sys.argv), list(sys.path), list(sys.meta_path)) == before
    assert [path.name for path in tmp_path.iterdir()] == ["plain.py"]


@pytest.fixture
def package(tmp_path, monkeypatch):
    """A package `work_package` in the current folder, with the modules `train` and `bad`."""
    monkeypatch.chdir(tmp_path)
    Path("work_package").mkdir()
    Path("work_package/__init__.py").write_text("")
    Path("work_package/train.py").write_text(
        "import sys\nfrom work_package import bad\nprint(__name__, __package__, sys.argv[1:])\n"
        "print(sys.argv[0] == __file__, sys.modules['__main__'].__dict__ is globals())\n"
    )
    Path("work_package/bad.py").write_text("assert __name__ != '__main__', 'its own'\n")
    yield tmp_path
    for name in [name for name in sys.modules if name.startswith("work_package")]:
        del sys.modules[name]


@pytest.mark.usefixtures("package")
def test_a_module_runs_as_with_python_m(capsys):
    before = list(sys.argv), list(sys.path), sys.modules["__main__"]

    status = main(["run", "-m", "work_package.train", "-o", "x", "--json"])

    assert status == 0
    assert capsys.readouterr().out == ("__main__ work_package ['-o', 'x', '--json']\nTrue True\n")
    assert (list(sys.argv), list(sys.path), sys.modules["__main__"]) == before


@pytest.mark.usefixtures("package")
def test_the_traceback_of_a_module_starts_at_its_own_first_frame(capsys):
    assert main(["run", "--module", "work_package.bad"]) == 1
    error = capsys.readouterr().err
    assert re.match(r'Traceback .*\n  File ".*work_package/bad.py", line 1', error)


@pytest.mark.parametrize("name", ["work_package.missing", "no_such_module"])
@pytest.mark.usefixtures("package")
def test_a_missing_module_is_reported_in_one_line(capsys, name):
    assert main(["run", "-m", name]) == 1
    assert capsys.readouterr().err.startswith(f"tfprof: No module named {name}")


def test_the_traceback_of_a_program_starts_at_its_own_first_frame(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("bad.py").write_text("raise ValueError('its own')\n")

    assert main(["run", "bad.py"]) == 1
    error = capsys.readouterr().err
    start = f'Traceback (most recent call last):\n  File "{tmp_path}/bad.py", line 1'
    assert error.startswith(start)
    assert "runpy" not in error


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "`run` requires a program"),
        (["-o", "folder"], "`run` requires a program"),
        (["--json", "a.py"], "`run` has no option `json`"),
        (["missing.py"], "no such program"),
        (["--outfil", "x", "a.py"], "Did you mean `outfile`?"),
        (["--steps", "-1", "a.py"], "cannot be negative"),
    ],
)
def test_a_command_without_a_program_is_rejected(arguments, message, capsys):
    assert main(["run", *arguments]) == 2
    assert message in capsys.readouterr().err


def test_run_must_come_before_its_options(capsys):
    assert main(["-o", "folder", "run", "a.py"]) == 2
    assert "Put `run` before its options" in capsys.readouterr().err


def test_run_has_a_help_text(capsys):
    assert main(["run", "--help"]) == 0
    assert "Usage: tfprof run" in capsys.readouterr().out


def test_a_recording_without_traced_functions_says_so_in_its_folder(tmp_path):
    kept = SimpleNamespace(roles=VariableRoles())

    (note,) = recorded_graph.write(tmp_path, kept)

    assert "no traced function ran" in note
    assert note in tfprof.load(tmp_path / "layers.json").notes
