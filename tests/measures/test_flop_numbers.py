"""The float operations of every kind with a rule, compared with hand-computed numbers."""

from itertools import product

import pytest

from counting import counted
from tfprof.measures.flop_rules import fused, registry

IMAGE = [(2, 6, 6, 4)]  # 288 elements
LSTM = [(2, 3), (2, 5), (2, 5), (8, 20), (5,), (5,), (5,), (20,)]  # B 2, I 3, H 5
LAYERS = [(7, 2, 3), (1, 2, 5), (1, 2, 5), (99,)]  # T 7, B 2, I 3, H 5


def scalars_until(position, gradient):
    """The inputs of an optimizer whose gradient is the input at `position`."""
    return {"inputs": [()] * position + [gradient]}


# Kinds, the facts of their op, and the number.
CASES = [
    # One operation per element.
    (
        (
            "Abs Acos Acosh Angle Asin Asinh Atan Atanh BesselI0 BesselI0e BesselI1 BesselI1e "
            "BesselJ0 BesselJ1 BesselK0 BesselK0e BesselK1 BesselK1e BesselY0 BesselY1 Ceil "
            "CheckNumerics CheckNumericsV2 Conj Cos Cosh Cumprod Cumsum Dawsn Digamma Erf Erfc "
            "Erfinv Exp Expint Expm1 Floor FresnelCos FresnelSin Inv IsFinite IsInf IsNan "
            "Lgamma Log Log1p Ndtri Neg Reciprocal Relu Rint Round Sign Sin Sinh Spence Sqrt "
            "Square Tan Tanh AssignAdd AssignSub BiasAdd BiasAddV1 InTopK InTopKV2 SegmentMax "
            "SegmentMaxV2 SegmentMin SegmentMinV2 SegmentProd SegmentProdV2 SegmentSum "
            "SegmentSumV2 UnsortedSegmentMax UnsortedSegmentMin UnsortedSegmentProd "
            "UnsortedSegmentSum ResizeNearestNeighborGrad"
        ),
        {"inputs": [(2, 3), (2,)]},
        6,
    ),
    (
        (
            "Add AddV2 Atan2 Betainc Div DivNoNan Equal FloorDiv FloorMod Greater GreaterEqual "
            "Igamma Igammac Less LessEqual Maximum Minimum Mod Mul MulNoNan NextAfter NotEqual "
            "Polygamma Pow RealDiv Sub TruncateDiv TruncateMod Xdivy Zeta Range QuantizedAdd "
            "QuantizedMul"
        ),
        {"inputs": [(3, 1), (4,)], "output": (3, 4)},
        12,
    ),
    ("AssignAddVariableOp AssignSubVariableOp", {"inputs": [(), (2, 3)]}, 6),
    ("MaxPoolGradWithArgmax", {"inputs": [(1, 4, 4, 3), (1, 2, 2, 3), (1, 2, 2, 3)]}, 12),
    ("ScatterNd", {"inputs": [(2, 1), (2, 3), (2,)]}, 6),
    (
        (
            "InplaceAdd InplaceSub ResourceScatterAdd ResourceScatterDiv ResourceScatterMax "
            "ResourceScatterMin ResourceScatterMul ResourceScatterNdAdd ResourceScatterNdMax "
            "ResourceScatterNdMin ResourceScatterNdSub ResourceScatterSub ScatterAdd ScatterDiv "
            "ScatterMax ScatterMin ScatterMul ScatterNdAdd ScatterNdMax ScatterNdMin "
            "ScatterNdNonAliasingAdd ScatterNdSub ScatterSub TensorScatterAdd TensorScatterMax "
            "TensorScatterMin TensorScatterSub"
        ),
        {"inputs": [(9, 3), (2, 1), (2, 3)]},
        6,
    ),
    # Several operations per element, for 6 elements.
    ("LeakyRelu Relu6 Rsqrt", {"inputs": [(2, 3)]}, 12),
    ("Elu Softplus Softsign", {"inputs": [(2, 3)]}, 18),
    ("ComplexAbs Selu Sigmoid", {"inputs": [(2, 3)]}, 24),
    ("CumulativeLogsumexp Softmax _MklFusedMish _MklSoftmax _MklSwish", {"inputs": [(2, 3)]}, 30),
    ("ReluGrad", {"output": (2, 3)}, 6),
    (
        "ClipByValue LeakyReluGrad LinSpace Relu6Grad SqrtGrad SquaredDifference Xlog1py Xlogy",
        {"output": (2, 3)},
        12,
    ),
    (
        "ApproximateEqual Cross EluGrad InvGrad ReciprocalGrad SeluGrad SigmoidGrad TanhGrad",
        {"output": (2, 3)},
        18,
    ),
    ("RsqrtGrad SoftplusGrad SoftsignGrad", {"output": (2, 3)}, 24),
    ("AccumulateNV2 AddN", {"inputs": [(2, 3)] * 3}, 12),
    (
        "CropAndResize",
        {"inputs": [(1, 2, 2, 3), (5, 4)], "output": (5, 4, 4, 3), "method": "bilinear"},
        9 * 240,
    ),
    ("CropAndResize", {"output": (5, 4, 4, 3), "method": "nearest"}, 0),
    ("ResizeBilinear", {"inputs": [(1, 2, 2, 3), (2,)], "output": (1, 4, 4, 3)}, 9 * 48),
    ("ResizeBilinearGrad", {"inputs": [(1, 4, 4, 3), (1, 2, 2, 3)]}, 12 * 48),
    (
        " ".join(kind for kind in registry.kinds() if "Random" in kind and "Shuffle" not in kind)
        + " ParameterizedTruncatedNormal StatelessParameterizedTruncatedNormal TruncatedNormal "
        "StatelessTruncatedNormal StatelessTruncatedNormalV2 Multinomial StatelessMultinomial "
        "StatefulUniform StatefulUniformInt StatefulUniformFullInt StatefulStandardNormal "
        "StatefulStandardNormalV2 StatefulTruncatedNormal RngSkip RngReadAndSkip",
        {"inputs": [(2,)], "output": (5, 5)},
        0,
    ),
    # Sorting, searching and counting.
    ("TopK TopKV2 ApproxTopK", {"inputs": [(5, 8)], "output": (5, 3)}, 80),  # ⌈log2 4⌉ = 2
    ("LowerBound UpperBound", {"inputs": [(2, 7), (2, 5)]}, 30),  # ⌈log2 8⌉ = 3
    ("Bucketize", {"inputs": [(5, 4)], "boundaries": (0.5, 1.5, 2.5)}, 40),  # ⌈log2 4⌉ = 2
    ("Bincount DenseBincount", {"inputs": [(5, 4)]}, 20),
    # Fourier transforms of 2 x 8 (3 passes), 4 x 8 (5 passes) and 2 x 4 x 8 (6 passes) values.
    ("FFT IFFT", {"inputs": [(2, 8)]}, 240),
    ("FFT2D IFFT2D", {"inputs": [(4, 8)]}, 800),
    ("FFT3D IFFT3D", {"inputs": [(2, 4, 8)]}, 1920),
    ("RFFT", {"output": (2, 5)}, 120),
    ("RFFT2D", {"output": (4, 5)}, 400),
    ("RFFT3D", {"output": (2, 4, 5)}, 960),
    ("IRFFT", {"output": (2, 8)}, 120),
    ("IRFFT2D", {"output": (4, 8)}, 400),
    ("IRFFT3D", {"output": (2, 4, 8)}, 960),
    # Two matrices of 6 x 6.
    ("Cholesky", {"inputs": [(2, 6, 6)]}, 144),
    ("Lu MatrixDeterminant LogMatrixDeterminant", {"inputs": [(2, 6, 6)]}, 288),
    ("MatrixInverse", {"inputs": [(2, 6, 6)]}, 864),
    ("MatrixSolve", {"inputs": [(2, 6, 6), (2, 6, 5)], "output": (2, 6, 5)}, 288 + 720),
    (
        "MatrixTriangularSolve BatchMatrixTriangularSolve",
        {"inputs": [(2, 6, 6), (2, 6, 5)], "output": (2, 6, 5)},
        360,
    ),
    # Reductions: 20 elements to 4.
    (
        "ArgMax ArgMin BiasAddGrad Max Min MirrorPadGrad Prod Sum TileGrad",
        {"inputs": [(5, 4)], "output": (4,)},
        16,
    ),
    ("Mean", {"inputs": [(5, 4)], "output": (4,)}, 20),
    ("L2Loss", {"inputs": [(5, 4)], "output": ()}, 59),
    ("EuclideanNorm", {"inputs": [(5, 4)], "output": (4,)}, 40),
    ("SegmentMean", {"inputs": [(5, 4), (5,)], "output": (2, 4)}, 20 + 8),
    (
        "SparseSegmentSum SparseSegmentSumWithNumSegments",
        {"inputs": [(9, 4), (6,), (6,)], "output": (2, 4)},
        24,
    ),
    (
        (
            "SparseSegmentMean SparseSegmentMeanWithNumSegments SparseSegmentSqrtN "
            "SparseSegmentSqrtNWithNumSegments"
        ),
        {"inputs": [(9, 4), (6,), (6,)], "output": (2, 4)},
        24 + 8,
    ),
    # Products: 8 elements of 3 multiplies and 3 adds each.
    (
        (
            "MatMul QuantizedMatMul SparseMatMul _FusedMatMul _MklMatMul _MklNativeFusedMatMul "
            "BatchMatMul BatchMatMulV2 BatchMatMulV3 _MklBatchMatMul _MklBatchMatMulV2 "
            "_MklFusedBatchMatMulV2"
        ),
        {"inputs": [(2, 3), (3, 4)], "output": (2, 4)},
        48,
    ),
    (
        "_FusedMatMul _MklNativeFusedMatMul _MklFusedBatchMatMulV2",
        {"inputs": [(2, 3), (3, 4)], "output": (2, 4), "fused_ops": ("BiasAdd", "Relu6")},
        48 + 8 + 16,
    ),
    ("SparseTensorDenseMatMul", {"inputs": [(7, 2), (7,), (2,), (3, 4)]}, 2 * 7 * 4),
    (
        "SparseTensorDenseMatMul",
        {"inputs": [(7, 2), (7,), (2,), (4, 3)], "adjoint_b": True},
        2 * 7 * 4,
    ),
    (
        "Einsum XlaEinsum _MklEinsum",
        {"inputs": [(2, 3, 4), (2, 4, 5)], "output": (2, 3, 5), "equation": "bij,bjk->bik"},
        2 * 2 * 3 * 4 * 5,
    ),
    # Convolutions: a window of 3x2 and 4 channels, with 2*6*6*8 = 576 results.
    (
        (
            "Conv Conv2D QuantizedConv2D _MklNativeConv2D _MklNativePadWithConv2D _FusedConv2D "
            "_MklNativeFusedConv2D _MklNativePadWithFusedConv2D"
        ),
        {"inputs": [*IMAGE, (3, 2, 4, 8)], "output": (2, 6, 6, 8)},
        2 * 576 * 24,
    ),
    (
        "_FusedConv2D _MklNativeFusedConv2D _MklNativePadWithFusedConv2D",
        {
            "inputs": [*IMAGE, (3, 2, 4, 8)],
            "output": (2, 6, 6, 8),
            "fused_ops": ("FusedBatchNorm", "Relu"),
        },
        2 * 576 * 24 + (3 + 1) * 576 + 4 * 8,
    ),
    (
        "_MklNativeConv2DWithBias",
        {"inputs": [*IMAGE, (3, 2, 4, 8), (8,)], "output": (2, 6, 6, 8)},
        2 * 576 * 24 + 576,
    ),
    (
        "Conv3D _FusedConv3D _MklNativeConv3D _MklNativeFusedConv3D",
        {"inputs": [(1, 2, 4, 4, 3), (2, 3, 3, 3, 8)], "output": (1, 2, 4, 4, 8)},
        2 * 256 * 54,
    ),
    (
        (
            "DepthwiseConv2dNative Dilation2D QuantizedDepthwiseConv2D "
            "_FusedDepthwiseConv2dNative _MklNativeDepthwiseConv2dNative "
            "_MklNativeFusedDepthwiseConv2dNative"
        ),
        {"inputs": [*IMAGE, (3, 2, 4, 1)], "output": (2, 6, 6, 4)},
        2 * 288 * 6,
    ),
    (
        "Conv2DBackpropInput _MklNativeConv2DBackpropInput",
        {"inputs": [(4,), (3, 2, 4, 8), (2, 3, 3, 8)], "output": IMAGE[0], "strides": (1, 2, 2, 1)},
        2 * 144 * 24,
    ),
    (
        "Conv2DBackpropFilter _MklNativeConv2DBackpropFilter",
        {"inputs": [*IMAGE, (4,), (2, 3, 3, 8)], "output": (3, 2, 4, 8), "strides": (1, 2, 2, 1)},
        2 * 144 * 24,
    ),
    (
        "Conv2DBackpropInputV2",
        {"inputs": [*IMAGE, (3, 2, 4, 8), (2, 3, 3, 8)], "output": IMAGE[0]},
        2 * 144 * 24,
    ),
    (
        "Conv2DBackpropFilterV2",
        {"inputs": [*IMAGE, (3, 2, 4, 8), (2, 3, 3, 8)], "output": (3, 2, 4, 8)},
        2 * 144 * 24,
    ),
    (
        "Conv3DBackpropInput Conv3DBackpropInputV2 _MklNativeConv3DBackpropInputV2",
        {"inputs": [(5,), (2, 3, 3, 3, 8), (1, 2, 4, 4, 8)], "output": (1, 2, 4, 4, 3)},
        2 * 256 * 54,
    ),
    (
        "Conv3DBackpropFilter Conv3DBackpropFilterV2 _MklNativeConv3DBackpropFilterV2",
        {"inputs": [(1, 2, 4, 4, 3), (5,), (1, 2, 4, 4, 8)], "output": (2, 3, 3, 3, 8)},
        2 * 256 * 54,
    ),
    (
        "DepthwiseConv2dNativeBackpropInput _MklNativeDepthwiseConv2dNativeBackpropInput",
        {"inputs": [(4,), (3, 2, 4, 1), (2, 3, 3, 4)], "output": IMAGE[0]},
        2 * 72 * 6,
    ),
    (
        "DepthwiseConv2dNativeBackpropFilter _MklNativeDepthwiseConv2dNativeBackpropFilter",
        {"inputs": [*IMAGE, (4,), (2, 3, 3, 4)], "output": (3, 2, 4, 1)},
        2 * 72 * 6,
    ),
    (
        "Dilation2DBackpropInput Dilation2DBackpropFilter",
        {"inputs": [*IMAGE, (3, 2, 4), (2, 3, 3, 4)], "output": IMAGE[0]},
        (2 * 6 + 1) * 72,
    ),
    # Pooling with a window of 6.
    (
        (
            "AvgPool MaxPool QuantizedAvgPool QuantizedMaxPool MaxPoolGradGrad "
            "MaxPoolWithArgmax _MklNativeAvgPool _MklNativeMaxPool"
        ),
        {"output": (1, 2, 2, 3), "ksize": (1, 3, 2, 1)},
        72,
    ),
    (
        "AvgPool3D MaxPool3D MaxPool3DGradGrad _MklNativeAvgPool3D _MklNativeMaxPool3D",
        {"output": (1, 2, 2, 2, 3), "ksize": (1, 1, 3, 2, 1)},
        144,
    ),
    (
        "AvgPoolGrad _MklNativeAvgPoolGrad",
        {"inputs": [(4,), (1, 2, 2, 3)], "ksize": (1, 3, 2, 1)},
        144,
    ),
    (
        "AvgPool3DGrad _MklNativeAvgPool3DGrad",
        {"inputs": [(5,), (1, 2, 2, 2, 3)], "ksize": (1, 1, 3, 2, 1)},
        288,
    ),
    (
        "MaxPoolGrad _MklNativeMaxPoolGrad",
        {"inputs": [(1, 6, 4, 3), (1, 2, 2, 3), (1, 2, 2, 3)], "ksize": (1, 3, 2, 1)},
        84,
    ),
    (
        "MaxPool3DGrad _MklNativeMaxPool3DGrad",
        {"inputs": [(1, 2, 6, 4, 3), (1, 2, 2, 2, 3)], "ksize": (1, 1, 3, 2, 1)},
        7 * 24,
    ),
    # Normalisation of 288 elements in 4 channels.
    (
        (
            "FusedBatchNorm FusedBatchNormV2 FusedBatchNormV3 _FusedBatchNormEx "
            "_MklNativeFusedBatchNorm _MklNativeFusedBatchNormV2 _MklNativeFusedBatchNormV3 "
            "_MklNativeFusedBatchNormEx"
        ),
        {"inputs": [*IMAGE, (4,), (4,), (0,), (0,)]},
        7 * 288 + 4 * 4,
    ),
    (
        "FusedBatchNorm FusedBatchNormV2 FusedBatchNormV3 BatchNormWithGlobalNormalization",
        {"inputs": [*IMAGE, (4,), (4,), (4,), (4,)], "is_training": False},
        3 * 288 + 4 * 4,
    ),
    (
        "_FusedBatchNormEx _MklNativeFusedBatchNormEx",
        {"inputs": [*IMAGE, (4,)], "activation_mode": "Relu", "num_side_inputs": 1},
        9 * 288 + 4 * 4,
    ),
    (
        (
            "FusedBatchNormGrad FusedBatchNormGradV2 FusedBatchNormGradV3 _FusedBatchNormGradEx "
            "_MklNativeFusedBatchNormGrad _MklNativeFusedBatchNormGradV2 "
            "_MklNativeFusedBatchNormGradV3"
        ),
        {"inputs": [*IMAGE, *IMAGE, (4,)]},
        9 * 288 + 6 * 4,
    ),
    (
        "FusedBatchNormGrad FusedBatchNormGradV2 FusedBatchNormGradV3",
        {"inputs": [*IMAGE, *IMAGE, (4,)], "is_training": False},
        6 * 288 + 4 * 4,
    ),
    (
        "_FusedBatchNormGradEx",
        {"inputs": [*IMAGE, *IMAGE, (4,)], "activation_mode": "Relu"},
        10 * 288 + 6 * 4,
    ),
    ("_MklLayerNorm", {"inputs": [(2, 3, 8), (8,), (8,)]}, 8 * 48 + 3 * 6),
    ("LRN", {"inputs": IMAGE, "depth_radius": 2}, 9 * 288),
    ("LRN", {"inputs": IMAGE}, 15 * 288),
    ("LRNGrad", {"inputs": [*IMAGE, *IMAGE, *IMAGE], "depth_radius": 2}, 34 * 288),
    # Cross entropy of 2 rows of 10.
    ("LogSoftmax", {"inputs": [(2, 10)]}, 102),
    (
        "SoftmaxCrossEntropyWithLogits",
        {"inputs": [(2, 10), (2, 10)], "outputs": [(2,), (2, 10)]},
        182,
    ),
    ("SparseSoftmaxCrossEntropyWithLogits", {"inputs": [(2, 10), (2,)]}, 106),
    # Optimizers of 6 parameters.
    ("ApplyGradientDescent ResourceApplyGradientDescent", scalars_until(2, (2, 3)), 12),
    *(
        (" ".join(f"{form}Apply{name}" for form in forms), scalars_until(place, (2, 3)), 6 * cost)
        for (name, place, cost), forms in [
            *product(
                [
                    *[("Adagrad", 3, 6), ("AdagradV2", 4, 7), ("Adadelta", 6, 16)],
                    *[("Momentum", 3, 4), ("RMSProp", 7, 11), ("CenteredRMSProp", 8, 16)],
                    *[("Ftrl", 3, 17), ("FtrlV2", 3, 19), ("ProximalAdagrad", 5, 15)],
                    ("ProximalGradientDescent", 4, 8),
                ],
                [("", "Resource", "Sparse", "ResourceSparse")],
            ),
            *product(
                [("Adam", 9, 12), ("AdaMax", 8, 10), ("AddSign", 6, 11), ("PowerSign", 6, 11)],
                [("", "Resource")],
            ),
        ]
    ),
    ("ResourceApplyAdamWithAmsgrad", scalars_until(10, (2, 3)), 78),
    (
        "ResourceApplyKerasMomentum ResourceSparseApplyKerasMomentum",
        scalars_until(3, (2, 3)),
        24,
    ),
    (
        "ApplyMomentum ResourceApplyKerasMomentum",
        scalars_until(3, (2, 3)) | {"use_nesterov": True},
        42,
    ),
    ("ApplyAdam", scalars_until(9, (2, 3)) | {"use_nesterov": True}, 90),
    ("ApplyAdagrad", scalars_until(3, (2, 3)) | {"update_slots": False}, 24),
    # Recurrent: the product of an LSTM cell is 2 * 2 * 8 * 20 = 640; a state has 10 elements.
    ("LSTMBlockCell", {"inputs": LSTM, "cell_clip": -1.0}, 640 + 230),
    ("LSTMBlockCell", {"inputs": LSTM}, 640 + 230 + 20),
    ("LSTMBlockCell", {"inputs": LSTM, "cell_clip": 0.0, "use_peephole": True}, 640 + 230 + 60),
    ("LSTMBlockCellGrad", {"inputs": LSTM}, 220),
    ("LSTMBlockCellGrad", {"inputs": LSTM, "use_peephole": True}, 220 + 120),
    ("BlockLSTM", {"inputs": [(), (7, 2, 3), *LSTM[1:]], "cell_clip": 0.0}, 7 * (640 + 230)),
    ("BlockLSTMV2", {"inputs": [(), (7, 2, 3), *LSTM[1:]]}, 7 * (640 + 220)),
    (
        "BlockLSTMGrad BlockLSTMGradV2",
        {"inputs": [(), (7, 2, 3), *LSTM[1:]]},
        7 * (2 * 640 + 280),
    ),
    (
        "GRUBlockCell",
        {"inputs": [(2, 3), (2, 5), (8, 10), (8, 5), (10,), (5,)]},
        2 * 2 * 8 * 15 + 170,
    ),
    (
        "GRUBlockCellGrad",
        {"inputs": [(2, 3), (2, 5), (8, 10), (8, 5), (10,), (5,)]},
        2 * 2 * 8 * 15 + 180 + 6,
    ),
    # 7 steps of: 640 for the product, 2 biases for each of 40 gates, 18 for each of 10 elements.
    ("CudnnRNN CudnnRNNV2 CudnnRNNV3", {"inputs": LAYERS}, 7 * (640 + 80 + 180)),
    (
        "CudnnRNN CudnnRNNV2 CudnnRNNV3",
        {"inputs": LAYERS, "rnn_mode": "gru"},
        7 * (2 * 2 * 8 * 15 + 60 + 140),
    ),
    ("CudnnRNN", {"inputs": LAYERS, "rnn_mode": "rnn_tanh"}, 7 * (2 * 2 * 8 * 5 + 20 + 10)),
    ("CudnnRNN", {"inputs": LAYERS, "input_mode": "skip_input"}, 7 * (2 * 2 * 5 * 20 + 80 + 180)),
    ("CudnnRNN", {"inputs": LAYERS, "input_mode": "auto_select"}, 7 * (640 + 80 + 180)),
    (
        "CudnnRNN",  # two layers of two directions; the second has 2 * 5 inputs
        {"inputs": [(7, 2, 3), (4, 2, 5)], "direction": "bidirectional"},
        7 * 2 * ((640 + 80 + 180) + (2 * 2 * 15 * 20 + 80 + 180)),
    ),
    (
        "CudnnRNNV3",
        {"inputs": [(2, 7, 3), (2, 1, 5)], "time_major": False},
        7 * (640 + 80 + 180),
    ),
    (
        "CudnnRNNBackprop CudnnRNNBackpropV2 CudnnRNNBackpropV3",
        {"inputs": LAYERS},
        7 * (2 * 640 + 80 + 220),
    ),
]
NUMBERS = [(kind, facts, number) for kinds, facts, number in CASES for kind in kinds.split()]


