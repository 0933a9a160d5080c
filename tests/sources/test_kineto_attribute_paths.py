"""Modules of a trace have attribute paths where the parameters are known."""

from collections import Counter
from math import prod

import pytest

import tfprof
from formats.test_safetensors import written
from h200 import FACTS, GPT
from tfprof.formats import kineto
from tfprof.formats.content import Content
from tfprof.sources.kineto.attribute_paths import matched, matched_without_unused, stated
from tfprof.sources.kineto.interpreted import interpreted
from tfprof.sources.kineto.model import called as called_in
from tfprof.sources.kineto.module_calls import Called
from tfprof.sources.kineto.python_calls import Instances
from tfprof.sources.kineto.scopes import attribute_paths

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
    return called_in(interpreted(kineto.read(Content(GPT))), is_outermost=True)


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
    by_name = {name: SHAPES[name] for name in sorted(SHAPES)}

    found = matched(gpt_modules, by_name, is_in_order=False)
    paths = paths_by_name(found, gpt_modules)

    assert paths["Linear_15"] == "blocks.3.mlp.2"
    assert paths["LayerNorm_8"] == "ln_f"
    assert (paths["LayerNorm_0"], paths["LayerNorm_1"]) == ("blocks.0.ln_1", "blocks.0.ln_2")
    assert paths["Embedding_0"] is paths["Linear_16"] is None  # wte and head
    assert (found.twins, found.in_order) == (2, 12)  # the blocks and their norms are numbered


def test_numbers_at_the_end_of_names_are_the_order_of_calls():
    modules = called([("Net", -1), *[("Linear", 0)] * 3], None, *[[(4, 4)]] * 3)
    numbered = {"fc10.weight": (4, 4), "fc2.weight": (4, 4), "fc1.weight": (4, 4)}
    mixed = {"fc1.weight": (4, 4), "fc2.weight": (4, 4), "out.weight": (4, 4)}

    assert matched(modules, numbered, is_in_order=False).path[1:] == [("fc1",), ("fc2",), ("fc10",)]
    assert matched(modules, numbered).path[1:] == [("fc10",), ("fc2",), ("fc1",)]  # as defined
    assert matched(modules, mixed, is_in_order=False).path[1:] == [None, None, None]


def test_numbers_in_names_count_by_value():
    rows = [("Net", -1), *[("Linear", 0)] * 12]
    modules = called(rows, (), *[((4, 4), (4,))] * 12)
    parameters = {
        f"layers.{place}.{name}": shape
        for place in range(12)
        for name, shape in (("weight", (4, 4)), ("bias", (4,)))
    }

    by_name = {name: parameters[name] for name in sorted(parameters)}
    found = matched(modules, by_name, is_in_order=False)

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


def test_the_model_is_the_module_whose_attributes_the_names_are():
    # `self.net = Sequential(…)`: all names begin with `net`.
    rows = [("Wrapper", -1), ("Net", 0), ("Sequential", 1), ("Linear", 2), ("Linear", 2)]
    modules = called(rows, None, None, None, [(4, 3)], [(2, 4)])
    names = {"net.0.weight": (4, 3), "net.1.weight": (2, 4)}

    found = matched(modules, names)
    around = matched(modules, {f"module.{name}": shape for name, shape in names.items()})

    assert (found.root, found.path[2:]) == (1, [("net",), ("net", "0"), ("net", "1")])
    assert (around.root, around.path[1:3]) == (0, [("module",), ("module", "net")])


def test_modules_of_different_parents_are_told_apart_by_them():
    # By name `output` comes before `self`, but it is called after it.
    rows = [("Attention", -1), ("SelfAttention", 0), ("Linear", 1), ("Output", 0), ("Linear", 3)]
    modules = called(rows, None, None, [(4, 4)], None, [(4, 4)])
    extra = Called(modules.instances, [*modules.inputs[:3], [Counter([(4,)])], modules.inputs[4]])
    parameters = {"output.scale": (4,), "output.dense.weight": (4, 4), "self.query.weight": (4, 4)}

    found = matched(extra, parameters, is_in_order=False)

    assert (found.twins, found.path[2], found.path[4]) == (
        0,
        ("self", "query"),
        ("output", "dense"),
    )


