"""The groups of the drawn graph, and the numbers of their ops."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given

import tfprof
from build import layer, op, profile, run
from drawn_graphs import drawn
from profile_strategies import often, profiles
from report_pages import MODELS, ROOT
from tfprof.measures.numbers import EVERYTHING, per_op
from tfprof.page import graph
from tfprof.page.groups import Kind
from tfprof.page.views import build_views


def dense(scope, before, **more):
    """The ops of a dense layer."""
    return (
        op(f"{scope}/w", "VariableV2", shape=(3, 3)),
        op(f"{scope}/MatMul", "MatMul", inputs=[before, f"{scope}/w"], **more),
        op(f"{scope}/Relu", "Relu", inputs=[f"{scope}/MatMul"]),
    )


def chain(*scopes):
    """Dense layers one after the other."""
    found = [op("x", "Placeholder")]
    for scope in scopes:
        before = found[-1].name
        found += dense(scope, before)
    return found


def test_layers_are_groups_in_the_order_of_the_model():
    found = drawn(profile(*chain("net/b", "net/a")))

    assert found.paths == ["", "net", "net/b", "net/a"]
    assert found.groups["net/b/MatMul"] == "net/b"


def test_without_layers_scopes_are_groups():
    ops = [op(f"scope_{n}/{m}", "Relu", float_ops=1) for n in range(2) for m in range(3)]

    found = drawn(profile(*ops))

    assert found.labels() == ["scope_0", "scope_1"]


def test_what_is_connected_with_layers_is_drawn_with_them():
    found = drawn(
        profile(
            *chain("net"),
            op("costs/loss", "Sum", inputs=["net/Relu"], float_ops=2),
            op("save/restore", "RestoreV2", float_ops=1),
            op("save/file", "Const"),
            op("alone", "Foo", float_ops=1),
        )
    )

    assert found.labels(aside=False) == ["net", "costs"]
    assert found.labels(aside=True) == ["save", "other ops"]
    assert found.groups["x"] == ""
    assert found.groups["alone"] == "other ops"


def test_the_optimizer_is_drawn_beside_the_forward_pass():
    found = drawn(
        profile(
            *chain("net"),
            op("train/update", "ApplyAdam", inputs=["net/w", "net/Relu"]),
            run("train/update", 3),
        )
    )

    assert found.labels(aside=True) == ["optimizer"]


def test_gradients_are_parts_of_their_forward_ops_and_have_groups_of_their_own():
    found = drawn(
        profile(
            *chain("net"),
            op("gradients/net/MatMul_grad/MatMul", "MatMul", inputs=["net/Relu", "net/w"]),
            op("gradients/net/MatMul_grad/shape", "Const"),
        )
    )

    gradient = "gradients/net/MatMul_grad/MatMul"
    assert found.cells[gradient] == "net/MatMul"
    assert found.groups[gradient] == "net"
    assert found.paths[-2:] == ["backward", "backward/net"]
    own = found.section["ops"]["group"][found.names.index(gradient)]
    assert found.paths[own] == "backward/net"


def test_gradients_without_a_forward_op_are_a_group_like_others():
    found = drawn(profile(*chain("net"), op("gradients/AddN", "AddN", float_ops=3)))

    assert found.labels(aside=True) == ["gradients"]
    assert Kind.BACKWARD not in found.section["kind"].tolist()


def test_many_ops_of_a_layer_are_grouped_by_scope():
    moments = [op(f"bn/moments/{n}", "Mean", inputs=["x"]) for n in range(4)]
    others = [op(f"bn/op_{n}", "Mul", inputs=["x"]) for n in range(8)]
    found = drawn(
        profile(op("x", "Placeholder"), op("bn/w", "Variable", shape=(3,)), *moments, *others)
    )

    assert found.groups["bn/moments/0"] == "bn/moments"
    assert found.groups["bn/op_0"] == "bn"


def test_few_ops_of_a_layer_are_not_grouped_by_scope():
    moments = [op(f"bn/moments/{n}", "Mean", inputs=["x"]) for n in range(4)]
    found = drawn(profile(op("x", "Placeholder"), op("bn/w", "Variable", shape=(3,)), *moments))

    assert found.groups["bn/moments/0"] == "bn"


def test_many_layers_are_grouped_by_the_start_of_their_names():
    names = [f"net/block{n}_{part}" for n in range(1, 9) for part in ("a", "b", "c")]
    # Each layer is different, so that the blocks are not alike.
    ops = chain(*names)
    extra = [
        op(f"{name}/more", "Neg", inputs=[f"{name}/Relu"], outputs=[(n,)])
        for n, name in enumerate(names)
    ]

    found = drawn(profile(*ops, *extra))

    assert found.labels(parent=1) == [f"block{n}" for n in range(1, 9)]
    assert found.groups["net/block2_b/Relu"] == "net/block2/b"


def test_many_alike_layers_one_after_the_other_are_a_series():
    first = dense("net/first", "x", outputs=[(7,)])
    units = chain(*(f"net/unit_{n}" for n in range(14)))
    found = drawn(profile(units[0], *first, *units[1:]))

    assert found.labels(parent=1) == ["first", "unit_0 … unit_13"]
    assert found.groups["net/unit_3/Relu"] == "net/unit_0 … unit_13/unit_3"


def test_few_alike_layers_are_not_a_series():
    found = drawn(profile(*chain(*(f"net/unit_{n}" for n in range(12)))))

    assert found.labels(parent=1) == [f"unit_{n}" for n in range(12)]


def test_layers_between_two_points_through_which_all_data_flows_are_a_group():
    ops = [op("x", "Placeholder")]
    before = "x"
    for part in range(8):
        names = [f"net/l{part * 4 + n}x" for n in range(4)]
        for n, name in enumerate(names[:3]):
            ops += dense(name, before, outputs=[(part, n)])
        ops += dense(names[3], f"{names[0]}/Relu", outputs=[(part, 9)])
        ops[-2] = op(
            f"{names[3]}/MatMul", "MatMul", inputs=[*(f"{name}/Relu" for name in names[:3])]
        )
        before = f"{names[3]}/Relu"

    found = drawn(profile(*ops))

    assert found.labels(parent=1) == ["l0x", *(f"l{part * 4 + 3}x" for part in range(8))]
    assert found.groups["net/l5x/Relu"] == "net/l7x/l5x"


def test_many_ops_with_the_same_neighbours_are_a_group():
    assigns = [op(f"save/Assign_{n}", "Assign", inputs=["save/restore"]) for n in range(12)]
    others = [op(f"save/neg_{n}", "Neg", inputs=[f"save/Assign_{n}"]) for n in range(2)]
    found = drawn(profile(op("save/restore", "RestoreV2", float_ops=1), *assigns, *others))

    assert found.groups["save/Assign_0"] == "save"  # it is used by another op
    assert {found.groups[f"save/Assign_{n}"] for n in range(2, 12)} == {"save/Assign"}


def test_ops_without_neighbours_are_not_alike():
    found = drawn(profile(*(op(f"eager/op_{n}", "Foo", float_ops=1) for n in range(20))))

    assert found.paths == ["", "eager ops"]


def test_very_many_layers_without_structure_are_divided_by_their_order():
    ops = [op("x", "Placeholder")]
    for n in range(100):
        ops += dense(f"net/l{n}x", "x", outputs=[(n,)])

    found = drawn(profile(*ops))

    assert found.labels(parent=1)[:2] == ["l0x … l9x", "l10x … l19x"]


def test_sums_between_the_layers_of_a_group_are_in_it():
    ops = [op("x", "Placeholder"), op("m/w", "Variable", shape=(2,))]
    before = "x"
    for n in range(24):
        name = f"m/block_{n // 8}_{n % 8}"
        ops += dense(name, before, outputs=[(n,)])
        ops.append(op(f"m/add_{n}", "AddV2", inputs=[before, f"{name}/Relu"]))
        before = f"m/add_{n}"

    found = drawn(profile(*ops))

    assert found.labels(parent=1) == ["block_0", "block_1", "block_2"]
    assert {found.groups[f"m/add_{n}"] for n in range(8, 16)} == {"m/block_1"}


@pytest.fixture(scope="module", params=MODELS)
def model(request):
    return tfprof.load(*(ROOT / path for path in MODELS[request.param])).columns


def test_the_ops_of_a_layer_add_up_to_the_row_of_the_layers_view(model):
    found = drawn(model)
    rows = found.section["row"]
    view = build_views(model)["layers"]
    numbers = per_op(model, EVERYTHING)

    is_layer = (rows > 0) & (found.section["kind"] == Kind.LAYER)
    is_layer &= np.array([name != "other ops" for name in found.section["label"]])
    backward = np.flatnonzero(found.section["kind"] == Kind.BACKWARD)
    is_layer[backward[0] if len(backward) else len(rows) :] = False
    assert is_layer.sum() > 3
    for key in ("params", "float_ops", "nanos", "output_bytes"):
        totals = found.totals(numbers[key])
        assert totals[0] == numbers[key].sum()
        assert totals[is_layer].tolist() == view.total[key][rows[is_layer]].tolist()


def test_every_op_has_one_group_and_its_cell_is_in_the_same_group(model):
    found = drawn(model)
    place = {name: number for number, name in enumerate(found.names)}
    home = found.home

    for name, cell in found.cells.items():
        assert cell is None or found.cells[cell] == cell
        assert cell is None or home[place[cell]] == home[place[name]]


def test_most_ops_of_a_large_model_are_folded(model):
    found = drawn(model)

    forward = [cell for name, cell in found.cells.items() if cell == name]
    assert len(forward) < 0.6 * len(found.names)


@often
@given(profiles())
def test_groups_and_cells_are_consistent_for_any_profile(random):
    found = graph.section(random)
    assert (found is None) == (len(random.ops) == 0)
    if found is None:
        return
    drawing = drawn(random)
    numbers = per_op(random, EVERYTHING)["micros"]

    assert drawing.totals(numbers)[0] == numbers.sum()
    assert max(drawing.home, default=0) < len(found["end"])
    for name, cell in drawing.cells.items():
        assert cell is None or drawing.cells[cell] == cell, name


def test_a_profile_without_ops_has_no_graph():
    assert graph.section(profile()) is None


def test_a_scope_with_very_many_ops_is_one_group():
    ops = [op(f"s/op_{n}", "Relu", inputs=[f"s/op_{n - 1}"] if n else []) for n in range(20_000)]

    found = drawn(profile(*ops, op("s/w", "Variable", shape=(3,))))

    assert found.paths == ["", "s"]


def test_names_with_very_many_parts_do_not_make_deep_groups():
    ops = [op("/".join(["a"] * n), "Relu", float_ops=1) for n in range(1, 400)]
    words = [op(f"net/{'_'.join(['w'] * n)}/w", "Variable", shape=(3,)) for n in range(1, 400)]

    found = drawn(profile(*ops, *words))

    assert max(path.count("/") for path in found.paths) < 40


def test_an_op_that_feeds_itself_and_a_circle_of_layers_are_drawn():
    found = drawn(
        profile(
            op("a/w", "Variable", shape=(3,)),
            op("a/x", "Relu", inputs=["b/x", "a/x"]),
            op("b/w", "Variable", shape=(3,)),
            op("b/x", "Relu", inputs=["a/x"]),
        )
    )

    assert found.labels() == ["a", "b"]


def test_a_layer_that_is_stated_has_its_ops_whatever_their_scopes():
    found = drawn(
        profile(
            layer("m", "Model"),
            layer("m/d", "Dense"),
            layer("m/empty", "Dropout"),
            op("x", "Placeholder"),
            op("somewhere/MatMul", "MatMul", inputs=["x"], layer="m/d"),
        )
    )

    assert found.paths == ["", "m", "m/d"]
    assert found.groups["somewhere/MatMul"] == "m/d"
