"""Changes of files: noticed once they are complete, and shown without losing the old profile."""

from __future__ import annotations

import json
import os
import shutil
import threading
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import pytest

import model_files
import tfprof
from page_server import QUICK, SECONDS, serve, watched
from tfprof.errors import InputError
from tfprof.web import site
from tfprof.web.live_profile import Generation, LiveProfile
from tfprof.web.watching import Watcher, fingerprint

SAVED_MODEL = Path(__file__).parents[2] / "examples" / "keras_cnn"


# What counts as a change.


@pytest.fixture
def run_folder(tmp_path):
    """A folder of a training run."""
    folder = tmp_path / "run"
    folder.mkdir()
    model_files.write(folder)
    return folder


def test_nothing_changes_if_files_are_only_read(run_folder):
    before = fingerprint([str(run_folder)])
    tfprof.load(run_folder)

    assert fingerprint([str(run_folder)]) == before


@pytest.mark.parametrize("paths", [["{0}"], ["{0}/graph.pb", "{0}/run_meta_0"]])
def test_a_file_that_grows_is_a_change(paths, run_folder):
    look = partial(fingerprint, [path.format(run_folder) for path in paths])
    before = look()
    with (run_folder / "run_meta_0").open("ab") as file:
        file.write(b"\0")

    assert look() != before


def test_a_file_that_is_replaced_by_one_of_the_same_size_and_time_is_a_change(run_folder):
    file = run_folder / "run_meta_0"
    before = fingerprint([str(file)])
    shutil.copy2(file, run_folder / "copy")
    (run_folder / "copy").replace(file)

    assert file.stat().st_size == before[0][1]
    assert file.stat().st_mtime_ns == before[0][2]
    assert fingerprint([str(file)]) != before


def test_a_file_that_is_touched_is_a_change(run_folder):
    file = run_folder / "graph.pb"
    before = fingerprint([str(file)])
    os.utime(file, (1, 1))

    assert fingerprint([str(file)]) != before


def test_a_new_run_in_a_folder_is_a_change(run_folder):
    before = fingerprint([str(run_folder)])
    (run_folder / "run_meta_2").write_bytes(model_files.run({"mul": 1}))

    assert fingerprint([str(run_folder)]) != before


def test_another_file_in_a_folder_is_no_change(run_folder):
    before = fingerprint([str(run_folder)])
    (run_folder / "notes.txt").write_text("hello")

    assert fingerprint([str(run_folder)]) == before


def test_a_file_that_is_deleted_and_comes_back_is_a_change_each_time(run_folder):
    file = run_folder / "graph.pb"
    before = fingerprint([str(file)])
    file.rename(run_folder / "away")
    missing = fingerprint([str(file)])
    (run_folder / "away").rename(file)

    assert missing != before
    assert fingerprint([str(file)]) == before


def test_a_folder_without_files_has_a_fingerprint_too(tmp_path):
    (tmp_path / "empty").mkdir()

    empty = fingerprint([str(tmp_path / "empty")])
    model_files.write(tmp_path / "empty")

    assert "is an empty folder" in empty[0][1]
    assert fingerprint([str(tmp_path / "empty")]) != empty


@pytest.mark.parametrize("name", ["variables/variables.index", "saved_model.pb"])
def test_a_file_inside_a_saved_model_is_watched(name, tmp_path):
    folder = shutil.copytree(SAVED_MODEL, tmp_path / "model")
    before = fingerprint([str(folder)])
    os.utime(folder / name, (1, 1))

    assert fingerprint([str(folder)]) != before


def test_the_parts_of_a_checkpoint_are_watched(tmp_path):
    (tmp_path / "model.ckpt-[1].index").write_bytes(b"")
    before = fingerprint([str(tmp_path / "model.ckpt-[1]")])
    (tmp_path / "model.ckpt-[1].index").write_bytes(b"more")

    assert fingerprint([str(tmp_path / "model.ckpt-[1]")]) != before


