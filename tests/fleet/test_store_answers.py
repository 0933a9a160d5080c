"""A store gives the same answers as the files that were collected, loaded together."""

import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tfprof
from fleet_stores import stored
from fleets import Job, generated
from h200 import GPT, RANKS, ddp, gpt
from sources.xplane_files import event, host, recording
from tfprof.api import load_inputs, sql_tables
from tfprof.fleet.sql_tables import SQL_TABLES
from tfprof.fleet.tables import TABLES
from tfprof.formats.messages import message_class
from tfprof.options import Inputs

EXAMPLES = Path(__file__).parents[2] / "examples"
WORKERS = sorted((EXAMPLES / "two_workers").glob("worker*/*.gz"))
GRAPH = EXAMPLES / "two_workers" / "graph.pb.gz"

TIMES = "micros,accelerator_micros,cpu_micros,occurrence"
BYTES = "bytes,peak_bytes,residual_bytes,output_bytes"
QUESTIONS = (
    {"select": TIMES, "max_depth": 100},
    {"select": BYTES, "max_depth": 100},
    {"select": "params,float_ops,device,op_types", "max_depth": 100},
    {"select": "micros", "order_by": "micros", "min_micros": 2},
    {"select": "transfer_micros", "order_by": "transfer_micros", "min_transfer_micros": 1},
    {"select": "micros,device", "device_regexes": ".*GPU.*,.*gpu.*"},
    {"select": "micros", "account_type_regexes": ".*cpu.*,.*CPU.*"},
)


def loaded(runs, graphs=()):
    """The profile of files; runs may be pairs of step and path."""
    pairs = [run if isinstance(run, tuple) else (None, run) for run in runs]
    steps = tuple((step, str(path)) for step, path in pairs)
    return load_inputs([str(path) for path in graphs], Inputs(run_meta_path=steps))


def answer(profile, kind, options):
    """The numbers of an answer, or its error."""
    try:
        numbers = getattr(profile, kind)(**options).to_dict()
    except tfprof.TfprofError as error:
        return type(error), str(error)
    del numbers["notes"]  # those on files name each file
    return numbers


def assert_same(files, store, *, chosen=()):
    """All views of both give the same numbers, for all steps and for the chosen ones."""
    assert list(store.columns.recordings.label) == list(files.columns.recordings.label)
    assert store.columns.ops.is_covered.tolist() == files.columns.ops.is_covered.tolist()
    for choice in ({}, *chosen):
        for kind in ("scope", "graph", "op", "code", "layers"):
            for options in QUESTIONS:
                asked = options | choice
                assert answer(store, kind, asked) == answer(files, kind, asked), (kind, asked)
        for kind in ("step_times", "ranks"):
            assert answer(store, kind, choice) == answer(files, kind, choice)


def test_run_metadata_of_two_workers(tmp_path):
    files = tfprof.load(GRAPH, *WORKERS)

    store = stored(tmp_path / "store", WORKERS, [GRAPH])

    choices = [{"step": 1}, {"rank": [1]}, {"recording": "worker:0", "step": 0}]
    assert_same(files, store, chosen=choices)
    assert str(store.memory()) == str(files.memory())
    assert str(store.memory(step=1, rank=[1])) == str(files.memory(step=1, rank=[1]))


def test_run_metadata_without_a_graph_and_with_numbers_of_steps(tmp_path):
    runs = [(int(path.stem.rpartition("_")[2]), path) for path in WORKERS]
    files = loaded(runs)

    assert_same(files, stored(tmp_path / "store", runs), chosen=[{"step": 30}])


@pytest.mark.parametrize("has_gpu", [False, True])
def test_traces_of_several_hosts(tmp_path, has_gpu):
    job = Job(hosts=3, steps=4, layers=2, has_gpu=has_gpu)
    paths = generated(tmp_path, job)
    files = tfprof.load(*paths)

    store = stored(tmp_path / "store", paths)

    choices = [{"step": 2}, {"recording": files.recordings[1].label}]
    assert_same(files, store, chosen=choices)


def test_traces_of_several_ranks_with_other_shapes(tmp_path):
    store = stored(tmp_path / "store", RANKS)

    assert_same(ddp(), store, chosen=[{"step": 2}, {"rank": [2]}, {"rank": [0, 2]}])


def test_a_trace_of_pytorch_with_memory(tmp_path):
    store = stored(tmp_path / "store", [GPT])

    assert_same(gpt(), store)
    (held,) = (row for row in str(store.layers()).splitlines() if "memory" in row)
    assert held.strip() == "memory"


def test_the_order_of_collecting_does_not_matter(tmp_path):
    stored(tmp_path / "first", WORKERS, [GRAPH])
    stored(tmp_path / "second", WORKERS[::-1], [GRAPH])

    assert contents(tmp_path / "first") == contents(tmp_path / "second")


def contents(folder):
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


