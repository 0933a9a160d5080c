"""Shapes of constants, variables, random numbers and other ops without data inputs."""

from __future__ import annotations

from tfprof.columns import Shape
from tfprof.sources.tf_shapes.dims import OPEN, Unknown, dim_of
from tfprof.sources.tf_shapes.op import Held, Op
from tfprof.sources.tf_shapes.registry import held, shapes


@shapes(
    "Empty Fill ParameterizedTruncatedNormal RandomStandardNormal RandomUniform RandomUniformInt",
    "StatelessParameterizedTruncatedNormal StatelessRandomBinomial StatelessRandomGammaV2",
    "StatelessRandomNormal StatelessRandomNormalV2 StatelessRandomPoisson StatelessRandomUniform",
    "StatelessRandomUniformFullInt StatelessRandomUniformFullIntV2 StatelessRandomUniformInt",
    "StatelessRandomUniformIntV2 StatelessRandomUniformV2 StatelessTruncatedNormal",
    "StatelessTruncatedNormalV2 TruncatedNormal StatelessRandomGammaV3",
)
def given(op: Op) -> list[Shape]:
    """The shape in the first input."""
    return [op.dims(0)]


@shapes("StatefulStandardNormalV2 StatefulTruncatedNormal StatefulUniform StatefulUniformInt")
@shapes("StatefulUniformFullInt")
def given_after_state(op: Op) -> list[Shape]:
    """The shape in the third input."""
    return [op.dims(2)]


@shapes("RandomGamma RandomPoisson RandomPoissonV2")
def given_for_each(op: Op) -> list[Shape]:
    """The shape in the first input, for each parameter."""
    return [(*op.dims(0), *op.shape(1))]


@shapes("Multinomial StatelessMultinomial")
def samples(op: Op) -> list[Shape]:
    """Samples for each row."""
    value = op.maybe_value(1)
    return [(op.shape(0, 2)[0], OPEN if value is None else dim_of(value.item()))]


@shapes("StatelessRandomGetKeyCounter")
def key_and_counter(_op: Op) -> list[Shape]:
    """A key of one number and a counter of two."""
    return [(1,), (2,)]


@shapes("StatelessRandomGetKeyCounterAlg")
def key_counter_and_algorithm(_op: Op) -> list[Shape]:
    """A key of one number, a counter of two, and the number of the algorithm."""
    return [(1,), (2,), ()]


@shapes("StatelessRandomGetAlg StatelessRandomGetKey")
def algorithm(op: Op) -> list[Shape]:
    """The number of the algorithm, or a key."""
    return [() if op.kind.endswith("Alg") else (1,)]


@shapes("Range")
def counted(op: Op) -> list[Shape]:
    """The numbers from the first input up to the second, in steps of the third."""
    values = [op.maybe_value(position) for position in range(3)]
    if any(value is None or value.item() is None for value in values):
        return [(OPEN,)]
    return [(len(range(*(op.number(position) for position in range(3)))),)]


@shapes("LinSpace")
def spaced(op: Op) -> list[Shape]:
    """As many numbers as the last input says."""
    value = op.maybe_value(2)
    return [(OPEN if value is None else dim_of(value.item()),)]


@shapes("Placeholder Variable VariableV2 TemporaryVariable ImmutableConst")
def declared(op: Op) -> list[Shape]:
    """The declared shape."""
    return [op.declared]


@shapes("VarHandleOp TensorListReserve EmptyTensorList TensorListFromTensor TensorListSetItem")
@shapes("TensorListPushBack TensorListScatter TensorListScatterV2 TensorListResize")
@shapes("TensorListScatterIntoExistingList TensorListConcatLists TensorListSplit")
@shapes("VarIsInitializedOp IsVariableInitialized TensorListLength")
def single(_op: Op) -> list[Shape]:
    """A handle or a single value."""
    return [()]


@shapes("ReadVariableOp")
def content(op: Op) -> list[Shape]:
    """The shape of the variable."""
    return [op.held().shape]


@shapes("VariableShape")
def variable_rank(op: Op) -> list[Shape]:
    """One number per dim of the variable."""
    shape = op.held().shape
    if shape is None:
        raise Unknown
    return [(len(shape),)]


@held("VarHandleOp")
def variable(op: Op) -> Held:
    """A variable of the declared shape."""
    return Held(op.declared)


@shapes("RFFT RFFT2D RFFT3D IRFFT IRFFT2D IRFFT3D")
def real_transform(op: Op) -> list[Shape]:
    """The transformed dims have the given lengths; half of the spectrum is kept."""
    shape, lengths = op.shape(0), list(op.dims(1))
    if op.kind.startswith("R") and lengths[-1] >= 0:
        lengths[-1] = lengths[-1] // 2 + 1 if lengths[-1] else 0
    return [(*shape[: len(shape) - len(lengths)], *lengths)]


@shapes("AllCandidateSampler LearnedUnigramCandidateSampler LogUniformCandidateSampler")
@shapes("FixedUnigramCandidateSampler ThreadUnsafeUnigramCandidateSampler UniformCandidateSampler")
def candidates(op: Op) -> list[Shape]:
    """Samples, and two expected counts."""
    count = dim_of(op.integer("num_sampled", OPEN))
    return [(count,), op.maybe_shape(0), (count,)]
