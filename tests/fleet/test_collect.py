"""Collecting recordings into a store: what is written, skipped, replaced and refused."""

from __future__ import annotations

import json
import os
import shutil
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from collected_stores import contents, identities, recorded

from fleets import Job
from tfprof import atomic_files
from tfprof.errors import InputError, OptionError, OutputError
from tfprof.fleet import layout, partition
from tfprof.fleet.collect import collect
from tfprof.fleet.partition import Made
from tfprof.formats import wire


@pytest.fixture
def executor():
    """Threads, which are started at once."""
    with ThreadPoolExecutor(2) as threads:
        yield threads


@pytest.fixture(scope="module")
def originals(tmp_path_factory):
    return recorded(tmp_path_factory.mktemp("made"), Job(hosts=3, steps=2, layers=2))


@pytest.fixture
def traces(tmp_path, originals):
    """The traces of three hosts in a folder of their own."""
    folder = tmp_path / "traces"
    shutil.copytree(originals[0].parent, folder)
    return sorted(folder.iterdir())


def manifests(store):
    return [json.loads(path.read_bytes()) for path in sorted(Path(store).glob("partitions/*"))]


def sources(store):
    return sorted(Path(manifest["source"]).name for manifest in manifests(store))


def test_processes_and_threads_make_the_same_store(traces, tmp_path, executor):
    here = collect(traces, tmp_path / "here", executor=executor)
    there = collect(traces[::-1], tmp_path / "there", jobs=2)

    assert here.collected == there.collected == 3
    assert here.read_bytes == sum(path.stat().st_size for path in traces)
    assert contents(tmp_path / "here") == contents(tmp_path / "there")


def test_the_mark_of_the_store_says_what_it_contains(traces, tmp_path, executor):
    collect(traces[0], tmp_path / "store", executor=executor, runs=True)

    assert json.loads((tmp_path / "store" / layout.MARK).read_bytes()) == {
        "format": "tfprof store",
        "version": 2,
        "runs": True,
    }


def test_unchanged_files_are_skipped_and_a_new_one_is_added(traces, tmp_path, executor):
    store = tmp_path / "store"
    collect(traces[:2], store, executor=executor)
    before = identities(store)

    again = collect(traces, store, executor=executor)

    assert (again.finished, again.collected) == (2, 1)
    assert before.items() <= identities(store).items()
    assert sources(store) == [path.name for path in traces]


def test_adding_files_one_by_one_makes_the_same_store_as_all_at_once(traces, tmp_path, executor):
    for trace in traces[::-1]:
        collect(trace, tmp_path / "one by one", executor=executor)
    collect(traces, tmp_path / "at once", executor=executor)

    assert contents(tmp_path / "one by one") == contents(tmp_path / "at once")


def test_a_changed_file_replaces_its_partition(traces, tmp_path, executor):
    store = tmp_path / "store"
    collect(traces, store, executor=executor)
    before = identities(store)
    os.utime(traces[1], ns=(1, 1))

    again = collect(traces, store, executor=executor)

    assert (again.finished, again.collected) == (2, 1)
    assert sources(store) == [path.name for path in traces]
    assert (
        len(identities(store).items() - before.items())
        == sum(traces[1].name.partition(".")[0] in name for name in before) + 1
    )  # its tables and its manifest


def test_a_file_that_gets_a_step_replaces_its_partition(files, executor):
    collect("run_meta_0", files / "store", executor=executor)
    collect("7:run_meta_0", files / "store", executor=executor)

    assert [manifest["step"] for manifest in manifests(files / "store")] == [7]


def test_another_version_of_the_graph_collects_its_recordings_again(files, executor):
    given = ["graph.pb", "run_meta_0"]
    collect(given, files / "store", executor=executor)

    assert collect(given, files / "store", executor=executor).finished == 1
    os.utime("graph.pb", ns=(1, 1))
    assert collect(given, files / "store", executor=executor).collected == 1


