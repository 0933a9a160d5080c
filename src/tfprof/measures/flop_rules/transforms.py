"""Fourier transforms."""

from __future__ import annotations

from math import prod

from tfprof.measures.flop_rules.aten import aten
from tfprof.measures.flop_rules.registry import OpFacts, UnknownShape, dim, flops


@flops("FFT", "FFT2D", "FFT3D", "IFFT", "IFFT2D", "IFFT3D")
def transform(op: OpFacts) -> int:
    """5 · N(input 0) · ⌈log2 n⌉: a complex transform of n elements in ⌈log2 n⌉ passes."""
    return 5 * prod(op.input(0)) * _passes(_transformed(op, op.input(0)))


@flops("RFFT", "RFFT2D", "RFFT3D")
def real_transform(op: OpFacts) -> int:
    """5/2 · N · ⌈log2 n⌉: half of a complex transform, for N real values in transforms of n.

    The output has half of the spectrum, so its last dim is n/2 + 1 of the last dim.
    """
    if not op.output(0):
        raise UnknownShape
    *others, half = op.output(0)
    return _half(op, (*others, max(2 * (half - 1), 0)))


@flops("IRFFT", "IRFFT2D", "IRFFT3D")
def inverse_real_transform(op: OpFacts) -> int:
    """5/2 · N(output) · ⌈log2 n⌉: half of a complex transform, in transforms of n."""
    return _half(op, op.output(0))


def _half(op: OpFacts, shape: tuple[int, ...]) -> int:
    return 5 * prod(shape) * _passes(_transformed(op, shape)) // 2


def _transformed(op: OpFacts, shape: tuple[int, ...]) -> int:
    """The number of elements of one transform."""
    rank = int(op.kind[-2]) if op.kind.endswith("D") else 1
    if len(shape) < rank:
        raise UnknownShape
    return prod(shape[-rank:])


def _passes(size: int) -> int:
    return max(size - 1, 0).bit_length()


@flops(*aten("_fft_c2c"))
def complex_transform(op: OpFacts) -> int:
    """5 · N(input 0) · ⌈log2 n⌉: the same as `FFT`, along the dims of `dim`."""
    return 5 * prod(op.input(0)) * _passes(_along(op))


@flops(*aten("_fft_r2c"))
def half_transform(op: OpFacts) -> int:
    """5/2 · N(input 0) · ⌈log2 n⌉: half of a complex transform, along the dims of `dim`."""
    return 5 * prod(op.input(0)) * _passes(_along(op)) // 2


def _along(op: OpFacts) -> int:
    return prod(dim(op.input(0), axis) for axis in op.sizes("dim"))
