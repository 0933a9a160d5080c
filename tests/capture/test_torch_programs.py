"""Recordings of PyTorch programs have the numbers that PyTorch itself knows about them."""

import json
from functools import cache, partial
from pathlib import Path

import numpy as np
import pytest
from packaging.version import Version

import live_programs
import tfprof
from tfprof.measures.numbers import EVERYTHING, per_op
from tfprof.model.ops import Phase

pytest.importorskip("torch", minversion="2.8", reason="PyTorch is not installed")

import torch
from torch.utils.checkpoint import (
    CheckpointPolicy,
    checkpoint,
    create_selective_checkpoint_contexts,
)
from torch.utils.flop_counter import FlopCounterMode

from capture.torch_programs import PROGRAMS, Perceptron

pytestmark = [pytest.mark.live, live_programs.only_own_warnings]

HERE = Path(__file__).parent
RECORDS = HERE / "recorded_torch_programs.py"
COMPILED = HERE / "compiled_torch_program.py"
MEMORY = HERE / "torch_memory_program.py"
SOURCES = ("torch_models.py", "torch_programs.py")

# What belongs to no module.
REST = {"optimizer", "backward", "data_loading", "communication", "outside_modules"}

# The files of a recording, by the way in which it was made.
WAYS = {
    "capture": ["capture"],
    "trace": ["5.pt.trace.json"],
    "traces": ["5.pt.trace.json", "10.pt.trace.json"],
    "checkpoint": ["5.pt.trace.json", "10.pt.trace.json", "model.pt"],
    "safetensors": ["5.pt.trace.json", "model.safetensors"],
    "module": ["5.pt.trace.json", "module.pt"],
}
SINGLE = [name for name in PROGRAMS if name not in {"adversarial", "threads"}]  # one model

every_program = pytest.mark.parametrize("name", PROGRAMS)
every_single_model = pytest.mark.parametrize("name", SINGLE)
in_every_way = pytest.mark.parametrize("way", ["capture", "trace", "traces"])
with_weights = pytest.mark.parametrize("way", ["checkpoint", "safetensors", "module"])


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """The folder with the recordings of each program."""
    path = tmp_path_factory.mktemp("programs")
    live_programs.run(RECORDS, path)
    return path


@pytest.fixture(scope="module")
def live(folder):
    """What PyTorch knows about each program."""
    return json.loads((folder / "live.json").read_text("utf-8"))


@pytest.fixture(scope="module")
def load(folder):
    return cache(lambda name, way: tfprof.load(*(folder / name / file for file in WAYS[way])))


def total(profile, number):
    return int(per_op(profile.columns, EVERYTHING)[number].sum())


def ops_in(profile, scope, phase=None):
    """The rows of the ops in a scope."""
    columns = profile.columns
    is_inside = np.array([name.startswith(f"{scope}/") for name in columns.ops.name])
    return np.flatnonzero(is_inside if phase is None else is_inside & (columns.phase == phase))


# Parameters


@every_program
def test_parameters_are_those_of_the_models(load, live, name):
    profile = load(name, "capture")

    assert total(profile, "params") == live[name]["params"]
    assert total(profile, "trainable_params") == live[name]["trainable"]


@every_program
def test_slots_are_the_state_of_the_optimizers(load, live, name):
    assert total(load(name, "capture"), "slots") == live[name]["slots"]


@with_weights
@every_single_model
def test_a_trace_with_a_file_of_weights_has_the_parameters(load, live, name, way):
    assert total(load(name, way), "params") == live[name]["params"]


@every_single_model
def test_a_trace_with_a_saved_module_has_the_trained_parameters(load, live, name):
    assert total(load(name, "module"), "trainable_params") == live[name]["trainable"]


@every_single_model
def test_a_trace_with_a_checkpoint_has_the_state_of_the_optimizer(load, live, name):
    assert total(load(name, "checkpoint"), "slots") == live[name]["slots"]


@every_program
def test_a_trace_alone_has_no_parameters(load, name):
    assert total(load(name, "trace"), "params") == 0


# Float operations


@in_every_way
@every_program
def test_float_ops_of_products_are_those_of_flop_counter_mode(load, live, name, way):
    assert 2 * total(load(name, way), "macs") == live[name]["float_ops"]


@with_weights
@every_single_model
def test_weights_beside_a_trace_change_no_float_ops(load, live, name, way):
    assert 2 * total(load(name, way), "macs") == live[name]["float_ops"]


@pytest.mark.parametrize(
    ("name", "way"),
    [
        *((name, "capture") for name in PROGRAMS),
        *((name, way) for name in SINGLE for way in ("checkpoint", "module")),
    ],
)
def test_each_module_has_the_float_ops_that_it_has_alone(load, live, name, way):
    profile = load(name, way)
    macs = per_op(profile.columns, EVERYTHING)["macs"]
    expected = live[name]["alone"]

    assert {path: 2 * int(macs[ops_in(profile, path)].sum()) for path in expected} == expected
    assert any(expected.values())


