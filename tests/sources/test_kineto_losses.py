"""What is missing in a trace is counted and noted."""

from kineto_programs import annotation, kernel, kernels, launch, launched, loaded, notes_of, op

# Lost and early kernels.


def test_lost_kernels_and_those_from_before_the_recording_are_counted_apart(tmp_path):
    early = kernels(4, start=-380, first=100)
    ran = kernels(20, first=200)
    del ran[5:9]
    profile = loaded(tmp_path, *launched(20, first=200), *early, *ran)

    notes = notes_of(profile)
    assert "4 launches have no kernels in the trace, all between 505us and 805us" in notes
    assert "4 kernels were launched before the recording" in notes


def test_kernels_from_before_the_recording_may_run_after_its_first_launch(tmp_path):
    profile = loaded(
        tmp_path, *launched(1, first=10), kernel("add", 9, 50, 10), kernel("gemm", 10, 70, 10)
    )

    notes = notes_of(profile)
    assert "1 kernel was launched before the recording" in notes
    assert "no recorded launch" not in notes


def test_kernels_whose_launches_are_missing_in_the_middle_are_noted_with_the_time(tmp_path):
    calls = launched(20)
    profile = loaded(tmp_path, *calls[:10], *calls[20:], *kernels(20))

    note = "5 kernels have no recorded launch and no module, all between 520us and 920us"
    assert note in notes_of(profile)


def test_replays_of_a_graph_without_kernels_are_noted(tmp_path):
    calls = launched(4)
    for call in calls[1::2]:
        call["name"] = "cudaGraphLaunch"
    profile = loaded(tmp_path, *calls, *kernels(1))

    note = "3 of 4 launches of graphs have no kernels in the trace, all between 105us and 305us"
    assert note in notes_of(profile)


def test_launches_that_a_graph_captured_are_not_lost(tmp_path):
    calls = launched(4)
    profile = loaded(
        tmp_path,
        *calls,
        launch(50, 101) | {"name": "cudaStreamBeginCapture"},
        launch(51, 260) | {"name": "cudaStreamEndCapture"},
        *(kernels(4)[place] for place in (0, 3)),
    )

    notes = notes_of(profile)
    assert "2 launches were captured for a CUDA graph, and ran no kernels." in notes
    assert "lost" not in notes


# Missing steps.


def test_steps_that_are_missing_between_others_are_noted(tmp_path):
    marks = [annotation(f"ProfilerStep#{step}", 1000 * step, 990) for step in (2, 3, 6, 7)]
    profile = loaded(tmp_path, *marks, op("aten::mm", 2010, 10), op("aten::mm", 7010, 10))

    assert "2 steps are missing in the middle, the first after step 3" in notes_of(profile)