@pytest.mark.parametrize(("kind", "facts", "number"), NUMBERS)
def test_a_kind_has_the_hand_computed_number(kind, facts, number):
    assert counted(kind, **facts) == number


def test_every_kind_that_computes_has_a_hand_computed_number():
    moves = registry.no_arithmetic
    computing = {kind for kind in registry.kinds() if registry.rule_of(kind) is not moves}
    computing = {kind for kind in computing if not kind.startswith("aten::")}  # see `aten` numbers

    assert {kind for kind, _, _ in NUMBERS} == computing


@pytest.mark.parametrize(
    ("kind", "facts"),
    [
        ("_FusedMatMul", {"inputs": [(2, 3), (3, 4)], "output": (2, 4), "fused_ops": ("New",)}),
        ("_FusedMatMul", {"inputs": [(2, 3), (3, 4)], "output": (2, 4), "fused_ops": (1,)}),
        ("_FusedMatMul", {"inputs": [(2, 3), (3, 4)], "output": (2, 4), "fused_ops": "Relu"}),
        (
            "_FusedConv2D",
            {
                "inputs": [(1, 4, 4, 4), (8, 1, 1, 4)],
                "output": (1, 4, 4, 8),
                "filter_format": "OHWI",
            },
        ),
        ("LRN", {"inputs": IMAGE, "depth_radius": -1}),
        ("LRN", {"inputs": IMAGE, "depth_radius": "5"}),
        ("CudnnRNN", {"inputs": LAYERS, "rnn_mode": "attention"}),
        ("CudnnRNN", {"inputs": LAYERS, "rnn_mode": 4}),
        ("CudnnRNN", {"inputs": LAYERS, "direction": "sideways"}),
        ("CudnnRNN", {"inputs": LAYERS, "input_mode": "none"}),
        ("CudnnRNNV3", {"inputs": LAYERS, "num_proj": 3}),
        ("CudnnRNN", {"inputs": [(7, 2), (1, 2, 5)]}),
    ],
)
def test_an_op_with_facts_its_rule_does_not_support_is_not_counted(kind, facts):
    assert counted(kind, **facts) is None


# A fused `Sum` adds a tensor to the result; a `Sum` op adds up the elements of its input.
SAME_ALONE = sorted(fused.COSTS.keys() & set(registry.kinds()) - {"Sum"})


@pytest.mark.parametrize("kind", SAME_ALONE)
def test_a_fused_op_costs_the_same_as_the_separate_op(kind):
    facts = {"inputs": [(2, 50, 50, 4), (4,), (4,)], "output": (2, 50, 50, 4)}
    alone = counted(kind, is_training=False, **facts)
    channels = 16 if kind == "FusedBatchNorm" else 0

    assert alone == fused.COSTS[kind] * 20_000 + channels
