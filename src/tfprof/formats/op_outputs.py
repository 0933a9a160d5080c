"""Output slots by name, for TensorFlow ops with several named outputs.

In a function body, an input is `node:name:0`, with the index counted within that name; a graph
numbers all outputs of an op consecutively. Ops missing from this table are assumed to have a single
output name.
"""

from __future__ import annotations

from functools import cache

UNKNOWN = 1 << 30  # larger than the slots of any op


def slot(kind: str, name: str, index: int) -> int:
    """The slot of tensor `index` in output `name` of ops of `kind`, or `UNKNOWN`."""
    names = _by_kind().get(kind)
    if names is None:
        return index
    return names.index(name) + index if name in names else UNKNOWN


@cache
def _by_kind() -> dict[str, list[str]]:
    return {kind: names.split(" ") for kinds, names in _NAMES.items() for kind in kinds.split(" ")}


# Op kinds and the names of their outputs, one tensor each.
_NAMES = {
    "AllCandidateSampler FixedUnigramCandidateSampler LearnedUnigramCandidateSampler "
    "LogUniformCandidateSampler ThreadUnsafeUnigramCandidateSampler "
    "UniformCandidateSampler": ("sampled_candidates true_expected_count sampled_expected_count"),
    "ApproxTopK TopK TopKV2": "values indices",
    "BatchNormWithGlobalNormalizationGrad": "dx dm dv db dg",
    "BatchSelfAdjointEigV2 Eig SelfAdjointEigV2": "e v",
    "BatchSvd Svd": "s u v",
    "BlockLSTM BlockLSTMV2 LSTMBlockCell": "i cs f o ci co h",
    "BlockLSTMGrad BlockLSTMGradV2": (
        "x_grad cs_prev_grad h_prev_grad w_grad wci_grad wcf_grad wco_grad b_grad"
    ),
    "BroadcastGradientArgs": "r0 r1",
    "CSRSparseMatrixComponents": "row_ptrs col_inds values",
    "CSRSparseMatrixToSparseTensor": "indices values dense_shape",
    "CTCGreedyDecoder": "decoded_indices decoded_values decoded_shape log_probability",
    "CTCLoss CTCLossV2": "loss gradient",
    "CombinedNonMaxSuppression": "nmsed_boxes nmsed_scores nmsed_classes valid_detections",
    "ComputeAccidentalHits": "indices ids weights",
    "CudnnRNN": "output output_h output_c reserve_space",
    "CudnnRNNBackprop CudnnRNNBackpropV2 CudnnRNNBackpropV3": (
        "input_backprop input_h_backprop input_c_backprop params_backprop"
    ),
    "CudnnRNNV2 CudnnRNNV3": "output output_h output_c reserve_space host_reserved",
    "DecodeWav": "audio sample_rate",
    "DenseCountSparseOutput RaggedCountSparseOutput SparseCountSparseOutput": (
        "output_indices output_values output_dense_shape"
    ),
    "DenseToDenseSetOperation DenseToSparseSetOperation SparseToSparseSetOperation": (
        "result_indices result_values result_shape"
    ),
    "DeserializeManySparse DeserializeSparse TakeManySparseFromTensorsMap": (
        "sparse_indices sparse_values sparse_shape"
    ),
    "FakeQuantWithMinMaxVarsGradient FakeQuantWithMinMaxVarsPerChannelGradient": (
        "backprops_wrt_input backprop_wrt_min backprop_wrt_max"
    ),
    "FractionalAvgPool FractionalMaxPool": "output row_pooling_sequence col_pooling_sequence",
    "FusedBatchNorm FusedBatchNormV2": (
        "y batch_mean batch_variance reserve_space_1 reserve_space_2"
    ),
    "FusedBatchNormGrad FusedBatchNormGradV2": (
        "x_backprop scale_backprop offset_backprop reserve_space_3 reserve_space_4"
    ),
    "FusedBatchNormGradV3": (
        "x_backprop scale_backprop offset_backprop reserve_space_4 reserve_space_5"
    ),
    "FusedBatchNormV3": (
        "y batch_mean batch_variance reserve_space_1 reserve_space_2 reserve_space_3"
    ),
    "GRUBlockCell": "r u c h",
    "GRUBlockCellGrad": "d_x d_h_prev d_c_bar d_r_bar_u_bar",
    "IsotonicRegression": "output segments",
    "LSTMBlockCellGrad": "cs_prev_grad dicfo wci_grad wcf_grad wco_grad",
    "ListDiff": "out idx",
    "LogMatrixDeterminant": "sign log_abs_determinant",
    "LookupTableExport LookupTableExportV2 ReaderReadUpTo ReaderReadUpToV2": "keys values",
    "Lu": "lu p",
    "MaxPoolWithArgmax": "output argmax",
    "Merge RefMerge": "output value_index",
    "NonMaxSuppressionV4": "selected_indices valid_outputs",
    "NonMaxSuppressionV5": "selected_indices selected_scores valid_outputs",
    "Qr": "q r",
    "QuantizeAndDequantizeV4Grad": "input_backprop input_min_backprop input_max_backprop",
    "QuantizeDownAndShrinkRange QuantizeV2": "output output_min output_max",
    "RaggedCross": "output_values output_row_splits",
    "RaggedFillEmptyRows": (
        "output_value_rowids output_values empty_row_indicator reverse_index_map"
    ),
    "RaggedFillEmptyRowsGrad SparseFillEmptyRowsGrad": "d_values d_default_value",
    "RaggedRange": "rt_nested_splits rt_dense_values",
    "RaggedTensorToSparse": "sparse_indices sparse_values sparse_dense_shape",
    "ReaderRead ReaderReadV2": "key value",
    "RefSwitch Switch": "output_false output_true",
    "SampleDistortedBoundingBox SampleDistortedBoundingBoxV2 StatelessSampleDistortedBoundingBox": (
        "begin size bboxes"
    ),
    "SoftmaxCrossEntropyWithLogits SparseSoftmaxCrossEntropyWithLogits": "loss backprop",
    "SparseAccumulatorTakeGradient StringSplit StringSplitV2": "indices values shape",
    "SparseAdd": "sum_indices sum_values sum_shape",
    "SparseAddGrad": "a_val_grad b_val_grad",
    "SparseConcat SparseCross SparseCrossHashed SparseCrossV2 SparseReduceMaxSparse "
    "SparseReduceSumSparse SparseSlice": ("output_indices output_values output_shape"),
    "SparseFillEmptyRows": "output_indices output_values empty_row_indicator reverse_index_map",
    "SparseReorder SparseSparseMaximum SparseSparseMinimum": "output_indices output_values",
    "SparseReshape": "output_indices output_shape",
    "SparseSegmentMeanGradV2 SparseSegmentSqrtNGradV2 SparseSegmentSumGradV2": (
        "output sorted_unique_indices"
    ),
    "StatelessRandomGetKeyCounter": "key counter",
    "StatelessRandomGetKeyCounterAlg": "key counter alg",
    "StringNGrams": "ngrams ngrams_splits",
    "TensorArrayConcat TensorArrayConcatV2 TensorArrayConcatV3": "value lengths",
    "TensorArrayGradV3 TensorArrayGradWithShape": "grad_handle flow_out",
    "TensorArrayV3": "handle flow",
    "TensorListConcat TensorListConcatV2": "tensor lengths",
    "TensorListPopBack": "output_handle tensor",
    "TopKUnique TopKWithUnique": "topk topk_indices",
    "UnicodeDecode": "row_splits char_values",
    "UnicodeDecodeWithOffsets": "row_splits char_values char_to_byte_starts",
    "Unique UniqueV2": "y idx",
    "UniqueWithCounts UniqueWithCountsV2": "y idx count",
    # An attribute sets the number of tensors per name, so only the first name's slot is known.
    "BarrierTakeMany": "indices",
    "Batch": "batched_tensors",
    "CTCBeamSearchDecoder": "decoded_indices",
    "CudnnRNNParamsToCanonical CudnnRNNParamsToCanonicalV2": "weights",
    "DecodeProtoV2": "sizes",
    "MapUnstageNoKey OrderedMapUnstageNoKey": "key",
    "ParseExample ParseExampleV2 ParseSingleExample": "sparse_indices",
    "ParseSequenceExample ParseSequenceExampleV2 ParseSingleSequenceExample": (
        "context_sparse_indices"
    ),
    "RaggedGather RaggedTensorFromVariant": "output_nested_splits",
    "SparseSplit": "output_indices",
}