def test_parts_that_could_be_exchanged_have_no_names_inside_either():
    rows = [("Net", -1)]
    for part in (1, 4):
        rows += [("Branch", 0), ("Linear", part), ("Linear", part)]
    modules = called(rows, None, *[None, [(4, 8)], [(8, 4)]] * 2)
    parameters = {
        f"{part}.{name}.weight": shape
        for part in ("left", "right")
        for name, shape in (("a", (4, 8)), ("b", (8, 4)))
    }

    by_name = matched(modules, parameters, is_in_order=False)
    in_order = matched(modules, parameters)

    assert (by_name.twins, by_name.path) == (2, [(), *[None] * 6])
    assert (in_order.in_order, in_order.path[5]) == (2, ("right", "a"))


def test_activations_are_no_attributes_whatever_the_shapes_of_their_inputs():
    rows = [("Net", -1), ("ReLU", 0), ("Linear", 0), ("ReLU", 0), ("Projection", 0)]
    modules = called(rows, None, [(4, 4)], [(4, 4), (4,)], [(4, 4)], [(4, 4), (2, 4)])

    found = matched(modules, {"a.weight": (4, 4), "a.bias": (4,), "b.weight": (4, 4)})

    assert (found.twins, found.path) == (0, [(), None, ("a",), None, ("b",)])


def test_a_class_with_the_name_of_an_activation_may_call_modules():
    rows = [("Net", -1), ("GLU", 0), ("Linear", 1), ("Linear", 0)]
    modules = called(rows, None, None, [(8, 4)], [(4, 4)])

    found = matched(modules, {"gate.proj.weight": (8, 4), "out.weight": (4, 4)})

    assert found.path == [(), ("gate",), ("gate", "proj"), ("out",)]


def test_the_parameters_of_a_module_may_be_taken_by_several_ops():
    """As the two scales of a layer; a trace does not say how often ops with such inputs ran."""
    rows = [("Net", -1), ("Layer", 0), ("Linear", 1)]
    inputs = [[], [Counter([(4,), (2, 4)])], [Counter([(4, 4), (2, 4)])]]
    parameters = {"layer.gamma_1": (4,), "layer.gamma_2": (4,), "layer.fc.weight": (4, 4)}

    found = matched(Called(instances(*rows), inputs), parameters)

    assert found.path == [(), ("layer",), ("layer", "fc")]


def test_of_two_attributes_that_fit_a_module_is_the_one_with_more_parameters():
    """`shared` is the embedding that the encoder takes, but it is not called itself."""
    rows = [("Net", -1), ("Stack", 0), ("Embedding", 1), ("Linear", 1), ("Linear", 0)]
    modules = called(rows, None, None, [(9, 4)], [(4, 4)], [(3, 4)])
    parameters = {
        "shared.weight": (9, 4),
        "encoder.layers.0.weight": (4, 4),
        "encoder.embed.weight": (9, 4),
        "head.weight": (3, 4),
    }

    paths = matched(modules, parameters, is_in_order=False).path

    assert (paths[1], paths[3]) == (("encoder",), ("encoder", "layers", "0"))


def test_modules_that_fit_either_of_two_attributes_leave_the_others_their_names():
    """A weight and its transpose, which both modules take."""
    rows = [("Net", -1), ("Linear", 0), ("Project", 0), ("Project", 0)]
    taken = [(8, 4), (4, 8)]
    modules = called(rows, None, [(3, 3)], taken, taken)
    parameters = {"a.weight": (3, 3), "up.weight": (8, 4), "down.weight": (4, 8)}

    found = matched(modules, parameters, is_in_order=False)

    assert (found.twins, found.path) == (2, [(), ("a",), None, None])


def test_the_order_of_definition_is_not_used_where_calls_contradict_it():
    # `k`, `v` and `q` are defined in this order; `k` has no bias, and is called second.
    rows = [("Attention", -1), *[("Linear", 0)] * 3]
    modules = called(rows, None, [(4, 4), (4,)], [(4, 4)], [(4, 4), (4,)])
    names = {"k.weight": (4, 4), "v.weight": (4, 4), "v.bias": (4,)}
    names |= {"q.weight": (4, 4), "q.bias": (4,)}

    found = matched(modules, names)

    assert (found.twins, found.path) == (2, [(), None, ("k",), None])


