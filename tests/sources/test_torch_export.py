"""Exported programs of PyTorch: ops by module, shapes, edges, lines; damaged and hostile ones."""

import copy
import json
import zipfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tfprof
from tfprof.errors import InputError, OptionError, TfprofError
from tfprof.model.builder import ProfileBuilder
from tfprof.model.layers import Layer
from tfprof.model.ops import SHAPE_ARITHMETIC, TRAINABLE_VARIABLE
from tfprof.model.recordings import Recording
from tfprof.sources.registry import open_file

SAMPLES = Path(__file__).parents[1] / "samples" / "pytorch"
NET, OLD = SAMPLES / "net.pt2", SAMPLES / "old.pt2"
with zipfile.ZipFile(NET) as _archive:
    MEMBERS = {name: _archive.read(name) for name in _archive.namelist()}
MODEL = "net/models/model.json"
GRAPH = json.loads(MEMBERS[MODEL])

every_layout = pytest.mark.parametrize("path", [NET, OLD], ids=["new", "old"])


def archive(path, **changed):
    """The sample with other members; `program` replaces the JSON of the program."""
    members = {**MEMBERS, MODEL: json.dumps(changed.pop("program", GRAPH)), **changed}
    with zipfile.ZipFile(path, "w") as file:
        for name, data in members.items():
            if data is not None:
                file.writestr(name, data)
    return path


def loaded(path, **options):
    profile = tfprof.load(path, **options)
    profile.columns.check()
    return profile


def row(profile, name):
    return list(profile.columns.ops.name).index(name)


def edges(profile, name):
    ops = profile.columns.ops
    return [ops.name[source] for source in ops.inputs.source[ops.inputs.of(row(profile, name))]]


def refusal(path):
    with pytest.raises(InputError) as caught:
        tfprof.load(path)
    assert "\n" not in str(caught.value)
    return caught.value.trouble


@every_layout
def test_a_program_has_the_parameters_of_its_model(path):
    profile = loaded(path)

    assert profile.scope(select=["params"])["_TFProfRoot"]["total_params"] == 88
    trained = profile.columns.ops.types.having(TRAINABLE_VARIABLE)
    assert trained.sum() == 8


@every_layout
def test_ops_are_named_by_their_modules_and_kinds(path):
    ops = loaded(path).columns.ops
    found = {ops.name[at]: ops.kind[at] for at in range(len(ops))}

    assert found["Net/embed/weight"] == "Parameter"
    assert found["Net/norm/running_mean"] == "Buffer"
    assert found["Net/tokens"] == "Placeholder"
    assert found["Net/blocks/1/aten::linear"] == "aten::linear"
    assert found["Net/aten::relu"] == found["Net/aten::relu#2"] == "aten::relu"


@every_layout
def test_modules_are_layers_with_their_classes(path):
    layers = loaded(path).columns.layers.rows()

    assert [layer[:3] for layer in layers] == [
        Layer("Net", -1, "Net")[:3],
        Layer("embed", 0, "Embedding")[:3],
        Layer("blocks", 0, "")[:3],
        Layer("0", 2, "Linear")[:3],
        Layer("1", 2, "Linear")[:3],
        Layer("norm", 0, "BatchNorm1d")[:3],
        Layer("head", 0, "Linear")[:3],
    ]


def test_edges_are_the_arguments_that_are_tensors():
    profile = loaded(NET)

    assert edges(profile, "Net/aten::relu") == ["Net/blocks/0/aten::linear"]
    assert edges(profile, "Net/blocks/1/aten::linear") == [
        "Net/aten::relu",
        "Net/blocks/1/weight",
        "Net/blocks/1/bias",
    ]
    assert edges(profile, "Net/head/weight") == ["Net/embed/weight"]


def test_shapes_are_those_of_the_example_unless_the_batch_is_given():
    ops = loaded(NET).columns.ops
    other = loaded(NET, batch_size=3)

    assert ops.outputs.of(list(ops.name).index("Net/head/aten::linear"), 0) == (8, 10)
    place = row(other, "Net/head/aten::linear")
    assert other.columns.ops.outputs.of(place, 0) == (3, 10)
    assert other.columns.ops.stated_inputs.of(place, 0) == (3, 4)


def test_a_note_says_which_sizes_are_open():
    notes = " ".join(loaded(NET).notes)

    assert "leaves sizes open, which count as in its example: s" in notes
    assert "--batch_size sets the batch" in notes
    assert "leaves sizes open" not in " ".join(loaded(NET, batch_size=3).notes)


