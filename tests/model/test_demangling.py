"""Names that a compiler mangled, as in the source; the expected ones are those of c++filt."""

import pytest

from tfprof.model.demangling import demangled


@pytest.mark.parametrize(
    ("mangled", "expected"),
    [
        ("_Z4gemmPfi", "gemm(float*, int)"),
        ("_Z3addIfEvPT_S1_", "void add<float>(float*, float*)"),
        ("_ZN2ns4copyILi4ELb1EEEvPKc", "void ns::copy<4, true>(char const*)"),
        (
            "_ZN2at6native12_GLOBAL__N_13catIlEEvv",
            "void at::native::(anonymous namespace)::cat<long>()",
        ),
        ("_Z1fILin5ELj3ELm4EEvv", "void f<-5, 3u, 4ul>()"),
        ("_Z1fIJiN2ns1aEEEvDpT_", "void f<int, ns::a>(int, ns::a)"),
        ("_Z1fILN2ns4kindE3EEvv", "void f<(ns::kind)3>()"),
        ("_Z1fPFviE", "f(void (*)(int))"),
        ("_Z1fRA4_Kf", "f(float const (&) [4])"),
        ("_ZNK2ns1kclEi", "ns::k::operator()(int) const"),
        ("_ZN2ns1kIN2ns1aIiEEE3runEv", "ns::k<ns::a<int> >::run()"),
        ("_Z1fIZ1gvEUliE_EvT_", "void f<g()::{lambda(int)#1}>(g()::{lambda(int)#1})"),
        ("_Z1fSt6vectorIiSaIiEE", "f(std::vector<int, std::allocator<int> >)"),
        (
            "_ZN5aiter4normIDF16bLi64EEEvPT_Pfd",
            "void aiter::norm<std::bfloat16_t, 64>(std::bfloat16_t*, float*, double)",
        ),
        ("_Z4gemmPf.kd", "gemm(float*) [clone .kd]"),
    ],
)
def test_a_mangled_name_is_decoded(mangled, expected):
    assert demangled(mangled) == expected


def test_a_parameter_that_is_referred_to_is_that_of_the_innermost_function():
    # `S1_` is `T_`: of `outer` it is a lambda, and of `inner` a float.
    mangled = "_Z5outerIZ5innerIfEvT_S1_EUliE_EvT_S1_"

    assert demangled(mangled) == (
        "void outer<inner<float>(float, float)::{lambda(int)#1}>"
        "(inner<float>(float, float)::{lambda(int)#1}, inner<float>(float, float)::{lambda(int)#1})"
    )


@pytest.mark.parametrize(
    "name",
    [
        "triton_poi_fused_add_0",
        "ampere_sgemm_128x64_nn",
        "_Z",
        "_ZN",
        "_Z9999f",
        "_Z3fo",
        "_Z1fS5_",
        "_Z1fT_",
        "_ZTV3foo",
        "_Z1fIJifEEvDpRKT_",  # `T const&...` is not the list of all `T`
        "_Z1fi rest",
    ],
)
def test_what_is_not_understood_stays_the_same(name):
    assert demangled(name) == name


@pytest.mark.parametrize(
    "name",
    [
        "_ZN" + "N" * 10_000,
        "_Z1fI" + "P" * 10_000 + "iEvv",
        "_Z1fI" + "i" * 16_000 + "Evv",
        "_Z1fI" + "i" * 1_000_000 + "Evv",
        "_Z1fIL_Z" * 2_000,
        "_ZZ" * 5_000,
        "_Z1f" + "".join(f"1{chr(97 + n % 26)}IS_S_E" for n in range(2_000)),
    ],
)
def test_a_hostile_name_stays_the_same(name):
    assert demangled(name) == name


def test_a_name_that_stands_for_a_text_of_any_length_is_not_written_out():
    doubled = "".join(f"2{chr(97 + n)}{chr(97 + n)}IS{n}_S{n}_E" for n in range(10))

    assert len(demangled(f"_Z1fI1aI1bE{doubled}Evv")) < 100_000