@pytest.mark.parametrize("path", ["none", "no/such/folder", "a\0b", ""])
def test_a_path_that_does_not_exist_has_a_fingerprint(path, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # the empty path is the current folder

    assert fingerprint([path]) == fingerprint([path])


# When a change is reported.


def reports(looks):
    """The numbers of the looks after which a watcher reports a change; the first was loaded."""
    finished = threading.Event()
    seen, reported = [], []
    rest = iter(looks[1:])

    def look():
        found = next(rest, None)
        if found is None:
            finished.set()
            found = seen[-1]
        seen.append(found)
        return ((found,),)

    watcher = Watcher(look, ((looks[0],),), lambda: reported.append(len(seen)), seconds=QUICK / 10)
    watcher.start()
    assert finished.wait(SECONDS)
    watcher.stop()
    watcher.join(SECONDS)
    return [number for number in reported if number < len(looks)]


def test_files_that_stay_the_same_are_not_reported():
    assert reports(["a", "a", "a", "a"]) == []


def test_a_change_is_reported_once_when_the_files_are_stable():
    assert reports(["a", "b", "b", "b", "b"]) == [2]


def test_a_file_that_is_still_being_written_is_not_reported():
    assert reports(["a", "b", "c", "d", "e", "e", "e"]) == [5]


def test_a_change_that_is_undone_at_once_is_not_reported():
    assert reports(["a", "b", "a", "a"]) == []


def test_a_second_change_is_reported_too():
    assert reports(["a", "b", "b", "a", "a", "a"]) == [2, 4]


# What the page is told.


class Listener:
    """Reads the events of a server."""

    def __init__(self, lines):
        self._lines = lines
        while self._lines.readline().strip():
            pass  # the headers

    def next(self):
        """The name and data of the next event; heartbeats are skipped."""
        lines = []
        while line := self._lines.readline().rstrip("\n"):
            lines.append(line)
        if lines[0].startswith(":"):
            return self.next()
        name, data = (line.partition(": ")[2] for line in lines)
        return name, json.loads(data)


@contextmanager
def listening(served):
    with served.connect() as connection, connection.makefile("r", encoding="utf-8") as lines:
        connection.sendall(served.request("events"))
        yield Listener(lines)


def replace(path, data):
    """Replace a file at once, as a program does that writes files atomically."""
    new = path.with_name(f"{path.name}.new")
    new.write_bytes(data)
    new.replace(path)


def test_a_listener_first_gets_the_current_state(files):
    with watched(str(files / "graph.pb")) as served, listening(served) as events:
        assert events.next() == ("changed", {"generation": 1})


def test_a_run_that_is_added_to_a_folder_is_loaded(run_folder):
    with watched(str(run_folder)) as served, listening(served) as events:
        events.next()
        before = served.ask("data")
        replace(run_folder / "run_meta_2", model_files.run({"mul": 1}))

        assert events.next() == ("changed", {"generation": 2})
        after = served.ask("data")

    assert before.headers["Tfprof-Generation"] == "1"
    assert after.headers["Tfprof-Generation"] == "2"
    assert before.body != after.body


def test_a_file_that_is_replaced_is_loaded(files):
    with watched("graph.pb", "run_meta_0") as served, listening(served) as events:
        events.next()
        before = served.ask("data").body
        replace(files / "run_meta_0", model_files.run({"mul": 77}))

        assert events.next() == ("changed", {"generation": 2})
        assert served.ask("data").body != before


def test_if_a_file_is_deleted_the_old_profile_is_kept_until_it_comes_back(files):
    with watched("graph.pb", "run_meta_0") as served, listening(served) as events:
        events.next()
        before = served.ask("view?kind=scope").body
        (files / "run_meta_0").rename(files / "away")

        assert events.next() == (
            "failed",
            {"generation": 1, "error": "run_meta_0: no such file; check the path."},
        )
        assert served.ask("view?kind=scope").body == before
        with listening(served) as others:
            assert others.next()[0] == "failed"

        (files / "away").rename(files / "run_meta_0")
        assert events.next() == ("changed", {"generation": 2})


def test_a_damaged_file_is_reported_in_one_line(files):
    with watched("graph.pb", "run_meta_0") as served, listening(served) as events:
        events.next()
        replace(files / "run_meta_0", b"\x0a\xff\xff\x03damaged")

        name, data = events.next()

    assert (name, data["generation"]) == ("failed", 1)
    assert data["error"].startswith("run_meta_0: ")
    assert "\n" not in data["error"]


def test_questions_are_answered_from_the_old_profile_while_the_new_one_is_loaded(files):
    loading, go_on = threading.Event(), threading.Event()
    profile = tfprof.load(files / "graph.pb")
    profiles = iter([profile])

    def load():
        if (first := next(profiles, None)) is not None:
            return first
        loading.set()
        assert go_on.wait(SECONDS)
        return tfprof.load(files / "graph.pb")

    with serve(load) as served:
        reloading = threading.Thread(target=served.live.reload)
        reloading.start()
        assert loading.wait(SECONDS)

        assert served.ask("data").headers["Tfprof-Generation"] == "1"
        go_on.set()
        reloading.join()
        assert served.ask("data").headers["Tfprof-Generation"] == "2"


def test_a_quiet_stream_has_heartbeats(files, monkeypatch):
    monkeypatch.setattr(site, "_HEARTBEAT_SECONDS", QUICK)
    with (
        watched(str(files / "graph.pb")) as served,
        served.connect() as connection,
        connection.makefile("rb") as lines,
    ):
        connection.sendall(served.request("events"))

        assert any(line == b": still here\n" for line in lines)


def test_a_defect_while_loading_keeps_the_profile(files, capfd):
    profiles = iter([tfprof.load(files / "graph.pb")])
    live = LiveProfile(lambda: next(profiles))

    live.reload()

    assert live.state.generation.number == 1
    assert live.state.error == "the files cannot be loaded; the terminal shows the cause."
    assert "StopIteration" in capfd.readouterr().err


def test_an_error_is_withdrawn_when_loading_succeeds(files):
    answers = iter([None, InputError("graph.pb", "no such file."), None])

    def load():
        if (error := next(answers)) is not None:
            raise error
        return tfprof.load(files / "graph.pb")

    live = LiveProfile(load)
    live.reload()
    assert live.state.error == "graph.pb: no such file."

    live.reload()
    assert (live.state.error, live.state.generation.number) == ("", 2)


# Answers that are kept.


def test_the_oldest_answers_are_dropped_when_they_take_much_memory(monkeypatch):
    monkeypatch.setattr("tfprof.web.live_profile._MOST_ANSWER_BYTES", 250)
    generation = Generation(1, None)
    computed = []

    def ask(question):
        def compute(_):
            computed.append(question)
            return bytes(100)

        return generation.answer(question, compute)

    for question in "abacab":
        ask(question)

    assert computed == ["a", "b", "c", "b"]


def test_an_answer_larger_than_the_limit_is_kept_alone(monkeypatch):
    monkeypatch.setattr("tfprof.web.live_profile._MOST_ANSWER_BYTES", 10)
    generation = Generation(1, None)

    assert generation.answer("a", lambda _: bytes(100)) == bytes(100)
    assert generation.answer("a", lambda _: b"other") == bytes(100)