names = st.sampled_from(["a:Mul", "a/b:MatMul", "c/d:Relu", "sum:CollectiveReduceV2"])
runs_of_host = st.lists(
    st.tuples(names, st.integers(0, 300), st.integers(0, 40)), min_size=1, max_size=12
)
fleets = st.lists(
    st.tuples(runs_of_host, st.lists(st.integers(1, 300), max_size=3, unique=True)),
    min_size=1,
    max_size=4,
)


@given(fleets)
@settings(max_examples=15)
def test_random_traces(hosts):
    with tempfile.TemporaryDirectory() as folder:
        paths = []
        for number, (runs, marks) in enumerate(hosts):
            ops = [event(name, start, took) for name, start, took in runs]
            steps = [
                event("train", start, 5, step_num=place, _r=1)
                for place, start in enumerate(sorted(marks))
            ]
            path = Path(folder, f"host{number}.xplane.pb")
            path.write_bytes(recording(host(thread=ops, python=steps)))
            paths.append(path)
        files = tfprof.load(*paths)

        assert_same(files, stored(Path(folder, "store"), paths), chosen=[{"step": 0}])


entries = st.tuples(
    st.sampled_from(["a", "a/b", "c/d", "e"]),
    st.integers(0, 3),  # the device
    st.integers(1, 10**6),
    st.integers(0, 50),
    st.integers(-100, 10**6),
)
files_of_workers = st.lists(
    st.tuples(st.integers(0, 1), st.lists(entries, max_size=8)), min_size=1, max_size=5
)


@given(files_of_workers, st.booleans())
@settings(max_examples=15)
def test_random_run_metadata(found, has_steps):
    with tempfile.TemporaryDirectory() as folder:
        runs = []
        for place, (worker, rows) in enumerate(found):
            path = Path(folder, f"run_meta_{place}")
            path.write_bytes(run_metadata(worker, rows))
            runs.append((place, path) if has_steps else path)

        files, store = loaded(runs), stored(Path(folder, "store"), runs)

        assert_same(files, store, chosen=[{"step": 0}])


def run_metadata(worker, rows):
    """A RunMetadata file; each op has a device of its own, so that it is always the same."""
    devices = {}
    for name, device, start, took, size in rows:
        code = (len(name) + device // 4) % 2
        task = f"/job:worker/replica:0/task:{worker}"
        label = f"{task}/device:GPU:0" if code else f"{task}/device:CPU:0"
        if code and device == 3:
            label = "/device:GPU:0/stream:all"
        uses = [{"allocator_name": "cpu", "total_bytes": size, "peak_bytes": size}]
        devices.setdefault(label, []).append(
            {
                "node_name": name,
                "all_start_micros": start,
                "op_end_rel_micros": took,
                "all_end_rel_micros": took,
                "memory": uses,
            }
        )
    stats = [{"device": name, "node_stats": nodes} for name, nodes in devices.items()]
    message = message_class("tensorflow.RunMetadata")(step_stats={"dev_stats": stats})
    return message.SerializeToString()


def test_an_op_that_moves_to_another_device_is_noted(tmp_path):
    for step, device in enumerate(("CPU", "GPU")):
        node = {"node_name": "a", "all_start_micros": 5, "op_end_rel_micros": 3}
        stats = [{"device": f"/job:worker/task:0/device:{device}:0", "node_stats": [node]}]
        message = message_class("tensorflow.RunMetadata")(step_stats={"dev_stats": stats})
        (tmp_path / f"run_meta_{step}").write_bytes(message.SerializeToString())

    store = stored(tmp_path / "store", [tmp_path / "run_meta_0", tmp_path / "run_meta_1"])

    assert any(
        "1 op ran on another device than in earlier steps; both count." in note
        for note in store.notes
    )


@pytest.mark.parametrize("older", [1, 2])
def test_partitions_from_before_communication_was_a_part_have_none(tmp_path, monkeypatch, older):
    paths = generated(tmp_path / "traces", Job(hosts=2, steps=2, layers=2))
    fields = {**TABLES["steps"].fields}
    del fields["busy_communication_ns"]
    with monkeypatch.context() as patch:
        patch.setitem(TABLES, "steps", TABLES["steps"]._replace(fields=fields))
        stored(tmp_path / "store", paths[:older])
    store = stored(tmp_path / "store", paths)

    assert len(list((tmp_path / "store" / "steps").rglob("*.parquet"))) == 2
    known = [step.phases for step in store.step_times()]
    loaded = [step.phases for step in tfprof.load(*paths).step_times()]
    assert [{**parts, "communication": 0} for parts in known] == [
        {**parts, "communication": 0} for parts in loaded
    ]
    has_none = [parts["communication"] == 0 for parts in known]
    assert has_none == [place < 2 * older for place in range(4)]
    assert "busy_communication_ns" in SQL_TABLES["steps"].fields
    query = "SELECT count(*) FROM steps WHERE busy_communication_ns = 0"
    assert list(next(sql_tables(store).rows(query).batches)) == [(2 * older,)]