def test_a_batch_of_a_program_for_a_fixed_batch_is_refused(tmp_path):
    text = json.dumps(GRAPH)
    fixed = text.replace('{"as_expr"', '{"as_int": 8, "was"')
    path = archive(tmp_path / "a.pt2", program=json.loads(fixed))

    assert loaded(path).columns.ops
    with pytest.raises(OptionError, match="which was exported for a fixed batch"):
        tfprof.load(path, batch_size=3)


def test_code_lines_are_those_of_the_program_without_pytorch_itself():
    lines = str(loaded(NET).code(select=["float_ops"], max_depth=9))

    assert "make.py:" in lines
    assert "linear.py" not in lines


def test_arguments_that_are_no_tensors_are_attributes():
    profile = loaded(NET)
    op = row(profile, "Net/norm/aten::batch_norm")

    assert profile.columns.ops.origins.attribute(op, "training") is False
    assert profile.columns.ops.origins.attribute(op, "eps") == 1e-05


def test_values_are_those_of_the_parameters():
    tensors = loaded(NET).columns.tensors
    expected = tfprof.load(SAMPLES / "net.safetensors").columns.tensors

    for name in expected.name:
        assert tensors.read(f"Net/{name}").tolist() == expected.read(name).tolist()


def test_a_saved_profile_gives_the_same_answers(tmp_path):
    profile = loaded(NET)
    profile.save(tmp_path / "saved")
    again = loaded(tmp_path / "saved")

    for view in ("layers", "scope", "graph", "op", "code"):
        select = ["params", "float_ops", "input_shapes"]
        found = [getattr(one, view)(select=select, max_depth=99) for one in (profile, again)]
        assert str(found[0]) == str(found[1])


def test_ops_without_tensors_compute_shapes_only(tmp_path):
    program = copy.deepcopy(GRAPH)
    node = copy.deepcopy(program["graph_module"]["graph"]["nodes"][0])
    node |= {"target": "_operator.mul", "inputs": [], "outputs": []}
    program["graph_module"]["graph"]["nodes"].append(node)
    profile = loaded(archive(tmp_path / "a.pt2", program=program))
    op = row(profile, "Net/embed/_operator.mul")

    assert SHAPE_ARITHMETIC in profile.columns.ops.types.of(op)


def nested(target, **more):
    """A program whose ops are in a graph inside of a single op, which is given the tensor x."""
    program = copy.deepcopy(GRAPH)
    graph = program["graph_module"]["graph"]
    inner = copy.deepcopy(graph) | {"inputs": [], "outputs": []}
    (result,) = graph["nodes"][-1]["outputs"]
    inputs = [{"name": "", "arg": {"as_graph": {"name": "g", "graph": inner}}, "kind": 1}]
    inputs += [{"name": "", "arg": arg, "kind": 1} for arg in more.get("args", ())]
    node = copy.deepcopy(graph["nodes"][0]) | {"inputs": inputs, "outputs": [result]}
    graph["nodes"] = [node | {"target": f"torch.ops.higher_order.{target}"}]
    return program


def float_ops(profile):
    return profile.scope(select=["float_ops"])["_TFProfRoot"]["total_float_ops"]


def test_the_ops_of_a_graph_inside_an_op_count_in_their_modules(tmp_path):
    program = nested("wrap_with_set_grad_enabled")
    profile = loaded(archive(tmp_path / "a.pt2", program=program))
    whole = loaded(archive(tmp_path / "b.pt2", program=GRAPH))

    assert float_ops(profile) == float_ops(whole)
    assert row(profile, "Net/blocks/0/aten::linear") >= 0
    assert not [note for note in profile.flops().notes if "not counted" in note]


def test_all_branches_of_a_condition_count_with_a_note(tmp_path):
    profile = loaded(archive(tmp_path / "a.pt2", program=nested("cond")))

    assert "contains 1 conditional: the float ops of all branches" in " ".join(profile.notes)


def test_the_body_of_a_loop_counts_once_if_its_end_depends_on_data(tmp_path):
    profile = loaded(archive(tmp_path / "a.pt2", program=nested("while_loop")))
    whole = loaded(archive(tmp_path / "b.pt2", program=GRAPH))

    assert float_ops(profile) == float_ops(whole)
    assert "loops of unknown trip count" in " ".join(profile.notes)


