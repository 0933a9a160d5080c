"""Short names of kernels: without return types, arguments of templates and parameters."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tfprof.model.kernel_names import readable, short_kernel, short_kernels


@pytest.mark.parametrize(
    ("name", "short"),
    [
        ("ampere_sgemm_128x64_nn", "ampere_sgemm_128x64_nn"),
        ("void gemm<float>(int)", "gemm"),
        ("ncclDevKernel_AllReduce_RING_LL(Arguments<4096ul>)", "ncclDevKernel_AllReduce_RING_LL"),
        ("void at::native::(anonymous namespace)::cat<float, 4>(float*)", "cat"),
        ("std::enable_if<!(false), void>::type gemvx::kernel<int, f<int> >(p)", "gemvx::kernel"),
        ("unsigned int sum<f(int)->int, 2>(int)", "sum"),
        ("void cutlass::Kernel2<cutlass_80_s1688gemm, (Layout)1>(Params)", "cutlass::Kernel2"),
        ("my kernel", "my kernel"),
        ("void cut<off, in<the", "cut"),
        ("(", "("),
        ("<>", "<>"),
        ("", ""),
    ],
)
def test_a_kernel_is_named_after_its_function(name, short):
    assert short_kernel(name) == short


@pytest.mark.parametrize(
    ("names", "short"),
    [
        (["void gemm<float>(int)"], ["gemm"]),
        (["void gemm<float, 4>(int)", "void gemm<half, 4>(int)"], ["gemm<float>", "gemm<half>"]),
        (["k<4, a, x>()", "k<4, b, x>()", "k<2, b, x>()"], ["k<4, a>", "k<4, b>", "k<2, b>"]),
        (["k<f<a, int>, 1>()", "k<f<b, int>, 1>()"], ["k<f<a>>", "k<f<b>>"]),
        (["k<f<a> >()", "k<g<a> >()"], ["k<f>", "k<g>"]),
        (["k<1>(int)", "k<1>(float)"], ["k<int>", "k<float>"]),
        (
            [
                "void k<at::native::copy(It&)::{lambda()#2}::operator()() const::{lambda()#7}>()",
                "void k<at::native::copy(It&)::{lambda()#2}::operator()() const::{lambda()#9}>()",
            ],
            ["k<copy<{lambda()#7}>>", "k<copy<{lambda()#9}>>"],
        ),
        (
            ["triton_poi_fused_0", "triton_poi_fused_1"],
            ["triton_poi_fused_0", "triton_poi_fused_1"],
        ),
        (["void k(a)", "int k(a)"], ["void k(a)", "int k(a)"]),
        (["", "void "], ["", "void "]),
    ],
)
def test_short_names_keep_the_arguments_that_tell_kernels_apart(names, short):
    assert list(short_kernels(names).values()) == short


@given(st.lists(st.text("abk<>(){}, :-1", max_size=12), unique=True, max_size=6))
def test_short_names_are_distinct(names):
    found = short_kernels(names)

    assert list(found) == sorted(found, key=names.index)
    assert len(set(found.values())) == len(names)


def test_mangled_names_are_readable():
    assert readable(["_Z4gemmPf", "gemm"]) == ["gemm(float*)", "gemm"]
