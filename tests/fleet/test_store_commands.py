"""Every command and output answers a question about a store, or says in one line why not."""

import json
import re

import pytest

import tfprof
from fleet_stores import stored
from fleets import Job, generated
from tfprof.cli import main
from tfprof.commands.command import Place, Words
from tfprof.commands.table import available
from tfprof.outputs.registry import FILE_OUTPUTS, SAVED_FORMATS
from tfprof.page.content import content
from tfprof.page.subject import Subject
from tfprof.views.registry import VIEWS

COMMANDS = {
    name: command
    for name, command in available(Place.COMMAND_LINE).items()
    # `check` needs a file of budgets; the tests of budgets ask it about a store.
    if command.takes[Place.COMMAND_LINE] is Words.FILES and name not in ("shell", "ui", "check")
}
SINGLE_RUNS = r"tfprof: a store has sums over .* ask one of the collected files, such as .*\n"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("fleet")
    paths = generated(folder, Job(hosts=2, steps=12, layers=2, has_gpu=True))
    stored(folder / "store", paths)
    return folder


@pytest.fixture
def tell(folder, capsys):
    """Runs a command on the store and returns its exit status, its answer and its notes."""

    def run(name, *words):
        status = main([name, str(folder / "store"), *words])
        return status, *capsys.readouterr()

    return run


def is_answered(status, answer, notes):
    """Whether the answer is complete; otherwise it must be one line on what is missing."""
    if status == 0:
        return True
    assert answer == ""
    assert re.fullmatch(r"tfprof: [^\n]+: [^\n]+\.\n", notes), notes
    return False


@pytest.mark.parametrize("name", [name for name in COMMANDS if "json" in COMMANDS[name].options])
@pytest.mark.parametrize("words", [[], ["--json"]])
def test_a_question_is_answered_or_explained(tell, name, words):
    found = tell(name, *words)

    # The traces of this fleet have no code lines, and stores no kernels.
    assert is_answered(*found) == (name not in {"code", "kernels"})
    if name not in {"code", "kernels"}:
        assert found[1]


@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("output", FILE_OUTPUTS)
def test_an_output_is_written_or_explained(tell, tmp_path, view, output):
    if is_answered(*tell(view, "-output", f"{output}:outfile={tmp_path / 'answer'}")):
        assert sum(path.stat().st_size for path in tmp_path.iterdir()) > 0
    else:
        assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("output", ["timeline", "perfetto"])
def test_a_picture_of_single_runs_is_refused(tell, tmp_path, output):
    _, _, notes = tell("graph", "-output", f"{output}:outfile={tmp_path / 'answer'}")

    assert re.fullmatch(SINGLE_RUNS, notes)


@pytest.mark.parametrize("words", [[], ["-step", "101"]])
def test_a_timeline_is_refused(tell, tmp_path, words):
    status, _, notes = tell("timeline", "-o", str(tmp_path / "timeline.json"), *words)

    assert status == 1
    assert re.fullmatch(SINGLE_RUNS, notes)


@pytest.mark.parametrize("name", SAVED_FORMATS)
def test_a_store_cannot_be_saved_as_one_file(tell, tmp_path, name):
    status, _, notes = tell("save", "-o", str(tmp_path / "profile"), "--format", name)

    assert status == 1
    assert notes.startswith("tfprof: A store cannot be saved as one file, because it has no single")


def test_a_report_is_written(tell, tmp_path):
    assert tell("report", "-o", str(tmp_path / "report.html"))[0] == 0
    assert (tmp_path / "report.html").stat().st_size > 0


def test_a_report_leaves_out_what_needs_single_runs(folder):
    profile = tfprof.load(folder / "store")

    sections = content(Subject(profile.columns, "", profile.words, profile.notes))

    assert sections["missing"].keys() == {"code", "timeline", "memory", "kernels"}
    assert "ask one of the collected files" in sections["missing"]["timeline"]
    assert [card["label"] for card in sections["cards"]] == ["Step time", "Peak memory"]


def test_a_description_has_hosts_and_ranges_of_steps(tell, folder):
    _, answer, _ = tell("info")

    assert answer.startswith(f"{folder / 'store'}: store, ")
    assert "Recording: host-0: steps 100 to 111\n" in answer


def test_a_description_has_the_files_that_could_not_be_collected(tmp_path, capsys):
    paths = generated(tmp_path, Job(hosts=2, steps=3, layers=2))
    paths[1].write_bytes(paths[1].read_bytes()[:1000])
    words = ["collect", *map(str, paths), "-o", str(tmp_path / "store"), "--jobs", "1"]
    main(words)
    capsys.readouterr()

    main(["info", str(tmp_path / "store"), "--json"])

    notes = json.loads(capsys.readouterr().out)["notes"]
    assert any("not collected" in note and paths[1].name in note for note in notes)
    store = tfprof.load(tmp_path / "store")
    found = store.sql("SELECT file FROM files WHERE trouble IS NOT NULL").fetchall()
    assert found == [(str(paths[1]),)]
