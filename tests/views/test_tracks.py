"""The tracks of recorded steps."""

from build import CPU, GPU, GPU_STREAM, MEMCPY, copy, op, profile, run
from tfprof.options import StepOptions
from tfprof.views import steps, tracks
from tfprof.views.tracks import TrackKind


def tracks_of(p, **options):
    return list(tracks.build(p, steps.build(p, StepOptions(**options))))


def places(p, **options):
    """The kind, recording and device of each track."""
    return [
        (
            track.kind.name,
            p.recordings.label[track.recording],
            p.devices.name[track.device] if track.device >= 0 else "",
        )
        for track in tracks_of(p, **options)
    ]


def test_a_recording_has_its_steps_then_ops_and_transfers_by_device():
    p = profile(
        run("a", 2, start=100, device=GPU),
        run("a", 8, start=101, device=GPU_STREAM),
        run("b", 8, start=101, device=CPU),
        copy("MemcpyH2D", 3, start=90),
    )

    assert places(p) == [
        ("STEPS", "here", ""),
        ("OPS", "here", GPU),
        ("OPS", "here", GPU_STREAM),
        ("OPS", "here", CPU),
        ("TRANSFERS", "here", MEMCPY),
    ]


def test_each_recording_has_its_own_tracks():
    p = profile(run("a", recording="x"), run("a", recording="y"))

    assert places(p) == [
        ("STEPS", "x", ""),
        ("OPS", "x", CPU),
        ("STEPS", "y", ""),
        ("OPS", "y", CPU),
    ]


def test_slices_are_in_order_of_their_starts_with_op_step_and_kind():
    p = profile(
        op("a", "MatMul"),
        op("b", "Add"),
        run("a", 2, step=1, start=300),
        run("b", 3, step=0, start=100),
        run("a", 4, step=0, start=200),
    )
    _, track = tracks_of(p)

    assert list(track.slices.name) == ["b", "a", "a"]
    assert list(track.slices.category) == ["Add", "MatMul", "MatMul"]
    assert track.slices.op.tolist() == [1, 0, 0]
    assert track.slices.step.tolist() == [0, 0, 1]
    assert track.slices.start_ns.tolist() == [100_000, 200_000, 300_000]
    assert track.slices.duration_ns.tolist() == [3_000, 4_000, 2_000]


def test_only_chosen_steps_have_slices():
    p = profile(run("a", step=0, start=100), run("a", step=1, start=300))
    every = tracks_of(p, step=1)

    assert [track.kind for track in every] == [TrackKind.STEPS, TrackKind.OPS]
    assert [track.slices.start_ns.tolist() for track in every] == [[300_000], [300_000]]


def test_a_slice_may_start_in_the_lane_of_one_that_just_ended():
    p = profile(run("a", 10, start=100), run("b", 10, start=105), run("c", 10, start=110))
    _, track = tracks_of(p)

    assert track.lane.tolist() == [0, 1, 0]


def test_fewer_slices_need_fewer_lanes():
    p = profile(run("a", 10, start=100), run("b", 10, start=105), run("c", 10, start=110))
    _, track = tracks_of(p)
    kept = track.where(track.slices.name.starts_with("b"))

    assert list(kept.slices.name) == ["b"]
    assert kept.lane.tolist() == [0]


def test_the_rows_of_measured_steps_are_those_with_times():
    p = profile(run("a", step=0, start=0), run("a", step=1, start=100), run("a", step=4, start=300))
    times = steps.build(p, StepOptions())

    assert [step.step for step in times.steps] == [1, 4]
    assert tracks.step_rows(p, times).tolist() == [1, 2]
