"""The kernels of a profile, as the page has them."""

from pathlib import Path

import pytest

import tfprof
from build import op, profile
from fleet_stores import stored
from h200 import GPT, ddp, gpt
from kineto_programs import kernel, launch, loaded, module
from kineto_programs import op as call
from tfprof.errors import MissingInputError
from tfprof.page import kernels
from tfprof.page.content import served_content
from tfprof.page.subject import Subject

GPU_SYNTH = Path(__file__).parents[1] / "samples" / "tensorflow" / "gpu_synth"
FILES = ("graph.pb", "run_meta_0")


def lists(section, fact):
    """The values of a fact of each row."""
    column, start, found = section["facts"][fact], 0, []
    for length in column["lengths"].tolist():
        codes = column["codes"][start : start + length].tolist()
        found.append([column["values"][code] for code in codes])
        start += length
    return found


def launching(tmp_path, *kernels_):
    """A profile of an op that launches kernels, which run one after the other."""
    launches = [launch(number + 1, 2 + number) for number in range(len(kernels_))]
    runs = [
        kernel(name, at + 1, 100 + 9 * at, nanos, **facts)
        for at, (name, nanos, facts) in enumerate(kernels_)
    ]
    return loaded(tmp_path, module("Net_0", 1, 90), call("aten::mm", 2, 80), *launches, *runs)


def test_rows_are_those_of_the_table_below_one_for_all_kernels():
    table = gpt().kernels()
    found = kernels.section(gpt().columns)
    numbers = {name: column.tolist() for name, column in found["numbers"].items()}

    assert list(found["name"]) == ["total", *(one.short_name for one in table)]
    assert list(found["whole"])[1:] == [one.name for one in table]
    assert numbers["launches"] == [412, *(one.launches for one in table)]
    assert numbers["total"] == [table.times.total_ns, *(one.total_ns for one in table)]
    assert sum(numbers["total"][1:]) == numbers["total"][0]
    assert numbers["min"][0] == min(numbers["min"][1:])
    assert numbers["max"][0] == max(numbers["max"][1:])
    assert found["left_out"] == {"kernels": 0, "nanos": 0}


def test_numbers_are_nanoseconds_and_the_occupancy_is_in_millionths(tmp_path):
    facts = {"est. achieved occupancy %": 25}
    p = launching(tmp_path, ("a", 4.001, facts), ("a", 2, facts), ("b", 1, {}))
    found = kernels.section(p.columns)

    assert {name: column.tolist() for name, column in found["numbers"].items()} == {
        "launches": [3, 2, 1],
        "total": [7001, 6001, 1000],
        "mean": [2334, 3001, 1000],
        "min": [1000, 2000, 1000],
        "max": [4001, 4001, 1000],
    }
    assert found["occupancy"].tolist() == [-1, 250_000, -1]


def test_facts_are_texts_of_which_few_are_listed(tmp_path, monkeypatch):
    monkeypatch.setattr(kernels, "MOST_VALUES", 2)
    sizes = {"shared memory": 2048, "registers per thread": 32}
    grids = [(3, [1, 1, 1]), (2, [2, 1, 1]), (1, [3, 1, 1])]
    p = launching(tmp_path, *(("a", time, {"grid": grid, **sizes}) for time, grid in grids))
    found = kernels.section(p.columns)

    assert lists(found, "grids") == [[], ["1x1x1", "2x1x1"]]
    assert found["facts"]["grids"]["left"].tolist() == [0, 1]
    assert lists(found, "shared_memory") == [[], ["2.05\N{NO-BREAK SPACE}KB"]]
    assert lists(found, "registers") == [[], ["32"]]
    assert (lists(found, "ops"), lists(found, "modules")) == ([[], ["aten::mm"]], [[], ["Net"]])


def test_of_many_kernels_those_that_took_the_most_time_are_kept(tmp_path, monkeypatch):
    monkeypatch.setattr(kernels, "MOST_KERNELS", 2)
    times = {"a": 4, "b": 1, "c": 9, "d": 2}
    p = launching(tmp_path, *((name, time, {}) for name, time in times.items()))
    found = kernels.section(p.columns)

    assert list(found["name"]) == ["total", "c", "a"]
    assert found["numbers"]["total"].tolist() == [16_000, 9000, 4000]
    assert found["left_out"] == {"kernels": 2, "nanos": 3000}


def test_the_shapes_of_very_many_inputs_are_cut(tmp_path):
    inputs = call("aten::_foreach_add", 2, 80, **{"Input Dims": [[8, 16]] * 1000})
    p = loaded(tmp_path, inputs, launch(1, 3), kernel("a", 1, 100, 4))
    (_, (shapes,)) = lists(kernels.section(p.columns), "shapes")

    assert shapes.startswith("8x16 8x16 ")
    assert len(shapes) <= 200


def test_sums_over_several_recordings_say_so():
    (note,) = kernels.section(ddp().columns)["notes"]

    assert note == "Sums over all steps of 4 recordings, without copies and fills of memory."


def test_a_run_without_kernels_says_what_to_record(tmp_path):
    p = loaded(tmp_path, call("aten::mm", 2, 80))

    with pytest.raises(MissingInputError, match=r"^No kernel was recorded: .* tfprof\.capture"):
        kernels.section(p.columns)


def content_of(p):
    found = served_content(Subject(p))
    return found["kernels"], found["missing"].get("kernels", "")


def test_a_page_of_a_model_without_a_run_has_no_kernels():
    found, reason = content_of(profile(op("a")))

    assert found is None
    assert reason.startswith("Kernels require a recording of a run")
    assert reason.endswith("records a program.")


def test_a_page_of_files_with_times_alone_says_that_they_lack_kernels():
    found, reason = content_of(tfprof.load(*(GPU_SYNTH / f"{name}.gz" for name in FILES)).columns)

    assert found is None
    assert reason.startswith("The files have the times of ops on accelerators, but no kernels.")


def test_a_page_of_a_store_says_that_it_has_no_kernels(tmp_path):
    found, reason = content_of(stored(tmp_path / "store", [GPT]).columns)

    assert found is None
    assert reason.startswith("A store has the times of ops, but no kernels")