def test_sparse_gradients_and_hooks_leave_no_op_uncounted(tmp_path):
    model = torch.nn.Sequential(torch.nn.Embedding(9, 4, sparse=True), torch.nn.Linear(4, 2))
    model[1].register_full_backward_hook(lambda *_: None)
    optimizers = [
        torch.optim.SparseAdam(model[0].parameters()),
        torch.optim.SGD(model[1].parameters(), 0.1),
    ]

    with tfprof.capture(tmp_path / "a", framework="torch"):
        model(torch.arange(5)).sum().backward()
        for optimizer in optimizers:
            optimizer.step()

    assert tfprof.load(tmp_path / "a").flops().uncounted == ()


def per_sample_gradients(model, rows):
    parameters = dict(model.named_parameters())

    def loss(parameters, row):
        return torch.func.functional_call(model, parameters, (row,)).sum()

    torch.func.vmap(torch.func.grad(loss), (None, 0))(parameters, rows)


def tangents(model, rows):
    torch.func.jvp(model, (rows,), (rows,))


def ensemble(model, rows):
    torch.func.vmap(model)(rows.expand(3, -1, -1)).sum().backward()


def selective_checkpoint(model, rows):
    """Products are kept, and the rest is computed again."""

    def policy(_, op, *__, **___):
        is_kept = op is torch.ops.aten.addmm.default
        return CheckpointPolicy.MUST_SAVE if is_kept else CheckpointPolicy.PREFER_RECOMPUTE

    contexts = partial(create_selective_checkpoint_contexts, policy)
    found = checkpoint(model, rows.requires_grad_(), use_reentrant=False, context_fn=contexts)
    found.sum().backward()


@pytest.mark.parametrize(
    "program",
    [
        *(per_sample_gradients, tangents, ensemble),
        pytest.param(
            selective_checkpoint,
            marks=pytest.mark.skipif(
                Version(torch.__version__) < Version("2.11"),
                reason="older versions do not record which results were kept",
            ),
        ),
    ],
)
def test_ops_that_are_called_but_not_computed_have_no_float_ops(program, tmp_path):
    model, rows = Perceptron(), torch.ones(4, 16)
    with FlopCounterMode(display=False) as counted:
        program(model, rows)

    with tfprof.capture(tmp_path / "a", framework="torch"):
        program(model, rows)

    profile = tfprof.load(tmp_path / "a")
    macs = per_op(profile.columns, EVERYTHING)["macs"]
    assert 2 * int(macs.sum()) == counted.get_total_flops()
    assert macs[ops_in(profile, "Perceptron")].sum() == macs.sum()


@in_every_way
@every_program
def test_the_float_ops_of_all_ops_are_known(load, name, way):
    # Sums of values of several processes are not counted.
    sums = {"c10d::allreduce_", "gloo:all_reduce"} if name == "distributed" else set()

    assert {one.kind for one in load(name, way).flops().uncounted} == sums


# Modules, phases and lines


def runs_of(profile):
    """How often each op ran."""
    return per_op(profile.columns, EVERYTHING)["runs"]


def unplaced(profile):
    """The ops that ran outside of modules and of the other scopes with a name."""
    columns = profile.columns
    is_outside = (columns.ops.layer < 0) & (runs_of(profile) > 0)
    names = [columns.ops.name[row] for row in np.flatnonzero(is_outside)]
    return [name for name in names if name.partition("/")[0] not in REST]


@in_every_way
@every_program
def test_every_op_that_ran_is_in_a_module_or_a_named_rest(load, name, way):
    assert unplaced(load(name, way)) == []


@in_every_way
@every_program
def test_all_products_are_in_modules(load, name, way):
    columns = load(name, way).columns
    macs = per_op(columns, EVERYTHING)["macs"]

    assert macs[columns.ops.layer < 0].sum() == 0
    assert macs.sum() > 0


@in_every_way
@every_program
def test_ops_ran_in_each_phase(load, name, way):
    profile = load(name, way)
    runs = runs_of(profile)

    for phase in (Phase.FORWARD, Phase.BACKWARD, Phase.OPTIMIZER):
        assert runs[profile.columns.phase == phase].any()


def innermost_lines(profile, rows):
    """The innermost lines of the programs at which ops are shown."""
    columns = profile.columns
    found = set()
    for code in {int(columns.ops.code[row]) for row in rows}:
        own = [one.line for one in columns.code.stack(code) if Path(one.file).name in SOURCES]
        found.add(own[-1] if own else None)
    return found