def test_a_damaged_file_is_skipped_and_tried_again(traces, tmp_path, executor):
    store = tmp_path / "store"
    whole = traces[1].read_bytes()
    traces[1].write_bytes(whole[:-100])

    first = collect(traces, store, executor=executor)
    second = collect(traces, store, executor=executor)

    assert (first.collected, len(first.damaged)) == (2, 1)
    assert (second.finished, len(second.damaged)) == (2, 1)
    assert first.damaged[0][0] == str(traces[1])
    (trouble,) = [one["trouble"] for one in manifests(store) if "trouble" in one]
    assert trouble == f"{traces[1]}: {first.damaged[0][1]}"

    traces[1].write_bytes(whole)
    assert collect(traces, store, executor=executor).collected == 1
    assert not any("trouble" in manifest for manifest in manifests(store))


def test_a_file_without_content_and_one_that_is_not_a_recording_are_damaged(
    traces, tmp_path, executor
):
    traces[0].write_bytes(b"")
    (tmp_path / "letter").write_text("Dear reader")

    done = collect([*traces, tmp_path / "letter"], tmp_path / "store", executor=executor)

    assert done.collected == 2
    assert {Path(path).name for path, _ in done.damaged} == {traces[0].name, "letter"}


def test_any_exception_while_a_file_is_read_is_trouble_with_that_file(
    traces, tmp_path, executor, monkeypatch
):
    made = partition.made

    def failing(task, path, common):
        if path == str(traces[0]):
            raise ZeroDivisionError("unexpected")
        if path == str(traces[1]):
            raise MemoryError
        return made(task, path, common)

    monkeypatch.setattr(partition, "made", failing)

    done = collect(traces, tmp_path / "store", executor=executor)

    assert done.collected == 1
    assert sorted(trouble for _, trouble in done.damaged) == [
        "cannot be collected: ZeroDivisionError: unexpected",
        "not enough memory; use fewer --jobs, or a machine with more memory.",
    ]


def test_a_partition_is_not_visible_until_all_its_tables_are_written(
    traces, tmp_path, executor, monkeypatch
):
    store = tmp_path / "store"
    made = partition.made
    seen = []

    def looking(task, path, common):
        found = made(task, path, common)
        files = dict(found.files)

        def pieces():
            for name, data in files.items():
                seen.append(list(store.glob(f"partitions/{task.id}.json")))
                yield name, data

        class Files(dict):
            def items(self):
                return pieces()

        return Made(Files(files), found.manifest)

    monkeypatch.setattr(partition, "made", looking)
    collect(traces[0], store, executor=executor)

    assert len(seen) > 3
    assert not any(seen)


def test_a_store_that_cannot_be_written_ends_with_an_error(traces, tmp_path, executor):
    (tmp_path / "store").mkdir()
    collect(traces[0], tmp_path / "store", executor=executor)
    (tmp_path / "store" / "records").rename(tmp_path / "elsewhere")
    (tmp_path / "store" / "records").touch()

    with pytest.raises(OutputError, match="records"):
        collect(traces, tmp_path / "store", executor=executor)


def test_nothing_is_written_to_a_folder_with_other_files(traces, executor):
    before = contents(traces[0].parent)

    with pytest.raises(OptionError, match="has other files"):
        collect(traces[0], traces[0].parent, executor=executor)

    assert contents(traces[0].parent) == before


def test_only_one_engine_can_be_chosen(traces, tmp_path, executor):
    with pytest.raises(OptionError, match="Choose one of `executor` and `scheduler`"):
        collect(traces, tmp_path / "store", executor=executor, scheduler="tcp://127.0.0.1:1")

    assert not (tmp_path / "store").exists()


@pytest.mark.parametrize("host", ["../../../escaped", "/escaped", "..", "h" * 10_000, "a\nb\0c"])
def test_the_name_of_a_host_does_not_lead_out_of_the_store(traces, tmp_path, executor, host):
    name = host.encode()
    trace = traces[0].read_bytes().removesuffix(b"\x22\x06host-0")
    traces[0].write_bytes(trace + b"\x22" + wire.encoded(len(name)) + name)
    before = {path for path in tmp_path.rglob("*") if "store" not in path.parts}

    collect(traces[0], tmp_path / "a" / "store", executor=executor)

    after = {path for path in tmp_path.rglob("*") if "store" not in path.parts}
    assert after - before == {tmp_path / "a"}
    assert manifests(tmp_path / "a" / "store")[0]["recording"]["host"] == host
    assert not Path("/escaped").exists()


