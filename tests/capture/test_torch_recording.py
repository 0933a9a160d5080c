"""Recordings of PyTorch programs: what is in the folder, and what is refused."""

import json
import subprocess
import sys
import threading
import warnings
import weakref
from concurrent.futures import ThreadPoolExecutor

import pytest

import tfprof
from live_programs import only_own_warnings
from tfprof.errors import CaptureError, InputError

torch = pytest.importorskip("torch", reason="PyTorch is not installed")
nn = torch.nn

pytestmark = [pytest.mark.live, only_own_warnings]


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = nn.Linear(4, 4)
        self.outer = nn.Linear(4, 4)

    def forward(self, x):
        return self.outer(torch.relu(self.inner(x)))


class Net(nn.Module):
    """A shared weight, a frozen one, a buffer, and a module that is called twice."""

    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(6, 4)
        self.blocks = nn.ModuleList(Block() for _ in range(2))
        self.norm = nn.BatchNorm1d(4)
        self.head = nn.Linear(4, 6, bias=False)
        self.head.weight = self.embed.weight
        self.blocks[1].outer.bias.requires_grad_(False)

    def forward(self, tokens):
        x = self.embed(tokens)
        for block in (*self.blocks, self.blocks[0]):
            x = block(x)
        return self.head(self.norm(x))


def train(model, steps=2, after_step=lambda: None):
    optimizer = torch.optim.Adam(model.parameters(), lr=0.1)
    for _ in range(steps):
        optimizer.zero_grad()
        model(torch.arange(6)).sum().backward()
        optimizer.step()
        after_step()
    return optimizer


def record(folder, program, **options):
    """The finished recording of a program."""
    with tfprof.capture(folder, framework="torch", **options) as capture:
        program()
    return capture


def modules(folder):
    content = json.loads((folder / "modules.json").read_text())
    return {one["trace_name"]: one["path"] for one in content["modules"] if one["trace_name"]}


@pytest.fixture(scope="module")
def recorded(tmp_path_factory):
    """The folder of a recording, and the parameters of its model, which was deleted in between."""
    folder = tmp_path_factory.mktemp("recorded") / "a"
    facts = {}

    def program():
        model = Net()
        optimizer = train(model)
        facts["parameters"] = sum(one.numel() for one in model.parameters())
        kept = [value for state in optimizer.state.values() for value in state.values()]
        facts["slots"] = sum(one.numel() for one in kept)
        facts["trained"] = sum(one.numel() for one in model.parameters() if one.requires_grad)

    record(folder, program)
    return folder, facts


def test_a_recording_consists_of_a_trace_and_the_modules(recorded):
    folder, _ = recorded

    assert sorted(path.name for path in folder.iterdir()) == ["modules.json", "trace.json.gz"]
    assert [path.name for path in folder.parent.iterdir()] == ["a"]


def test_parameters_and_slots_are_those_of_the_model_and_its_optimizer(recorded):
    folder, facts = recorded
    root = tfprof.load(folder).layers(select="params,trainable_params,slots")["_TFProfRoot"]

    assert root["total_params"] == facts["parameters"]
    assert root["total_trainable_params"] == facts["trained"]
    assert root["total_slots"] == facts["slots"]


class Wrapper(torch.optim.Optimizer):
    """An optimizer around another one, as those of accelerate."""

    def __init__(self, optimizer):
        self.optimizer = optimizer

    state = property(lambda self: self.optimizer.state)
    param_groups = property(lambda self: self.optimizer.param_groups)

    def step(self):
        self.optimizer.step()


@pytest.mark.parametrize("is_deleted", [True, False])
def test_the_state_of_a_wrapped_optimizer_counts_once(is_deleted, tmp_path):
    model = nn.Linear(4, 3)
    kept = []

    def program():
        optimizer = Wrapper(torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9))
        kept.append(None if is_deleted else optimizer)
        model(torch.ones(2, 4)).sum().backward()
        optimizer.step()

    record(tmp_path / "a", program)

    root = tfprof.load(tmp_path / "a").layers(select="slots")["_TFProfRoot"]
    assert root["total_slots"] == 4 * 3 + 3


