"""Ops that compute element by element."""

from __future__ import annotations

from math import prod

from tfprof.measures.flop_rules.registry import OpFacts, flops, per_element


@flops(
    *("Abs", "Sign", "Ceil", "Floor", "Rint", "Round", "Inv", "Sqrt", "Exp", "Expm1", "Log1p"),
    *("Sin", "Cos", "Tan", "Asin", "Acos", "Atan", "Sinh", "Cosh", "Tanh", "Asinh", "Acosh"),
    *("Atanh", "Erf", "Erfc", "Erfinv", "Ndtri", "Lgamma", "Digamma", "Dawsn", "Expint"),
    *("FresnelCos", "FresnelSin", "Spence", "BesselI0", "BesselI0e", "BesselI1", "BesselI1e"),
    *("BesselJ0", "BesselJ1", "BesselK0", "BesselK0e", "BesselK1", "BesselK1e", "BesselY0"),
    *("BesselY1",),
    *("IsNan", "IsInf", "IsFinite", "CheckNumerics", "CheckNumericsV2", "Conj", "Angle", "Relu"),
)
@flops("Reciprocal", "Square", "Log", "Neg", "AssignAdd", "AssignSub", is_classic=True)
def unary(op: OpFacts) -> int:
    """N(input 0): one operation for each element."""
    return prod(op.input(0))


@flops("Rsqrt", is_classic=True)
def reciprocal_root(op: OpFacts) -> int:
    """2 · N(input 0): a root and a division for each element."""
    return 2 * prod(op.input(0))


@flops("_MklSoftmax")
@flops("Softmax", is_classic=True)
def softmax(op: OpFacts) -> int:
    """5 · N(input 0): subtract the maximum (2), exponential (1), sum and divide (2)."""
    return 5 * prod(op.input(0))


@flops(
    *("Div", "DivNoNan", "MulNoNan", "Xdivy", "FloorDiv", "FloorMod", "Mod", "TruncateDiv"),
    *("TruncateMod", "Atan2", "NextAfter", "Igamma", "Igammac", "Zeta", "Polygamma", "Betainc"),
    *("QuantizedAdd", "QuantizedMul"),
)
@flops(
    "Add",
    "AddV2",
    "Sub",
    "Mul",
    "RealDiv",
    "Maximum",
    "Minimum",
    "Pow",
    "Greater",
    "GreaterEqual",
    "Less",
    "LessEqual",
    "Equal",
    "NotEqual",
    is_classic=True,
)
def binary(op: OpFacts) -> int:
    """N(output): one operation or comparison for each element, after broadcasting."""
    return prod(op.output(0))


@flops("SquaredDifference", is_classic=True)
def squared_difference(op: OpFacts) -> int:
    """2 · N(output): a subtraction and a multiply for each element, after broadcasting."""
    return 2 * prod(op.output(0))


@flops("RsqrtGrad", is_classic=True)
def reciprocal_root_gradient(op: OpFacts) -> int:
    """4 · N(output): four multiplies for each element."""
    return 4 * prod(op.output(0))


@flops("AccumulateNV2")
@flops("AddN", is_classic=True)
def add_n(op: OpFacts) -> int:
    """N(input 0) · (inputs - 1): one add for each element and each input after the first."""
    return prod(op.input(0)) * (op.input_count - 1) if op.input_count else 0


flops("AssignAddVariableOp", "AssignSubVariableOp")(
    per_element(1, "input 1", "one add or subtraction for each element of the given value")
)
flops("Range")(per_element(1, "output", "one add for each element"))
flops("LinSpace")(per_element(2, "output", "a multiply and an add for each element"))
flops("Xlogy", "Xlog1py")(
    per_element(2, "output", "a logarithm and a multiply for each element, after broadcasting")
)
flops("ApproximateEqual")(
    per_element(3, "output", "a subtraction, an absolute value and a comparison for each element")
)
flops("ClipByValue")(per_element(2, "output", "two comparisons for each element"))
flops("ComplexAbs")(per_element(4, "input 0", "two squares, an add and a root for each element"))
flops("ResizeBilinear")(
    per_element(9, "output", "three interpolations, each a subtraction, a multiply and an add")
)


@flops("CropAndResize")
def crop_and_resize(op: OpFacts) -> int:
    """9 · N(output), 0 with `method` `nearest`: the same as `ResizeBilinear`."""
    is_copied = op.word("method", default="bilinear") == "nearest"
    return 0 if is_copied else 9 * prod(op.output(0))


flops("ResizeBilinearGrad")(
    per_element(12, "input 0", "two multiplies and an add for each of four neighbours")
)
flops("ResizeNearestNeighborGrad")(
    per_element(1, "input 0", "one add for each element, to the element it was copied from")
)
