"""The float operations of a GPU recording are those that PyTorch counts, module by module."""

from collections import Counter

import pytest

from h200 import FACTS, GPT
from tfprof.measures.numbers import EVERYTHING, per_op
from tfprof.model.builder import OpColumns, ProfileBuilder
from tfprof.sources import registry


class Parameters:
    """The parameters of the model, as a checkpoint would state them."""

    def __init__(self):
        self.path, self.calls, self.scopes = "", (), {}
        self.shared, self.is_in_order = (), True
        self.parameters = {name: tuple(shape) for name, shape in FACTS["parameters"].items()}

    def define(self, builder, root):
        names = [f"{root}/{name.replace('.', '/')}" for name in self.parameters]
        builder.add_ops(OpColumns.variables(names, "Parameter", list(self.parameters.values())))


@pytest.fixture(scope="module")
def columns():
    builder = ProfileBuilder()
    builder.held.append(Parameters())
    registry.merge([registry.open_file(GPT)], builder)
    return builder.build()


def test_float_ops_by_module_and_kind_are_those_of_flop_counter_mode(columns):
    float_ops = per_op(columns, EVERYTHING)["float_ops"]
    rows = [
        (name, columns.ops.kind[row], int(float_ops[row]))
        for row, name in enumerate(columns.ops.name)
    ]

    for module, expected in FACTS["flop_counter"].items():
        scope = "" if module == "Global" else f"{module.replace('.', '/')}/"
        found = Counter()
        for name, kind, count in rows:
            if name.startswith(scope):
                found[kind.replace("::", ".")] += count
        # PyTorch does not count the backward pass for the outermost module.
        kinds = expected if module != "GPT" else ()
        assert {kind: found[kind] for kind in kinds} == {kind: expected[kind] for kind in kinds}


def test_macs_are_half_of_all_that_flop_counter_mode_counts(columns):
    assert 2 * int(per_op(columns, EVERYTHING)["macs"].sum()) == FACTS["flop_counter_total"]
