"""Short names of kernels: without return types, arguments of templates and parameters."""

import pytest

from tfprof.sources.kineto.sites import short_kernel


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
