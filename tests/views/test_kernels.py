"""The table of kernels: what it adds up, how it groups, and what it says if there is none."""

import json
from pathlib import Path

import jsonschema
import pytest

import tfprof
from kineto_programs import annotation, copy, kernel, launch, loaded, module, op
from tfprof.errors import MissingInputError, OptionError
from tfprof.outputs import schemas

GEMM = "void gemm<float, 4>(float*)"
OTHER = "void gemm<int, 4>(int*)"

GPU_SYNTH = Path(__file__).parents[1] / "samples" / "tensorflow" / "gpu_synth"
GRAPH, RUN = (GPU_SYNTH / f"{name}.gz" for name in ("graph.pb", "run_meta_0"))


@pytest.fixture
def profile(tmp_path):
    """Two steps: an op with two kernels in a module, an op without a module, and a stray kernel."""
    facts = {"registers per thread": 32, "shared memory": 1024, "block": [64, 1, 1]}
    return loaded(
        tmp_path,
        annotation("ProfilerStep#1", 0, 50),
        annotation("ProfilerStep#2", 50, 50),
        module("Net_0", 1, 40),
        op("aten::mm", 2, 10, **{"Input Dims": [[8, 16], [16, 4]]}),
        launch(1, 3),
        launch(2, 5),
        op("aten::add", 60, 10, **{"Input Dims": [[8]]}),
        launch(3, 61),
        kernel(GEMM, 1, 20, 4.001, grid=[8, 1, 1], **facts, **{"est. achieved occupancy %": 50}),
        kernel(OTHER, 2, 25, 2, stream=9, grid=[1, 1, 1]),
        kernel(GEMM, 3, 70, 12.0005, grid=[2, 1, 1], **facts, **{"est. achieved occupancy %": 25}),
        kernel("a_stray", 99, 90, 1.999),
        copy("Memcpy HtoD", 98, 95, 3),
    )


def test_rows_add_up_to_the_kernels_of_the_recording(profile):
    table = profile.kernels()

    assert [(one.short_name, one.launches, one.total_ns) for one in table] == [
        ("gemm<float>", 2, 4001 + 12001),
        ("gemm<int>", 1, 2000),
        ("a_stray", 1, 1999),
    ]
    assert (table.times.launches, table.times.total_ns) == (4, 20_001)
    assert sum(one.share for one in table) == pytest.approx(1)


def test_a_row_has_the_shortest_the_longest_and_the_mean_launch(profile):
    row = profile.kernels()["gemm<float>"]

    assert (row.min_ns, row.mean_ns, row.max_ns) == (4001, 8001, 12_001)


def test_a_row_has_what_launched_it_and_how(profile):
    row = profile.kernels()[GEMM]

    assert row.name == GEMM
    assert row.ops == ("aten::add", "aten::mm")
    assert row.shapes == (((8,),), ((8, 16), (16, 4)))
    assert row.modules == ("Net",)
    assert row.grids == ((2, 1, 1), (8, 1, 1))
    assert row.blocks == ((64, 1, 1),)
    assert row.registers == (32,)
    assert row.shared_memory == (1024,)
    assert row.streams == ("cuda:0/stream:7",)


def test_occupancy_is_weighted_by_time(profile):
    row = profile.kernels()["gemm<float>"]

    assert row.occupancy == pytest.approx((50 * 4001 + 25 * 12_001) / 16_002, abs=1e-3)


def test_launches_with_the_same_occupancy_have_it_as_their_mean(tmp_path):
    facts = {"est. achieved occupancy %": 55}
    times = (1.299, 1.451, 6.642)
    runs = [
        kernel("a", 9 + at, 20 * at, time, grid=[at + 1, 1, 1], **facts)
        for at, time in enumerate(times)
    ]
    (row,) = loaded(tmp_path, op("aten::mm", 2, 10), *runs).kernels()

    assert row.occupancy == 55


def test_a_kernel_of_no_op_is_in_the_table(profile):
    row = profile.kernels()["a_stray"]

    assert row.ops == ("unattributed",)
    assert (row.grids, row.registers, row.occupancy, row.shapes) == ((), (), None, ())


def test_a_step_has_its_own_kernels(profile):
    table = profile.kernels(step=1)

    assert [(one.short_name, one.total_ns) for one in table] == [
        ("gemm<float>", 4001),
        ("gemm<int>", 2000),
    ]
    assert table.times.total_ns == 6001


def test_a_kernel_has_the_same_short_name_in_each_step(profile):
    assert profile.kernels(step=2)[GEMM].short_name == "gemm<float>"


@pytest.mark.parametrize(
    ("group_by", "rows"),
    [
        ("kernel", [12_001 + 4001, 2000, 1999]),
        ("op", [12_001, 4001, 2000, 1999]),
        ("module", [12_001, 4001, 2000, 1999]),
        ("configuration", [12_001, 4001, 2000, 1999]),
    ],
)
def test_rows_are_grouped_by_kernel_and_what_is_asked_for(profile, group_by, rows):
    assert [one.total_ns for one in profile.kernels(group_by=group_by)] == rows