def test_modules_have_their_attribute_paths(recorded):
    profile = tfprof.load(recorded[0])
    rows = profile.scope(select=["occurrence"], max_depth=9)

    assert rows["Net/blocks/1/inner/aten::linear"]["runs"] == 1  # in each step
    assert profile.layers()["Net/norm"]["layer_class"] == ["BatchNorm1d"]
    assert {row["name"] for row in profile.layers()} >= {"Net", "Net/blocks/0/outer", "Net/head"}


def test_ops_are_at_the_lines_that_called_them_also_backward(recorded):
    columns = tfprof.load(recorded[0]).columns
    first = Block.forward.__code__.co_firstlineno
    train_line = train.__code__.co_firstlineno
    found = {}
    for kind, code in zip(columns.ops.kind, columns.ops.code.tolist(), strict=True):
        stack = columns.code.stack(code)
        own = [frame.line for frame in stack if frame.file.endswith("test_torch_recording.py")]
        found.setdefault(kind, set()).add(tuple(own[-2:]))

    (forward_line,) = {lines[0] for lines in found["aten::relu"]}
    assert found["aten::relu"] == {(forward_line, first + 1)}
    assert found["ReluBackward0"] == {(forward_line, first + 1)}
    assert {lines[-1] for lines in found["aten::addcdiv_"]} == {train_line + 5}


@pytest.mark.parametrize("options", [{"foreach": True}, {"fused": True}])
def test_optimizers_of_many_parameters_are_counted(options, tmp_path):
    model = nn.Sequential(*(nn.Linear(3, 3) for _ in range(20)))  # 40 tensors
    optimizer = torch.optim.AdamW(model.parameters(), weight_decay=0.01, **options)

    def program():
        model(torch.ones(2, 3)).sum().backward()
        optimizer.step()

    program()
    record(tmp_path / "a", program)

    ledger = tfprof.load(tmp_path / "a").flops()
    count = sum(one.numel() for one in model.parameters())
    # Per element: the decay (2), two averages (7) and the update (5); and a counter per tensor.
    assert sum(entry.optimizer for entry in ledger) == 14 * count + 40
    assert ledger.uncounted == ()


def test_a_step_ends_with_the_optimizer_or_where_the_program_says(recorded, tmp_path):
    model = Net()
    with tfprof.capture(tmp_path / "b", framework="torch") as capture:
        train(model, 3, after_step=capture.step)

    marked = tfprof.load(tmp_path / "b")
    assert tfprof.load(recorded[0]).steps == [0, 1]
    assert marked.steps == [0, 1, 2]
    assert not any("no step markers" in note for note in marked.notes)
    runs = [marked.scope(select=["occurrence"], step=step).table for step in (1, 2)]
    assert runs[0] == runs[1]


def test_models_of_one_class_have_numbers(tmp_path):
    models = [Net(), Net(), nn.Linear(4, 2)]

    def program():
        for model in models[:2]:
            model(torch.arange(6))
        models[2](torch.ones(1, 4))

    record(tmp_path / "a", program)
    names = {row["name"] for row in tfprof.load(tmp_path / "a").layers()}

    assert names >= {"Net", "Net#2", "Linear"}


def test_the_outermost_module_counts_even_if_only_its_parts_are_called(tmp_path):
    model = Net()

    record(tmp_path / "a", lambda: model.blocks[1](torch.ones(2, 4)))

    rows = tfprof.load(tmp_path / "a").layers(select="params,occurrence")
    assert rows["Net/blocks/1/inner"]["total_runs"] > 0
    assert rows["Net"]["total_params"] == sum(one.numel() for one in model.parameters())


