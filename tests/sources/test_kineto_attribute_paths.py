"""Modules of a trace have attribute paths where the parameters are known."""

from collections import Counter
from math import prod

import pytest

import tfprof
from formats.test_safetensors import written
from h200 import FACTS, GPT
from tfprof.formats import kineto
from tfprof.formats.content import Content
from tfprof.sources.kineto.attribute_paths import Called, matched, stated
from tfprof.sources.kineto.interpreted import interpreted
from tfprof.sources.kineto.model import _called
from tfprof.sources.kineto.python_calls import Instances
from tfprof.sources.kineto.scopes import stated_paths

SHAPES = {name: tuple(shape) for name, shape in FACTS["parameters"].items()}


def instances(*rows):
    """Modules given as a class and the row of the module that called it."""
    names = [f"{name}_{place}" for place, (name, _) in enumerate(rows)]
    return Instances(names, [name for name, _ in rows], [parent for _, parent in rows])


def called(rows, *inputs):
    """Modules, and the shapes of the inputs of one op of each."""
    return Called(instances(*rows), [[Counter(shapes)] if shapes else [] for shapes in inputs])


@pytest.fixture(scope="module")
def gpt_modules():
    return _called(interpreted(kineto.read(Content(GPT))))


def paths_by_name(found, modules):
    dotted = [".".join(path) if path is not None else None for path in found.path]
    return dict(zip(modules.instances.name, dotted, strict=True))


def test_modules_in_the_order_of_their_definition_have_their_paths(gpt_modules):
    found = paths_by_name(matched(gpt_modules, SHAPES), gpt_modules)

    assert found["GPT_0"] == ""
    assert found["Block_3"] == "blocks.3"
    assert found["Attention_1"] == "blocks.1.attn"
    assert found["Linear_15"] == "blocks.3.mlp.2"
    assert found["LayerNorm_8"] == "ln_f"
    assert found["Linear_16"] == "head"
    assert found["GELU_0"] is None
    known = {path for path in found.values() if path}
    assert known >= {name.rpartition(".")[0] for name in SHAPES}


def test_a_sequence_has_the_path_below_which_its_modules_are_numbered():
    rows = [("Model", -1), ("Sequential", 0), ("Linear", 1), ("Linear", 1), ("Linear", 0)]
    modules = called(rows, None, None, [(4, 8)], [(8, 4)], [(3, 4)])
    shapes = {"parts.a.0.weight": (4, 8), "parts.a.1.weight": (8, 4), "head.weight": (3, 4)}

    assert paths_by_name(matched(modules, shapes), modules)["Sequential_1"] == "parts.a"


@pytest.mark.parametrize("layers", [1, 3])
@pytest.mark.parametrize(("list_class", "inner"), [("Encoder", "layer."), ("Sequential", "")])
def test_a_module_with_a_list_of_modules_is_the_one_that_has_the_list(layers, list_class, inner):
    """`Model.encoder.layer[0].dense`: the list itself is not called."""
    rows, inputs, shapes = [("Model", -1), (list_class, 0)], [None, None], {}
    for number in range(layers):
        rows += [("Layer", 1), ("Linear", 2 + 3 * number), ("Linear", 2 + 3 * number)]
        inputs += [None, [(4, 8)], [(8, 4)]]
        shapes[f"encoder.{inner}{number}.first.weight"] = (4, 8)
        shapes[f"encoder.{inner}{number}.second.weight"] = (8, 4)
    rows.append(("Linear", 0))
    inputs.append([(3, 4)])
    modules = called(rows, *inputs)

    paths = paths_by_name(matched(modules, shapes | {"head.weight": (3, 4)}), modules)

    assert paths[f"{list_class}_1"] == "encoder"
    assert [path for name, path in paths.items() if name.startswith("Layer")] == [
        f"encoder.{inner}{number}" for number in range(layers)
    ]


def test_modules_in_the_order_of_names_are_only_named_if_they_cannot_be_exchanged(gpt_modules):
    in_order = {name: SHAPES[name] for name in sorted(SHAPES)}

    found = matched(gpt_modules, in_order)
    paths = paths_by_name(found, gpt_modules)

    assert paths["Linear_15"] == "blocks.3.mlp.2"
    assert paths["LayerNorm_8"] == "ln_f"
    assert paths["LayerNorm_0"] is paths["LayerNorm_1"] is None  # ln_1 and ln_2
    assert paths["Embedding_0"] is paths["Linear_16"] is None  # wte and head
    assert found.twins == 10


