"""The contract of all sources, tested with every sample: loading, errors, damage, saving."""

import gzip
import shutil

import pytest

import tfprof
from floors import checked_unless, floor
from sources.tf_files import CHECKPOINTS, FILES, FOLDER, content, packed
from tfprof.api import VIEWS
from tfprof.errors import InputError, TfprofError, UnknownFormatError
from tfprof.metrics import METRICS
from tfprof.model.builder import ProfileBuilder
from tfprof.sources.registry import BY_NAME, a_file, merge, open_as, open_file

CUTS = 40
FLIPPED_BYTES = 120
CHECKPOINT = str(CHECKPOINTS / "v1" / "model.ckpt")
SAMPLES = {**{packed(name): kind for name, kind in FILES.items()}, CHECKPOINT: "checkpoint"}
SELECT = [metric.key for metric in METRICS if metric.key != "tensor_value"]

WITH_OPS = [name for name, kind in FILES.items() if kind != "op_log"]

every_file = pytest.mark.parametrize(("name", "kind"), FILES.items(), ids=FILES)
every_sample = pytest.mark.parametrize(
    ("path", "kind"), SAMPLES.items(), ids=[*FILES, "checkpoint"]
)


def read(path, kind):
    """The profile of one file, after checking its invariants."""
    builder = ProfileBuilder()
    merge([open_as(kind, str(path))], builder)
    profile = builder.build()
    profile.check()
    return profile


def answers(loaded):
    """The tables of all views, or their errors, averaged and for each step."""
    found = {}
    for view in VIEWS:
        for step in (-1, *loaded.steps):
            try:
                table = getattr(loaded, view)(select=SELECT, step=step, max_depth=100).table
            except TfprofError as error:
                table = str(error)
            found[view, step] = table
    return found


@every_sample
def test_a_sample_loads(path, kind):
    profile = read(path, kind)

    assert len(profile.ops) > 0 or kind == "op_log"


@every_sample
def test_a_sample_is_recognised_under_another_name(path, kind, tmp_path):
    other = tmp_path / "some.txt"
    shutil.copy(path, other)

    assert open_file(str(other)).source.name == kind
    read(other, kind)


@every_file
def test_an_unpacked_sample_has_the_same_ops(name, kind, tmp_path):
    plain = tmp_path / "plain"
    plain.write_bytes(content(name))

    assert open_file(str(plain)).source.name == kind
    assert list(read(plain, kind).ops.name) == list(read(packed(name), kind).ops.name)


@every_sample
def test_a_sample_is_rejected_as_any_other_kind(path, kind):
    for other in set(BY_NAME) - {kind}:
        with pytest.raises(UnknownFormatError) as caught:
            read(path, other)

        kinds = a_file(BY_NAME[kind].title), a_file(BY_NAME[other].title)
        assert "is {}, not {};".format(*kinds) in str(caught.value)
        assert str(caught.value).startswith(f"{path}: ")


@every_file
def test_a_truncated_sample_is_rejected_or_loads_partially(name, kind, tmp_path):
    data, path = content(name), tmp_path / "cut"
    troubles = set()
    for end in range(0, len(data), max(len(data) // CUTS, 1)):
        path.write_bytes(data[:end])
        try:
            read(path, kind)
        except InputError as error:
            troubles.add(str(error))

    assert troubles
    assert not any("\n" in trouble for trouble in troubles)


@every_file
def test_a_sample_without_its_last_byte_is_rejected_as_cut_short(name, kind, tmp_path):
    path = tmp_path / "cut"
    path.write_bytes(content(name).rstrip()[:-1])

    with pytest.raises(InputError, match=r"cut short or damaged|not a complete"):
        read(path, kind)


@floor(0.1)  # measured: 0.2 to 0.9
@every_file
def test_a_damaged_sample_is_rejected_or_loads(name, kind, tmp_path):
    data, path = content(name), tmp_path / "damaged"
    for at, place in enumerate(range(0, len(data), max(len(data) // FLIPPED_BYTES, 1))):
        damaged = bytearray(data)
        damaged[place] ^= 1 << at % 8 if at % 3 else 0xFF
        path.write_bytes(damaged)
        with checked_unless(TfprofError):
            read(path, kind)


@pytest.mark.parametrize("name", WITH_OPS)
def test_a_saved_profile_of_a_sample_gives_the_same_answers(name, tmp_path):
    loaded = tfprof.load(packed(name))
    loaded.save(tmp_path / "saved")

    again = tfprof.load(tmp_path / "saved")

    again.columns.check()
    assert answers(again) == answers(loaded)


@pytest.mark.parametrize("model", ["mlp_tiny", "gpu_synth"])
def test_a_saved_profile_of_all_files_gives_the_same_answers(model, tmp_path):
    names = [name for name, kind in FILES.items() if kind != "profile_proto"]
    loaded = tfprof.load(*(packed(name) for name in names if name.startswith(model)))
    loaded.save(tmp_path / "saved")

    again = tfprof.load(profile_path=tmp_path / "saved")

    again.columns.check()
    assert loaded.columns.has_code
    assert answers(again) == answers(loaded)


def test_saving_twice_writes_the_same_bytes(tmp_path):
    loaded = tfprof.load(packed("mlp_tiny/profile.pb"))
    loaded.save(tmp_path / "one")
    tfprof.load(tmp_path / "one").save(tmp_path / "two")
    tfprof.load(tmp_path / "two").save(tmp_path / "three")

    assert (tmp_path / "two").read_bytes() == (tmp_path / "three").read_bytes()


def test_a_saved_profile_may_be_gzipped(tmp_path):
    loaded = tfprof.load(packed("mlp_tiny/profile.pb"))
    loaded.save(tmp_path / "saved")
    (tmp_path / "packed").write_bytes(gzip.compress((tmp_path / "saved").read_bytes()))

    assert answers(tfprof.load(tmp_path / "packed")) == answers(loaded)


def test_the_samples_are_small():
    files = [file for file in FOLDER.rglob("*") if file.is_file()]

    assert sum(file.stat().st_size for file in files) < 200_000
