"""Profiles, answers and errors survive pickling, as between processes."""

import copy
import pickle
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import pytest

import tfprof
from build import op, profile, run
from same_columns import assert_same_columns
from sources.tf_files import CHECKPOINTS
from tfprof.api import Profile

SAMPLES = Path(__file__).parent / "samples" / "tensorflow"
CHECKPOINT = CHECKPOINTS / "v2" / "model.ckpt"


@pytest.fixture(scope="module")
def loaded():
    names = ("graph.pb.gz", "run_meta_0.gz", "tfprof_log.gz")
    return tfprof.load(*(SAMPLES / "gpu_synth" / name for name in names), CHECKPOINT)


def pickled(thing):
    return pickle.loads(pickle.dumps(thing))  # noqa: S301 -- our own


def test_a_profile_keeps_everything(loaded):
    after = pickled(loaded)

    after.columns.check()
    assert_same_columns(after.columns, loaded.columns)
    assert (after.notes, after.files) == (loaded.notes, loaded.files)


def test_a_profile_still_reads_the_values_of_its_checkpoint(loaded):
    name = loaded.columns.tensors.name[0]

    after = pickled(loaded).columns.tensors

    assert (after.read(name) == loaded.columns.tensors.read(name)).all()


def test_a_profile_without_ops_can_be_pickled():
    assert len(pickled(Profile(profile())).columns.ops) == 0


def test_a_profile_that_was_asked_can_be_pickled(loaded):
    loaded.scope()

    assert pickled(loaded).scope().table == loaded.scope().table


@pytest.mark.parametrize("view", ["scope", "graph", "code", "op"])
def test_the_answer_of_a_view_is_the_same(view, loaded):
    answer = getattr(loaded, view)(select=["params", "micros"], min_micros=2, define_type="t=.*a.*")

    after = pickled(answer)

    assert after.report == answer.report
    assert list(after) == list(answer)
    assert after.notes == answer.notes


def test_an_older_dialect_is_kept(loaded):
    answer = loaded.scope(select="params", dialect="early")

    assert pickled(answer).table == answer.table


@pytest.mark.parametrize("question", ["memory", "advise", "flops", "info"])
def test_other_answers_are_the_same(question, loaded):
    answer = getattr(loaded, question)()

    assert pickled(answer).to_dict() == answer.to_dict()


def test_answers_pickled_together_share_their_profile(loaded):
    one, two = pickled((loaded.scope(), loaded.op()))

    assert one.view.profile is two.view.profile


def test_a_profile_can_be_copied():
    before = Profile(profile(op("a"), run("a", 3)))

    assert copy.deepcopy(before).scope().table == before.scope().table


def test_another_process_can_answer():
    # A process of its own has not imported tfprof yet.
    with ProcessPoolExecutor(1, get_context("spawn")) as pool:
        answer = pool.submit(Profile.scope, Profile(profile(op("a"), run("a", 3)))).result()

    assert answer["a"]["micros"] == 3


@pytest.mark.parametrize("kind", [tfprof.InputError, tfprof.UnknownFormatError])
def test_an_error_about_a_file_keeps_its_path(kind):
    after = pickled(kind("graph.pb", "is empty"))

    assert type(after) is kind
    assert str(after) == "graph.pb: is empty"
    assert (after.path, after.trouble) == ("graph.pb", "is empty")
