"""An execution trace adds edges to the ops of a Kineto trace."""

import gzip
import json
from pathlib import Path

import pytest

import tfprof
from h200 import EXECUTION, GPT, gpt, gpt_with_edges
from tfprof.errors import InputError, MissingInputError

CONTROL = -1


def inputs_of(profile, name):
    """The ops whose tensors an op uses."""
    columns = profile.columns
    names = list(columns.ops.name)
    edges = columns.ops.inputs.of(names.index(name))
    pairs = zip(columns.ops.inputs.source[edges], columns.ops.inputs.slot[edges], strict=True)
    return {names[source] for source, slot in pairs if slot != CONTROL}


def test_every_op_is_joined():
    [_, summary] = gpt_with_edges().files

    assert dict(summary.facts)["ops"] == dict(summary.facts)["joined"] == 3510


def test_an_edge_leads_from_the_outermost_op_that_made_a_tensor():
    linear = "GPT/Block_0/Attention_0/Linear_0/aten::linear"

    assert inputs_of(gpt_with_edges(), linear) == {"GPT/Block_0/LayerNorm_0/aten::layer_norm"}
    assert inputs_of(gpt_with_edges(), f"{linear}/aten::addmm") >= {f"{linear}/aten::t"}


def test_updated_parameters_are_no_inputs_of_the_next_step():
    columns = gpt_with_edges().columns
    names = list(columns.ops.name)

    sources = inputs_of(gpt_with_edges(), "GPT/Embedding_0/aten::embedding")

    assert not {name for name in sources if name.startswith("optimizer/")}
    assert names


def test_the_total_of_the_graph_is_that_of_all_ops():
    for profile in (gpt_with_edges(), tfprof.load(GPT)):
        root = profile.graph(select="accelerator_micros", max_depth=1).to_message()
        assert root.total_accelerator_exec_micros == pytest.approx(13_481 / 2, abs=1)


def test_it_needs_the_trace_of_the_same_process():
    with pytest.raises(MissingInputError, match="process 403: give the Kineto trace of the same"):
        tfprof.load(EXECUTION)


def test_traces_of_the_first_schema_have_the_same_edges(tmp_path):
    found = json.loads(gzip.decompress(Path(EXECUTION).read_bytes()))
    for node in found["nodes"]:
        attributes = {one["name"]: one["value"] for one in node.pop("attrs")}
        node |= {"rf_id": attributes["rf_id"], "parent": node.pop("ctrl_deps")}
        for side in ("input", "output"):
            node[f"{side}_shapes"] = node[f"{side}s"]["shapes"]
            node[f"{side}s"] = node[f"{side}s"]["values"]
    path = tmp_path / "execution.json"
    path.write_text(json.dumps(found | {"schema": "1.0.1"}))
    edges, expected = (one.columns.ops.inputs for one in (tfprof.load(GPT, path), gpt_with_edges()))

    assert edges.source.tolist() == expected.source.tolist()
    assert edges.slot.tolist() == expected.slot.tolist()


@pytest.mark.parametrize(
    ("damage", "trouble"),
    [
        (lambda text: text[: len(text) // 2], "ends early or is damaged"),
        (lambda text: text.replace(b'"nodes"', b'"knots"'), "is damaged"),
        (lambda text: text.replace(b'"id": 2,', b'"id": "2",', 1), "is damaged"),
        (lambda text: text.replace(b'"ctrl_deps": 1', b'"ctrl_deps": 1e400', 1), "is damaged"),
    ],
)
def test_a_damaged_file_is_one_line_of_error(tmp_path, damage, trouble):
    path = tmp_path / "execution.json"
    path.write_bytes(damage(gzip.decompress(Path(EXECUTION).read_bytes())))

    with pytest.raises(InputError, match=trouble) as caught:
        tfprof.load(GPT, path)

    assert "\n" not in str(caught.value)


def test_nodes_that_contain_each_other_end(tmp_path):
    found = json.loads(gzip.decompress(Path(EXECUTION).read_bytes()))
    for node in found["nodes"]:
        node["ctrl_deps"] = node["id"] ^ 1
    path = tmp_path / "execution.json"
    path.write_text(json.dumps(found))

    tfprof.load(GPT, path)


def test_the_graph_of_a_trace_alone_says_that_it_has_no_edges():
    (note,) = (note for note in gpt().graph().notes if "feeds" in note)

    assert note == (
        f"{GPT}: a trace does not say what feeds what: ops are below those that call them; give an "
        "execution trace of the same run too."
    )
    assert note not in gpt().scope().notes
    assert not any("feeds" in note for note in gpt_with_edges().graph().notes)