def test_the_body_of_a_map_counts_for_each_row(tmp_path):
    program = nested("map_impl", args=[{"as_tensors": [{"name": "rows"}]}])
    values = program["graph_module"]["graph"]["tensor_values"]
    shape = [{"as_int": 7}, {"as_int": 8}]
    values["rows"] = next(iter(values.values())) | {"sizes": shape}
    profile = loaded(archive(tmp_path / "a.pt2", program=program))
    whole = loaded(archive(tmp_path / "b.pt2", program=GRAPH))

    assert float_ops(profile) == 7 * float_ops(whole)


def test_weights_may_be_in_one_file_of_the_archive(tmp_path):
    with zipfile.ZipFile(OLD) as old:
        state = old.read("serialized_state_dict.pt")
    without = dict.fromkeys(name for name in MEMBERS if "/data/weights/" in name)
    path = archive(tmp_path / "a.pt2", **without, **{"net/data/weights/model.pt": state})
    profile = loaded(path)

    assert profile.scope(select=["params"])["_TFProfRoot"]["total_params"] == 88
    assert edges(profile, "Net/head/weight") == ["Net/embed/weight"]


def test_of_several_models_one_is_read_and_the_others_are_named(tmp_path):
    path = archive(tmp_path / "a.pt2", **{"net/models/other.json": MEMBERS[MODEL]})

    assert "contains other models, which are not read: other." in " ".join(loaded(path).notes)


def test_beside_a_recording_only_parameters_and_paths_of_modules_are_used():
    builder = ProfileBuilder()
    file = open_file(str(NET))
    file.source.add(file.source.read(file), builder, file)
    builder.add_recording(Recording("run"))
    (held,) = builder.held
    held.define(builder, "Net_0")
    builder.held.clear()
    kinds = {*builder.kinds(np.arange(len(builder)))}

    assert held.calls[:3] == [("Net", ""), ("Embedding", "embed"), ("Linear", "blocks.0")]
    assert held.parameters["embed.weight"] == (10, 4)
    assert kinds == {"Parameter", "Buffer"}
    assert builder.ids(["Net_0/blocks/0/weight"])[0] >= 0
    assert builder.notes == []


# Damaged and hostile files.


def test_a_program_that_is_no_json_is_refused(tmp_path):
    path = archive(tmp_path / "a.pt2", **{MODEL: "{"})

    assert refusal(path).startswith("is damaged: net/models/model.json is not valid JSON; ")


def test_a_package_of_compiled_code_is_refused(tmp_path):
    path = archive(tmp_path / "a.pt2", **{MODEL: None})

    assert refusal(path).startswith("contains compiled code and no program; ")


def test_a_program_that_unpacks_to_too_much_is_refused(tmp_path):
    path = tmp_path / "a.pt2"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("serialized_exported_program.json", b" " * (1 << 26))

    assert refusal(path).endswith("is too large.")


def test_a_file_that_is_cut_short_is_refused(tmp_path):
    (tmp_path / "a.pt2").write_bytes(NET.read_bytes()[:-100])

    assert "cut short or damaged" in refusal(tmp_path / "a.pt2")


def places(value, path=()):
    """The paths of all values in a program."""
    yield path
    listed = dict(enumerate(value)) if isinstance(value, list) else value
    for key, part in listed.items() if isinstance(listed, dict) else ():
        yield from places(part, (*path, key))


PLACES = [path for path in places(GRAPH) if path]
ODD = (None, 0, -1, 1.5, True, "", "x", [], {}, [None], [[]], 2**63, -(2**70), {"as_int": -1})


@settings(max_examples=40)
@given(st.lists(st.tuples(st.sampled_from(PLACES), st.sampled_from(ODD)), min_size=1, max_size=4))
def test_any_program_is_answered_or_refused(tmp_path_factory, changes):
    program = copy.deepcopy(GRAPH)
    for path, value in changes:
        try:
            owner = program
            for key in path[:-1]:
                owner = owner[key]
            owner[path[-1]] = copy.deepcopy(value)
        except (LookupError, TypeError):
            continue  # an earlier change removed it
    file = archive(tmp_path_factory.getbasetemp() / "a.pt2", program=program)
    try:
        profile = loaded(file)
        _ = profile.layers().table, profile.scope(select=["params", "float_ops"]).table
    except TfprofError as error:
        assert "\n" not in str(error)  # noqa: PT017 -- answers are fine as well
