"""The folders that `torch.distributed.checkpoint` writes."""

from pathlib import Path

import pytest

import tfprof
from tfprof.errors import InputError

FOLDER = Path(__file__).parents[1] / "samples" / "pytorch" / "distributed"
MODULE = "torch.distributed.checkpoint.metadata"


def shapes(path):
    ops = tfprof.load(path).columns.ops
    return {ops.name[row]: (ops.kind[row], ops.shape[row]) for row in range(len(ops))}


def refusal(path):
    with pytest.raises(InputError) as caught:
        tfprof.load(path)
    assert "\n" not in str(caught.value)
    return caught.value.trouble


@pytest.mark.parametrize("path", [FOLDER, FOLDER / ".metadata"])
def test_a_distributed_checkpoint_has_the_parameters_of_its_model(path):
    found = shapes(path)

    assert found["embed/weight"] == ("Parameter", (10, 4))
    assert found["blocks/0/bias"] == ("Parameter", (4,))
    assert found["norm/running_mean"] == ("Buffer", (4,))
    assert found["optimizer/exp_avg/0"] == ("Slot", (10, 4))


def test_shared_tensors_count_twice_with_a_note():
    profile = tfprof.load(FOLDER)

    assert profile.scope(select=["params"])["_TFProfRoot"]["total_params"] == 88 + 40
    assert "does not say which tensors are shared: each of them counts." in " ".join(profile.notes)


def test_values_are_not_read():
    with pytest.raises(InputError, match=r"the values of `embed\.weight` \(float32\) are not read"):
        tfprof.load(FOLDER).columns.tensors.read("embed/weight")


def test_the_files_of_ranks_say_that_the_folder_is_needed():
    trouble = "is a part of a distributed checkpoint; give its folder"

    assert refusal(FOLDER / "__0_0.distcp").startswith(trouble)


def test_a_table_that_is_cut_short_is_refused(tmp_path):
    (tmp_path / ".metadata").write_bytes((FOLDER / ".metadata").read_bytes()[:-200])

    assert refusal(tmp_path).startswith("ends early or is damaged at byte ")


@pytest.mark.parametrize(
    ("state", "trouble"),
    [
        (b"N", "has no table of tensors"),
        (b"}\x8c\x13state_dict_metadata}s", "contains no tensors of a model"),
    ],
)
def test_a_table_without_tensors_is_refused(state, trouble, tmp_path):
    start = b"\x80\x04\x8c\x25" + MODULE.encode() + b"\x94\x8c\x08Metadata\x94\x93)\x81"
    (tmp_path / ".metadata").write_bytes(start + state + b"b.")

    assert refusal(tmp_path).startswith(trouble)
