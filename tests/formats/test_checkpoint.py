"""Finding and opening checkpoints of both generations."""

import shutil

import pytest

from formats.table_builder import SAMPLES, table
from tfprof.errors import InputError
from tfprof.formats.checkpoint import CheckpointKind, find, open_checkpoint

V1_SHARDS = SAMPLES / "v1_shards" / "model.ckpt"


@pytest.fixture
def copied(tmp_path):
    """Copies a folder of the samples and returns the prefix of the copy."""

    def copy(folder):
        shutil.copytree(SAMPLES / folder, tmp_path, dirs_exist_ok=True)
        return tmp_path / "model.ckpt"

    return copy


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("v2/model.ckpt", CheckpointKind.V2),
        ("v2/model.ckpt.index", CheckpointKind.V2),
        ("v1/model.ckpt", CheckpointKind.V1),
        ("v1_shards/model.ckpt", CheckpointKind.V1),
        ("v1_shards/model.ckpt-00001-of-00002", CheckpointKind.V1),
        ("v1_shards/model.ckpt-?????-of-00002", CheckpointKind.V1),
        ("v1_shards/model.ckpt-?????-of-?????", CheckpointKind.V1),
    ],
)
def test_a_checkpoint_is_found_and_opened_by_any_of_its_names(path, kind):
    assert find(str(SAMPLES / path)) is kind
    assert open_checkpoint(str(SAMPLES / path)).tensors


@pytest.mark.parametrize(
    "path",
    [
        "v2",
        "v2/expected.json",
        "v2/model.ckpt.data",
        "v2/model.ckpt.data-00000-of-00002",
        "v1_shards/model.ckpt-?????-of-00003",
        "missing/model.ckpt",
        "",
        "x" * 5000,
        "x" * 5000 + "/y",
        "nul\0byte/model.ckpt",
    ],
)
def test_other_files_are_no_checkpoints(path):
    assert find(str(SAMPLES / path)) is None
    with pytest.raises(InputError):
        open_checkpoint(str(SAMPLES / path))


def test_a_v2_checkpoint_is_read_by_its_prefix_and_by_its_index():
    path = str(SAMPLES / "v2" / "model.ckpt")

    assert open_checkpoint(path).read("scalars/step") == 1234567890123
    assert open_checkpoint(path + ".index").read("scalars/step") == 1234567890123


def test_a_checkpoint_is_recognised_under_another_name(copied):
    one = copied("v1").rename(copied("v1").with_name("anything.index"))
    two = copied("v2").with_name("model.ckpt.index")
    two = two.rename(two.with_name("other"))

    assert find(str(one)) is CheckpointKind.V1
    assert find(str(two)) is CheckpointKind.V2


def test_parts_in_several_v1_files_are_read_together():
    assert open_checkpoint(str(V1_SHARDS)).read("parts/tall")[-1].tolist() == [598.0, 599.0]


def test_a_v2_checkpoint_takes_precedence_over_a_v1_file_of_the_same_name(copied):
    copied("v1")

    assert find(str(copied("v2"))) is CheckpointKind.V2


def test_a_missing_v1_file_is_named(copied):
    prefix = copied("v1_shards")
    (prefix.parent / "model.ckpt-00000-of-00002").unlink()

    assert find(str(prefix)) is CheckpointKind.V1
    with pytest.raises(InputError, match=r"model\.ckpt-00000-of-00002: is missing"):
        open_checkpoint(str(prefix))


def test_v1_files_of_two_checkpoints_are_not_mixed(copied):
    prefix = copied("v1_shards")
    shutil.copy(f"{prefix}-00000-of-00002", f"{prefix}-00000-of-00001")

    with pytest.raises(InputError, match=r"several saves \(-of-00001 and -of-00002\)"):
        open_checkpoint(str(prefix))
    assert open_checkpoint(f"{prefix}-?????-of-00002").tensors


def test_a_prefix_is_not_a_glob_pattern(tmp_path):
    shutil.copytree(SAMPLES / "v1_shards", tmp_path / "run[1]*")

    assert find(str(tmp_path / "run[1]*" / "model.ckpt")) is CheckpointKind.V1
    assert find(str(tmp_path / "run1" / "model.ckpt")) is None


def test_a_damaged_index_is_found_but_cannot_be_opened(copied):
    index = copied("v2").with_name("model.ckpt.index")
    data = bytearray(index.read_bytes())
    data[100] ^= 1
    index.write_bytes(data)

    assert find(str(index)) is CheckpointKind.V2
    with pytest.raises(InputError, match="checksum"):
        open_checkpoint(str(index))


def test_a_damaged_v1_file_is_found_but_cannot_be_opened(copied):
    path = copied("v1")
    data = bytearray(path.read_bytes())
    data[100] ^= 1
    path.write_bytes(data)

    assert find(str(path)) is CheckpointKind.V1
    with pytest.raises(InputError, match="checksum"):
        open_checkpoint(str(path))


def test_an_index_that_was_cut_short_is_reported_as_such(copied):
    index = copied("v2").with_name("model.ckpt.index")
    index.write_bytes(index.read_bytes()[:-20])

    with pytest.raises(InputError, match=r"model\.ckpt\.index: .*was it copied fully"):
        open_checkpoint(str(index.with_suffix("")))


def test_the_error_for_a_data_shard_names_its_prefix():
    with pytest.raises(InputError, match=r"pass its prefix, .*v2/model\.ckpt$"):
        open_checkpoint(str(SAMPLES / "v2" / "model.ckpt.data-00000-of-00002"))


def test_another_sorted_table_is_not_a_checkpoint(tmp_path):
    (tmp_path / "other").write_bytes(table({b"key": b"value"}))

    assert find(str(tmp_path / "other")) is None
    with pytest.raises(InputError, match="is not a checkpoint"):
        open_checkpoint(str(tmp_path / "other"))