def test_modules_of_other_classes_may_be_defined_in_another_order():
    # Norms are often defined after the layers that are called between them.
    rows = [("Layer", -1), ("Norm", 0), ("Linear", 0), ("Norm", 0)]
    modules = called(rows, None, [(4,)], [(4, 4)], [(4,)])
    parameters = {"linear.weight": (4, 4), "norm1.weight": (4,), "norm2.weight": (4,)}

    found = matched(modules, parameters)

    assert found.path[1:] == [("norm1",), ("linear",), ("norm2",)]


def tied():
    """A model whose output layer has the weight of its embedding."""
    rows = [("LM", -1), ("Body", 0), ("Embedding", 1), ("Linear", 1), ("Linear", 0)]
    return called(rows, None, None, [(9, 4)], [(4, 4)], [(9, 4)])


def test_an_output_layer_with_the_weight_of_the_embedding_has_its_own_path():
    parameters = {"body.embed.weight": (9, 4), "body.up.weight": (4, 4), "head.weight": (9, 4)}

    found = matched(tied(), parameters)

    assert found.path == [(), ("body",), ("body", "embed"), ("body", "up"), ("head",)]


@pytest.mark.parametrize("name", ["body.embed", "head"])
def test_a_shared_weight_that_a_file_has_once_names_no_module_that_may_be_another(name):
    found = matched(tied(), {f"{name}.weight": (9, 4), "body.up.weight": (4, 4)})

    embedding, head = found.path[2], found.path[4]
    assert embedding == (("body", "embed") if name == "body.embed" else None)
    assert head is None  # `head` may also be the name of the embedding
    assert found.path[3] == ("body", "up")


def test_a_parameter_may_be_used_by_a_module_whose_own_names_the_file_lacks():
    # `head.decoder.bias` is the same tensor as `head.bias`, and its weight that of the embedding.
    rows = [("LM", -1), ("Embedding", 0), ("Head", 0), ("Linear", 2), ("Linear", 2)]
    modules = called(rows, None, [(9, 4)], None, [(4, 4)], [(9, 4), (9,)])
    parameters = {"embed.weight": (9, 4), "head.bias": (9,), "head.dense.weight": (4, 4)}

    found = matched(modules, parameters)

    assert found.path == [(), ("embed",), ("head",), ("head", "dense"), None]


def test_a_module_that_is_no_attribute_does_not_hide_those_inside_it():
    rows = [("Net", -1), ("Checkpoint", 0), ("Linear", 1), ("Linear", 1), ("Linear", 0)]
    modules = called(rows, None, None, [(4, 3)], [(2, 4)], [(5, 2)])

    found = matched(modules, {"a.weight": (4, 3), "b.weight": (2, 4), "c.weight": (5, 2)})

    assert found.path == [(), None, ("a",), ("b",), ("c",)]


def test_an_activation_whose_input_has_the_shape_of_a_weight_is_no_layer():
    rows = [("Net", -1), ("ReLU", 0), ("Linear", 0)]
    modules = called(rows, None, [(4, 4)], [(4, 4)])

    assert matched(modules, {"a.weight": (4, 4)}).path == [(), None, ("a",)]


def test_a_parametrization_is_the_attribute_of_its_parameter():
    rows = [("Net", -1), ("ParametrizedLinear", 0), ("ParametrizationList", 1), ("_WeightNorm", 2)]
    modules = called(rows, None, [(4, 4), (4,)], None, [(4, 1), (4, 4)])
    norm = "layer.parametrizations.weight"
    names = {"layer.bias": (4,), f"{norm}.original0": (4, 1), f"{norm}.original1": (4, 4)}

    found = matched(modules, names)

    assert found.path == [(), ("layer",), tuple(norm.split(".")), None]


def test_names_that_are_nested_without_end_match_nothing():
    modules = called([("Net", -1), ("Linear", 0)], None, [(4, 4)])

    assert matched(modules, {"a." * 10_000 + "weight": (4, 4)}) is None


def test_modules_that_are_nested_without_end_are_not_searched():
    rows = [("Net", row - 1) for row in range(5_000)]
    modules = called(rows, *[None] * 4_999, [(4, 4)])

    assert matched(modules, {"a.weight": (4, 4), "b.weight": (3, 3)}) is None


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