def test_losses_that_are_created_for_one_call_are_in_the_module_that_calls_them(tmp_path):
    class Trained(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.head = torch.nn.Linear(4, 3)

        def forward(self, values):
            return torch.nn.MSELoss()(self.head(values), torch.zeros(2, 3))

    model = Trained()
    with tfprof.capture(tmp_path / "a", framework="torch") as capture:
        for _ in range(3):
            model(torch.ones(2, 4)).backward()
            capture.step()
    layers = tfprof.load(tmp_path / "a").layers(select="micros,layer_class")

    assert [row["name"] for row in layers if "MSELoss" in row["layer_class"]] == ["Trained/MSELoss"]


def test_losses_of_several_classes_that_are_created_for_one_call_keep_their_classes(tmp_path):
    kinds = [nn.MSELoss, nn.L1Loss, nn.HuberLoss, nn.SmoothL1Loss]

    class Trained(nn.Module):
        def forward(self, values):
            return sum(kind()(values, torch.zeros(2, 3)) for kind in kinds * 2)

    model = Trained()
    with tfprof.capture(tmp_path / "a", framework="torch") as capture:
        for _ in range(3):
            model(torch.ones(2, 3))
            capture.step()
    layers = tfprof.load(tmp_path / "a").layers(select="micros,layer_class")

    losses = [row for row in layers if row["name"].startswith("Trained/")]
    assert {row["name"]: row["layer_class"] for row in losses} == {
        f"Trained/{kind.__name__}": [kind.__name__] for kind in kinds
    }


def test_deleted_losses_free_what_they_hold_while_a_program_is_recorded(tmp_path):
    class Held:
        pass

    held, loss = Held(), nn.MSELoss()
    loss.held, seen = held, weakref.ref(held)
    with tfprof.capture(tmp_path / "a", framework="torch"):
        loss(torch.ones(2), torch.zeros(2))
        del held, loss

        assert seen() is None


def test_modules_that_did_not_run_are_left_out(tmp_path):
    unused, used = nn.Linear(100, 100), nn.Linear(2, 2)

    record(tmp_path / "a", lambda: used(torch.ones(1, 2)))

    assert tfprof.load(tmp_path / "a").layers()["_TFProfRoot"]["total_params"] == 6
    assert unused.in_features == 100


def test_a_wrapper_is_not_the_model(tmp_path):
    model = nn.DataParallel(Net())

    record(tmp_path / "a", lambda: train(model, 1))

    profile = tfprof.load(tmp_path / "a")
    assert "Net/blocks/0/inner/weight" in profile.columns.ops.name
    assert "DataParallel" not in {row["name"] for row in profile.layers()}


def test_modules_called_in_several_threads_keep_their_paths(tmp_path):
    models = [Net() for _ in range(2)]
    together = threading.Barrier(2)

    def work(model):
        together.wait()
        train(model)

    with ThreadPoolExecutor(2) as pool:
        list(pool.map(work, models))  # starts the threads
        record(tmp_path / "a", lambda: list(pool.map(work, models)), all_threads=True)

    found = modules(tmp_path / "a")
    names = {*tfprof.load(tmp_path / "a").columns.ops.name}
    assert sorted(path for name, path in found.items() if name.startswith("Linear")) == sorted(
        [*(f"blocks.{block}.{part}" for block in (0, 1) for part in ("inner", "outer")), "head"] * 2
    )
    for model in ("Net", "Net#2"):
        inner = f"{model}/blocks/0/inner"
        assert names >= {f"{inner}/aten::linear", f"{inner}/AddmmBackward0"}


def test_allocations_are_recorded(recorded):
    (found,) = tfprof.load(recorded[0]).memory()

    assert found.peak_bytes > 0


def in_a_thread(model):
    """Train the model in a new thread, and call it in this one."""
    worker = threading.Thread(target=train, args=(model,))
    worker.start()
    worker.join()
    model(torch.arange(6))


def test_a_thread_that_is_not_recorded_has_a_note(tmp_path):
    text = "1 thread that ran ops was not recorded; all_threads=True"
    with pytest.warns(UserWarning, match=text):
        record(tmp_path / "a", lambda: in_a_thread(Net()))

    profile = tfprof.load(tmp_path / "a")
    assert "AddmmBackward0" not in profile.columns.ops.kind.values
    assert any(note.startswith(text) for note in profile.layers(select="micros").notes)
    assert not hasattr(threading.Thread.start, "counts_for")


def test_a_thread_that_starts_during_the_recording_has_ops_without_modules(tmp_path):
    text = "1 thread that ran ops started during the recording: the modules"
    with pytest.warns(UserWarning, match=text):
        record(tmp_path / "a", lambda: in_a_thread(Net()), all_threads=True)

    profile = tfprof.load(tmp_path / "a")
    assert "backward/AddmmBackward0" in profile.columns.ops.name
    assert any(note.startswith(text) for note in profile.layers(select="params").notes)


def test_a_thread_that_only_calls_modules_is_noted(tmp_path):
    model = Net()
    with ThreadPoolExecutor(1) as pool:
        pool.submit(int).result()  # starts the thread
        record(tmp_path / "a", lambda: (pool.submit(train, model).result(), train(model)))

    notes = tfprof.load(tmp_path / "a").notes
    assert any("1 thread called modules, but the ops were not recorded" in note for note in notes)


def test_modules_of_several_classes_of_one_name_keep_their_paths(tmp_path):
    normed = nn.utils.parametrizations.spectral_norm  # makes a class for each module
    model = nn.Sequential(*(normed(nn.Linear(4, 4)) for _ in range(3)), nn.Linear(4, 4))

    record(tmp_path / "a", lambda: (model(torch.ones(1, 4)), model[1](torch.ones(1, 4))))

    profile = tfprof.load(tmp_path / "a")
    rows = profile.scope(select="occurrence", max_depth=9)
    runs = [rows[f"Sequential/{place}/aten::linear"]["runs"] for place in range(4)]
    assert runs == [1, 2, 1, 1]
    assert profile.layers()["Sequential/2"]["layer_class"] == ["ParametrizedLinear"]


def test_the_error_of_a_program_keeps_the_recording(tmp_path):
    model = Net()

    def program():
        train(model, 1)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        record(tmp_path / "a", program)

    assert tfprof.load(tmp_path / "a").steps == [0]


def test_a_process_that_only_starts_others_says_that_these_are_not_recorded(tmp_path):
    work = [sys.executable, "-c", "import torch; torch.ones(3).sum()"]

    with pytest.warns(UserWarning, match="Processes that the program starts are not recorded"):
        record(tmp_path / "a", lambda: subprocess.run(work, check=True))

    assert any("torchrun -m tfprof run" in note for note in tfprof.load(tmp_path / "a").notes)


def test_nothing_is_left_on_the_classes_of_pytorch(recorded):
    assert recorded
    assert "__del__" not in vars(nn.Module)
    assert "__del__" not in vars(torch.optim.Optimizer)


def test_a_profiler_that_is_already_running_is_refused(tmp_path):
    with (
        torch.profiler.profile(),
        pytest.raises(CaptureError, match="PyTorch's profiler is already running"),
    ):
        tfprof.capture(tmp_path / "a", framework="torch").start()

    assert list(tmp_path.iterdir()) == []


def test_a_recording_inside_another_is_refused(tmp_path):
    inner = tfprof.capture(tmp_path / "b", framework="torch")

    with tfprof.capture(tmp_path / "a", framework="torch"):
        torch.ones(1)
        with pytest.raises(CaptureError, match="already running"):
            inner.start()

    assert [path.name for path in tmp_path.iterdir()] == ["a"]


def test_a_trace_that_cannot_be_written_leaves_no_files(tmp_path, monkeypatch):
    def fail(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(torch.profiler.profile, "export_chrome_trace", fail)

    with pytest.raises(CaptureError, match=r"PyTorch's profiler wrote no recording.*No space left"):
        record(tmp_path / "a", lambda: None)

    assert list(tmp_path.iterdir()) == []
    assert "__del__" not in vars(nn.Module)


def test_a_recording_replaces_another_one_only_if_asked_to(recorded, tmp_path):
    model = nn.Linear(2, 2)
    record(tmp_path / "a", lambda: model(torch.ones(1, 2)))

    with pytest.raises(CaptureError, match="already exists"):
        record(tmp_path / "a", lambda: None)
    record(tmp_path / "a", lambda: train(Net(), 1), overwrite=True)
    assert "Net/embed/weight" in tfprof.load(tmp_path / "a").columns.ops.name
    (tmp_path / "a" / "notes.txt").write_text("")
    with pytest.raises(CaptureError, match="also contains other files"):
        record(tmp_path / "a", lambda: None, overwrite=True)
    assert recorded


def test_each_rank_writes_a_folder_of_its_own(tmp_path, monkeypatch):
    model = nn.Linear(2, 2)
    monkeypatch.setenv("WORLD_SIZE", "2")
    for rank in range(2):
        monkeypatch.setenv("RANK", str(rank))
        record(tmp_path / "a", lambda: model(torch.ones(1, 2)))

    profile = tfprof.load(tmp_path / "a")

    assert sorted(path.name for path in (tmp_path / "a").iterdir()) == ["rank0", "rank1"]
    assert len(profile.recordings) == 2
    assert profile.layers()["_TFProfRoot"]["total_params"] == 6


def test_a_large_trace_has_a_note(tmp_path, monkeypatch):
    monkeypatch.setattr("tfprof.capture.torch_recorder._LARGE", 1000)

    with pytest.warns(UserWarning, match="record only a few steps"):
        record(tmp_path / "a", lambda: torch.ones(1))


def test_compiling_while_recording_causes_no_further_warning(tmp_path):
    plain, recorded = (torch.compile(Block(), backend="eager") for _ in range(2))

    def warnings_of(call):
        torch.compiler.reset()
        with warnings.catch_warnings(record=True) as found:
            warnings.simplefilter("always")
            call()
        return {str(one.message) for one in found}

    usual = warnings_of(lambda: plain(torch.ones(2, 4)))
    while_recording = warnings_of(
        lambda: record(tmp_path / "a", lambda: recorded(torch.ones(2, 4)))
    )

    assert while_recording <= usual
    assert "Block/inner/weight" in tfprof.load(tmp_path / "a").columns.ops.name


@pytest.mark.parametrize("backend", ["eager", "aot_eager"])
def test_a_compiled_function_has_the_parameters_that_its_optimizer_trains(backend, tmp_path):
    model, unused = Net(), Net()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    loss = torch.compile(lambda: model(torch.arange(6)).sum(), backend=backend)
    scale = nn.Linear(1, 1, bias=False)  # is not compiled

    def program(after):
        after(loss()[None]).sum().backward()
        optimizer.step()

    program(scale)
    record(tmp_path / "a", lambda: program(nn.Identity()))
    record(tmp_path / "b", lambda: program(scale))

    roots = [
        tfprof.load(tmp_path / name).layers(select="params")["_TFProfRoot"] for name in ("a", "b")
    ]
    expected = sum(one.numel() for one in unused.parameters())
    assert [root["total_params"] for root in roots] == [expected, expected + 1]


def test_an_unfinished_recording_is_refused(tmp_path):
    capture = tfprof.capture(tmp_path / "a", framework="torch").start()

    with pytest.raises(InputError, match="its recording is unfinished"):
        tfprof.load(tmp_path / "a")
    capture.stop()
