"""The output of an op that a name inside a function refers to."""

import pytest

from tfprof.formats.op_outputs import UNKNOWN, slot


@pytest.mark.parametrize(
    ("kind", "name", "index", "found"),
    [
        ("MatMul", "product", 0, 0),
        ("Split", "output", 3, 3),
        ("FusedBatchNormV3", "y", 0, 0),
        ("FusedBatchNormV3", "reserve_space_3", 0, 5),
        ("TopKV2", "indices", 0, 1),
        ("SoftmaxCrossEntropyWithLogits", "backprop", 0, 1),
        ("TopKV2", "values_of_another_kind", 0, UNKNOWN),
        ("ParseExample", "sparse_indices", 2, 2),
        ("ParseExample", "dense_values", 0, UNKNOWN),
    ],
)
def test_an_output_name_and_an_index_give_a_slot(kind, name, index, found):
    assert slot(kind, name, index) == found


@pytest.mark.live
def test_the_table_matches_tensorflow():
    pytest.importorskip("tensorflow", reason="TensorFlow is not installed")
    from tensorflow.python.framework import op_def_registry  # noqa: PLC0415 -- may not be there

    for kind in ("FusedBatchNormV3", "TopKV2", "UniqueWithCountsV2", "LSTMBlockCell", "Svd"):
        names = [output.name for output in op_def_registry.get(kind).output_arg]

        assert [slot(kind, name, 0) for name in names] == list(range(len(names)))
