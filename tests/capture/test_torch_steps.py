"""Some steps of PyTorch programs are recorded: by a callback, and by `tfprof run`."""

import re
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

import tfprof
from live_programs import finished, only_own_warnings
from tfprof.cli import main

torch = pytest.importorskip("torch", reason="PyTorch is not installed")

pytestmark = [pytest.mark.live, only_own_warnings]

PROGRAM = """
import torch

def main():
    model = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.ReLU())
    optimizers = [torch.optim.SGD(model.parameters(), lr=0.1) for _ in range(2)]
    for step in range(6):
        for optimizer in optimizers:
            optimizer.zero_grad()
            model(torch.ones(2, 4)).sum().backward()
            optimizer.step()

main()
print("done")
"""


def train(after_step, steps=6):
    model = torch.nn.Linear(4, 4)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(steps):
        model(torch.ones(2, 4)).sum().backward()
        optimizer.step()
        after_step()


def test_the_example_is_recorded(tmp_path):
    program = Path(__file__).parents[2] / "examples" / "capture" / "torch_steps.py"
    done = finished(program, "runs/step", cwd=tmp_path)

    assert done.returncode == 0, done.stderr
    assert tfprof.load(tmp_path / "runs" / "step").steps == [0, 1, 2]
    assert "34,186" in done.stdout  # 256 · 128 + 128 and 128 · 10 + 10 parameters


def test_a_loop_says_when_its_steps_end(tmp_path):
    callback = tfprof.TorchCallback(tmp_path / "a", steps=(2, 4))
    train(callback.step)
    callback.close()

    profile = tfprof.load(tmp_path / "a")
    assert profile.steps == [2, 3]
    assert profile.layers()["Linear"]["total_params"] == 20


def slowness(profile):
    return [note for note in profile.step_times().notes if "recording Python calls" in note]


def test_the_time_of_the_steps_before_the_recording_is_noted(tmp_path, monkeypatch):
    ends = iter([0, 900_000_000, 902_500_000, 905_000_000, 910_000_000])
    clock = SimpleNamespace(perf_counter_ns=lambda: next(ends))
    monkeypatch.setattr("tfprof.capture.recorded_steps.time", clock)
    callback = tfprof.TorchCallback(tmp_path / "a", steps=(5, 6))
    train(callback.step)
    profile = tfprof.load(tmp_path / "a")

    [note] = slowness(profile)
    assert note.endswith("Before the recording, a step took 3.75ms.")
    assert note in profile.advise().notes
    assert note not in profile.layers().notes


def test_without_steps_before_it_a_recording_says_how_to_note_their_time(tmp_path):
    with tfprof.capture(tmp_path / "a", framework="torch"):
        train(lambda: None, steps=2)

    [note] = slowness(tfprof.load(tmp_path / "a"))
    assert note.endswith("or tfprof run --skip_steps, to see the usual time of a step.")


def test_the_first_step_can_be_recorded(tmp_path):
    with tfprof.TorchCallback(tmp_path / "a", steps=(0, 1)) as callback:
        train(callback.step)

    assert tfprof.load(tmp_path / "a").steps == [0]


def test_a_loop_that_ends_early_is_recorded_until_then(tmp_path):
    with tfprof.TorchCallback(tmp_path / "a", steps=(2, 100)) as callback:
        train(callback.step)

    assert tfprof.load(tmp_path / "a").steps == [2, 3, 4, 5]


def test_a_loop_that_ends_before_the_first_step_has_a_warning(tmp_path):
    callback = tfprof.TorchCallback(tmp_path / "a", steps=(10, 13))
    train(callback.step)

    with pytest.warns(UserWarning, match="after 6 steps, before step 10: nothing was recorded"):
        callback.close()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("module", "base", "hook"),
    [
        ("lightning.pytorch.callbacks", "Callback", "on_train_batch_end"),
        ("pytorch_lightning.callbacks", "Callback", "on_train_batch_end"),
        ("transformers.trainer_callback", "TrainerCallback", "on_step_end"),
    ],
)
def test_trainers_call_it_after_each_step(module, base, hook, tmp_path, monkeypatch):
    kind = type(base, (), {"on_other_event": lambda *_: None, hook: lambda *_: 1 / 0})
    monkeypatch.setitem(sys.modules, module, SimpleNamespace(**{base: kind}))
    callback = tfprof.TorchCallback(tmp_path / "a", steps=(1, 3))

    train(lambda: getattr(callback, hook)(None, None, None, outputs=1))
    callback.on_train_end(None, None)

    assert isinstance(callback, kind)
    assert tfprof.load(tmp_path / "a").steps == [1, 2]


# tfprof run


@pytest.fixture
def program(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delitem(sys.modules, "tensorflow", raising=False)  # another test may import it
    Path("train.py").write_text(PROGRAM)
    return "train.py"


def test_a_program_is_recorded_from_its_import_of_torch(program, tmp_path):
    done = finished("-m", "tfprof", "run", program, cwd=tmp_path)

    assert (done.returncode, done.stdout) == (0, "done\n"), done.stderr
    assert "to view it: tfprof layers" in done.stderr
    profile = tfprof.load("train.capture")
    assert profile.layers()["Sequential/0"]["total_params"] == 20
    assert any("train.py" in row["name"] for row in profile.code(max_depth=9))


def test_some_steps_of_the_first_optimizer_are_recorded(program, capsys):
    assert main(["run", "--skip_steps", "2", "--steps", "3", program]) == 0

    assert "wrote" in capsys.readouterr().err
    profile = tfprof.load("train.capture")
    assert profile.steps == [2, 3, 4]
    assert profile.layers()["Sequential/0"]["total_params"] == 20


def test_a_program_with_fewer_steps_leaves_no_files(program, capsys, tmp_path):
    assert main(["run", "--skip_steps", "9", program]) == 0

    assert "the optimizer made 6 steps, not more than the 9 to skip" in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == [program]


def test_a_program_without_an_optimizer_has_no_steps_to_skip(program, capsys, tmp_path):
    Path(program).write_text("import torch\ntorch.ones(3).sum()\n")

    assert main(["run", "--skip_steps", "2", program]) == 0

    assert "no optimizer made a step" in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == [program]


FACTS = """
import os
import sys
import torch

def annotated(x: int): ...

print(__file__, __name__, __spec__, sys.argv[1:], sys.path[0])
print(annotated.__annotations__, sys.modules["__main__"].annotated is annotated)
os.chdir("..")
print(open(__file__).read() != "")
"""


@pytest.mark.parametrize("rest", ["", "1 / 0", "x = = 1", "raise SystemExit('end')"])
def test_a_program_finds_and_prints_the_same_as_without_tfprof(rest, program, tmp_path):
    Path(program).write_text(FACTS + rest)

    plain, recorded = (
        finished(*words, program, "a", cwd=tmp_path, PYTHONWARNINGS="ignore")
        for words in ((), ("-m", "tfprof", "run"))
    )

    assert (recorded.returncode, recorded.stdout) == (plain.returncode, plain.stdout)
    assert ending(recorded.stderr) == ending(plain.stderr)
    assert bool(ending(plain.stderr)) is bool(rest)


def ending(printed):
    """What Python prints about the end of a program, without the log of PyTorch or tfprof."""
    return re.findall(r"^(?:Traceback | |\w+Error: |end$).*", printed, re.MULTILINE)


def test_a_failing_program_is_recorded(program):
    Path(program).write_text(PROGRAM + "raise SystemExit(7)\n")

    assert main(["run", program]) == 7
    assert tfprof.load("train.capture").layers()["Sequential"]["total_params"] == 20