def test_attribute_paths_count_if_the_classes_agree():
    modules = instances(("Net", -1), ("Linear", 0))

    assert stated(modules, [("Net", ""), ("Linear", "head")]).path == [(), ("head",)]
    assert stated(modules, [("Net", ""), ("Conv2d", "head")]) is None


def test_recorded_paths_count_and_other_modules_have_their_classes():
    modules = instances(("Wrapper", -1), ("Net", 0), ("Linear", 1), ("Linear", 1))

    assert attribute_paths(modules, {"Net_1": ["Net"], "Linear_3": ["Net/head"]}) == [
        "Wrapper",
        "Net",
        "Net/Linear_2",
        "Net/head",
    ]


def test_parts_of_a_model_that_were_not_used_are_left_out():
    """As auxiliary outputs, which only training uses."""
    rows = [("Net", -1), ("Linear", 0), ("Norm", 0), ("Linear", 0)]
    modules = called(rows, None, [(8, 4), (8,)], [(8,)], [(2, 8)])
    parameters = {
        "body.weight": (8, 4),
        "body.bias": (8,),
        "norm.weight": (8,),
        "head.weight": (2, 8),
        "aux.fc.weight": (5, 8),
        "aux.norm.weight": (8,),
    }

    assert matched(modules, parameters) is None
    found = matched_without_unused(modules, parameters, is_in_order=False)
    assert (found.twins, found.path) == (0, [(), ("body",), ("norm",), ("head",)])
    assert found.unused == [("aux",)]


def test_parameters_that_were_not_used_are_left_out():
    modules = called([("Net", -1), ("Linear", 0)], [(4,)], [(8, 4), (8,)])
    parameters = {"body.weight": (8, 4), "body.bias": (8,), "scale": (4,), "mask": (1, 1, 4)}

    assert matched(modules, parameters) is None
    found = matched_without_unused(modules, parameters)
    assert (found.path, found.unused) == ([(), ("body",)], [("mask",)])


def test_most_of_a_model_cannot_be_left_out():
    modules = called([("Net", -1), ("Linear", 0)], None, [(8, 4)])
    parameters = {"a.weight": (8, 4), "b.weight": (5, 3), "c.weight": (6, 3)}

    assert matched_without_unused(modules, parameters) is None


def weights_file(path, shapes):
    """A file of weights in the order of `shapes`."""
    entries, start = {}, 0
    for name, shape in shapes.items():
        end = start + 4 * prod(shape)
        entries[name] = {"dtype": "F32", "shape": shape, "data_offsets": [start, end]}
        start = end
    written(path, entries, b"")
    with path.open("r+b") as file:
        file.truncate(path.stat().st_size + start)
    return path


def test_weights_and_a_trace_are_one_model(tmp_path):
    profile = tfprof.load(GPT, weights_file(tmp_path / "gpt.safetensors", SHAPES))

    names = list(profile.columns.ops.name)
    assert "GPT/blocks/0/attn/qkv/weight" in names
    assert "GPT/blocks/0/attn/qkv/aten::linear/aten::addmm" in names
    assert int(profile.columns.ops.shape.sizes().sum()) == FACTS["total_parameters"]


def test_a_note_says_which_parts_of_the_model_seem_unused(tmp_path):
    shapes = SHAPES | {"aux.fc.weight": (7, 256), "aux.norm.weight": (256,)}

    profile = tfprof.load(GPT, weights_file(tmp_path / "gpt.safetensors", shapes))

    assert "GPT/blocks/0/attn/qkv/aten::linear/aten::addmm" in list(profile.columns.ops.name)
    unused = "seems unused, because no op takes parameters of these shapes: aux."
    assert f"1 part of the model {unused}" in "".join(profile.scope().notes)


def test_notes_say_which_names_are_uncertain(tmp_path):
    in_order = weights_file(tmp_path / "a.safetensors", SHAPES)
    by_name = weights_file(tmp_path / "b.safetensors", dict(sorted(SHAPES.items())))

    assumed = "14 modules have parameters of the same shapes as others beside them; their names"
    assert assumed in "".join(tfprof.load(GPT, in_order).scope().notes)
    notes = "".join(tfprof.load(GPT, by_name).scope().notes)
    assert "2 modules have the name of the class, because the parameters of others" in notes
    assert "12 modules have parameters of the same shapes as others" in notes
