"""A view as trace events for browsers."""

import json

import pytest

import tfprof
from asking import ask
from build import CPU, GPU, GPU_STREAM, op, profile, run
from tfprof.errors import MissingInputError
from tfprof.outputs import timeline


def written(view):
    """The text of each timeline, by the suffix of its name."""
    return {part.suffix: b"".join(part.pieces).decode() for part in timeline.parts(view)}


def events(view, suffix="_0"):
    return json.loads(written(view)[suffix])["traceEvents"]


def of_phase(view, phase):
    return [event for event in events(view) if event["ph"] == phase]


def test_a_tree_has_a_process_per_depth_and_a_slice_per_row():
    p = profile(run("a", micros=2), run("a/b", micros=3))

    assert written(ask("scope", p, step=0)) == {
        "_0": '{"traceEvents":['
        '{"args":{"name":"Scope:0"},"name":"process_name","ph":"M","pid":0},'
        '{"args":{"name":"_TFProfRoot","op":"_TFProfRoot"},"cat":"Op","dur":5,'
        '"name":"_TFProfRoot","ph":"X","pid":0,"tid":0,"ts":0},'
        '{"args":{"name":"Scope:1"},"name":"process_name","ph":"M","pid":1},'
        '{"args":{"name":"a","op":"a"},"cat":"Op","dur":5,'
        '"name":"a","ph":"X","pid":1,"tid":0,"ts":0},'
        '{"args":{"name":"Scope:2"},"name":"process_name","ph":"M","pid":2},'
        '{"args":{"name":"a/b","op":"a/b"},"cat":"Op","dur":3,'
        '"name":"a/b","ph":"X","pid":2,"tid":0,"ts":0}'
        "]}\n"
    }


def test_a_graph_has_a_process_per_device_and_a_slice_per_run():
    p = profile(run("a", start=7, micros=2))

    assert written(ask("graph", p, step=0)) == {
        "_0": '{"traceEvents":['
        f'{{"args":{{"name":"Op scheduling threads: {CPU}"}},'
        '"name":"process_name","ph":"M","pid":0},'
        '{"args":{"name":"a"},"cat":"Op","dur":2,"name":"a","ph":"X","pid":0,"tid":0,"ts":7}'
        "]}\n"
    }


def test_an_arrow_goes_from_the_end_of_one_run_to_the_start_of_another():
    p = profile(
        op("b", inputs=["a"]),
        run("a", start=10, micros=4, device="/other/cpu:0"),
        run("b", start=30),
    )
    view = ask("graph", p, step=0)

    shared = {"cat": "DataFlow", "id": 1, "name": "a_flow", "tid": 0}
    assert of_phase(view, "s") == [shared | {"ph": "s", "pid": 1, "ts": 14}]
    assert of_phase(view, "t") == [shared | {"ph": "t", "pid": 0, "ts": 30}]


def test_memory_in_use_has_a_counter_and_so_do_the_ops_that_hold_most():
    memory = {"micros": 500, "in_use": 10_000_000}
    p = profile(run("a", start=400, device=GPU, memory=memory, allocations=[(1, 2_500_000)]))
    view = ask("graph", p, step=0)

    names = [event["args"]["name"] for event in of_phase(view, "M")]
    assert names[1:] == [f"mem usage on:{GPU}", f"mem usage on:{GPU} allocations"]
    usage, top = of_phase(view, "C")
    assert usage == {
        "args": {"Allocator Bytes in Use": 10_000_000},
        "cat": "Memory",
        "name": "Allocated Bytes",
        "ph": "C",
        "pid": 1,
        "tid": 0,
        "ts": 500,
    }
    assert top["pid"] == 2
    assert top["args"] == {
        "Top Allocation 00": "2.5 MB from a",
        **{f"Top Allocation 0{place}": "N/A" for place in range(1, 10)},
        "Not Displayed": "7.50 MB",
    }


def test_accelerator_execution_and_its_dispatch_have_different_names():
    p = profile(run("a", device=GPU), run("a", device=GPU_STREAM))

    names = [event["args"]["name"] for event in of_phase(ask("graph", p, step=0), "M")]
    assert names[:2] == [
        f"Op execution threads: {GPU_STREAM}",
        f"Op scheduling threads: {GPU}",
    ]


def test_a_note_gives_the_peak_memory():
    p = profile(run("a", device=GPU, memory={"micros": 500, "in_use": 12_345_678}))

    (part,) = timeline.parts(ask("graph", p, step=0))

    assert part.notes == (f"{GPU} peak memory: 12.35 MB",)


def test_a_note_counts_the_runs_that_are_left_out():
    p = profile(run("a", start=7), run("b", start=7), run("c", start=8))

    (part,) = timeline.parts(ask("graph", p, step=0))

    assert part.notes == (
        (
            "1 run is left out: this format shows one op per device and starting microsecond; "
            "perfetto:outfile=F has all runs."
        ),
    )


def test_a_graph_of_all_steps_is_one_file_per_step():
    p = profile(run("a", start=7), run("b", start=8, step=5))

    found = written(ask("graph", p))

    assert list(found) == ["_0", "_5"]
    assert '"name":"b"' in found["_5"]
    assert '"name":"b"' not in found["_0"]


def test_a_tree_of_all_steps_is_one_file_of_averages():
    p = profile(run("a", micros=2), run("a", micros=4, step=5))

    assert [event.get("dur") for event in events(ask("scope", p), "_-1")] == [None, 3, None, 3]


@pytest.mark.parametrize("kind", ["scope", "graph"])
def test_a_timeline_requires_a_step(kind):
    with pytest.raises(MissingInputError, match="--run_meta_path"):
        written(ask(kind, profile(op("a"))))


def test_a_step_without_times_gives_an_empty_timeline():
    assert written(ask("graph", profile(run("a", start=0)))) == {"_0": '{"traceEvents":[]}\n'}


@pytest.mark.parametrize("kind", ["scope", "graph"])
def test_special_characters_in_names_are_escaped(kind):
    name = 'é"\\\t𝄞'
    view = ask(kind, profile(run(name, start=1), run("plain", start=2)), step=0)

    (text,) = written(view).values()
    assert text == json.dumps(json.loads(text), sort_keys=True, separators=(",", ":")) + "\n"
    assert name in [event["name"] for event in json.loads(text)["traceEvents"]]


@pytest.mark.parametrize("kind", ["scope", "graph", "code"])
def test_the_block_size_does_not_change_a_timeline(kind, monkeypatch):
    code = ["main.py:1:main", "net.py:2:f"]
    memory = {"micros": 500, "in_use": 10}
    p = profile(
        *(op("a", code=code[:1]), op("a/b", inputs=["a"], code=code), op("é", inputs=["a"])),
        run("a", start=5, memory=memory, device=GPU),
        *(run("a/b", start=start) for start in (10, 11, 20)),
        run("é", start=30),
    )
    whole = written(ask(kind, p))
    monkeypatch.setattr(timeline, "_BLOCK_ROWS", 2)

    assert written(ask(kind, p)) == whole


@pytest.mark.usefixtures("files")
def test_write_returns_the_written_files(tmp_path):
    found = tfprof.load("graph.pb", "run_meta_0", "run_meta_1").graph()

    files = found.write(f"timeline:outfile={tmp_path / 'out'}")

    assert [file.path for file in files] == [
        str(tmp_path / "out_0"),
        str(tmp_path / "out_1"),
    ]
    assert all(json.loads((tmp_path / f"out_{step}").read_bytes()) for step in (0, 1))
