"""Modules that a program creates anew in each step count as one."""

import pytest

import tfprof
from kineto_programs import annotation, loaded, module, nanos, op
from tfprof.sources.torch_modules_file import (
    RecordedModule,
    RecordedModules,
    RecordedWeight,
    encoded,
)


def step(number, *events):
    """A step of 100 microseconds in which a net runs; the events have times of the first step."""
    begin = 100 * number
    shown = [{**one, "ts": one["ts"] + begin} for one in (module("Net_0", 10, 80), *events)]
    return [annotation(f"ProfilerStep#{number}", begin, 99), *shown]


def loss(number, ts=20):
    return module(f"Loss_{number}", ts, 10), op("aten::nll_loss", ts + 2, 5)


def momentary(profile):
    return [note.rpartition(": ")[2] for note in profile.notes if "creates anew" in note]


def test_a_loss_of_each_step_is_one_module_of_its_caller(tmp_path):
    profile = loaded(tmp_path, *step(0, *loss(0)), *step(1, *loss(1)), *step(2, *loss(2)))

    assert nanos(profile, on_accelerator=False) == {"Net/Loss/aten::nll_loss": 15_000}
    assert profile.layers(select="micros")["Net/Loss"]["total_micros"] == 5
    assert momentary(profile) == ["Loss."]


def test_several_losses_of_each_step_are_one_module(tmp_path):
    steps = [step(one, *loss(2 * one), *loss(2 * one + 1, 50)) for one in range(3)]
    profile = loaded(tmp_path, *(event for events in steps for event in events))

    assert nanos(profile, on_accelerator=False) == {"Net/Loss/aten::nll_loss": 30_000}


def test_losses_outside_of_modules_are_one_module(tmp_path):
    profile = loaded(tmp_path, *step(0, *loss(0, 92)), *step(1, *loss(1, 92)))

    assert nanos(profile, on_accelerator=False) == {"Loss/aten::nll_loss": 10_000}


def test_modules_that_run_in_several_steps_stay_apart(tmp_path):
    both = (*loss(0), *loss(1, 50))
    profile = loaded(tmp_path, *step(0, *both), *step(1, *both))

    assert len(nanos(profile, on_accelerator=False)) == 2
    assert not momentary(profile)


def test_modules_that_run_in_some_steps_stay_apart(tmp_path):
    profile = loaded(tmp_path, *step(0, *loss(0)), *step(1), *step(2, *loss(1)))

    assert len(nanos(profile, on_accelerator=False)) == 2
    assert not momentary(profile)


def test_modules_that_contain_others_stay_apart(tmp_path):
    inner = [(module("Mean_0", 21, 8),), (module("Mean_1", 21, 8),)]
    profile = loaded(tmp_path, *step(0, *loss(0), *inner[0]), *step(1, *loss(1), *inner[1]))

    assert len(nanos(profile, on_accelerator=False)) == 2


def recorded(tmp_path, *modules, steps=((0,), (1,))):
    """Steps with losses of these numbers, and what a recording knows about the modules."""
    weights = [RecordedWeight("Net", "scale", (1,), "float32", True, True)]
    found = RecordedModules([RecordedModule("Net", "", "Net", "Net_0"), *modules], weights)
    (tmp_path / "modules.json").write_bytes(encoded(found))
    events = [
        step(
            number,
            *(event for place, one in enumerate(losses) for event in loss(one, 20 + 20 * place)),
        )
        for number, losses in enumerate(steps)
    ]
    loaded(tmp_path, *(event for one in events for event in one))
    profile = tfprof.load(tmp_path / "trace.json", tmp_path / "modules.json")
    return set(nanos(profile, on_accelerator=False))


def losses(*, is_deleted):
    return (
        RecordedModule("Loss", "", "Loss", "Loss_0", is_deleted),
        RecordedModule("Loss#2", "", "Loss", "Loss_1", is_deleted),
    )


@pytest.mark.parametrize("is_deleted", [True, False])
def test_a_recording_knows_which_losses_were_created_for_one_call(is_deleted, tmp_path):
    assert recorded(tmp_path, *losses(is_deleted=is_deleted)) == (
        {"Net/Loss/aten::nll_loss"}
        if is_deleted
        else {"Loss/aten::nll_loss", "Loss#2/aten::nll_loss"}
    )


@pytest.mark.parametrize(
    "steps", [((0,), (1,), (0,)), ((0, 1), (1, 0), (0, 0)), ((0,), (0,), (1,))]
)
def test_a_loss_that_has_the_address_of_an_earlier_one_counts_as_the_same(steps, tmp_path):
    found = recorded(tmp_path, *losses(is_deleted=True), steps=steps)

    assert found == {"Net/Loss/aten::nll_loss"}


def test_deleted_modules_that_ran_in_each_step_stay_apart(tmp_path):
    found = recorded(tmp_path, *losses(is_deleted=True), steps=((0, 1), (0, 1)))

    assert found == {"Net/Loss_0/aten::nll_loss", "Net/Loss_1/aten::nll_loss"}


def test_known_parts_of_a_model_stay_apart(tmp_path):
    experts = (
        RecordedModule("Net", "experts.0", "Loss", "Loss_0"),
        RecordedModule("Net", "experts.1", "Loss", "Loss_1"),
    )

    assert recorded(tmp_path, *experts) == {
        "Net/experts/0/aten::nll_loss",
        "Net/experts/1/aten::nll_loss",
    }