def test_a_store_with_other_settings_is_refused_unless_it_is_overwritten(
    traces, tmp_path, executor
):
    store = tmp_path / "store"
    collect(traces, store, executor=executor)

    with pytest.raises(OptionError, match="collected without --runs; use --overwrite"):
        collect(traces, store, executor=executor, runs=True)
    done = collect(traces[:1], store, executor=executor, runs=True, overwrite=True)

    assert done.collected == 1
    assert sources(store) == [traces[0].name]
    with pytest.raises(OptionError, match="collected with --runs"):
        collect(traces, store, executor=executor)


@pytest.mark.parametrize("mark", ['{"format": "tfprof store", "version": 2}', "[]", "{", "null"])
def test_a_store_of_another_version_is_refused(traces, tmp_path, executor, mark):
    (tmp_path / "store").mkdir()
    (tmp_path / "store" / layout.MARK).write_text(mark)

    with pytest.raises(OptionError, match="another version"):
        collect(traces, tmp_path / "store", executor=executor)


@pytest.mark.parametrize(
    "change", [{"source": 1}, {"step": "1"}, {"tables": ["a"]}, {"tables": {"a": 1}}, None]
)
def test_a_damaged_manifest_is_written_again(traces, tmp_path, executor, change):
    collect(traces, tmp_path / "store", executor=executor)
    whole = contents(tmp_path / "store")
    for path in (tmp_path / "store").glob("partitions/*"):
        text = "{" if change is None else json.dumps(json.loads(path.read_bytes()) | change)
        path.write_text(text)

    collect(traces, tmp_path / "store", executor=executor)

    assert contents(tmp_path / "store") == whole


def test_what_killed_processes_left_is_removed(traces, tmp_path, executor):
    store = tmp_path / "store"
    collect(traces, store, executor=executor)
    whole = contents(store)
    for folder in ("models", "partitions", "records/host=host-0"):
        (store / folder / atomic_files._temporary_name()).write_bytes(b"half of a f")

    assert collect(traces, store, executor=executor).finished == 3
    assert contents(store) == whole


def test_a_manifest_cannot_remove_files_outside_of_the_store(traces, tmp_path, executor):
    store = tmp_path / "store"
    collect(traces, store, executor=executor)
    (manifest, *_) = (store / "partitions").iterdir()
    hostile = json.loads(manifest.read_bytes()) | {"tables": {"records": "../precious"}}
    manifest.write_text(json.dumps(hostile))
    (tmp_path / "precious").touch()

    with pytest.raises(InputError, match="names a file outside of it"):
        collect(traces, store, executor=executor, overwrite=True)

    assert (tmp_path / "precious").exists()


def test_urls_give_the_same_tables_as_paths(traces, tmp_path, executor):
    fsspec = pytest.importorskip("fsspec")
    system = fsspec.filesystem("memory")
    system.store.clear()
    system.put(str(traces[0].parent), "/bucket/traces", recursive=True)

    remote = collect("memory://bucket/traces/*.pb", "memory://bucket/store", executor=executor)
    local = collect(traces, f"file://{tmp_path}/store", executor=executor)

    assert remote.collected == local.collected == 3
    assert (
        collect("memory://bucket/traces", "memory://bucket/store", executor=executor).finished == 3
    )
    remote_names = [name.split("/")[3:-1] for name in system.find("/bucket/store")]
    local_names = [name.split("/")[:-1] for name in contents(tmp_path / "store")]
    assert sorted(remote_names) == sorted(local_names)


def test_two_thousand_small_files_are_collected(tmp_path, executor, monkeypatch):
    folder = tmp_path / "run"
    folder.mkdir()
    for number in range(2000):
        (folder / f"host{number}.xplane.pb").write_bytes(b"")
    monkeypatch.setattr(partition, "made", _made_of_nothing)
    monkeypatch.setattr("tfprof.fleet.index.update", lambda *_: 0)
    states = []

    done = collect(folder, tmp_path / "store", executor=executor, progress=states.append)

    assert done.collected == 2000
    assert [state.done for state in states] == list(range(2001))
    assert len(list((tmp_path / "store" / "partitions").iterdir())) == 2000
    assert collect(folder, tmp_path / "store", executor=executor).finished == 2000


def _made_of_nothing(task, path, common):
    assert Path(path).exists()
    assert common == []
    manifest = {"source": task.source, "step": task.step, "modified": task.modified}
    return Made({f"records/host={Path(path).name}/{task.id}.parquet": b"table"}, manifest)