@pytest.mark.parametrize(
    ("sort_by", "names"),
    [
        ("total", ["gemm<float>", "gemm<int>", "a_stray"]),
        ("launches", ["gemm<float>", "a_stray", "gemm<int>"]),
        ("min", ["gemm<float>", "gemm<int>", "a_stray"]),
        ("name", ["a_stray", "gemm<float>", "gemm<int>"]),
    ],
)
def test_rows_are_sorted(profile, sort_by, names):
    assert [one.short_name for one in profile.kernels(sort_by=sort_by)] == names


def test_names_select_rows_and_leave_shares_as_they_are(profile):
    table = profile.kernels(show_name_regexes=["gemm.*"], hide_name_regexes=[".*int.*"])

    assert [one.short_name for one in table] == ["gemm<float>"]
    assert next(iter(table)).share == 16_002 / 20_001
    assert table.times.hidden_kernels == 2
    assert "Hidden by name: 2 kernels; those that match took 80.01% of the time." in table.report


def test_json_has_all_rows_and_agrees_with_its_schema(profile):
    found = json.loads(profile.kernels(max_rows=1).to_json())

    assert found["total_ns"] == sum(one["total_ns"] for one in found["kernels"]) == 20_001
    assert found["kernels"][0]["shapes"] == [[[8]], [[8, 16], [16, 4]]]
    jsonschema.validate(found, schemas.schema_of("kernels"))


def test_the_report_has_whole_names_and_says_what_is_left_out(profile):
    report = profile.kernels(max_rows=1).report

    assert GEMM in report
    assert "… 2 more; -max_rows -1 shows all" in report
    assert report.endswith("All kernels: 4 launches, 20.00us.\n")


@pytest.mark.parametrize("width", [80, 120, 200])
def test_a_table_with_a_width_fits_and_keeps_the_share(profile, width):
    lines = profile.kernels().draw(width).splitlines()

    assert max(map(len, lines)) <= width
    assert any(line.startswith("kernel") and " share" in line for line in lines)


def test_a_long_name_is_cut_in_the_middle_on_a_terminal_only(tmp_path):
    name = f"start_{'x' * 400}_end"
    table = loaded(tmp_path, op("aten::mm", 1, 5), kernel(name, 1, 2, 3)).kernels()

    assert name in table.report
    assert name not in table.draw(80)
    assert "start_" in table.draw(80)
    assert "x_end" in table.draw(80)


def test_names_that_differ_in_the_middle_stay_different_on_a_terminal(tmp_path):
    same = "same_" * 20
    kernels = [kernel(f"{same}{one}{same}", place, place, 1) for place, one in enumerate("ab")]
    lines = loaded(tmp_path, op("aten::mm", 1, 5), *kernels).kernels().draw(80).splitlines()
    names = [line.split()[0] for line in lines if line.startswith("same")]

    assert [name.partition("…")[2][0] for name in names] == ["a", "b"]
    assert max(map(len, lines)) <= 80


def test_a_data_frame_has_single_values(profile):
    pytest.importorskip("pandas")
    frame = profile.kernels().to_dataframe()

    assert frame["total_ns"].sum() == 20_001
    assert frame["grid"].tolist()[:2] == ["2x1x1", "1x1x1"]
    assert frame["shape"].tolist()[0] == "8"


def test_html_has_a_row_per_kernel(profile):
    shown = profile.kernels()._repr_html_()

    assert "gemm&lt;float&gt;" in shown
    assert "All kernels: 4 launches" in shown


def test_a_saved_profile_has_the_same_table(profile, tmp_path):
    profile.save(tmp_path / "saved.tfprof")

    saved = tfprof.load(tmp_path / "saved.tfprof")

    assert saved.kernels().to_dict()["kernels"] == profile.kernels().to_dict()["kernels"]


def test_several_recordings_add_up_and_can_be_chosen(tmp_path):
    for rank in range(2):
        (tmp_path / f"{rank}").mkdir()
        info = {"distributedInfo": {"rank": rank, "world_size": 2}}
        loaded(
            tmp_path / f"{rank}",
            op("aten::mm", 1, 5),
            launch(1, 2),
            kernel(GEMM, 1, 3, 1 + rank),
            **info,
        )
    profile = tfprof.load(tmp_path / "0" / "trace.json", tmp_path / "1" / "trace.json")

    assert [one.total_ns for one in profile.kernels()] == [3000]
    assert [one.total_ns for one in profile.kernels(rank=1)] == [2000]


def test_a_recording_of_the_host_has_no_kernels_and_says_what_to_record(tmp_path):
    table = loaded(tmp_path, op("aten::mm", 1, 5)).kernels()

    assert len(table) == 0
    assert "ProfilerActivity.CUDA" in table.notes[-1]
    assert table.report.endswith("No kernels.\n")


def test_run_metadata_has_times_of_accelerators_but_no_kernels():
    with pytest.raises(MissingInputError, match=r"give a trace of PyTorch or an \*.xplane.pb"):
        tfprof.load(GRAPH, RUN).kernels()


def test_a_graph_alone_has_no_run():
    with pytest.raises(MissingInputError, match="Kernels require a recording of a run"):
        tfprof.load(GRAPH).kernels()


def test_an_unknown_step_is_rejected(profile):
    with pytest.raises(OptionError, match=r"No step 7. Recorded: 1, 2; -1 adds up all steps."):
        profile.kernels(step=7)
