"""Shapes of ops that work element by element: like an input, or broadcast."""

from __future__ import annotations

from tfprof.columns import Shape
from tfprof.formats.tensor_types import named_type
from tfprof.sources.tf_shapes.dims import broadcast, refined
from tfprof.sources.tf_shapes.op import Op
from tfprof.sources.tf_shapes.registry import shapes


@shapes(
    "Abs Acos Acosh AdjustContrastv2 AdjustHue AdjustSaturation Angle Asin Asinh Atan Atanh",
    "BatchMatrixBandPart BesselI0 BesselI0e BesselI1 BesselI1e Bucketize Cast Ceil CheckNumerics",
    "CheckNumericsV2 Cholesky ComplexAbs Conj Cos Cosh Cumprod Cumsum",
    "CumulativeLogsumexp DebugIdentity DebugIdentityV2 DebugIdentityV3 Digamma Elu Erf Erfc Erfinv",
    "Exp Expm1 FakeQuantWithMinMaxArgs FakeQuantWithMinMaxVars FakeQuantWithMinMaxVarsPerChannel",
    "FFT FFT2D FFT3D IFFT IFFT2D IFFT3D Floor HSVToRGB Identity Imag Inv Invert InvertPermutation",
    "IsFinite IsInf IsNan LRN LeakyRelu Lgamma Log Log1p LogSoftmax LogicalNot",
    "MatrixBandPart MatrixExponential MatrixInverse MatrixLogarithm MatrixSetDiag MatrixSetDiagV2",
    "MatrixSetDiagV3 MatrixSquareRoot Mod Ndtri Neg OnesLike",
    "PreventGradient QuantizeAndDequantize QuantizeAndDequantizeV2 QuantizeAndDequantizeV3",
    "QuantizeAndDequantizeV4 RGBToHSV RandomShuffle Real Reciprocal RefIdentity Relu Relu6",
    "Reverse ReverseSequence ReverseV2 Rint Roll Round Rsqrt ScatterNdNonAliasingAdd Selu Sigmoid",
    "Sign Sin Sinh Snapshot Softmax Softplus Softsign Sqrt Square StopGradient StringLower",
    "StringUpper Tan Tanh TensorScatterAdd TensorScatterMax TensorScatterMin TensorScatterSub",
    "TensorScatterUpdate TensorStridedSliceUpdate ZerosLike BiasAdd BiasAddV1 DrawBoundingBoxes",
    "DrawBoundingBoxesV2 AsString StringToHashBucketFast StringToHashBucket DeepCopy",
    "InplaceUpdate InplaceAdd InplaceSub Enter Exit RefEnter RefExit LoopCond StringStrip",
    "StringToNumber ClipByValue Cross StringLength RegexReplace StaticRegexReplace",
    "XlaDynamicUpdateSlice",
)
def like_first(op: Op) -> list[Shape]:
    """The shape of the first input."""
    return [op.maybe_shape(0)]


@shapes(
    "EluGrad InvGrad LRNGrad LeakyReluGrad ReciprocalGrad Relu6Grad ReluGrad RsqrtGrad SeluGrad",
    "SigmoidGrad SoftplusGrad SoftsignGrad SqrtGrad TanhGrad AddN AccumulateNV2",
    "FakeQuantWithMinMaxArgsGradient",
)
def like_all(op: Op) -> list[Shape]:
    """The common shape of all inputs."""
    found: Shape = None
    for position in range(len(op.inputs)):
        found = refined(found, op.maybe_shape(position))
    return [found]


@shapes(
    "Add AddV2 ApproximateEqual Atan2 BitwiseAnd BitwiseOr BitwiseXor Complex Div DivNoNan Equal",
    "FloorDiv FloorMod Greater GreaterEqual Igamma IgammaGradA Igammac LeftShift Less LessEqual",
    "LogicalAnd LogicalOr Maximum Minimum Mul MulNoNan NextAfter NotEqual Polygamma Pow RealDiv",
    "RightShift SelectV2 SquaredDifference Sub TruncateDiv TruncateMod Xdivy Xlog1py Xlogy Zeta",
    "Betainc",
)
def broadcast_all(op: Op) -> list[Shape]:
    """The broadcast shape of all inputs."""
    return [broadcast(op.shapes())]


@shapes("Select")
def selected(op: Op) -> list[Shape]:
    """The shape of the alternatives."""
    return [refined(op.maybe_shape(1), op.maybe_shape(2))]


@shapes("IdentityN")
def like_each(op: Op) -> list[Shape]:
    """Each output has the shape of its input."""
    return [op.maybe_shape(position) for position in range(len(op.inputs))]


@shapes("Bitcast")
def reinterpreted(op: Op) -> list[Shape]:
    """The same shape, if the elements of both types have the same size."""
    sizes = {named_type(op.text(name)).width().itemsize for name in ("T", "type")}
    return [op.maybe_shape(0) if len(sizes) == 1 else None]


@shapes("Switch RefSwitch")
def switched(op: Op) -> list[Shape]:
    """Both outputs have the shape of the data."""
    return [op.maybe_shape(0)] * 2


@shapes("LookupTableFind LookupTableFindV2 LowerBound UpperBound")
def like_second(op: Op) -> list[Shape]:
    """The shape of the second input: one result per key."""
    return [op.maybe_shape(1)]


@shapes("FusedBatchNorm FusedBatchNormV2 FusedBatchNormV3")
def batch_norm(op: Op) -> list[Shape]:
    """The result is like the input; the statistics are like the scale."""
    statistics: list[Shape] = [op.maybe_shape(1)] * 4
    reserved: list[Shape] = [None] if op.kind.endswith("V3") else []
    return [op.maybe_shape(0), *statistics, *reserved]


@shapes("FusedBatchNormGrad FusedBatchNormGradV2 FusedBatchNormGradV3")
def batch_norm_gradient(op: Op) -> list[Shape]:
    """The gradients of the input, of scale and offset, and two reserved outputs."""
    each = op.maybe_shape(2)
    return [refined(op.maybe_shape(0), op.maybe_shape(1)), each, each, (0,), (0,)]


@shapes("SoftmaxCrossEntropyWithLogits")
def cross_entropy(op: Op) -> list[Shape]:
    """A loss per example, and the gradient of the logits."""
    both = broadcast(op.shapes(2))
    return [both[:1], both]


@shapes("SparseSoftmaxCrossEntropyWithLogits")
def sparse_cross_entropy(op: Op) -> list[Shape]:
    """A loss per example, and the gradient of the logits."""
    logits = op.shape(0)
    return [refined(op.maybe_shape(1), logits[:1]), logits]


@shapes("BiasAddGrad")
def bias_gradient(op: Op) -> list[Shape]:
    """One number per channel."""
    axis = -3 if op.text("data_format") == "NCHW" else -1
    return [(op.shape(0)[axis],)]


@shapes("Merge RefMerge")
def merged(op: Op) -> list[Shape]:
    """The shape that all inputs have in common, and the number of the input that arrived."""
    found = {op.maybe_shape(position) for position in range(len(op.inputs))}
    shape = found.pop() if len(found) == 1 else None
    return [shape, ()]
