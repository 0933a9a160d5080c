"""The numbers of the timeline are those of the Python API."""

from __future__ import annotations

import contextlib
import json
import shlex

import numpy as np
import pytest

import tfprof
from report_pages import MODELS, ROOT, answer, settled
from tfprof.cli import main
from tfprof.measures.step_sums import busy_devices
from tfprof.measures.steps import covered
from tfprof.views import tracks
from tfprof.views.tracks import TrackKind

pytestmark = pytest.mark.browser

RECORDED = ("resnet32", "transformer")


@pytest.fixture(scope="module")
def profile_of():
    known = {}

    def load(model):
        if model not in known:
            with contextlib.chdir(ROOT):
                known[model] = tfprof.load(*MODELS[model])
        return known[model]

    return load


@pytest.fixture
def opened(open_report, report_of):
    def show(model):
        return settled(open_report(report_of(model), state="view=timeline"))

    return show


def fields(place):
    """The numbers of an element by the names of their fields."""
    found = place.locator("[data-field]").evaluate_all(
        "all => all.map(one => [one.dataset.field, Number(one.dataset.value)])"
    )
    return {name: int(value) for name, value in found}


@pytest.mark.parametrize("model", RECORDED)
def test_the_table_has_the_times_of_all_steps(opened, profile_of, model):
    page = opened(model)
    times = profile_of(model).step_times().times

    for place, step in enumerate(times.steps):
        shown = fields(page.locator(f".timeline-table [data-step='{place}']"))
        assert shown == {
            "wall": step.wall_ns,
            "busy": step.busy_ns,
            "idle": step.idle_ns,
            "input_wait": step.input_wait_ns,
        }


@pytest.mark.parametrize("model", RECORDED)
def test_the_details_of_a_step_are_the_answer_to_its_command(opened, profile_of, model):
    page = opened(model)
    details = page.locator(".timeline-details")
    for place in range(len(profile_of(model).step_times().times.steps))[:3]:
        page.click(f".timeline-table [data-step='{place}']")
        (step,) = answer(details.locator(".command-text").first.inner_text())["steps"]
        shown = fields(details)

        for name in ("wall", "busy", "idle", "input_wait", "op_time"):
            assert shown[name] == step[f"{name}_ns"]
        assert shown["ops"] == step["ops"]
        parts = {key.removeprefix("part "): shown[key] for key in shown if key.startswith("part ")}
        assert parts == {key: nanos for key, nanos in step["phases"].items() if nanos}
        assert [shown["device 0"]] == list(step["devices"].values())


def ops_of(columns, times):
    """The starts, ends and ops of all runs, from the start of the first step; no iterators."""
    base = min(step.start_ns for step in times.steps)
    found = [one for one in tracks.build(columns, times) if one.kind is TrackKind.OPS]
    start, duration, op, device = (
        np.concatenate([getter(one) for one in found])
        for getter in (
            lambda one: one.slices.start_ns - base,
            lambda one: one.slices.duration_ns,
            lambda one: one.slices.op,
            lambda one: np.full(len(one.slices), one.device),
        )
    )
    order = np.argsort(start, kind="stable")
    order = order[~columns.ops.is_iterator()[op[order]]]
    return start[order], (start + duration)[order], op[order], device[order]


@pytest.mark.parametrize("model", RECORDED)
@pytest.mark.parametrize("zooms", [0, 4, 12])
def test_a_measured_range_has_the_sums_of_the_runs_in_it(opened, profile_of, model, zooms):
    page = opened(model)
    for key in ("w",) * zooms:
        page.keyboard.press(key)
    page.keyboard.press("m")
    details = page.locator(".timeline-details")
    view = settled(page).locator(".timeline")
    first, last = (int(view.get_attribute(f"data-{side}")) for side in ("from", "to"))
    columns = profile_of(model).columns
    start, end, op, device = ops_of(columns, profile_of(model).step_times().times)

    inside = (end > first) & (start < last)
    start, end, op, device = (column[inside] for column in (start, end, op, device))
    start, end = np.maximum(start, first), np.minimum(end, last)
    shown = fields(details)
    assert shown["range"] == last - first
    assert shown["runs"] == len(op)
    names = np.array(busy_devices(columns))[device]
    assert shown["device 0"] == covered(start[names == names[0]], end[names == names[0]])
    nanos = np.zeros(len(columns.ops), np.int64)
    np.add.at(nanos, op, end - start)
    top = {int(key.removeprefix("op ")): shown[key] for key in shown if key.startswith("op ")}
    assert list(top.values()) == sorted(nanos.tolist(), reverse=True)[: len(top)]
    assert all(nanos[one] == value for one, value in top.items())


@pytest.mark.parametrize("model", RECORDED)
def test_a_selected_run_has_the_times_of_the_profile(opened, profile_of, model):
    page = opened(model)
    details = page.locator(".timeline-details")
    profile = profile_of(model)
    columns = profile.columns
    runs, records = columns.executions, columns.records
    page.locator("canvas.timeline-overlay").focus()
    for key in ("ArrowRight", "ArrowRight", "ArrowDown", "ArrowRight", "."):
        page.keyboard.press(key)
        shown = fields(details)
        op = columns.ops.name.row_of(details.locator("h2").inner_text())
        number = int(details.inner_text().partition("start in step ")[2].split("\n")[0])
        (step,) = (one for one in profile.step_times().times.steps if one.step == number)

        own = np.flatnonzero(records.op[runs.record] == op)
        durations = np.sort(runs.duration_ns[own])
        assert (shown["start"] + step.start_ns, shown["duration"]) in set(
            zip(runs.start_ns[own].tolist(), runs.duration_ns[own].tolist(), strict=True)
        )
        assert shown["runs"] == len(own)
        assert shown["total"] == durations.sum()
        assert [shown[name] for name in ("min", "median", "max")] == [
            durations[0],
            durations[(len(own) - 1) // 2],
            durations[-1],
        ]


def test_the_command_for_perfetto_writes_the_same_runs(opened, profile_of, tmp_path):
    page = opened("transformer")
    page.click(".timeline-hints summary")
    command = page.locator(".timeline-hints .command-text").inner_text()
    program, *words, _ = shlex.split(command)
    path = tmp_path / "timeline.json"
    with contextlib.chdir(ROOT):
        assert main([*words, str(path)]) == 0

    assert program == "tfprof"
    events = json.loads(path.read_text())["traceEvents"]
    columns = profile_of("transformer").columns
    slices = [event for event in events if event["ph"] == "X"]
    assert len(slices) == len(columns.executions) + len(columns.waits) + len(columns.steps)


def test_without_runs_the_view_says_how_to_record(open_report, report_of):
    page = settled(open_report(report_of("keras_cnn"), state="view=timeline"))

    assert "tfprof run PROGRAM" in page.locator("main").inner_text()
