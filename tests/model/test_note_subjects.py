"""Notes on files appear only in answers that they concern."""

import pickle

import pytest

from build import op, profile, run
from tfprof.api import Profile
from tfprof.metrics import BY_KEY
from tfprof.model.notes import Note, Subject, concerning, names_of, narrowest, of_names, subject_of

TIME = Note("no clock", Subject.TIME)
WORK = Note("no shapes", Subject.FLOAT_OPS | Subject.PARAMS)


def test_a_note_concerns_the_questions_about_its_subjects():
    assert concerning([TIME, WORK], Subject.TIME) == ("no clock",)
    assert concerning([TIME, WORK], Subject.PARAMS) == ("no shapes",)
    assert concerning([TIME, WORK], Subject.TIME | Subject.PARAMS) == (TIME, WORK)


def test_a_plain_note_concerns_every_question():
    assert concerning(["damaged"], Subject.VALUES) == ("damaged",)


def test_a_note_appears_once():
    assert concerning([TIME, TIME, "a", "a"], Subject.TIME) == ("no clock", "a")


def test_the_narrowest_note_concerns_the_fewest_subjects():
    assert narrowest(["damaged", WORK, TIME]) == "no clock"
    assert narrowest(["damaged", WORK]) == "no shapes"


@pytest.mark.parametrize(
    ("key", "subject"),
    [
        ("params", Subject.PARAMS),
        ("float_ops", Subject.FLOAT_OPS),
        ("macs", Subject.FLOAT_OPS),
        ("micros", Subject.TIME),
        ("device", Subject.TIME),
        ("peak_bytes", Subject.MEMORY),
        ("tensor_value", Subject.VALUES),
        ("op_types", Subject.OPS),
    ],
)
def test_the_subject_of_a_question_follows_from_its_metrics(key, subject):
    assert subject_of(BY_KEY[key]) == subject


@pytest.mark.parametrize("note", [TIME, WORK, Note("all")])
def test_a_note_keeps_its_subjects_in_text_and_when_pickled(note):
    assert of_names(note, names_of(note)).about == note.about
    assert pickle.loads(pickle.dumps(note)).about == note.about  # noqa: S301 -- our own bytes


def test_unknown_subjects_of_a_saved_note_are_ignored():
    assert of_names("a", "TIME|LATER").about == Subject.TIME
    assert names_of(of_names("a", "LATER")) == ""


MODEL = Profile(profile(op("a", shape=(2,), code=["a.py:1:f"]), run("a")), [TIME, WORK])


@pytest.mark.parametrize(
    ("select", "notes"),
    [("micros", (TIME,)), ("params", (WORK,)), ("device,params", (TIME, WORK)), ("op_types", ())],
)
def test_an_answer_has_the_notes_on_files_that_concern_it(select, notes):
    assert MODEL.scope(select=select, order_by="name").notes == notes


def test_sorting_and_filtering_by_a_metric_make_its_notes_concern_the_answer():
    assert TIME in MODEL.scope(select="op_types", order_by="micros").notes
    assert TIME in MODEL.scope(select="op_types", min_micros=1).notes


def test_other_answers_have_the_notes_that_concern_them():
    assert MODEL.flops().notes == (WORK,)
    assert MODEL.notes == (TIME, WORK)


def test_a_saved_profile_keeps_the_subjects_of_its_notes(tmp_path):
    MODEL.save(tmp_path / "saved")

    import tfprof  # noqa: PLC0415 -- only this test reads files

    loaded = tfprof.load(tmp_path / "saved")

    assert loaded.scope(select="params").notes == (WORK,)
    assert loaded.notes == MODEL.notes
