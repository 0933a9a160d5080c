"""The names of the arguments of PyTorch's ops are those of its schemas."""

import pytest
from packaging.version import Version

from tfprof.measures.flop_rules.registry import kinds
from tfprof.sources.torch_arguments import ARGUMENTS

torch = pytest.importorskip("torch", reason="compares with PyTorch's own schemas")

pytestmark = pytest.mark.live


@pytest.fixture(scope="module")
def schemas():
    """The names of the arguments of all overloads, by kind."""
    found = {}
    for schema in torch._C._jit_get_all_schemas():
        found.setdefault(schema.name, []).append(tuple(one.name for one in schema.arguments))
    return found


@pytest.mark.parametrize("kind", ARGUMENTS)
def test_arguments_have_the_names_of_a_schema(kind, schemas):
    names = ARGUMENTS[kind]

    assert names in [overload[: len(names)] for overload in schemas[kind]]


@pytest.mark.skipif(
    not Version("2.13") <= Version(torch.__version__) < Version("2.14"),
    reason="older versions have fewer ops, and newer ones lack some of them",
)
def test_every_op_of_pytorch_with_a_rule_exists(schemas):
    assert [kind for kind in kinds() if kind.startswith("aten::") and kind not in schemas] == []