def test_numbers_in_names_count_by_value():
    rows = [("Net", -1), *[("Linear", 0)] * 12]
    modules = called(rows, (), *[((4, 4), (4,))] * 12)
    parameters = {
        f"layers.{place}.{name}": shape
        for place in range(12)
        for name, shape in (("weight", (4, 4)), ("bias", (4,)))
    }

    found = matched(modules, {name: parameters[name] for name in sorted(parameters)})

    assert [path[-1] for path in found.path[1:]] == [str(place) for place in range(12)]


def test_a_wrapper_around_the_model_is_not_the_model():
    rows = [("Wrapper", -1), ("Net", 0), ("Linear", 1), ("Linear", 1)]
    modules = called(rows, (), (), ((4, 3), (4,)), ((2, 4), (2,)))

    found = matched(modules, {"a.weight": (4, 3), "a.bias": (4,), "b.weight": (2, 4)})

    assert (found.root, found.path) == (1, [None, (), ("a",), ("b",)])


def test_a_module_that_is_used_but_not_called_belongs_to_the_one_around_it():
    # As `out_proj` of `MultiheadAttention`; other modules have its shapes, too.
    rows = [("Net", -1), ("Linear", 0), ("Attention", 0), ("Attention", 0)]
    used = [Counter([(12, 4), (12,)]), Counter([(4, 4), (4,)])]
    modules = Called(instances(*rows), [[], [Counter([(4, 4), (4,)])], used, used])
    parameters = {"first.weight": (4, 4), "first.bias": (4,)}
    for name in ("attn.0", "attn.1"):
        parameters |= {f"{name}.in_proj_weight": (12, 4), f"{name}.in_proj_bias": (12,)}
        parameters |= {f"{name}.out_proj.weight": (4, 4), f"{name}.out_proj.bias": (4,)}

    assert matched(modules, parameters).path == [(), ("first",), ("attn", "0"), ("attn", "1")]


@pytest.mark.parametrize(
    "parameters",
    [
        {"a.weight": (5, 3), "b.weight": (2, 4)},  # of another size
        {"a.weight": (4, 3), "b.weight": (2, 4), "c.weight": (9,)},  # one more
        {"x.a.weight": (4, 3), "y.weight": (2, 4), "x.b.weight": (2, 4)},
    ],
)
def test_parameters_of_another_model_match_nothing(parameters):
    rows = [("Net", -1), ("Linear", 0), ("Linear", 0)]
    modules = called(rows, (), ((4, 3), (4,)), ((2, 4), (2,)))

    assert matched(modules, parameters) is None


def test_modules_across_paths_match_nothing():
    # Two blocks that each call one module of both paths cannot be these paths.
    rows = [("Net", -1), ("Block", 0), ("Linear", 1), ("Linear", 1), ("Block", 0), ("Linear", 4)]
    modules = called(rows, (), (), ((4, 3),), ((2, 4),), (), ((6, 1),))
    parameters = {"x.a.weight": (4, 3), "y.a.weight": (2, 4), "x.b.weight": (6, 1)}

    assert matched(modules, parameters) is None


def test_stated_paths_count_if_the_classes_agree():
    modules = instances(("Net", -1), ("Linear", 0))

    assert stated(modules, [("Net", ""), ("Linear", "head")]).path == [(), ("head",)]
    assert stated(modules, [("Net", ""), ("Conv2d", "head")]) is None


def test_recorded_paths_count_and_other_modules_have_their_classes():
    modules = instances(("Wrapper", -1), ("Net", 0), ("Linear", 1), ("Linear", 1))

    assert stated_paths(modules, {"Net_1": "Net", "Linear_3": "Net/head"}) == [
        "Wrapper",
        "Net",
        "Net/Linear_2",
        "Net/head",
    ]


def test_weights_and_a_trace_are_one_model(tmp_path):
    entries, start = {}, 0
    for name, shape in SHAPES.items():
        end = start + 4 * prod(shape)
        entries[name] = {"dtype": "F32", "shape": shape, "data_offsets": [start, end]}
        start = end
    weights = tmp_path / "gpt.safetensors"
    written(weights, entries, b"")
    with weights.open("r+b") as file:
        file.truncate(weights.stat().st_size + start)

    profile = tfprof.load(GPT, weights)

    names = list(profile.columns.ops.name)
    assert "GPT/blocks/0/attn/qkv/weight" in names
    assert "GPT/blocks/0/attn/qkv/aten::linear/aten::addmm" in names
    assert int(profile.columns.ops.shape.sizes().sum()) == FACTS["total_parameters"]