@pytest.mark.parametrize(
    ("name", "way"),
    [
        *((name, "capture") for name in PROGRAMS),
        *((name, way) for name in SINGLE for way in ("checkpoint", "module")),
    ],
)
def test_the_gradients_of_each_module_ran_at_the_line_that_called_it(load, live, name, way):
    profile = load(name, way)
    runs = runs_of(profile)
    rows = {path: ops_in(profile, path, Phase.BACKWARD) for path in live[name]["lines"]}
    # A trace has only the lines where functions begin.
    which = 0 if way == "capture" else 1
    expected = {path: {pair[which] for pair in live[name]["lines"][path]} for path in rows}

    assert all(runs[found].any() for found in rows.values())
    assert {path: innermost_lines(profile, found) for path, found in rows.items()} == expected


@every_program
def test_the_code_view_has_the_time_of_all_ops_with_a_line(load, name):
    # Also of those that a checkpoint computes again, and of those that start a backward pass.
    profile = load(name, "capture")
    nanos = per_op(profile.columns, EVERYTHING)["nanos"]
    view = profile.code(select=["micros"])

    expected = nanos[profile.columns.ops.code >= 0].sum() / 1000
    assert next(iter(view))["total_micros"] == pytest.approx(expected)
    assert not any("left out" in note for note in view.notes)


def test_the_gradients_of_gradients_belong_to_the_module_of_the_forward_op(tmp_path):
    model, rows = Perceptron(), torch.ones(4, 16, requires_grad=True)

    with tfprof.capture(tmp_path / "a", framework="torch"):
        value = model(rows).sum()
        for _ in range(3):
            [gradient] = torch.autograd.grad(value, rows, create_graph=True)
            value = gradient.square().sum()
        value.backward()

    profile = tfprof.load(tmp_path / "a")
    macs = per_op(profile.columns, EVERYTHING)["macs"]
    assert macs[ops_in(profile, "Perceptron")].sum() == macs.sum() > 0


def test_waiting_for_the_workers_of_a_data_loader_is_waiting_for_input(load):
    waits = load("loaded", "capture").columns.waits

    assert waits.step.tolist() == [0, 0, 0, 1, 1, 1]  # for two batches, and for the end of the data


# Steps


@every_program
def test_steps_have_the_numbers_of_the_profiler(load, name):
    assert load(name, "capture").steps == [0, 1]
    assert load(name, "trace").steps == [3, 4]
    assert load(name, "traces").steps == [3, 4, 8, 9]


# Memory


def test_the_peak_of_memory_is_that_of_the_gradient_in_the_widest_layer(tmp_path):
    rows, wide, narrow = 64, 200, 50

    # A process of its own: other tests may have allocated what is freed in the recording.
    live_programs.run(MEMORY, tmp_path / "a", str(rows), str(wide), str(narrow))

    [memory] = tfprof.load(tmp_path / "a").memory().to_dict()["allocators"]
    held = {row["name"]: row["bytes"] for row in memory["held_at_peak"]["purpose"]["rows"]}
    assert held == {
        "activations": 4 * (rows * wide + 1),  # of ReLU; the loss
        "gradients": 4 * wide * narrow,  # of the last weight
        "temporary": 4 * (2 * rows * wide + 1),  # of the result and input of ReLU, and the loss
    }
    assert memory["peak_bytes"] == sum(held.values())


# Compiled models


@pytest.fixture(scope="module")
def compiled(tmp_path_factory):
    """The recording of a compiled program by `tfprof run`, and what PyTorch knows about it."""
    path = tmp_path_factory.mktemp("compiled")
    facts, recording = path / "facts.json", path / "a"
    done = live_programs.finished(
        *("-m", "tfprof", "run", "--skip_steps", "2", "--steps", "2", "-o", recording),
        *(COMPILED, facts),
        TORCHINDUCTOR_CACHE_DIR=str(path),
        TORCHINDUCTOR_COMPILE_THREADS="1",
    )
    if "InvalidCxxCompiler" in done.stderr or "CppCompileError" in done.stderr:
        pytest.skip("torch.compile has no C++ compiler that works")
    assert done.returncode == 0, done.stderr
    return tfprof.load(recording), json.loads(facts.read_text("utf-8"))


def test_a_compiled_model_has_its_parameters_and_products(compiled):
    profile, facts = compiled

    assert total(profile, "params") == facts["params"]
    assert total(profile, "slots") == facts["params"]  # the momentum of SGD
    assert 2 * total(profile, "macs") == facts["float_ops"]


def test_a_compiled_region_belongs_to_the_module_that_was_compiled(compiled):
    profile, _ = compiled
    runs = runs_of(profile)

    assert unplaced(profile) == []
    for phase in (Phase.FORWARD, Phase.BACKWARD):
        assert runs[ops_in(profile, "Perceptron", phase)].any()
    assert any("a compiled region has no modules inside" in note for note in profile.notes)
    assert profile.steps == [2, 3]


def test_the_wrapper_of_a_compiled_model_is_not_a_layer(compiled):
    profile, _ = compiled

    assert {row["name"].partition("/")[0] for row in profile.layers()} == {
        *("_TFProfRoot", "Perceptron", "optimizer", "other ops", "outside_modules", "backward")
    }
